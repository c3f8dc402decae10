"""Every registered figure of a summary, drawn once, with the words that go with it."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

import msgspec

from eyechart import registry
from eyechart.figures import render_svg
from eyechart.kinds import FigureKind
from eyechart.schema import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_READING_ORDER = (
    "acuity_curve",
    "eye_chart",
    "region_heatmap",
    "manhattan_curve",
    "size_curve",
    "resolution_curve",
    "context_curve",
    "seen_curve",
    "view_forest",
    "view_matrix",
    "category_bars",
    "category_radar",
    "source_rings",
    "picture_sizes",
)


@runtime_checkable
class DescribedFigure(FigureKind, Protocol):
    """A figure that also says in words what it shows; the figures of another package need not."""

    title: str

    def describe(self, summary: Summary) -> str:
        """Return the numbers in words."""
        ...


class DrawnFigure(msgspec.Struct, frozen=True, dict=True):
    """A figure with its name, its title and its numbers in words."""

    name: str
    title: str
    description: str
    figure: "Figure"

    @cached_property
    def svg(self) -> str:
        """The figure as SVG text, rendered once for the page and the file."""
        return render_svg(self.figure)


def drawn_figures(summary: Summary) -> Iterator[DrawnFigure]:
    """Yield every registered figure that has something to show, eyechart's own first, in reading order."""
    known = registry.names("figure")
    for name in (*_READING_ORDER, *(name for name in known if name not in _READING_ORDER)):
        kind = cast("type[FigureKind]", registry.load("figure", name))()
        axes = kind.draw(summary)
        if axes is not None:
            title, description = _words(kind, summary)
            yield DrawnFigure(name, title, description, cast("Figure", getattr(axes, "figure", None)))


def _words(kind: FigureKind, summary: Summary) -> tuple[str, str]:
    """Return title and description; those of a figure without words point to the table."""
    if isinstance(kind, DescribedFigure):
        return kind.title, kind.describe(summary)
    return kind.name.replace("_", " "), "The table gives the numbers."
