"""The table of views as a LaTeX table that needs no package."""

from collections.abc import Iterable
from pathlib import Path

from eyechart.reports._latex_float import (
    column_kinds,
    column_widths,
    is_wide,
    join_sentences,
    latex_float,
    split_blocks,
    stack_headings,
    tabular,
)
from eyechart.reports._markup import escape_latex
from eyechart.reports._regions import grid_tables
from eyechart.reports._table import Table, render_table
from eyechart.runs.files import write_whole
from eyechart.schema import Summary

__all__ = ["LatexReport"]


class LatexReport:
    r"""Write ``table.tex``: a ``tabular`` with caption, n and method, to be read in with ``\input``.

    No package is needed; with ``graphicx`` a table wider than its place shrinks to it. Letters outside Latin-1 stay as
    they are; a paper that has them needs XeLaTeX or LuaLaTeX.
    """

    suffix = ".tex"

    def write(self, summary: Summary, out: Path) -> Path:
        """Write the table into the folder ``out`` and return its path.

        Raises:
            StoreError: If the file cannot be written.
        """
        path = out / "table.tex"
        parts = [render_latex(render_table(summary))]
        parts += [render_latex(table, f"tab:eyechart-{slug}") for slug, _, table in grid_tables(summary)]
        write_whole(path, ["\n".join(parts).encode()])
        return path


def render_latex(table: Table, label: str = "tab:eyechart") -> str:
    """Return a table as LaTeX, every text of it escaped."""
    lines = [[column.heading for column in table.columns], *(list(row.cells) for row in table.rows)]
    widths = column_widths(lines)
    kinds = column_kinds(lines, [column.is_number for column in table.columns])
    headings = [
        _heading(stacked, "r" if column.is_number else "l")
        for stacked, column in zip(stack_headings(lines), table.columns, strict=True)
    ]
    tabulars = []
    for block in split_blocks(widths, len(table.rows)):
        head = f"{' & '.join(headings[at] for at in block)} \\\\"
        rows = [_line([(line[at], kinds[at]) for at in block]) for line in lines[1:]]
        body = ["\\hline", head, "\\hline", *rows, "\\hline"]
        tabulars.append(tabular("".join(kinds[at] for at in block), body))
    caption = escape_latex(join_sentences([table.caption, *table.notes]))
    return latex_float(caption, label, tabulars, is_wide=is_wide(widths))


def _heading(lines: list[str], side: str) -> str:
    """Return the lines of a heading one above the other."""
    shown = [escape_latex(line) for line in lines]
    stack = "\\\\".join(shown)
    return stack if len(shown) == 1 else f"\\shortstack[{side}]{{{stack}}}"


def _line(cells: Iterable[tuple[str, str]]) -> str:
    """Return one row of a tabular."""
    return f"{' & '.join(_cell(text, kind) for text, kind in cells)} \\\\"


def _cell(text: str, kind: str) -> str:
    """Return the text of a cell; what begins with spaces is moved to the right, and addresses in prose may break."""
    bare = text.lstrip(" ")
    shown = escape_latex(bare)
    if kind.startswith("p"):
        shown = shown.replace("/", "/\\allowbreak{}")
    return f"\\quad {shown}" if bare != text and bare else shown
