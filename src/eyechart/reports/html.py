"""One HTML file with everything about a run, which opens without network and loads nothing."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eyechart.figures import name_baseline
from eyechart.reports import _sections
from eyechart.reports._benchmark_sections import benchmark_sections
from eyechart.reports._effects import Section, effect_sections
from eyechart.reports._figures import DrawnFigure, drawn_figures
from eyechart.reports._inline_svg import PageFigure, inline_figure, words_of_figure
from eyechart.reports._printable import printable
from eyechart.reports._references import bibtex_of, count_references, sources_table
from eyechart.reports._statistics import statistics_table
from eyechart.reports._table import render_further_contrasts, render_table
from eyechart.runs.files import write_whole
from eyechart.runs.grid_rows import collapse_grids
from eyechart.schema import Summary

if TYPE_CHECKING:
    from markupsafe import Markup

    from eyechart.runs.items import Items

__all__ = ["HtmlReport"]

_INTERVAL = re.compile(r"(\[[\d.,−+ ]{3,40}\])")


class HtmlReport:
    """Write ``report.html``: claims, figures, table, failures, what was seen, settings, reproduction, notices.

    Figures are still pictures with their numbers in words; a script in the page puts interactive charts in front of
    them. Paper, pages without scripts and screen readers get the still ones.

    Args:
        notices: Further licence notices, for example of the benchmark's pictures.
        is_anonymous: Whether to say that names were removed (``eyechart.reports.anonymise`` removes them).
        items: The run that the summary was made from; the page carries it, so that its numbers can be checked.
        is_static: Whether to leave the charts and their script out, which is most of the size of a small report.
        drawn: The figures of the summary, where they are drawn already.
        has_curves: Whether the still figures are drawn; without, the page holds their titles and numbers in words only,
            which is all that two pages are compared by.
    """

    suffix = ".html"

    def __init__(
        self,
        notices: Sequence[str] = (),
        *,
        is_anonymous: bool = False,
        items: "Items | None" = None,
        is_static: bool = False,
        drawn: Sequence[DrawnFigure] | None = None,
        has_curves: bool = True,
    ) -> None:
        self._notices = tuple(notices)
        self._is_anonymous = is_anonymous
        self._items = items
        self._is_static = is_static
        self._drawn = drawn
        self._has_curves = has_curves

    def write(self, summary: Summary, out: Path) -> Path:
        """Write the report into the folder ``out`` and return its path.

        Raises:
            StoreError: If the file cannot be written.
        """
        path = out / "report.html"
        write_whole(path, [self.render(summary).encode()])
        return path

    def render(self, summary: Summary) -> str:
        """Return the page. Every text is escaped; its policy forbids any loading and every script but our own."""
        from jinja2 import Environment, PackageLoader, StrictUndefined  # deferred: only this report needs it
        from markupsafe import Markup, escape

        from eyechart.reports._scripts import chart_script

        environment = Environment(
            loader=PackageLoader("eyechart.reports", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=lambda value: printable(value) if type(value) is str else value,
        )
        environment.filters["breakable"] = _breakable
        environment.filters["whole"] = _whole
        shown = collapse_grids(summary)
        found = _sections.claims(shown)
        first, rest = _sections.first_page(found)
        figures = self._figures(summary)
        script = chart_script() if any(figure.charts for figure in figures) else None
        return environment.get_template("report.html.jinja").render(
            summary=shown,
            run=summary.run,
            model=summary.run.model.spec,
            provider_note=_sections.provider_note(summary),
            facts=_sections.headline_facts(shown),
            verdict_line=_sections.verdict_line(found),
            claims=first,
            further_claims=rest,
            baseline=name_baseline(summary),
            figures=figures,
            script=None if script is None else Markup(script.text),  # noqa: S704 -- a file of ours
            script_policy="" if script is None else f"; script-src '{script.digest}'",
            table=render_table(summary),
            further=render_further_contrasts(summary),
            sections=(*benchmark_sections(summary), *effect_sections(shown), *_statistics(summary)),
            sources=sources_table(summary),
            bibtex=Markup(escape(bibtex_of(summary))),  # noqa: S704 -- escaped; line breaks stay
            n_references=count_references(summary),
            failures=_sections.failure_rows(summary),
            seen_headings=_sections.SEEN_HEADINGS,
            seen_rows=_sections.seen_rows(shown),
            settings=_sections.settings(summary.run),
            commands=_sections.reproduction(summary.run),
            notices=(*_sections.notices(has_charts=script is not None), *self._notices),
            is_anonymous=self._is_anonymous,
            n_items=0 if self._items is None else len(self._items.table.cells),
            carried=self._carried(),
        )

    def _carried(self) -> str:
        if self._items is None:
            return ""
        from eyechart.reports._carried import CarriedPage, carry  # deferred: a page without items needs no numpy

        page = CarriedPage(self._notices, self._is_anonymous, self._is_static)
        return carry(self._items, page)

    def _figures(self, summary: Summary) -> tuple[PageFigure, ...]:
        """Return every figure with its charts."""
        from eyechart.reports._charts import charts_of
        from eyechart.reports._scripts import inline_json

        shown = inline_figure if self._has_curves else words_of_figure
        return tuple(
            shown(
                drawn,
                () if self._is_static else tuple(inline_json(chart) for chart in charts_of(summary, drawn.name)),
            )
            for drawn in (drawn_figures(summary) if self._drawn is None else self._drawn)
        )


def _statistics(summary: Summary) -> tuple[Section, ...]:
    table = statistics_table(summary)
    return (Section("statistics", "Statistics", table),) if table.rows else ()


def _breakable(text: str) -> str:
    """Return an escaped identifier that may break after underscores, so that narrow columns hold it."""
    from markupsafe import Markup  # comes with jinja2

    return _whole(text).replace("_", Markup("_<wbr>"))


def _whole(text: str) -> "Markup":
    """Return escaped text whose intervals do not break."""
    from markupsafe import Markup, escape  # comes with jinja2

    parts = _INTERVAL.split(printable(text))
    return Markup().join(
        Markup('<span class="whole">{}</span>').format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )
