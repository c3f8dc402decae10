"""Where output goes: data to stdout, all else to stderr; plain text when it is not a terminal."""

import re
import sys
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eyechart.cli._app import printable
from eyechart.cli._columns import fit_columns, split_columns, wrap_cell
from eyechart.cli._events import Note, emit, encode_json, has_events

# What JSON leaves as it is: DEL, the C1 controls (U+009B begins a terminal's commands) and marks that turn the text.
_UNSHOWN = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of text.")]


def data_console() -> Console:
    """Return the console for results; wide and plain when stdout is not a terminal, so that no cell is cut."""
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 200, soft_wrap=False)


def notes_console() -> Console:
    """Return the console for progress and notes, on stderr."""
    return Console(file=sys.stderr, highlight=False, width=None if sys.stderr.isatty() else 200)


def print_json(value: object) -> None:
    """Print a value as indented JSON on stdout, in UTF-8 whatever the terminal's encoding is.

    Characters that could drive a terminal are written as escapes.
    """
    content = _UNSHOWN.sub(_escaped, msgspec.json.format(encode_json(value), indent=2).decode()) + "\n"
    sys.stdout.flush()  # what was printed before stands before it
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # a notebook's output, or a text buffer in its place
        sys.stdout.write(content)
        return
    binary.write(content.encode())
    binary.flush()


def print_text(text: str) -> None:
    """Print a text on stdout, to be read or redirected into a file; nothing in it can drive the terminal."""
    sys.stdout.write(printable(text))
    sys.stdout.flush()


def print_table(columns: list[str], rows: list[list[str]], title: str | None = None) -> None:
    """Print a table on stdout; text from data cannot drive the terminal or rich's markup.

    On a narrow terminal cells go on in a second line between words, and columns that still do not fit follow in a
    second block; view ids and intervals stay readable.

    Args:
        columns: Headings; a heading that starts with ``>`` is right-aligned.
        rows: Cells, one list per row.
        title: Line above the table.
    """
    console = data_console()
    if title is not None:  # not as the table's own title, which is folded to the width of a narrow table
        console.print(Text(printable(title)), soft_wrap=True)
    is_right = [column.startswith(">") for column in columns]
    cells = [[printable(cell) for cell in line] for line in ([column.lstrip(">") for column in columns], *rows)]
    key = is_right.index(False) if False in is_right else 0
    for number, block in enumerate(split_columns(cells, console.width, key) if columns else []):
        if number:
            console.print()
        shown = [[line[at] for at in block] for line in cells]
        console.print(_block(shown, [is_right[at] for at in block], console.width))


def _block(lines: list[list[str]], is_right: list[bool], width: int) -> Table:
    """Return columns that fit beside each other; the first line holds the headings."""
    widths, gap = fit_columns(lines, width)
    table = Table(box=None, pad_edge=False, show_edge=False, padding=(0, gap, 0, 0))
    headings, *rows = [[Text(wrap_cell(cell, own)) for cell, own in zip(line, widths, strict=True)] for line in lines]
    for heading, own, right in zip(headings, widths, is_right, strict=True):
        table.add_column(heading, justify="right" if right else "left", width=own, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def say(text: str) -> None:
    """Print a note on stderr; where progress is told as events, it is one of them."""
    if has_events():
        emit(Note(text=printable(text)))
        return
    print(printable(text), file=sys.stderr, flush=True)  # noqa: T201 -- notes go to stderr


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
