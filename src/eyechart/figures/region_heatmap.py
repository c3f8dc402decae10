"""The score of every region of a needle grid, as it lies in the picture."""

from typing import TYPE_CHECKING

from eyechart.figures._numbers import format_estimate, format_percent
from eyechart.figures._panels import draw_panels
from eyechart.figures._style import INK, MUTED, write_note
from eyechart.schema import Estimate, GridSummary, RegionCell, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

__all__ = ["RegionHeatmap"]

_SIDE_IN = 2.65
_FRAME_IN = 0.85
# Up to this many columns the half-width of the interval fits below the score.
_MOST_WITH_INTERVAL = 5
_MOST_WITH_SCORE = 12
_BRIGHT = 0.55
_BAR_STEPS = 25
# White and black that stay so on a dark page: the cells keep their colours there too.
_ON_DARK, _ON_BRIGHT = "#fefefe", "#101010"


class RegionHeatmap:
    """Score by region on one scale from 0 to 100 %, the same for every grid and model (cividis, colour-blind safe).

    A region that cannot be told from the mean of all regions is drawn hollow: a ring in its colour.
    """

    name = "region_heatmap"
    title = "Where in the picture: score by region"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw every grid on axes of its own, or the largest on the given matplotlib axes; None without a grid.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        grids = _grids(summary)
        if not grids:
            return None
        heights = [_FRAME_IN + _SIDE_IN * grid.rows / max(grid.rows, grid.columns) for grid in grids]
        return draw_panels(grids, ax, _draw_grid, heights_in=heights, has_tick_marks=False)

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        return " ".join(_describe(grid) for grid in _grids(summary))


def _grids(summary: Summary) -> tuple[GridSummary, ...]:
    return tuple(
        grid for grid in summary.grids if len(grid.cells) > 1 and any(cell.estimate is not None for cell in grid.cells)
    )


def _draw_grid(axes: "Axes", grid: GridSummary) -> None:
    """Draw the regions of one grid, its scale, and what n they stand on."""
    import matplotlib as mpl
    from matplotlib.cm import ScalarMappable

    colours = ScalarMappable(mpl.colors.Normalize(0.0, 1.0), mpl.colormaps["cividis"])
    for cell in grid.cells:
        _draw_cell(axes, cell, grid.columns, colours.cmap)
    axes.set_xlim(-0.5, grid.columns - 0.5)
    axes.set_ylim(grid.rows - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_xticks(range(grid.columns))
    axes.set_yticks(range(grid.rows))
    axes.set_xlabel(f"column of {grid.name}")
    axes.set_ylabel("row")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    # Few steps, and never as a raster: a page that loads nothing shows no embedded picture.
    steps = ScalarMappable(colours.norm, mpl.colormaps["cividis"].resampled(_BAR_STEPS))
    bar = axes.figure.colorbar(steps, ax=axes, fraction=0.04, pad=0.02, ticks=[0.0, 0.5, 1.0])
    if bar.solids is not None:
        bar.solids.set_rasterized(False)
    bar.ax.set_yticklabels(["0", "50", "100"])
    bar.ax.tick_params(labelsize=6.5, length=0, labelcolor=INK)
    bar.outline.set_visible(False)
    write_note(axes, _notes(grid))


def _draw_cell(axes: "Axes", cell: RegionCell, n_columns: int, colours: "Colormap") -> None:
    """Draw one region: filled if it differs from the mean, a ring if not, crossed out if nothing was scored."""
    from matplotlib.patches import Rectangle

    corner = (cell.column - 0.44, cell.row - 0.44)
    if cell.estimate is None:
        axes.add_patch(Rectangle(corner, 0.88, 0.88, facecolor="none", edgecolor=MUTED, linewidth=0.6, hatch="xxxx"))
        return
    colour = colours(cell.estimate.value)
    face = colour if cell.is_apart else "none"
    inset = 0.0 if cell.is_apart else 0.03
    axes.add_patch(
        Rectangle(
            (corner[0] + inset, corner[1] + inset), 0.88 - 2 * inset, 0.88 - 2 * inset,
            facecolor=face, edgecolor=colour, linewidth=0.0 if cell.is_apart else 1.8,
        )
    )  # fmt: skip
    if n_columns <= _MOST_WITH_SCORE:
        ink = INK if not cell.is_apart else _ON_BRIGHT if cell.estimate.value > _BRIGHT else _ON_DARK
        axes.text(
            cell.column, cell.row, _label(cell.estimate, n_columns), ha="center", va="center", color=ink,
            fontsize=6.5 if n_columns <= _MOST_WITH_INTERVAL else 5.0,
        )  # fmt: skip


def _label(estimate: Estimate, n_columns: int) -> str:
    """Write a score with its interval where there is room for it."""
    if n_columns > _MOST_WITH_INTERVAL or estimate.interval is None:
        return f"{100 * estimate.value:.0f}"
    low, high = estimate.interval
    return f"{100 * estimate.value:.0f}\n{100 * low:.0f}–{100 * high:.0f}"


def _notes(grid: GridSummary) -> list[str]:
    """Say n, how wide the intervals are, and what the noise alone would show."""
    estimates = [cell.estimate for cell in grid.cells if cell.estimate is not None]
    counts = sorted({estimate.n_questions for estimate in estimates})
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    widths = [(one.interval[1] - one.interval[0]) / 2 for one in estimates if one.interval is not None]
    within = f"95 % intervals within ±{100 * max(widths):.0f}" if widths else "too few pictures for intervals"
    lines = [f"%, n = {n} per region; {within}"]
    if grid.region_map_gap is not None and grid.noise_floor is not None and grid.map_gap_p is not None:
        lines.append("hollow: cannot be told from the mean of all regions")
        lines.append(
            f"best − mean {format_percent(grid.region_map_gap.value)}, expected by noise "
            f"{format_percent(grid.noise_floor)}, p = {grid.map_gap_p:.3f}"
        )
    return lines


def _describe(grid: GridSummary) -> str:
    cells = "; ".join(
        f"row {cell.row} column {cell.column}: {format_estimate(cell.estimate)}"
        f"{'' if cell.estimate is None else f', n = {cell.estimate.n_questions}'}"
        f"{', differs from the mean' if cell.is_apart else ''}"
        for cell in grid.cells
    )
    return f"Score in percent by region of {grid.name}, from the top left. {cells}."
