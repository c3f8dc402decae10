"""The table of views as a LaTeX table that needs no package."""

from collections.abc import Iterable
from pathlib import Path

from eyechart.reports._markup import escape_latex
from eyechart.reports._regions import grid_tables
from eyechart.reports._table import Table, render_table
from eyechart.runs.files import write_whole
from eyechart.schema import Summary

__all__ = ["LatexReport"]


class LatexReport:
    r"""Write ``table.tex``: a ``tabular`` with caption, n and method, to be read in with ``\input``.

    No package is needed. Letters outside Latin-1 stay as they are; a paper that has them needs XeLaTeX or LuaLaTeX.
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
    alignment = "".join("r" if column.is_number else "l" for column in table.columns)
    caption = " ".join([table.caption, *table.notes])
    lines = [
        "% Written by eyechart. Needs no package; \\small or \\resizebox if the columns are too wide.",
        "\\begin{table}",
        "  \\centering",
        f"  \\caption{{{escape_latex(caption)}}}",
        f"  \\label{{{label}}}",
        "  \\medskip",
        f"  \\begin{{tabular}}{{{alignment}}}",
        "    \\hline",
        _line(column.heading for column in table.columns),
        "    \\hline",
        *(_line(row.cells) for row in table.rows),
        "    \\hline",
        "  \\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    """Return one row of a tabular."""
    return f"    {' & '.join(escape_latex(cell) for cell in cells)} \\\\"
