"""The score of needle grids against their size."""

from typing import TYPE_CHECKING

from eyechart.figures._numbers import format_contrast, format_estimate, format_label
from eyechart.figures._series import count_note
from eyechart.figures._style import (
    CONTEXT_STYLES,
    MUTED,
    draw_accuracy_axis,
    draw_estimates,
    drawing_style,
    settle_ticks,
    take_axes,
    write_note,
)
from eyechart.schema import Estimate, GridSummary, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SizeCurve"]

_HEIGHT_IN = 2.6
_LOOKS = {"white": CONTEXT_STYLES["crop"], "captioned": CONTEXT_STYLES["whiteground"]}
_NAMES = {"white": "white ground", "captioned": "among other pictures"}


class SizeCurve:
    """Perf against the number of regions a side, with intervals; for captioned grids the chance level of each size."""

    name = "size_curve"
    title = "Larger pictures: score by size of the grid"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None with fewer than two sizes.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        series = _series(summary)
        if not series:
            return None
        with drawing_style(ax):
            target = take_axes(ax, _HEIGHT_IN)
            for style, points in series.items():
                _draw_series(target, style, points)
            draw_accuracy_axis(target)
            target.set_ylabel("Perf, %")
            sides = sorted({grid.columns for points in series.values() for grid, _ in points})
            target.set_xscale("log")
            target.set_xlim(min(sides) / 1.2, max(sides) * 1.2)
            target.set_xticks(sides, labels=[f"{side}×{side}" for side in sides])
            target.set_xticks([], minor=True)
            target.set_xlabel("regions of the grid")
            target.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
            write_note(target, [count_note([perf for points in series.values() for _, perf in points])])
            if ax is None:
                settle_ticks(target)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        return " ".join(
            f"{format_label(grid.name)}: Perf {format_estimate(perf)} percent, n = {perf.n_questions}"
            f"{'' if grid.size is None else f', Size {format_contrast(grid.size)} points'}."
            for points in _series(summary).values()
            for grid, perf in points
        )


def _series(summary: Summary) -> dict[str, list[tuple[GridSummary, Estimate]]]:
    """Return style → square grids with a Perf by size, of styles with at least two sizes."""
    found: dict[str, list[tuple[GridSummary, Estimate]]] = {}
    for grid in summary.grids:
        if grid.perf is not None and grid.rows == grid.columns:
            found.setdefault(grid.style, []).append((grid, grid.perf))
    return {style: sorted(points, key=lambda point: point[0].columns) for style, points in found.items() if points[1:]}


def _draw_series(axes: "Axes", style: str, points: list[tuple[GridSummary, Estimate]]) -> None:
    look = _LOOKS[style]
    sides = [grid.columns for grid, _ in points]
    draw_estimates(axes, sides, [perf for _, perf in points], look, _NAMES[style])
    chance = [(grid.columns, grid.chance) for grid, _ in points if grid.chance is not None]
    if chance:
        axes.plot(
            [side for side, _ in chance],
            [level for _, level in chance],
            color=MUTED,
            linewidth=0.9,
            linestyle=(0, (4, 3)),
            label="chance",
        )
