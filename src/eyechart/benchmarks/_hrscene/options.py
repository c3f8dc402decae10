"""HRScene's question text taken apart: the stem, and options that stand below it as (A), (B), …."""

import re
from string import ascii_uppercase
from typing import NamedTuple

MIN_OPTIONS, MAX_OPTIONS = 2, 10

# An option begins on a line of its own; what follows on the line, or on further ones, is its text.
_MARK = re.compile(r"^[ \t]*\(([A-J])\)[ \t]?", re.MULTILINE)


class SplitText(NamedTuple):
    """Stem and options; without options the stem is the whole text."""

    stem: str
    choices: tuple[str, ...]


def split_options(text: str) -> SplitText:
    r"""Take a question apart.

    The options are the last unbroken run (A), (B), … of two to ten lines that reaches the end of the text, so lists in
    the stem and parentheses inside options stay where they are. An option may be empty or go over several lines.

    Example:
        >>> split_options("Which?\n(A) red (B)\n(B) \n(C) blue")
        SplitText(stem='Which?', choices=('red (B)', '', 'blue'))
        >>> split_options("Which of (A) and (B)?").choices
        ()
    """
    text = text.replace("\r\n", "\n")
    marks = list(_MARK.finditer(text))
    for first in range(len(marks) - MIN_OPTIONS, -1, -1):
        run = marks[first:]
        letters = "".join(mark[1] for mark in run)
        if len(run) <= MAX_OPTIONS and letters == ascii_uppercase[: len(run)]:
            return _split_at(text, run)
    return SplitText(text.strip(), ())


def _split_at(text: str, run: list[re.Match[str]]) -> SplitText:
    ends = [mark.start() for mark in run[1:]] + [len(text)]
    choices = tuple(text[mark.end() : end].strip() for mark, end in zip(run, ends, strict=True))
    return SplitText(text[: run[0].start()].strip(), choices)
