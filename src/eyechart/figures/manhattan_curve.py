"""The score of a needle grid by the distance from its top left region."""

from typing import TYPE_CHECKING

from eyechart.figures._numbers import format_estimate, format_level, format_p, format_percent
from eyechart.figures._panels import draw_panels
from eyechart.figures._style import ACCENT, MUTED, LineStyle, draw_accuracy_axis, draw_estimates, write_note
from eyechart.schema import GridSummary, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ManhattanCurve"]

_HEIGHT_IN = 2.5
_MOST_TICKS = 10


class ManhattanCurve:
    """Score against Manhattan distance, with intervals, and the band in which a curve without positional effect stays.

    The number of regions stands at every point, since the two ends rest on one region each.
    """

    name = "manhattan_curve"
    title = "Lost in the middle? Score by distance from the top left"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw every grid on axes of its own, or the largest on the given matplotlib axes; None without a curve.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        grids = [grid for grid in summary.grids if grid.curve]
        if not grids:
            return None
        return draw_panels(grids, ax, _draw_curve, heights_in=[_HEIGHT_IN] * len(grids))

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        return " ".join(_describe(grid) for grid in summary.grids if grid.curve)


def _draw_curve(axes: "Axes", grid: GridSummary) -> None:
    places = [point.distance for point in grid.curve]
    estimates = [point.estimate for point in grid.curve]
    axes.fill_between(
        places,
        [point.null_low for point in grid.curve],
        [point.null_high for point in grid.curve],
        color=MUTED,
        alpha=0.18,
        linewidth=0,
        label="without positional effect",
    )
    draw_estimates(axes, places, estimates, LineStyle(ACCENT, "o", "-"), "score")
    draw_accuracy_axis(axes)
    axes.set_ylabel("score, %")
    step = 1 if len(places) <= _MOST_TICKS else 2
    shown = grid.curve[::step]
    axes.set_xlim(-0.5, places[-1] + 0.5)
    axes.set_xticks(
        [point.distance for point in shown], labels=[f"{point.distance}\n({point.n_regions})" for point in shown]
    )
    axes.set_xlabel(f"distance in {grid.name} (number of regions)")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    level = format_level(estimates[0].confidence)
    lines = [f"n = {grid.n_bases} base samples, {level} intervals", f"band: {level} of whole curves without effect"]
    if grid.p_u is not None:
        lines.append(f"falls, then rises: p = {format_p(grid.p_u)}")
    write_note(axes, lines)


def _describe(grid: GridSummary) -> str:
    points = "; ".join(
        f"{point.distance}: {format_estimate(point.estimate)}, {point.n_regions} regions, without positional effect "
        f"{format_percent(point.null_low)} to {format_percent(point.null_high)}"
        for point in grid.curve
    )
    return f"Score in percent by Manhattan distance in {grid.name}, n = {grid.n_bases} base samples. {points}."
