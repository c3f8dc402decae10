"""Reports: what a summary says, for a browser, a paper and a terminal.

Each public module of this package is one format (``eyechart.kinds.ReportWriter``); ``write_all`` writes them all, with
the figures::

    paths = write_all(summary, run_folder)          # report.html, table.md, table.tex, figures/*.pdf *.svg *.png
    table = render_table(summary)                   # the same table as text, for a terminal
    clean = anonymise(summary, names=("alice",))    # without user, host, path, endpoint, organisation
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from eyechart import registry
from eyechart.figures import save_figure
from eyechart.reports._benchmark_sections import average_table
from eyechart.reports._board import board_title, interval_rows, latex_board, markdown_board, text_board, text_rows
from eyechart.reports._board_html import HtmlBoard, board_table, html_board
from eyechart.reports._expense import format_expense
from eyechart.reports._facts import render_facts
from eyechart.reports._figure_page import figure_page
from eyechart.reports._figures import drawn_figures
from eyechart.reports._printable import printable
from eyechart.reports._question_page import format_box, write_question_page
from eyechart.reports._references import bibtex_of
from eyechart.reports._regions import grid_tables
from eyechart.reports._table import Column, Row, Table, render_table
from eyechart.runs.anonymous import anonymise, cleaner_of
from eyechart.schema import Summary

if TYPE_CHECKING:
    from eyechart.kinds import ReportWriter
    from eyechart.reports._carried import PageCheck
    from eyechart.runs.items import Items

__all__ = [
    "Column",
    "HtmlBoard",
    "Row",
    "Table",
    "anonymise",
    "anonymise_both",
    "average_table",
    "bibtex_of",
    "board_table",
    "board_title",
    "check_report",
    "figure_page",
    "format_box",
    "format_expense",
    "grid_tables",
    "html_board",
    "interval_rows",
    "latex_board",
    "markdown_board",
    "printable",
    "render_facts",
    "render_table",
    "text_board",
    "text_rows",
    "write_all",
    "write_question_page",
]


def write_all(
    summary: Summary,
    out: Path,
    *,
    notices: Sequence[str] = (),
    is_anonymous: bool = False,
    names: Collection[str] = (),
    items: "Items | None" = None,
    is_static: bool = False,
    tell: Callable[[int, int | None], None] | None = None,
) -> tuple[Path, ...]:
    """Write every registered report and every figure of a summary; asks no model and reads no network.

    Args:
        summary: The summary of one run under one scorer.
        out: Folder for the reports; figures go into ``figures`` inside it. Files of these names are replaced.
        notices: Licence notices of the benchmark, printed at the end of the HTML report.
        is_anonymous: Whether to remove user, host, path, endpoint and organisation first.
        names: Words to remove besides those that are recognised (see ``anonymise``).
        items: The run that the summary was made from, for the HTML report to carry; see ``check_report``.
        is_static: Whether to leave interactive charts and their script out of the HTML report.
        tell: Called with how many files are written; how many there will be is not known before.

    Returns:
        The paths written: the HTML report first, then the other reports by name, then the figures.

    Raises:
        StoreError: If a file cannot be written.
    """
    from eyechart.reports.html import HtmlReport  # deferred: a terminal table needs no template engine

    shown, carried = anonymise_both(summary, items, names) if is_anonymous else (summary, items)
    figures = tuple(drawn_figures(shown))
    page = HtmlReport(notices, is_anonymous=is_anonymous, items=carried, is_static=is_static, drawn=figures)
    written: list[Path] = []

    def add(*paths: Path) -> None:
        written.extend(paths)
        if tell is not None:
            tell(len(written), None)

    add(page.write(shown, out))
    for name in registry.names("report"):
        if name != "html":
            add(cast("type[ReportWriter]", registry.load("report", name))().write(shown, out))
    for drawn in figures:
        add(*save_figure(drawn.figure, out / "figures", drawn.name, svg=drawn.svg))
    return tuple(written)


def anonymise_both(
    summary: Summary, items: "Items | None", names: Collection[str] = ()
) -> tuple[Summary, "Items | None"]:
    """Return a summary without names, and the items that it follows from again.

    Args:
        summary: The summary.
        items: The run that it was made from, if there is one.
        names: Words to remove besides those that are recognised.
    """
    cleaner = cleaner_of(summary, names)
    if items is None:
        return cleaner.summary(summary), None
    from eyechart.runs.anonymous_items import anonymise_items  # deferred, with numpy: a summary alone needs it not
    from eyechart.runs.summarise import summarise_items

    clean = anonymise_items(items, cleaner)
    return cleaner.summary(summarise_items(clean)), clean


def check_report(path: Path) -> "PageCheck":
    """Estimate everything on an HTML report again from the items that it carries, and compare; nothing else is read.

    Args:
        path: A ``report.html``.

    Raises:
        StoreError: If the file cannot be read.
        SchemaError: If it carries no items.
    """
    from eyechart.reports._carried import compare_pages, read_page  # deferred, with numpy: few need it
    from eyechart.reports.html import HtmlReport
    from eyechart.runs.summarise import summarise_items

    printed, page, items = read_page(path)
    writer = HtmlReport(
        page.notices, is_anonymous=page.is_anonymous, items=items, is_static=page.is_static, has_curves=False
    )
    again = writer.render(summarise_items(items))
    return compare_pages(printed, again, len(items.table.cells))
