"""What a response means where it states no letter outright: the further rules of the lenient mode."""

import re

from eyechart.scorers.option_letter.declarations import is_echo
from eyechart.scorers.option_letter.mentions import (
    AFTER_LETTER,
    CLOSING,
    is_negated_before,
    rival_after,
)
from eyechart.scorers.option_letter.passage import Finding, Passage

_LOWER_ENUMERATOR = re.compile(r"[a-z](?:\)\s?|\.\s(?!\w\.)|\.(?=\w\w))(?=\w)")
_BEFORE_ENUMERATOR = re.compile(
    r"(?:^|\n|\b(?:answer|option|choice)\W{1,4})[\s\-*•·#>\"']{0,4}(?:\d{1,3}[.)]\s)?\(?$", re.IGNORECASE
)
_CONCLUSION = re.compile(
    r"(?:\b(?:so|therefore|thus|hence|leaving|leaves|left with|leads to|points to|only)\b|所以|因此|故|排除后?)"
    r"[\s,:]{0,2}(?:(?:it(?:'s| is| must be| has to be| should be)|that(?:'s| is| leaves)|this is|we have|(?:us|me)"
    r" with|only|just|the|is|option|choice|answer|选|選|是|为)[\s,:]{0,2}){0,4}[(\[\"']?"
    rf"(?P<letter>[A-Z]){AFTER_LETTER}{CLOSING}{{0,3}}\s?[.!。]?\s?{CLOSING}{{0,3}}\s?$"
)
# A letter after one of these is a name or is printed in the picture: "Gate B", "it reads B", "vitamin C".
_NAMED = re.compile(
    r"\b(?:figure|fig\.?|gate|row|column|section|vitamin|plan|type|class|grade|group|team|terminal|platform|building|block"
    r"|level|floor|zone|lane|exit|route|highway|hepatitis|appendix|table|part|point|person|player|car|bus|line|letters?"
    r"|size|model|series|reads|says|spells|printed|written|labell?ed|marked|drive|note|key|street|avenue|room|seat|door"
    r"|dr|mr|mrs|ms|prof)[.:]?\s[\"'(]?$",
    re.IGNORECASE,
)
# "B. Wait, no, C.", "Correction: (C)", "B or rather C": the last words of a response take back what it said before.
_CORRECTION = re.compile(
    r"(?:\b(?i:wait|actually|correction|sorry|apologies|rather|scratch that|strike that|on second thoughts?"
    r"|more precisely|I mean|make that)\b|(?<=[.!?…,;:\n–—-])\s?(?i:no)\b)[\s,.:;!–—-]{1,4}"
    r"(?i:(?:wait|actually|no|sorry|rather|I mean)[\s,.:;!–—-]{1,3}){0,2}"
    r"(?i:(?:it(?:'s| is| must be| should be)|make that|that's|I meant?|I'd say|the answer is)\s)?"
    rf"(?i:option\s|choice\s)?(?P<open>[(\[\"']?)(?P<letter>[A-Z]){AFTER_LETTER}(?P<close>[)\]\"']?)"
    r"\s?[.!。]?\s?$"
)
_PAIRS = {"": "", "(": ")", "[": "]", '"': '"', "'": "'"}
LONGEST_CORRECTION = 80
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_POSITION = re.compile(
    rf"\b(?:the|my|answer:)\s(?P<place>{'|'.join(_PLACES)}|last)\s(?:(?:given|listed)\s)?(?:option|choice|answer|alternative)\b",
    re.IGNORECASE,
)
_NO_IN_PASSING = re.compile(r"no (?:doubt|question|longer|matter|problem|other|one|idea|further|more)\b")
_UNFINISHED = re.compile(
    r"(?:\b(?:and|or|but|the|an?|with|because|of|to|as|than|if)|(?<!\bit )(?<!\bthat )(?<!\bthis )\bis)\s?[,:]?\s?$"
)
_ANSWER_LABEL = re.compile(r"(?<!\S)A\s?:\s?(?:\n|$)")
# "B if the light is on" says what would be, "B, if I am not mistaken" what is.
_ON_CONDITION = re.compile(rf"{CLOSING}{{0,2}},?\s(?:only\s)?if\s(?!(?:I|we|you|my|our|anything|forced|pressed)\b)")
_AND_SIGN = "&"


def find_equal_text(passage: Passage) -> Finding | None:
    """Return the option whose text is the whole passage (L1); none, decidedly, if several options read the same."""
    said = passage.options.equal_to(passage.text)
    if not said:
        return None
    start = len(passage.text) - len(passage.text.lstrip())
    end = len(passage.text.rstrip())
    if len(said) > 1:
        return Finding("equal_text", None, start, end, "duplicate_choice")
    return Finding("equal_text", said[0], start, end)


def find_correction(passage: Passage) -> Finding | None:
    """Return the letter with which the last words correct one before, "The answer is D. Sorry, A." (since version 2).

    Example:
        >>> from eyechart.scorers.option_letter.option_texts import options_of
        >>> find_correction(Passage("B. Wait, no, C.", options_of(("red", "blue", "green"), 2), 2)).letter
        'C'
    """
    text = passage.text
    match = _CORRECTION.search(text, max(0, len(text) - LONGEST_CORRECTION)) if passage.version > 1 else None
    if match is None or _PAIRS[match["open"]] != match["close"]:
        return None
    letter, position = match["letter"], match.start("letter")
    is_said_before = any(mention.start < match.start() for mention in passage.mentions)
    if not is_said_before or passage.is_masked(letter, position) or is_negated_before(text, position, 2, 3):
        return None
    return passage.finding("correction", letter, position, position + 1)


def find_lower_enumerator(passage: Passage) -> Finding | None:
    """Return the letter of "b) blue" or "(b) blue" (L2), if no second letter is enumerated so."""
    if passage.mentions:
        return None
    text = passage.text
    starts = [
        match.start()
        for match in _LOWER_ENUMERATOR.finditer(text)
        if _BEFORE_ENUMERATOR.search(text, max(0, match.start() - 24), match.start())
    ]
    if len({text[start] for start in starts}) != 1 or is_negated_before(text, starts[0], passage.version):
        return None
    if is_echo(text, starts[0], passage.options.letters):
        return None
    finding = passage.finding("lower_enumerator", text[starts[0]], starts[0], starts[0] + 1)
    return finding if finding.letter else None


def find_conclusion(passage: Passage) -> Finding | None:
    """Return the letter that the last words conclude with: "so B", "leaving D" (L3)."""
    match = _CONCLUSION.search(passage.text, max(0, len(passage.text) - 80))
    if match is None or is_negated_before(passage.text, match.start(), passage.version, 3):
        return None
    position = match.start("letter")
    if passage.is_masked(match["letter"], position) or passage.options.has_stand_alone_letters:
        return None
    finding = passage.finding("conclusion", match["letter"], position, position + 1)
    return finding if finding.letter else None


def find_only_letter(passage: Passage) -> Finding | None:
    """Return the one upper-case letter that stands alone and is not rejected (L4).

    Skipped where an option's own text contains such a letter; decides "conflict" where two options are named.
    """
    if passage.options.has_stand_alone_letters or not passage.mentions:
        return None
    open_mentions = [mention for mention in passage.mentions if not mention.is_negated]
    letters = {mention.letter for mention in open_mentions}
    in_range = letters & set(passage.options.letters)
    if not in_range:
        return None
    rejected = {mention.letter for mention in passage.mentions if mention.is_negated}
    last = open_mentions[-1]
    if len(letters) > 1 or letters & rejected or is_echo(passage.text, last.start, passage.options.letters):
        return Finding("only_letter", None, last.start, last.start + 1, "conflict")
    if _is_unclear(passage, last.start):
        return None
    return Finding("only_letter", last.letter, last.start, last.start + 1)


def find_contained_text(passage: Passage) -> Finding | None:
    """Return the one option whose text stands in the passage as whole words and is not rejected (L5)."""
    found = [
        occurrence
        for occurrence in passage.options.occurrences(passage.lowered)
        if not _is_refused(occurrence.start, occurrence.end, passage.refusals)
        and not passage.is_rejected(occurrence.start, occurrence.end)
        and (passage.version == 1 or not _NO_IN_PASSING.match(passage.lowered, occurrence.start))
    ]
    if passage.version > 1:
        found = [one for one in found if not _says_how_many(passage, one.start, one.end)] or found
    letters = {passage.options.letters[occurrence.choice] for occurrence in found}
    if not letters:
        return None
    if passage.version > 1 and _is_unfinished(passage.text):
        return None
    last = found[-1]
    if len(letters) > 1:
        return Finding("contained_text", None, last.start, last.end, "conflict")
    letter = letters.pop()
    if letter in passage.options.duplicated:
        return Finding("contained_text", None, last.start, last.end, "duplicate_choice")
    return Finding("contained_text", letter, last.start, last.end)


def _says_how_many(passage: Passage, start: int, end: int) -> bool:
    """Return whether an option "No" is found in "no cars", where it answers only if nothing else does."""
    return passage.lowered[start:end] == "no" and re.match(r" [^\W\d_]", passage.text[end : end + 2]) is not None


def find_number_word(passage: Passage) -> Finding | None:
    """Return the option that is a number which the passage writes as a word: "three dogs" (L6, since version 2)."""
    if passage.version == 1:
        return None
    found = list(passage.options.number_words(passage.lowered))
    kept = [
        occurrence
        for occurrence in found
        if not _is_refused(occurrence.start, occurrence.end, passage.refusals)
        and not passage.is_rejected(occurrence.start, occurrence.end)
    ]
    letters = {passage.options.letters[occurrence.choice] for occurrence in kept}
    if len(letters) != 1 or _is_unfinished(passage.text):
        return None
    return Finding("number_word", letters.pop(), kept[-1].start, kept[-1].end)


def find_position(passage: Passage) -> Finding | None:
    """Return the option that is named by its place in the list, "the second option" (L7, since version 2)."""
    if passage.version == 1:
        return None
    found = [
        (match, _PLACES.index(match["place"].lower()) if match["place"].lower() in _PLACES else -1)
        for match in _POSITION.finditer(passage.text)
        if not passage.is_rejected(match.start(), match.end())
    ]
    places = {place for _, place in found}
    letters = passage.options.letters
    if len(places) != 1 or not letters or max(places) >= len(letters):
        return None
    last = found[-1][0]
    return Finding("position", letters[places.pop()], last.start("place"), last.end("place"))


def _is_unfinished(text: str) -> bool:
    """Return whether a text breaks off inside a sentence, so that what it has said so far is not an answer."""
    return _UNFINISHED.search(text, max(0, len(text) - 24)) is not None


def _is_unclear(passage: Passage, start: int) -> bool:
    """Return whether the letter is a name, or is offered with another."""
    text = passage.text
    return (
        _NAMED.search(text[max(0, start - 24) : start]) is not None
        or rival_after(text, start + 1, passage.version)
        or re.search(r"\d\s$", text[max(0, start - 2) : start]) is not None  # 20 C
        or _ANSWER_LABEL.match(text, start) is not None
        or (passage.version > 1 and _ON_CONDITION.match(text, start + 1) is not None)
        or (passage.version > 1 and _AND_SIGN in (text[start + 1 : start + 2], text[max(0, start - 1) : start]))  # B&B
    )


def _is_refused(start: int, end: int, spans: tuple[tuple[int, int], ...]) -> bool:
    """Return whether a refusal reaches beyond the option text; an option may itself be one, "cannot be determined"."""
    return any(begin < end and start < stop and not (start <= begin and stop <= end) for begin, stop in spans)
