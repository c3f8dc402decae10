"""The table of views as GitHub-flavoured Markdown."""

from collections.abc import Iterable
from pathlib import Path

from eyechart.reports._markup import escape_markdown
from eyechart.reports._printable import printable
from eyechart.reports._regions import grid_tables
from eyechart.reports._table import Column, Table, render_table
from eyechart.runs.files import write_whole
from eyechart.schema import Summary

__all__ = ["MarkdownReport"]


class MarkdownReport:
    """Write ``table.md``: the table, its caption with n, and the notes below it; then those of needle grids."""

    suffix = ".md"

    def write(self, summary: Summary, out: Path) -> Path:
        """Write the table into the folder ``out`` and return its path.

        Raises:
            StoreError: If the file cannot be written.
        """
        path = out / "table.md"
        parts = [render_markdown(render_table(summary))]
        parts += [
            f"## {escape_markdown(heading)}\n\n{render_markdown(table)}" for _, heading, table in grid_tables(summary)
        ]
        write_whole(path, ["\n".join(parts).encode()])
        return path


def render_markdown(table: Table) -> str:
    """Return a table as Markdown, every text of it escaped."""
    lines = [
        escape_markdown(table.caption),
        "",
        _line(escape_markdown(column.heading) for column in table.columns),
        _line("---:" if column.is_number else ":---" for column in table.columns),
        *(
            _line(_cell(column, cell) for column, cell in zip(table.columns, row.cells, strict=True))
            for row in table.rows
        ),
        "",
        *(f"- {escape_markdown(note)}" for note in table.notes),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Iterable[str]) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(cells)} |"


def _cell(column: Column, text: str) -> str:
    """Return a cell; a view's id as code, so that it can be copied."""
    is_code = column.key == "view" and "`" not in text
    return f"`{printable(text).replace('|', chr(92) + '|')}`" if is_code else escape_markdown(text)
