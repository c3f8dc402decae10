"""Several small axes in one figure, for results that come one per grid; on given axes the last one alone is drawn."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from eyechart.figures._style import COLUMN_WIDTH_IN, drawing_style, settle_ticks, take_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Part = TypeVar("Part")


def draw_panels(
    parts: Sequence[Part],
    axes: object | None,
    draw: Callable[["Axes", Part], None],
    *,
    heights_in: Sequence[float],
    has_tick_marks: bool = True,
) -> "Axes":
    """Draw every part on axes of its own, from top to bottom, and return the first axes.

    Args:
        parts: At least one.
        axes: matplotlib axes of the author, for the last part alone; None for a new figure.
        draw: Draws a part.
        heights_in: Height of each panel in inches.
        has_tick_marks: Whether marks stand at the ticks.

    Raises:
        UsageError: If ``axes`` is not matplotlib axes.
    """
    with drawing_style(axes):
        if axes is not None:
            target = take_axes(axes, 1.0)
            draw(target, parts[-1])
            return target
        panels = stack_axes(heights_in)
        for panel, part in zip(panels, parts, strict=True):
            draw(panel, part)
            settle_ticks(panel)
            if not has_tick_marks:
                panel.tick_params(length=0)
        return panels[0]


def stack_axes(heights_in: Sequence[float]) -> "list[Axes]":
    """Return the axes of a new figure one column wide, from top to bottom.

    Args:
        heights_in: Height of each in inches.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH_IN, sum(heights_in)), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    layout = figure.add_gridspec(len(heights_in), 1, height_ratios=list(heights_in))
    return [figure.add_subplot(layout[index, 0]) for index in range(len(heights_in))]
