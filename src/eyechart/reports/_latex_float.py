r"""A LaTeX table that keeps to its place: over both columns if it is wide, shrunk where that is not enough."""

from collections.abc import Sequence
from textwrap import wrap

_HEAD = "% Written by eyechart. Needs no package; with graphicx a table wider than its place shrinks to it."
# Shrinks only where the paper has loaded graphicx.
_FIT_MACRO = (
    "\\providecommand{\\eyechartfit}[1]{\\sbox0{#1}\\ifdim\\wd0>\\linewidth\\ifcsname resizebox\\endcsname"
    "\\resizebox{\\linewidth}{!}{\\usebox0}\\else\\usebox0\\fi\\else\\usebox0\\fi}"
)
# Characters in 10 pt: what one of two columns holds, the most that still reads when shrunk to both, and what a block
# of several should hold; then the lines of a page.
_COLUMN, _SHRUNK, _BLOCK = 46, 150, 130
_PAGE_LINES, _HEAD_LINES = 50, 3
_PROSE, _PROSE_EM = 40, 14
_BETWEEN = 2
_NARROWEST_HEADING = 10
_FULL_STOPS = (".", "!", "?", ":")


def latex_float(caption: str, label: str, tabulars: Sequence[str], *, is_wide: bool, macros: Sequence[str] = ()) -> str:
    """Return a float with caption and label around tabulars, one below the other.

    Args:
        caption: Escaped.
        label: Escaped.
        tabulars: Each as ``tabular`` returns it.
        is_wide: Whether it stands over both columns of a two-column paper; in other papers that means nothing.
        macros: Definitions that the tabulars use.
    """
    name = "table*" if is_wide else "table"
    lines = [
        _HEAD,
        _FIT_MACRO,
        *macros,
        f"\\begin{{{name}}}",
        "  \\centering",
        f"  \\caption{{{caption}}}",
        f"  \\label{{{label}}}",
    ]
    for one in tabulars:
        lines += ["  \\medskip", f"  \\eyechartfit{{{one}}}", ""]
    return "\n".join([*lines[:-1], f"\\end{{{name}}}"]) + "\n"


def tabular(alignment: str, lines: Sequence[str]) -> str:
    """Return a tabular of ready lines."""
    return "\n".join([f"\\begin{{tabular}}{{{alignment}}}", *(f"    {line}" for line in lines), "  \\end{tabular}"])


def stack_headings(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the lines of every heading, which are no longer than the cells below, or their longest word.

    Args:
        lines: Headings and rows, all of one length.
    """
    stacked = []
    for heading, *cells in zip(*lines, strict=True):
        width = max(_NARROWEST_HEADING, *map(len, cells), 0)
        stacked.append(wrap(heading, width, break_long_words=False, break_on_hyphens=False) or [heading])
    return stacked


def column_widths(lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the characters of every column, its stacked heading included; prose counts as the room it is given."""
    widths = []
    for heading, (_, *cells) in zip(stack_headings(lines), zip(*lines, strict=True), strict=True):
        widths.append(min(_PROSE, max(map(len, (*heading, *cells)))))
    return widths


def column_kinds(lines: Sequence[Sequence[str]], is_number: Sequence[bool]) -> list[str]:
    """Return the alignment of every column: numbers at the right, words at the left, long texts on several lines."""
    longest = [max(map(len, column[1:]), default=0) for column in zip(*lines, strict=True)]
    return [
        "r" if right else f"p{{{_PROSE_EM}em}}" if longest[at] > _PROSE else "l" for at, right in enumerate(is_number)
    ]


def is_wide(widths: Sequence[int]) -> bool:
    """Tell whether a table needs both columns of a paper."""
    return sum(widths) + _BETWEEN * len(widths) > _COLUMN


def split_blocks(widths: Sequence[int], n_rows: int, n_keys: int = 1) -> list[list[int]]:
    """Return which columns stand beside each other: all, or even blocks with the keys where letters would be too small.

    Args:
        widths: Characters of every column.
        n_rows: How many rows there are: blocks that are too high for a page are no better.
        n_keys: How many of the first columns say what a row is about.

    Example:
        >>> split_blocks([8, 18, 18], 10), split_blocks([8, *[18] * 10], 10)
        ([[0, 1, 2]], [[0, 1, 2, 3, 4, 5], [0, 6, 7, 8, 9, 10]])
    """
    whole = list(range(len(widths)))
    if sum(widths) + _BETWEEN * len(widths) <= _SHRUNK:
        return [whole]
    n = len(_filled(widths, _BLOCK, n_keys))
    if n * (n_rows + _HEAD_LINES) > _PAGE_LINES:
        return [whole]
    blocks = (_filled(widths, limit, n_keys) for limit in range(_COLUMN, _BLOCK + 1))
    return next(found for found in blocks if len(found) == n)


def _filled(widths: Sequence[int], limit: int, n_keys: int) -> list[list[int]]:
    """Return blocks filled up to a limit of characters, each with at least one column besides the keys."""
    keys = list(range(n_keys))
    blocks = [[*keys]]
    for at in range(n_keys, len(widths)):
        if len(blocks[-1]) > n_keys and sum(widths[one] + _BETWEEN for one in (*blocks[-1], at)) > limit:
            blocks.append([*keys])
        blocks[-1].append(at)
    return blocks


def join_sentences(parts: Sequence[str]) -> str:
    """Return parts as sentences, each with its full stop.

    Example:
        >>> join_sentences(["Two sets", "Counted by hand."])
        'Two sets. Counted by hand.'
    """
    return " ".join(part if part.endswith(_FULL_STOPS) else f"{part}." for part in parts if part)
