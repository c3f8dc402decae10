"""Letters whose place says that they are the answer: alone, on a line of their own, before a text (S4, S6, S7, S8)."""

import re

from eyechart.scorers.option_letter.mentions import AFTER_LETTER, WORD, is_word
from eyechart.scorers.option_letter.passage import Finding, Passage

# Marks that may stand around a letter that is alone. Crosses are left out: they reject it. "+" is a grade.
_SIGNS_BEFORE = r"(?:[\s\-*•·▪●○◦‣–—#=→⇒➜➡➤▶►✓✔✅☑👉🎯⭐🟢💡✨🔹🔸📌\"'«「『《【〈(\[{<|`]|->|=>|>)"
_SIGNS_AFTER = r"(?:[\s.,;!。、✓✔✅☑👍🎉⭐😊🙂👈\"'»」』》】〉)\]}>|`])"
_LEAD = r"(?:(?:the\s)?(?:option|choice|(?:option\s)?letter|选项|選項)\s?(?:is\s|[:#-]\s?)?)"
_NUMBER = r"(?:\(?\d{1,3}[.):]\s?)"
_ALONE = re.compile(
    rf"{_SIGNS_BEFORE}{{0,12}}+{_NUMBER}?{_SIGNS_BEFORE}{{0,12}}+(?i:{_LEAD})?{_SIGNS_BEFORE}{{0,12}}+(?P<letter>[A-Za-z])"
    rf"(?:\s?(?:选项|選項|项|項|番|번))?{_SIGNS_AFTER}{{0,12}}+"
)
_ENUMERATED = re.compile(
    rf"{_SIGNS_BEFORE}{{0,12}}+{_NUMBER}?{_SIGNS_BEFORE}{{0,12}}+(?i:(?:option|choice|answer|选项|選項)\s?)?[(\[{{<【]?"
    r"(?P<letter>[A-Z])"
    r"(?:[\"']?\s?[)\]}>】][\s:.、,-]{0,3}|\s?(?P<colon>:)\s?|\.(?![A-Za-z](?![A-Za-z]))\s?|\s?、|\s[-–—]\s|\s?\|\s)"
    r"(?=[^\s.)])"
)
_SECOND_LETTER = re.compile(
    rf"(?:(?:or|and|to)\b|[/&,])?\s?[(\[\"']?[A-Z]{AFTER_LETTER}[)\]\"'.,]{{0,2}}\s?(?P<end>\n|$)?"
)
_PARENTHESISED = re.compile(rf"\((?<!{WORD}\()(?P<letter>[A-Z])\)(?!\s?(?:19|20)\d\d)")
_ENUMERATORS = re.compile(
    rf"\((?P<bracketed>[A-Z])\)|(?<!{WORD})(?P<plain>[A-Z])"
    rf"(?:[.):](?![A-Z](?![A-Za-z]))[ ]?(?=[^\s])|、|\s[-–—|]\s(?={WORD}))"
)
_QUESTION_LABEL = re.compile(r"(?:^|\n)\s?Q\s?:")
LONGEST_ALONE = 80
"""A line with more characters holds more than one letter and the marks around it."""


def find_whole_letter(passage: Passage) -> Finding | None:
    """Return the letter if the whole passage is nothing but a letter with marks around it (S4); any case.

    Example:
        >>> from eyechart.scorers.option_letter.option_texts import options_of
        >>> find_whole_letter(Passage("- option (b).", options_of(("red", "blue"), 2), 2)).letter
        'B'
    """
    match = _ALONE.fullmatch(passage.text) if len(passage.text) <= LONGEST_ALONE else None
    if match is None:
        return None
    return passage.finding("whole", match["letter"], match.start("letter"), match.end("letter"))


def find_bare_line(passage: Passage) -> Finding | None:
    """Return the letter that stands alone on the first or last line, if all such lines agree (S6); upper case."""
    found = []
    for start, end in passage.lines:
        match = _ALONE.fullmatch(passage.text, start, end) if end - start <= LONGEST_ALONE else None
        if match is not None and match["letter"].isupper():
            found.append((start, match))
    if not found:
        return None
    ends = {passage.lines[0][0], passage.lines[-1][0]}
    at_ends = [match for start, match in found if start in ends]
    if not at_ends:
        return None
    chosen = at_ends[-1]
    if len({match["letter"] for _, match in found}) > 1:
        return Finding("bare_line", None, chosen.start("letter"), chosen.end("letter"), "conflict")
    return passage.finding("bare_line", chosen["letter"], chosen.start("letter"), chosen.end("letter"))


def find_enumerated(passage: Passage) -> Finding | None:
    """Return the letter before a text, as in "B. blue", on the first or last line (S7).

    If any other option is enumerated anywhere, the response echoes the options and nothing is chosen.
    """
    if not passage.lines:
        return None
    for start, end in (passage.lines[0], passage.lines[-1]):
        match = _ENUMERATED.match(passage.text, start, end)
        if match is None:
            continue
        letter, position = match["letter"], match.start("letter")
        if passage.is_masked(letter, position) or is_word(passage.text, position, passage.version):
            continue
        if _names_second_letter(passage, match):
            continue
        if letter == "A" and match["colon"]:
            if _QUESTION_LABEL.search(passage.text):
                continue
            if _may_mean_answer(passage, match, end):
                return Finding("enumerated", None, position, position + 1, "conflict")
        if _enumerated_letters(passage) - {letter}:
            return None
        return passage.finding("enumerated", letter, position, position + 1)
    return None


def find_parenthesised(passage: Passage) -> Finding | None:
    """Return the one letter in parentheses, if no other option letter stands anywhere (S8)."""
    if passage.options.has_letter_options or "(" not in passage.text:
        return None
    rejected = {mention.start for mention in passage.mentions if mention.is_negated}
    found = [
        match
        for match in _PARENTHESISED.finditer(passage.text)
        if not passage.is_masked(match["letter"], match.start("letter"))
    ]
    letters = {match["letter"] for match in found} | {mention.letter for mention in passage.mentions}
    if not found or len(letters) != 1 or any(match.start("letter") in rejected for match in found):
        return None
    last = found[-1]
    return passage.finding("parenthesised", last["letter"], last.start("letter"), last.end("letter"))


def _may_mean_answer(passage: Passage, match: re.Match[str], line_end: int) -> bool:
    """Return whether "A:" stands before the text of another option, so that it may be short for "Answer:"."""
    said = passage.options.equal_to(passage.text[match.end() : line_end])
    return bool(said) and "A" not in said


def _names_second_letter(passage: Passage, match: re.Match[str]) -> bool:
    """Return whether the text after the letter is, or begins with, another letter: "A. B", "A) or B)"."""
    second = _SECOND_LETTER.match(passage.text, match.end())
    if second is None or is_word(passage.text, match.end(), passage.version):
        return False
    if second["end"] is None and second.group()[0].isupper():
        return False
    return bool(match["colon"]) or not passage.options.has_letter_options


def _enumerated_letters(passage: Passage) -> set[str]:
    """Return the option letters that open a text anywhere in the passage."""
    found = {match["bracketed"] or match["plain"] for match in _ENUMERATORS.finditer(passage.text)}
    return found & set(passage.options.letters)
