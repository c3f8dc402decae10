"""Paired differences on figures: how each is marked, and an axis in percentage points."""

from collections.abc import Sequence
from math import ceil, floor
from typing import TYPE_CHECKING

from eyechart.figures._numbers import MINUS
from eyechart.figures._style import ACCENT, MUTED
from eyechart.schema import Contrast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# The axis shows at least ±10 points, so that a narrow range does not make small differences look large.
_SMALLEST_RANGE = 0.1
_TICK_STEPS = (0.05, 0.1, 0.2, 0.5)
_MARKER_SIZE = 3.8


def draw_difference(axes: "Axes", place: float, contrast: Contrast, *, is_upright: bool = False) -> None:
    """Draw one interval and its marker: filled square if it holds, open circle if not, cross without a p-value.

    Args:
        axes: Where to draw.
        place: Its row, or its column if upright.
        contrast: The difference.
        is_upright: Whether points go up rather than to the right.
    """
    holds = contrast.claimed
    colour = ACCENT if holds else MUTED
    middle = ([contrast.value], [place])
    if is_upright:
        middle = middle[::-1]
    if contrast.interval is not None:
        line = (contrast.interval, (place, place))
        axes.plot(*(line[::-1] if is_upright else line), color=colour, linewidth=1.5 if holds else 0.9)
    axes.plot(
        *middle,
        linestyle="none",
        marker="s" if holds else "o" if contrast.p_adjusted is not None else "x",
        markersize=_MARKER_SIZE,
        markerfacecolor=colour if holds else "white",
        markeredgecolor=colour,
        markeredgewidth=0.9,
        zorder=3,
    )


def points_limits(contrasts: Sequence[Contrast]) -> tuple[float, float]:
    """Return the ends of an axis that holds all intervals, in whole tens of points on both sides of 0."""
    reach = [bound for contrast in contrasts for bound in (contrast.value, *(contrast.interval or ()))]
    return floor(min(-_SMALLEST_RANGE, *reach) * 10) / 10, ceil(max(_SMALLEST_RANGE, *reach) * 10) / 10


def points_ticks(low: float, high: float, most: int) -> tuple[list[float], list[str]]:
    """Return at most about so many round ticks with their labels, signed and in percentage points.

    Example:
        >>> points_ticks(-0.1, 0.2, 4)
        ([-0.1, 0.0, 0.1, 0.2], ['−10', '0', '+10', '+20'])
    """
    step = next((step for step in _TICK_STEPS if (high - low) / step <= most), _TICK_STEPS[-1])
    ticks = [step * place for place in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
    return ticks, [f"{100 * tick:+.0f}".replace("-", MINUS).replace("+0", "0") for tick in ticks]


def difference_handles(contrasts: Sequence[Contrast]) -> "list[Line2D]":
    """Return legend entries for the markers that occur."""
    from matplotlib.lines import Line2D

    has_p = any(contrast.p_adjusted is not None and not contrast.claimed for contrast in contrasts)
    kinds = (
        ("s", ACCENT, ACCENT, "a difference is claimed", any(contrast.claimed for contrast in contrasts)),
        ("o", "white", MUTED, "cannot be told from 0", has_p),
        ("x", "white", MUTED, "interval only", any(contrast.p_adjusted is None for contrast in contrasts)),
    )
    return [
        Line2D(
            [], [], linestyle="none", marker=marker, markersize=_MARKER_SIZE, mfc=face, mec=edge, mew=0.9, label=label
        )
        for marker, face, edge, label, occurs in kinds
        if occurs
    ]
