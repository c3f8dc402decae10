"""The wheel on which categories are drawn: 0 % in the middle, 100 % at the rim, the first category on top."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING

from eyechart.figures._numbers import wrap_label
from eyechart.figures._style import GRID, MUTED, LineStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RINGS = (0.25, 0.5, 0.75, 1.0)
_UP_OR_DOWN = 0.1
_NAME_RADIUS = 1.12
_NAME_LETTERS = 14
CHANCE_LOOK = LineStyle(MUTED, "none", "--")


def place_on_wheel(place: int, n: int, share: float) -> tuple[float, float]:
    """Return where a share in 0–1 of one of ``n`` categories lies, clockwise from the top.

    Example:
        >>> [round(part, 3) for part in place_on_wheel(1, 4, 0.5)]
        [0.5, 0.0]
    """
    angle = pi / 2 - 2 * pi * place / n
    return share * cos(angle), share * sin(angle)


def draw_wheel(axes: "Axes", names: Sequence[str]) -> None:
    """Draw the rings and the names of the categories, and fix the axes around them.

    Args:
        axes: Where to draw.
        names: At least three.
    """
    n = len(names)
    for ring in _RINGS:
        corners = [place_on_wheel(place, n, ring) for place in range(n + 1)]
        axes.plot([x for x, _ in corners], [y for _, y in corners], color=GRID, linewidth=0.6, zorder=1)
        _name_ring(axes, n, ring)
    for place, name in enumerate(names):
        x, y = place_on_wheel(place, n, _NAME_RADIUS)
        side = "center" if abs(x) < _UP_OR_DOWN else "left" if x > 0 else "right"
        axes.text(x, y, wrap_label(name, _NAME_LETTERS), ha=side, va="center", fontsize=6.5)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _name_ring(axes: "Axes", n: int, ring: float) -> None:
    """Write the percentage of a ring in the middle of its first edge, over the lines that only join two spokes."""
    start, end = (place_on_wheel(place, n, ring) for place in (0, 1))
    axes.text(
        (start[0] + end[0]) / 2, (start[1] + end[1]) / 2, f"{100 * ring:.0f}", fontsize=5.5, color=MUTED,
        ha="center", va="center", zorder=3.2, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )  # fmt: skip


def draw_outline(axes: "Axes", shares: Sequence[float | None], look: LineStyle, label: str) -> None:
    """Join the shares of all categories around the wheel; beside one that is missing there is a gap.

    Args:
        axes: Where to draw.
        shares: (n,) in 0–1 by category.
        look: Colour, marker and dashes.
        label: Name in the legend.
    """
    n = len(shares)
    nowhere = (float("nan"), float("nan"))
    corners = []
    for place in range(n + 1):
        share = shares[place % n]
        corners.append(nowhere if share is None else place_on_wheel(place, n, share))
    axes.plot(
        [x for x, _ in corners], [y for _, y in corners], color=look.colour, marker=look.marker, linestyle=look.dashes,
        markersize=3.0, linewidth=1.1, label=label, zorder=2.5,
    )  # fmt: skip


def draw_spoke(axes: "Axes", place: int, n: int, interval: tuple[float, float], colour: str) -> None:
    """Draw the interval of one category along its spoke."""
    low, high = (place_on_wheel(place, n, share) for share in interval)
    axes.plot([low[0], high[0]], [low[1], high[1]], color=colour, linewidth=0.8, zorder=3)
