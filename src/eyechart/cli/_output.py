"""Where output goes: data to stdout, all else to stderr; plain text when it is no terminal."""

import sys
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from eyechart.cli._app import printable
from eyechart.cli._events import Note, emit, has_events

Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of text.")]


def data_console() -> Console:
    """Return the console for results; wide and plain when stdout is no terminal, so that no cell is cut."""
    return Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 200, soft_wrap=False)


def notes_console() -> Console:
    """Return the console for progress and notes, on stderr."""
    return Console(file=sys.stderr, highlight=False, width=None if sys.stderr.isatty() else 200)


def print_json(value: object) -> None:
    """Print a value as indented JSON on stdout."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def print_text(text: str) -> None:
    """Print a text on stdout as it is, to be redirected into a file."""
    sys.stdout.write(text)
    sys.stdout.flush()


def print_table(columns: list[str], rows: list[list[str]], title: str | None = None) -> None:
    """Print a table on stdout; text from data cannot drive the terminal or rich's markup.

    Args:
        columns: Headings; a heading that starts with ``>`` is right-aligned.
        rows: Cells, one list per row.
        title: Line above the table.
    """
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns:
        is_right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if is_right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_literal(cell) for cell in row))
    console = data_console()
    if title is not None:  # not as the table's own title, which is folded to the width of a narrow table
        console.print(_literal(title), soft_wrap=True)
    console.print(table)


def say(text: str) -> None:
    """Print a note on stderr; where progress is told as events, it is one of them."""
    if has_events():
        emit(Note(text=printable(text)))
        return
    print(printable(text), file=sys.stderr, flush=True)  # noqa: T201 -- notes go to stderr


def _literal(cell: str) -> str:
    return printable(cell).replace("[", r"\[")
