"""Reading one option letter out of a response: the rules in order, strict and lenient."""

from functools import lru_cache
from typing import Literal, NamedTuple

from eyechart.scorers.option_letter import lenient, placement
from eyechart.scorers.option_letter.characters import read_characters
from eyechart.scorers.option_letter.containers import Opened, open_containers
from eyechart.scorers.option_letter.declarations import find_declaration
from eyechart.scorers.option_letter.markup import plain
from eyechart.scorers.option_letter.option_texts import OptionTexts, options_of, tokens
from eyechart.scorers.option_letter.passage import Finding, Passage
from eyechart.scorers.option_letter.refusals import says_cannot_tell
from eyechart.scorers.option_letter.traced import Traced

Mode = Literal["strict", "lenient"]

STRICT_RULES = (
    placement.find_whole_letter,
    find_declaration,
    placement.find_bare_line,
    placement.find_enumerated,
    placement.find_parenthesised,
)
LENIENT_RULES = (
    lenient.find_equal_text,
    lenient.find_lower_enumerator,
    lenient.find_conclusion,
    lenient.find_only_letter,
    lenient.find_contained_text,
)


class Extraction(NamedTuple):
    """What a response says about the options.

    Args:
        letter: The letter, always one of the options; None if the response states none.
        span: Half-open character span in the response as given; None without a match.
        rule: The rule that decided, None if none did.
        reason: Why there is no letter; None if there is one.
        diagnostics: What else was noticed, sorted: ``beyond_range``, ``conflict``, ``duplicate_choice``,
            ``letter_text_mismatch``, ``refusal_like``.
    """

    letter: str | None
    span: tuple[int, int] | None = None
    rule: str | None = None
    reason: str | None = None
    diagnostics: tuple[str, ...] = ()


def extract(text: str, choices: tuple[str, ...], mode: Mode = "strict") -> Extraction:
    """Read the option letter that a response states.

    Pure, deterministic, linear in the length of ``text``, and never raises. It never guesses: whatever is ambiguous
    has no letter. A strict letter is always the lenient one.

    Args:
        text: The response as stored.
        choices: Options as shown, the first being A. Without options there is no letter.
        mode: ``strict`` wants the letter stated; ``lenient`` also accepts an option's text and a lone letter.

    Example:
        >>> extract("The answer is **(B)**.", ("red", "blue"))
        Extraction(letter='B', span=(17, 18), rule='declaration', reason=None, diagnostics=())
        >>> extract("It is blue.", ("red", "blue")).letter, extract("It is blue.", ("red", "blue"), "lenient").letter
        (None, 'B')
    """
    if not text.strip():
        return Extraction(None, reason="empty")
    opened, read, passage = _read(text, choices)
    if opened.is_empty or opened.is_conflicting:
        reason = "empty_container" if opened.is_empty else "conflict"
        return Extraction(None, rule=opened.container, reason=reason)
    finding, passed_over = _first_finding(passage, mode)
    read_letter = _extraction(passage, finding, read, opened)
    if passed_over is None:
        return read_letter
    notes = tuple(sorted({*read_letter.diagnostics, passed_over}))
    return read_letter._replace(diagnostics=notes)


@lru_cache(maxsize=8)
def _read(text: str, choices: tuple[str, ...]) -> tuple[Opened, Traced, Passage]:
    """Return a response opened, in plain text, and as a passage; kept for the second mode."""
    opened = open_containers(read_characters(text))
    read = plain(opened.read)
    return opened, read, Passage(read.text, options_of(choices))


def _first_finding(passage: Passage, mode: Mode) -> tuple[Finding | None, str | None]:
    """Return the first decision, and the reason of one that was passed over.

    The lenient rules go on after a letter beyond the options, never after a conflict.
    """
    finding = next((found for rule in STRICT_RULES if (found := rule(passage)) is not None), None)
    if mode == "strict" or (finding is not None and finding.reason != "beyond_range"):
        return finding, None
    lenient_finding = next((found for rule in LENIENT_RULES if (found := rule(passage)) is not None), None)
    if lenient_finding is None:
        return finding, None
    return lenient_finding, None if finding is None else finding.reason


def _extraction(passage: Passage, finding: Finding | None, read: Traced, opened: Opened) -> Extraction:
    is_refusal = bool(passage.refusals)
    if finding is None:
        if says_cannot_tell(passage.text):
            reason = "cannot_tell"
        else:
            reason = "refusal_like" if is_refusal else "no_option_letter"
        return Extraction(None, reason=reason, diagnostics=("refusal_like",) if is_refusal else ())
    notes = {finding.reason} if finding.reason else set()
    if is_refusal:
        notes.add("refusal_like")
    if finding.letter in passage.options.duplicated:
        notes.add("duplicate_choice")
    if finding.letter and _contradicts_text(passage, finding):
        notes.add("letter_text_mismatch")
    rule = f"{opened.container}.{finding.rule}" if opened.container else finding.rule
    span = read.original_span(finding.start, finding.end) if finding.end > finding.start else None
    return Extraction(finding.letter, span, rule, finding.reason, tuple(sorted(notes)))


def _contradicts_text(passage: Passage, finding: Finding) -> bool:
    """Return whether the text printed after the letter is another option's: "B. green" while B is blue."""
    if finding.end - finding.start != 1:
        return False
    line = passage.text[finding.end : finding.end + 2 * passage.options.max_length + 40].split("\n")[0]
    said = tokens(line)
    options: OptionTexts = passage.options
    own = options.tokens[options.letters.index(finding.letter or "A")]
    return bool(said) and said != own and said in options.tokens
