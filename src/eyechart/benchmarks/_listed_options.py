"""Questions whose text lists its own options: the stem, and the options in the order of their letters."""

import re
from string import ascii_uppercase
from typing import NamedTuple

_MIN_OPTIONS = 2
_LINE_MARK = re.compile(r"^[ \t]*(?:\(([A-Z])\)[.:]?|([A-Z])[.):])[ \t]+", re.MULTILINE)
_INLINE_MARK = re.compile(r"(?:(?<=\s)|^)\(([A-Z])\)[ \t]+")
_INSTRUCTION = re.compile(
    r"^\s*(?:please\s+)?(?:answer|respond|reply|choose|select|give)\b.*\b(?:letter|option|choice)s?\b.*$", re.IGNORECASE
)
_CUE = re.compile(r"^\s*(?:your |the |final )*answer\s*[:.]?\s*$", re.IGNORECASE)
_REQUEST = re.compile(
    r"[\s,;:]*(?:please\s+)?(?:select|choose|pick)\s+(?:\w+\s+){0,3}?from\s+(?:the\s+)?(?:following\s+|given\s+|below\s+)?"
    r"(?:choices|options|answers)(?:\s+below)?[\s.:]*$",
    re.IGNORECASE,
)


class ListedQuestion(NamedTuple):
    """A question and its options, taken apart; no options where the text lists none."""

    stem: str
    options: tuple[str, ...]


def take_apart(text: str) -> ListedQuestion:
    r"""Split a question from the options listed at its end.

    The list begins with A and goes on without a gap, each letter at the start of a line, or all of them in brackets
    on one line. Brackets and letters inside an option stay there. A closing instruction to answer with a letter, and a
    request to choose before the list, belong to neither.

    Example:
        >>> take_apart("How many? Select from the following choices.\n(A) 0\n(B) 2 (or 3)")
        ListedQuestion(stem='How many?', options=('0', '2 (or 3)'))
        >>> take_apart("What is it?").options
        ()
    """
    kept = without_instruction(text)
    for mark in (_LINE_MARK, _INLINE_MARK):
        marks = _last_run(mark, kept)
        if len(marks) >= _MIN_OPTIONS:
            ends = [*(start for start, _ in marks[1:]), len(kept)]
            options = tuple(kept[begin:end].strip() for (_, begin), end in zip(marks, ends, strict=True))
            stem = _REQUEST.sub("", kept[: marks[0][0]].rstrip()).rstrip()
            if stem and all(options):
                return ListedQuestion(stem, options)
    return ListedQuestion(text.strip(), ())


def without_instruction(text: str) -> str:
    """Return a text without closing lines that only tell how to answer with a letter."""
    lines = text.rstrip().splitlines()
    while len(lines) > 1 and (_INSTRUCTION.match(lines[-1]) or _CUE.match(lines[-1]) or not lines[-1].strip()):
        lines.pop()
    return "\n".join(lines)


def _last_run(mark: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return start and end of the marks A, B, C, … of the last list; marks out of order belong to an option's text."""
    best: list[tuple[int, int]] = []
    current: list[tuple[int, int]] = []
    for found in mark.finditer(text):
        letter = next(group for group in found.groups() if group)
        if letter == "A":
            if len(current) >= len(best):
                best = current
            current = [found.span()]
        elif current and letter == ascii_uppercase[len(current)]:
            current.append(found.span())
    return current if len(current) >= _MIN_OPTIONS else best
