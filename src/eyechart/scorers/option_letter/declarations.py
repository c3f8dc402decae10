"""Sentences that declare the answer: "the answer is B", "I choose B", "B is correct", "答案是B" (rule S5)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from eyechart.scorers.option_letter import cues
from eyechart.scorers.option_letter.mentions import (
    AFTER_LETTER,
    CLOSING,
    is_negated_after,
    is_negated_before,
    is_word,
    rival_after,
    rival_before,
)
from eyechart.scorers.option_letter.passage import Finding, Passage

_LETTER = re.compile(rf"[A-Za-z]{AFTER_LETTER}")
# A lower-case letter counts only where it ends its sentence: "the correct answer is d."
_SENTENCE_END = re.compile(rf"[\s]?{CLOSING}{{0,4}}\s?(?:[.。!](?!\.)(?=\W|$)|\n|$)|{CLOSING}{{0,4}}\n")
_TEXT_END = re.compile(rf"{CLOSING}{{0,4}}\s?[.。!,;]?\s?{CLOSING}{{0,4}}\s?$")
_HEADED = re.compile(rf"{CLOSING}{{0,4}}(?:[.。]?\s?(?:\n|$)|[.):]\s?\S)")
# "Answer: C." and then the list of options: the letter ends its line and opens none.
_ENDS_LINE = re.compile(rf"(?:[.)]|{CLOSING}){{1,4}}\s?{CLOSING}{{0,3}}\n")
_ENUMERATOR = re.compile(r"[.):]|\s-\s")
ECHO_WINDOW = 400
"""How far after "answer: A. red" the next enumerator "B." makes the line an echo of the options."""


class _Declared(NamedTuple):
    """Where a declaration's sentence begins and where its letter stands."""

    begin: int
    letter_start: int


def find_declaration(passage: Passage) -> Finding | None:
    """Return what the last declaration says; None if nothing is declared.

    A declaration that offers two letters, or a letter beyond the options, decides that there is no answer.

    Example:
        >>> from eyechart.scorers.option_letter.option_texts import options_of
        >>> options = options_of(("red", "blue", "green"), 2)
        >>> passage = Passage("The answer is B. No wait, the answer is C.", options, 2)
        >>> find_declaration(passage).letter
        'C'
    """
    for declared in sorted(_all_declared(passage), key=lambda declared: declared.letter_start, reverse=True):
        finding = _judge(passage, declared)
        if finding is None:
            continue
        if finding.letter is not None and _is_retracted(passage, finding.letter, declared.letter_start):
            return Finding("declaration", None, finding.start, finding.end, "conflict")
        return finding
    return None


def _all_declared(passage: Passage) -> Iterator[_Declared]:
    yield from _after_nouns(passage)
    yield from _after_verbs(passage)
    yield from _before_verdicts(passage)
    yield from _after_foreign_nouns(passage)
    if not passage.text.isascii():
        yield from _in_cjk(passage)


def _after_nouns(passage: Passage) -> Iterator[_Declared]:
    """Yield "(the) (correct) answer … is X", "answer: X", "Answer X" at the end, "Answer" above a bare letter."""
    text = passage.text
    for noun, start in _keywords(passage.lowered, cues.NOUNS if passage.version == 1 else cues.NOUNS_SINCE_2):
        end = start + len(noun)
        ended = cues.NOUN_END.match(text, end)
        if ended is None or (start and (text[start - 1].isalnum() or text[start - 1] == "_")):
            continue
        previous = _word_before(text, start)
        if previous in cues.DISQUALIFYING or (noun in cues.NEEDS_QUALIFIER and previous not in cues.QUALIFYING):
            continue
        if ended.group() and noun != "answer":  # "options: A. red" introduces, "answers: B" declares
            continue
        link = cues.NOUN_LINK.match(text, ended.end())
        position = _letter_after_words(text, link.end()) if link else None
        if position is None and noun in {"answer", "ans", "choice"}:
            position = _unlinked(text, end)
        if position is not None:
            yield _Declared(start, position)


def _word_before(text: str, start: int) -> str:
    """Return the word that ends one space before ``start`` on its line, in lower case; empty if none does."""
    if start == 0 or text[start - 1] != " ":
        return ""
    words = text[max(0, start - 24) : start].rpartition("\n")[2].split()
    return words[-1].lower().strip("\"'([") if words else ""


def _letter_after_words(text: str, start: int) -> int | None:
    """Return where a letter stands after optional filling words and opening marks."""
    filled = cues.FILLING.match(text, start)
    for begin in (filled.end() if filled else start, start):
        gap = _GAP.match(text, begin)
        position = gap.end() if gap else begin
        if _LETTER.match(text, position):
            return position
    return None


_GAP = re.compile(cues.LETTER_GAP)
_UNLINKED_GAP = re.compile(rf"[)\]】]?{cues.LETTER_GAP}")


def _unlinked(text: str, start: int) -> int | None:
    """Return the letter of "Answer B" at the very end, or of a heading "Answer" with a bare letter below it."""
    gap = _UNLINKED_GAP.match(text, start)
    if gap is None or not gap.group():
        return None
    letter = _LETTER.match(text, gap.end())
    if letter is None:
        return None
    if _TEXT_END.match(text, letter.end()):
        return None if letter.group() in "ai" and "\n" not in gap.group() else letter.start()
    is_heading = "\n" in gap.group() and letter.group().isupper() and _HEADED.match(text, letter.end())
    return letter.start() if is_heading else None


def _after_verbs(passage: Passage) -> Iterator[_Declared]:
    """Yield "I (would) choose X", "I'd go with option X", "let's go with X"."""
    text = passage.text
    for verb, start in _keywords(passage.lowered, cues.VERBS if passage.version == 1 else cues.VERBS_SINCE_2):
        before = text[max(0, start - 60) : start]
        subject = cues.SUBJECT.search(before)
        if subject is None or cues.HYPOTHETICAL.search(before[: subject.start()]):
            continue
        ended = cues.VERB_END.match(text, start + len(verb))
        position = _letter_after_words(text, ended.end()) if ended else None
        if position is not None:
            yield _Declared(start - len(before) + subject.start(), position)


def _before_verdicts(passage: Passage) -> Iterator[_Declared]:
    """Yield "X is (the) correct …", "(X) is the best choice"."""
    if not any(word in passage.lowered for word in ("correct", "right", "best", "answer", "appropriate", "accurate")):
        return
    text = passage.text
    for start in passage.letter_starts:
        verdict = cues.VERDICT.match(text, start + 1)
        if verdict is None or text.startswith("?", verdict.end()):
            continue
        before = text[max(0, start - 24) : start].rstrip("([{\"'")
        if not cues.HYPOTHETICAL.search(before) and not rival_before(text, start):
            yield _Declared(start, start)


def _after_foreign_nouns(passage: Passage) -> Iterator[_Declared]:
    """Yield "la respuesta es X", "Antwort: X", "réponse : X", and since version 2 "elijo X", "ich wähle X"."""
    is_first = passage.version == 1
    linking = cues.FOREIGN_LINK if is_first else cues.FOREIGN_LINK_SINCE_2
    for noun, start in _keywords(passage.lowered, cues.FOREIGN_NOUNS if is_first else cues.FOREIGN_NOUNS_SINCE_2):
        link = linking.match(passage.text, start + len(noun))
        if link is not None and _LETTER.match(passage.text, link.end()):
            yield _Declared(start, link.end())
    for verb, start in _keywords(passage.lowered, cues.FOREIGN_CHOOSING if passage.version > 1 else ()):
        chosen = cues.FOREIGN_CHOSEN.match(passage.text, start + len(verb))
        if chosen is not None and _LETTER.match(passage.text, chosen.end()):
            yield _Declared(start, chosen.end())


def _in_cjk(passage: Passage) -> Iterator[_Declared]:
    """Yield "答案是X", "应选X", "X正确", "正解はX", "정답은 X", and a lone "选项X" that ends its clause."""
    text = passage.text
    if not cues.IS_CJK.search(text):
        return
    for cue in cues.CUES:
        for match in cue.finditer(text):
            position = match.start("letter")
            before = text[max(0, match.start() - 8) : match.start()]
            if _LETTER.match(text, position) and not cues.CJK_NEGATED_CUE.search(before):
                yield _Declared(match.start(), position)
    if len({text[start] for start in passage.letter_starts}) == 1:
        for match in cues.OPTION_NOUN.finditer(text):
            position = match.start("letter")
            if cues.CJK_CLAUSE_END.match(text, position + 1):
                yield _Declared(match.start(), position)


def _keywords(lowered: str, words: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for word in words:
        start = lowered.find(word)
        while start >= 0:
            yield word, start
            start = lowered.find(word, start + len(word))


def _judge(passage: Passage, declared: _Declared) -> Finding | None:
    """Return what one declaration is worth; None if it is negated, hypothetical, an article or an echo."""
    text = passage.text
    start = declared.letter_start
    letter = text[start]
    if letter.islower() and not _SENTENCE_END.match(text, start + 1):
        return None
    if is_word(text, start, passage.version) or passage.is_masked(letter.upper(), start):
        return None
    if (
        is_negated_after(text, start + 1, passage.version)
        or is_negated_before(text, declared.begin, passage.version, 5)
        or _is_hypothetical(text, declared)
    ):
        return None
    if is_echo(text, start, passage.options.letters):
        return None
    before = text[max(0, declared.begin - 40) : declared.begin]
    is_other_case = passage.version > 1 and cues.OTHER_CASE.search(before) is not None
    if is_other_case or rival_after(text, start + 1, passage.version):
        return Finding("declaration", None, declared.begin, start + 1, "conflict")
    return passage.finding("declaration", letter, start, start + 1)


def _is_hypothetical(text: str, declared: _Declared) -> bool:
    """Return whether it says "if the answer is X" or "if … the answer would be X"; "if I had to choose" is none."""
    if cues.SUPPOSED.search(text[max(0, declared.begin - 40) : declared.begin]):
        return True
    begin = max(text.rfind(". ", 0, declared.begin), text.rfind("\n", 0, declared.begin), declared.begin - 120, 0)
    return (
        cues.CONDITIONAL_VERB.search(text, declared.begin, declared.letter_start) is not None
        and cues.CONDITION.search(text, begin, declared.begin) is not None
        and cues.FORCED_CHOICE.search(text, begin, declared.begin) is None
    )


def is_echo(text: str, start: int, letters: str) -> bool:
    """Return whether the letter at ``start`` opens a list of options, as in "A. red B. blue" on one line or several.

    It does not where it ends its line, or where the list that follows begins before it or with it again.

    Example:
        >>> is_echo("Pick the best answer: A. red B. blue", 22, "AB"), is_echo("Answer: A. red", 8, "AB")
        (True, False)
    """
    index = letters.find(text[start].upper())
    if index < 0 or index + 1 >= len(letters) or not _ENUMERATOR.match(text, start + 1):
        return False
    if _ENDS_LINE.match(text, start + 1):
        return False
    own, successor = text[start], letters[index + 1] if text[start].isupper() else letters[index + 1].lower()
    following = re.search(rf"(?:^|[\s(])\(?([{own}{successor}])[.):]\s?[^\s]", text[start + 2 : start + ECHO_WINDOW])
    return following is not None and following[1] == successor


def _is_retracted(passage: Passage, letter: str, position: int) -> bool:
    """Return whether the declared letter is rejected later: "The answer is B. Actually, B is wrong."."""
    return any(
        start > position
        and passage.text[start] == letter
        and is_negated_after(passage.text, start + 1, passage.version)
        for start in passage.letter_starts
    )
