"""The contract of figures and reports: they draw any summary, deterministically, and reach for no network."""

import re
from pathlib import Path

from eyechart.contracts.checks import expect
from eyechart.kinds import FigureKind, ReportWriter
from eyechart.schema import Summary

# Links a reader may follow are fine; what a page loads by itself is not.
_LOADS = re.compile(rb"""(?:src|href)\s*=\s*["']?(?:https?:)?//|url\(\s*["']?(?:https?:)?//|@import""", re.IGNORECASE)
_FOLLOWED = re.compile(rb"<a\s[^>]*>", re.IGNORECASE)


def check_figure(figure: FigureKind, summary: Summary) -> None:
    """Check that a figure is drawn, or says with None that there is nothing to draw.

    Raises:
        ContractError: If it has no name, or axes given to it are not used.
    """
    expect(bool(figure.name), "a figure has a name")
    axes = figure.draw(summary)
    expect(axes is None or hasattr(axes, "get_figure"), "a figure returns matplotlib axes or None")


def check_report(writer: ReportWriter, summary: Summary, out: Path) -> None:
    """Check that a report is written where asked, twice the same, and loads nothing from outside.

    Raises:
        ContractError: If it is not.
    """
    path = writer.write(summary, out)
    expect(
        path.is_relative_to(out) and path.suffix == writer.suffix, f"a report lies in {out} and ends {writer.suffix}"
    )
    first = path.read_bytes()
    expect(writer.write(summary, out).read_bytes() == first, "a report has the same bytes twice")
    expect(_LOADS.search(_FOLLOWED.sub(b"", first)) is None, "a report loads nothing from outside")
