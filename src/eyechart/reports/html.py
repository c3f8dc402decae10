"""One HTML file with everything about a run, which opens without network and loads nothing."""

from collections.abc import Sequence
from pathlib import Path

from eyechart.figures import main_baseline
from eyechart.reports import _sections
from eyechart.reports._benchmark_sections import benchmark_sections
from eyechart.reports._effects import effect_sections
from eyechart.reports._figures import drawn_figures
from eyechart.reports._inline_svg import inline_figure
from eyechart.reports._printable import printable
from eyechart.reports._table import render_further_contrasts, render_table
from eyechart.runs.files import write_whole
from eyechart.runs.grid_rows import collapse_grids
from eyechart.schema import Summary

__all__ = ["HtmlReport"]


class HtmlReport:
    """Write ``report.html``: claims, figures, table, failures, what was seen, settings, reproduction, notices.

    Args:
        notices: Further licence notices, for example of the benchmark's pictures.
        is_anonymous: Whether to say that names were removed (``eyechart.reports.anonymise`` removes them).
    """

    suffix = ".html"

    def __init__(self, notices: Sequence[str] = (), *, is_anonymous: bool = False) -> None:
        self._notices = tuple(notices)
        self._is_anonymous = is_anonymous

    def write(self, summary: Summary, out: Path) -> Path:
        """Write the report into the folder ``out`` and return its path.

        Raises:
            StoreError: If the file cannot be written.
        """
        path = out / "report.html"
        write_whole(path, [self.render(summary).encode()])
        return path

    def render(self, summary: Summary) -> str:
        """Return the page. Every text of the summary is escaped; the page's policy forbids scripts and any loading."""
        from jinja2 import Environment, PackageLoader, StrictUndefined  # deferred: only this report needs it

        environment = Environment(
            loader=PackageLoader("eyechart.reports", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=lambda value: printable(value) if type(value) is str else value,
        )
        environment.filters["breakable"] = _breakable
        shown = collapse_grids(summary)
        return environment.get_template("report.html.jinja").render(
            summary=shown,
            run=summary.run,
            model=summary.run.model.spec,
            provider_note=_sections.provider_note(summary),
            facts=_sections.headline_facts(shown),
            claims=_sections.claims(shown),
            baseline=main_baseline(summary),
            figures=tuple(inline_figure(drawn) for drawn in drawn_figures(summary)),
            table=render_table(summary),
            further=render_further_contrasts(summary),
            sections=(*benchmark_sections(summary), *effect_sections(shown)),
            failures=_sections.failure_rows(summary),
            seen_headings=_sections.SEEN_HEADINGS,
            seen_rows=_sections.seen_rows(shown),
            settings=_sections.settings(summary.run),
            commands=_sections.reproduction(summary.run),
            notices=(*_sections.NOTICES, *self._notices),
            is_anonymous=self._is_anonymous,
        )


def _breakable(text: str) -> str:
    """Return an escaped identifier that may break after underscores, so that narrow columns hold it."""
    from markupsafe import Markup, escape  # comes with jinja2

    return escape(printable(text)).replace("_", Markup("_<wbr>"))
