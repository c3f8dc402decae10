"""Questions whose text lists its own options, split into stem and options by rule; what does not fit is reported."""

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Literal, NamedTuple

from eyechart.schema import Value

SplitState = Literal["split", "no_options_in_text", "not_split"]

RULES = (
    "The list of options is looked for at the end of the text: every option, in order, each behind its letter.",
    "A letter is (A), A., A) or A:, on a line of its own or on one line with the others. Only an exact list is cut.",
    "After the list, only a closing instruction to answer with a letter may stand; it is cut with the list.",
    "At the end of the stem, a request to choose ('Select from the following choices.') is cut.",
    "A text that shows an option letter but not exactly the question's options stays whole and is reported.",
)
"""The rules in words, for the release's own record."""

_GAP = r"\s+"
_INSTRUCTION = re.compile(
    r"\s*(?:please\s+)?(?:answer|respond|reply|choose|select|give)\b[^\n]{0,160}\b(?:letter|option|choice)s?\b[^\n]{0,80}\s*",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"[\s,;:]*(?:please\s+)?(?:select|choose|pick)(?:\s+(?:one|the\s+(?:correct|right|best)\s+\w+))?"
    r"\s+from\s+(?:the\s+)?(?:following|given|below)?\s*(?:choices|options|answers)(?:\s+below)?[\s.:]*$",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s*(?:options|choices)\s*:\s*$", re.IGNORECASE)
_FIRST_LETTERS = re.compile(r"(?:^|\s)(?:\(A\)|A[.):])\s*\S", re.MULTILINE)


class StemSplit(NamedTuple):
    """A text with its options cut off where they stand in it.

    Args:
        stem: The question alone; the whole text where it is not split.
        state: ``split``, ``no_options_in_text``, or ``not_split`` where something looks like options and is not them.
        cut: What was cut off, empty if nothing.
    """

    stem: str
    state: SplitState
    cut: str = ""


class SplitReport(Value, frozen=True):
    """What became of all texts: how many in each state, and the ids that were not split although they look so."""

    n_split: int
    n_without_options: int
    not_split: tuple[str, ...]


def split_stem(text: str, choices: Sequence[str]) -> StemSplit:
    r"""Cut the option list off a question's text, if it is exactly the list of the question's options.

    Args:
        text: The source text.
        choices: The question's options, in order.

    Example:
        >>> split_stem("How many? Select from the following choices.\n(A) 0\n(B) 2", ["0", "2"])
        StemSplit(stem='How many?', state='split', cut=' Select from the following choices.\n(A) 0\n(B) 2')
        >>> split_stem("How many?\n(A) 0\n(B) 3", ["0", "2"]).state
        'not_split'
    """
    found = _list_pattern(choices).search(text) if choices else None
    if found is None:
        looks_listed = bool(choices) and _FIRST_LETTERS.search(text) is not None
        return StemSplit(text, "not_split" if looks_listed else "no_options_in_text")
    head, tail = text[: found.start()], text[found.end() :]
    if tail.strip() and _INSTRUCTION.fullmatch(tail) is None:
        return StemSplit(text, "not_split")
    stem = _REQUEST.sub("", _HEADING.sub("", head)).rstrip()
    if not stem:
        return StemSplit(text, "not_split")
    return StemSplit(stem, "split", text[len(stem) :])


def report_splits(splits: Sequence[tuple[str, StemSplit]]) -> SplitReport:
    """Count splits of (question id, split)."""
    states = [split.state for _, split in splits]
    return SplitReport(
        n_split=states.count("split"),
        n_without_options=states.count("no_options_in_text"),
        not_split=tuple(question_id for question_id, split in splits if split.state == "not_split"),
    )


def _list_pattern(choices: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of the whole list, so that options with brackets or letters inside are read as they are."""
    entries = []
    for letter, choice in zip(ascii_uppercase, choices, strict=False):
        words = _GAP.join(map(re.escape, choice.split()))
        entries.append(rf"(?:\({letter}\)|{letter}[.):])[ \t]*{words}[.,;]?")
    return re.compile(rf"(?:^|(?<=\s)){_GAP.join(entries)}(?=\s|$)")
