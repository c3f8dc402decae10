"""Columns of a table fitted into the width of a terminal: wrapped between words, never inside an interval."""

import re
from collections.abc import Sequence

from rich.cells import cell_len

# At a space outside brackets, which hold intervals, and after the marks that join names.
_BREAK = re.compile(r" (?![^\[]*\])|(?<=\w[-_/])(?=.)")
_GAPS = (2, 1)
_MOST_KEY_LINES = 3
_KEY_SHARE = 0.4


def split_columns(lines: Sequence[Sequence[str]], width: int, key: int) -> list[list[int]]:
    """Return which columns stand beside each other: all, or blocks that begin with the key where not all fit.

    All fit where no word is cut and the key needs few lines.

    Args:
        lines: Headings and rows, all of one length.
        width: Characters a line may have.
        key: The column that says what a row is about.

    Example:
        >>> lines = [["rank", "model", "Daily", "Research"], ["1", "Qwen2-VL-72B", "66.20", "39.36"]]
        >>> split_columns(lines, 40, 1), split_columns(lines, 22, 1)
        ([[0, 1, 2, 3]], [[1, 0, 2], [1, 3]])
    """
    n = len(lines[0])
    if sum(_least(lines)) + _GAPS[-1] * (n - 1) <= width:
        own = fit_columns(lines, width)[0][key]
        if max(wrap_cell(line[key], own).count("\n") for line in lines) < _MOST_KEY_LINES:
            return [list(range(n))]
    natural = _natural(lines)
    natural[key] = max(_least(lines)[key], min(natural[key], int(_KEY_SHARE * width)))
    blocks: list[list[int]] = []
    for column in (at for at in range(n) if at != key):
        block = blocks[-1] if blocks else None
        if block and sum(natural[at] for at in (*block, column)) + _GAPS[0] * len(block) <= width:
            block.append(column)
        else:
            blocks.append([key, column])
    return blocks or [[key]]


def fit_columns(lines: Sequence[Sequence[str]], width: int) -> tuple[list[int], int]:
    """Return the width of every column, and the gap between two, so that a table fits.

    Columns shrink from the widest on, down to their longest word; then the gap shrinks. Only where even that is too
    wide are words cut.

    Args:
        lines: Headings and rows, all of one length.
        width: Characters a line may have.

    Example:
        >>> fit_columns([["view", "accuracy"], ["target_only_3x", "54.2 [33.8, 73.3]"]], 26)
        ([12, 12], 2)
    """
    natural, least = _natural(lines), _least(lines)
    for gap in _GAPS:
        room = width - gap * (len(natural) - 1)
        if sum(least) <= room:
            return _shrunk(natural, least, room), gap
    return _shrunk(least, [1] * len(least), room), gap


def wrap_cell(cell: str, width: int) -> str:
    r"""Return the text of a cell on as many lines as it needs.

    Example:
        >>> wrap_cell("target_only_original", 12), wrap_cell("+4.2 [−20.3, +28.0]", 14)
        ('target_only_\noriginal', '+4.2\n[−20.3, +28.0]')
    """
    return "\n".join(line for part in cell.split("\n") for line in _wrapped(part, width))


def _wrapped(text: str, width: int) -> list[str]:
    lines, start, last = [], 0, 0
    for match in [*_BREAK.finditer(text), None]:
        end = len(text) if match is None else match.start()
        if cell_len(text[start:end]) > width and last > start:
            lines.append(text[start:last].rstrip(" "))
            start = last
        while cell_len(text[start:end]) > width and end > start + 1:
            cut = next(at for at in range(end, start, -1) if at == start + 1 or cell_len(text[start:at]) <= width)
            lines.append(text[start:cut])
            start = cut
        last = end if match is None else match.end()
    return [*lines, text[start:].rstrip(" ")]


def _natural(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(cell_len(part) for cell in column for part in cell.split("\n")) for column in zip(*lines, strict=True)]


def _least(lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of the longest piece that is not broken, column by column."""
    return [
        max(cell_len(piece.strip(" ")) for cell in column for part in cell.split("\n") for piece in _BREAK.split(part))
        for column in zip(*lines, strict=True)
    ]


def _shrunk(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the widths with the widest made narrower, one character at a time, until all fit or none may shrink."""
    found = list(widths)
    while sum(found) > room:
        shrinkable = [at for at, one in enumerate(found) if one > least[at]]
        if not shrinkable:
            break
        found[max(shrinkable, key=lambda at: found[at])] -= 1
    return found
