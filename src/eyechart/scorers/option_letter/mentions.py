"""Single letters in a text: which stand alone, which are articles or pronouns, rejected, or one of several."""

import re
from typing import NamedTuple

from eyechart.scorers.option_letter.governing import governs_something_else

# Chinese, Japanese and Korean put no space around a letter: their characters are not part of a word here.
CJK = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
WORD = rf"[^\W{CJK}]"
MARKS = "\u0300-\u036f\u0483-\u0489\u20d0-\u20ff"
AFTER_LETTER = rf"(?!{WORD}|[{MARKS}#^]|'[A-Za-z]|\+(?![A-Z])|-\s?\Z|-(?![A-Z](?!{WORD})){WORD}|\.[A-Za-z](?![A-Za-z]))"
BEFORE_LETTER = rf"(?<!{WORD})(?<![°@#])(?<![A-Za-z]')(?<![A-Za-z]\.)(?<!{WORD}{WORD}-)(?<!\d-)"
_CAPITAL = re.compile(r"[A-Z](?![A-Za-z0-9_])")
_MENTION = re.compile(rf"{BEFORE_LETTER}[A-Z]{AFTER_LETTER}")

CLOSING = r"[\"'»」』》】〉)\]}>|]"


def words(text: str) -> frozenset[str]:
    """Return the words of a list written as running text."""
    return frozenset(text.split())


# What may follow an option letter A, and never follows the article: verbs, conjunctions, prepositions.
_AFTER_OPTION_I = words(
    """also and as based because but correctly due fits for from given has hence is matches means option or rather seems
    shows since so that then therefore thus which while with"""
)
_AFTER_OPTION_A = _AFTER_OPTION_I | words(
    """after although appears are at before being by can cannot choice contains corresponds could depicts describes does
    doesn't here if in indicates instead isn't it looks may might must not nor on over represents should states than
    though through to unless until vs was wasn't were what when where whereas will without"""
)
_NEXT_WORD = re.compile(rf"[ ][\"']?((?:[^\W{CJK}]|['-])+)")

# A negation does not reach over these into the next clause.
_STOPS = ".;:!?\n,–—"
_CJK_STOPS = re.compile(r"[。、]|而是|所以|因此|故|(?<!不)[应應]")
_CLAUSE_WORDS = words("- although because but hence however leaves leaving making so then therefore thus yet")
_CLAUSE_AFTER_AND = words("i is it my so the there")
_NEGATORS = words(
    """avoid cannot cant discard discarded discards dismiss dismissed dismisses doesnt dont doubt eliminate eliminated
    eliminates eliminating except excepting excepto exclude excluded excludes excluding false incorrect incorrectly isnt
    jamais kein keine neither never nicht nor not nunca não pas reject rejected rejecting rejects sauf unable unlike
    unlikely wrong не нет"""
)
_NEGATORS_SINCE_2 = _NEGATORS | {"ni", "weder"}
_NEGATING_PAIRS = frozenset(
    {"anything but", "compared to", "compared with", "instead of", "other than", "rather than", "non è"}
    | {f"no {noun}" for noun in ("clue", "evidence", "idea", "indication", "sign", "way", "es", "son")}
    | {f"{verb} out" for verb in ("rule", "ruled", "rules", "ruling")}
)
_NEGATING_PAIRS_SINCE_2 = _NEGATING_PAIRS | {
    f"least {word}" for word in ("likely", "plausible", "probable", "suitable")
}
# What others are said to think is not the model's own answer: "you might think the answer is B", "some would say B".
_ASCRIBED = re.compile(
    r"\b(?:(?:you|one) (?:might|may|would) (?:\w+ly |be tempted to |at first )?"
    r"(?:think|assume|believe|expect|guess|say)"
    r"|(?:some|someone|many|people|others|the user|users) (?:(?:might|may|would|could) )?(?:\w+ly )?"
    r"(?:think|assume|believe|expect|guess|say|argue|claim|suggest)s?)\b",
    re.IGNORECASE,
)
_NO_NEGATION = frozenset(
    {"no doubt", "without doubt", "a doubt", "any doubt"}
    | {f"not {adverb}" for adverb in ("just", "mistaken", "only", "surprisingly", "wrong")}
)
_TRIGGERS = _NEGATORS | {pair.split()[1] for pair in _NEGATING_PAIRS_SINCE_2}
_WORD_EDGE = "\"'()[]{}<>|"
_FOREIGN_CLAUSE_WORDS = words("aber ma maar mais mas pero sino sondern")
_NONE_OF = re.compile(r"\bnone of\b", re.IGNORECASE)
_DENIERS = words("cannot none not nothing never no")
# What a negation in front of "the … 的" and "is" describes is another thing: "the car that is not parked is red".
_CJK_ATTRIBUTE = re.compile(r"的[^是]{0,20}是")
_CJK_NEGATOR = re.compile(r"不是|不选|不选|不应|不能|不可能|不会|不對|排除|并非|並非|错误|錯誤|除了")
_NEGATED_DIRECTLY = re.compile(
    r"(?:\b(?:(?:no|non) ?|(?:rejected|eliminated|excluded|ruled out|incorrect|wrong|not)\s?:\s?)(?:longer\s)?"
    r"(?:option\s|choice\s)?|(?<![\w)\].])(?<![\w)\].]\s)[❌✗✘🚫❎☒]\s?|[≠¬不非别別]\s?)[(\[\"']?\Z"
)
_REJECTION = (
    r"not\b(?! only)|n't\b|wrong|incorrect|false\b|invalid|inaccurate|unlikely|impossible|implausible|excluded"
    r"|eliminated|ruled out|rejected|discarded|dismissed|out\b|off\b|no longer"
)
_REJECTED_AFTER = re.compile(
    rf"{CLOSING}{{0,4}}\s?(?:\([^()\n]{{0,60}}\)\s?)?(?:[:–—-]\s?)?(?:(?:option|choice|answer|one)\s)?"
    r"(?:(?:(?:is|are|was|were|looks?|seems?|appears?|be|can|could|may|might|does|do|did|would|will|has|must)\s?"
    r"(?:(?:be|both|all|clearly|definitely|obviously|also|probably|therefore|simply|just|certainly|thus|then|the|an?"
    r"|been|are)\s){0,3})"
    rf"(?:{_REJECTION})|cannot\b|[(\[]?(?:wrong|incorrect|false\b|ruled out|eliminated|rejected|excluded"
    r"|not (?:correct|right|it|possible|the)\b)|\s?[❌✗✘🚫❎☒]"
    r"|(?:选项|選項|项|項|選択肢|番|번)?\s?(?:也|都|是|为|為|显然|明显|就)?\s?(?:错|錯|不正确|不正確|不对|不對|不是|不符|不成立"
    r"|不合"
    r"|不可能|不选|吗|嗎|可?以?(?:被)?排除|应?排除|有误|有誤|(?:が|は|では|も)?(?:ない|ありません|じゃない|間違|誤|不正解|違)"
    r"|(?:가|이|은|는)?\s?(?:아니|아닙|아닌|틀|오답))"
    r"|\?\s?no\b|es incorrect|no es\b|est (?:incorrect|fau)|n'est pas|ist (?:falsch|nicht)|não é|неверн|неправильн)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"{CLOSING}{{0,3}}\s?(?:(?:[,、/&+~–—-]|\s(?=(?-i:[A-Z]))|(?:and|or|nor|vs\.?|to|through|thru|und|oder|ou|et|y|o|e|или|и)\b"
    r"|and/or|和|与|與|或者?|及|还是|還是|や|と|または|か|또는|과|와|나|이나)\s?){1,3}"
    r"(?:(?:but\s)?(?:maybe|possibly|perhaps|also|even|either|both|could be|option|choice|answer|选项|選項)\s?){0,3}"
    rf"[\"'「『《【(\[{{<]{{0,3}}",
    re.IGNORECASE,
)
_HEDGED_RIVAL = re.compile(
    rf"{CLOSING}{{0,3}},?\s?(?:but|or|and|,)?\s?(?:maybe|possibly|perhaps|alternatively|could also be|or maybe)\s"
    r"(?:it's\s|option\s)?[(\[\"']?",
    re.IGNORECASE,
)
_OWN_CLAUSE = re.compile(
    rf"{CLOSING}{{0,3}}\s(?:is|was|looks|seems|appears|has|shows|would|could|can|does|fits|matches|cannot|isn't"
    r"|wasn't|doesn't|might|may|must|should)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"\b(?:or|nor|oder|ou|или)\b|/|或|还是|還是|または|또는", re.IGNORECASE)
_LETTER_NEXT = re.compile(rf"[A-Z]{AFTER_LETTER}")
# A conjunction between two letters of another language: "A o C". It follows no English article.
_OTHER_OR = words("oder und ou et o y e или и")
_FOREIGN_OR = re.compile(rf" (?:{'|'.join(sorted(_OTHER_OR))}) [(\[\"']?[A-Z]{AFTER_LETTER}")
_MEASURES = words("can choice look match")
_REJECTED_IN_JAPANESE = re.compile(rf"{CLOSING}{{0,3}}\s?(?:では|じゃ)なく")
_MERELY_DESCRIBED = re.compile(r"\sone\s(?:(?:is|was)\snot|isn't|wasn't)\s[a-z]{2,20}(?:ing|ed)\b")
_PLURAL_REJECTION = re.compile(rf"{CLOSING}{{0,3}}\s(?:are|were|do|can|look|seem)\b", re.IGNORECASE)

WINDOW = 80
"""How many characters before a letter are searched for a negation."""


class Mention(NamedTuple):
    """One upper-case letter that stands alone.

    Args:
        letter: The letter, which may lie beyond the options.
        start: Its position.
        is_negated: Whether the text rejects it, by itself or as part of a list.
    """

    letter: str
    start: int
    is_negated: bool


def find_mentions(text: str, starts: tuple[int, ...], version: int) -> tuple[Mention, ...]:
    """Judge the stand-alone letters at ``starts``.

    A negation reaches over a list: "can't be B, C or D" rejects three letters.

    Example:
        >>> text = "A cat. I say D; it can't be B or C."
        >>> [(mention.letter, mention.is_negated) for mention in find_mentions(text, letter_starts(text, 2), 2)]
        [('D', False), ('B', True), ('C', True)]
    """
    negated: list[bool] = []
    for index, start in enumerate(starts):
        inherited = index > 0 and negated[-1] and _is_listed(text, starts[index - 1], start)
        negated.append(
            inherited or is_negated_before(text, start, version) or is_negated_after(text, start + 1, version)
        )
    for index in range(len(starts) - 2, -1, -1):
        if not negated[index] and negated[index + 1] and _PLURAL_REJECTION.match(text, starts[index + 1] + 1):
            negated[index] = _is_listed(text, starts[index], starts[index + 1])
    return tuple(Mention(text[start], start, flag) for start, flag in zip(starts, negated, strict=True))


def letter_starts(text: str, version: int) -> tuple[int, ...]:
    """Return where stand-alone upper-case letters are, without the article A and the pronoun I.

    Example:
        >>> letter_starts("A cat. I say D.", 2)
        (13,)
    """
    candidates = (match.start() for match in _CAPITAL.finditer(text))
    return tuple(start for start in candidates if _MENTION.match(text, start) and not is_word(text, start, version))


def is_word(text: str, start: int, version: int) -> bool:
    """Return whether the A or I at ``start`` is the article or the pronoun, by the word that follows.

    Example:
        >>> is_word("A dog", 0, 2), is_word("A because it is red", 0, 2), is_word("B dog", 0, 2)
        (True, False, False)
    """
    letter = text[start]
    if letter not in "AI":
        return False
    following = _NEXT_WORD.match(text, start + 1)
    if following is None or _LETTER_NEXT.fullmatch(following[1]):
        return False
    word = following[1].casefold()
    if version > 1 and word in _OTHER_OR and _FOREIGN_OR.match(text, start + 1):
        return False
    if version > 1 and word in _MEASURES and text.startswith(" of ", following.end()):
        return True
    return word not in (_AFTER_OPTION_A if letter == "A" else _AFTER_OPTION_I)


def is_negated_before(text: str, start: int, version: int, n_words: int = 6) -> bool:
    """Return whether a negation in the same clause, at most ``n_words`` words before ``start``, reaches it.

    Since version 2 it does not where it governs something else: "the car that is not parked is red".

    Example:
        >>> is_negated_before("It can't be B", 12, 2), is_negated_before("It is not red, so B", 18, 2)
        (True, False)
        >>> [is_negated_before("The car that is not parked is B", 30, version) for version in (1, 2)]
        [True, False]
    """
    window = text[max(0, start - WINDOW) : start]
    tail = window[-24:].lower()
    if ("no" in tail or ":" in tail or not tail.isascii()) and _NEGATED_DIRECTLY.search(tail):
        return True
    clause = window[1 + max(map(window.rfind, _STOPS)) :]
    if not clause.isascii():
        stops = [match.end() for match in _CJK_STOPS.finditer(clause)]
        clause = clause[stops[-1] :] if stops else clause
        negator = _CJK_NEGATOR.search(clause)
        if negator is not None and (version == 1 or not _CJK_ATTRIBUTE.search(clause, negator.end())):
            return True
    words = clause.lower().split()
    is_of_none = version > 1 and (_NONE_OF.search(clause) or _ASCRIBED.search(clause))
    if is_of_none and _CLAUSE_WORDS.isdisjoint(words):
        return True
    return _has_negator(words, n_words, version)


def _has_negator(words: list[str], n_words: int, version: int) -> bool:
    """Return whether one of the last ``n_words + 1`` words negates, read backwards to the beginning of the clause."""
    bare = [word.strip(_WORD_EDGE) for word in words[-n_words - 2 :]]
    negators = _NEGATORS if version == 1 else _NEGATORS_SINCE_2
    pairs = _NEGATING_PAIRS if version == 1 else _NEGATING_PAIRS_SINCE_2
    if _TRIGGERS.isdisjoint(bare) and negators.isdisjoint(bare) and not any(word.endswith("n't") for word in bare):
        return False
    for index in range(len(bare) - 1, max(len(bare) - n_words - 2, -1), -1):
        word = bare[index]
        previous = bare[index - 1] if index else ""
        following = bare[index + 1] if index + 1 < len(bare) else ""
        if f"{previous} {word}" in pairs:
            return version == 1 or not _is_denied_exception(bare[: index + 1])
        begins_clause = word in _CLAUSE_WORDS or (version > 1 and word in _FOREIGN_CLAUSE_WORDS)
        if begins_clause or (word == "and" and following in _CLAUSE_AFTER_AND):
            return False
        is_negator = word in negators or word.endswith("n't")
        if is_negator and not {f"{previous} {word}", f"{word} {following}"} & _NO_NEGATION:
            before = [word.strip(_WORD_EDGE) for word in words[: len(words) - len(bare) + index]]
            is_elsewhere = version > 1 and governs_something_else(before, word, bare[index + 1 :])
            return not is_elsewhere or _has_negator(before, n_words, version)
    return False


def _is_denied_exception(words: list[str]) -> bool:
    """Return whether the exception that ends ``words`` is itself denied: "it can't be anything other than"."""
    if words[-2:] not in (["other", "than"], ["anything", "but"]):
        return False
    return any(word in _DENIERS or word.endswith("n't") for word in words[-6:-2])


def is_negated_after(text: str, end: int, version: int) -> bool:
    """Return whether what follows ``end`` rejects the letter: "is wrong", "(incorrect)", "选项错误".

    Example:
        >>> is_negated_after("B is not it", 1, 2), is_negated_after("B, not A", 1, 2)
        (True, False)
    """
    if version > 1 and _MERELY_DESCRIBED.match(text, end):
        return False
    if _REJECTED_AFTER.match(text, end) or (
        version > 1 and text.startswith(", is ", end) and _REJECTED_AFTER.match(text, end + 1)
    ):
        return True
    return version > 1 and _REJECTED_IN_JAPANESE.match(text, end) is not None


def rival_after(text: str, end: int, version: int) -> bool:
    """Return whether the letter that ends at ``end`` is offered together with another: "B or C", "B, C", "B/C"."""
    between = _BETWEEN.match(text, end) or _HEDGED_RIVAL.match(text, end)
    if between is None:
        return False
    rival = _LETTER_NEXT.match(text, between.end())
    if rival is None or rival.group() == text[end - 1] or is_word(text, rival.start(), version):
        return False
    return bool(_OR.search(between.group())) or not _OWN_CLAUSE.match(text, rival.end())


def rival_before(text: str, start: int) -> bool:
    """Return whether "A or", "A and", "A/" stands directly before the letter at ``start``."""
    window = text[max(0, start - 24) : start]
    previous = re.search(rf"{BEFORE_LETTER}([A-Z]){CLOSING}{{0,2}}\s?(?:\b(?:or|and|nor)\b|/|&|或|和)[^A-Za-z]{{0,3}}"
                         r"(?:option\s)?[^\w\s]{0,2}$", window)  # fmt: skip
    return previous is not None


def _is_listed(text: str, first: int, second: int) -> bool:
    """Return whether only list words stand between two letters, and the second begins no clause of its own."""
    between = _BETWEEN.fullmatch(text, first + 1, second)
    if between is None:
        return False
    return bool(_OR.search(between.group())) or not _OWN_CLAUSE.match(text, second + 1)
