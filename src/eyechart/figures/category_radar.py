"""Accuracy by category on a wheel, as leaderboards show it."""

from math import cos, pi, sin
from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_estimate
from eyechart.figures._categories import category_estimates
from eyechart.figures._numbers import format_label
from eyechart.figures._series import count_note
from eyechart.figures._style import ACCENT, GRID, INK, MUTED, drawing_style, take_axes
from eyechart.schema import Estimate, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CategoryRadar"]

_HEIGHT_IN = 3.0
_RINGS = (0.25, 0.5, 0.75, 1.0)


class CategoryRadar:
    """Accuracy of every category from the middle (0 %) to the rim (100 %), intervals as spokes, chance dashed.

    The area means nothing: it depends on the order of the categories. The bars say the same without that.
    """

    name = "category_radar"
    title = "Accuracy by category, on a wheel"

    def draw(self, summary: Summary, axes: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None with fewer than three categories.

        Raises:
            UsageError: If ``axes`` is no matplotlib axes.
        """
        found = category_estimates(summary)
        if not found:
            return None
        with drawing_style(axes):
            target = take_axes(axes, _HEIGHT_IN)
            _draw_rings(target, len(found))
            chance = [estimate.chance for estimate in found.values() if estimate.chance is not None]
            if len(chance) == len(found):
                _draw_polygon(target, chance, MUTED, dashes=(0, (3, 2)), label="chance")
            _draw_polygon(target, [estimate.value for estimate in found.values()], ACCENT, label="accuracy")
            for place, (name, estimate) in enumerate(found.items()):
                _draw_spoke(target, place, len(found), estimate)
                _draw_name(target, place, len(found), name)
            target.set_aspect("equal")
            target.set_xlim(-1.75, 1.75)
            target.set_ylim(-1.55, 1.35)
            target.set_axis_off()
            target.legend(loc="upper left", frameon=False)
            target.text(0.0, -1.5, count_note(list(found.values())), ha="center", va="bottom", fontsize="small")
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        found = category_estimates(summary)
        return "; ".join(describe_estimate(name, one) for name, one in found.items()) + "." if found else ""


def _at(place: int, n: int, radius: float) -> tuple[float, float]:
    angle = pi / 2 - 2 * pi * place / n
    return radius * cos(angle), radius * sin(angle)


def _draw_rings(axes: "Axes", n: int) -> None:
    for ring in _RINGS:
        corners = [_at(place, n, ring) for place in range(n + 1)]
        axes.plot([x for x, _ in corners], [y for _, y in corners], color=GRID, linewidth=0.6, zorder=1)
        axes.text(0.02, ring, f"{100 * ring:.0f}", fontsize=5.0, color=MUTED, va="bottom")


def _draw_polygon(
    axes: "Axes", values: list[float], colour: str, *, label: str, dashes: str | tuple[int, tuple[int, int]] = "-"
) -> None:
    corners = [_at(place % len(values), len(values), values[place % len(values)]) for place in range(len(values) + 1)]
    axes.plot(
        [x for x, _ in corners], [y for _, y in corners], color=colour, linewidth=1.1, linestyle=dashes, label=label
    )


def _draw_spoke(axes: "Axes", place: int, n: int, estimate: Estimate) -> None:
    low, high, middle = (_at(place, n, value) for value in (estimate.low, estimate.high, estimate.value))
    axes.plot([low[0], high[0]], [low[1], high[1]], color=INK, linewidth=0.8, zorder=3)
    axes.plot([middle[0]], [middle[1]], marker="o", markersize=3.2, color=ACCENT, linestyle="none", zorder=4)


def _draw_name(axes: "Axes", place: int, n: int, name: str) -> None:
    x, y = _at(place, n, 1.12)
    side = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"  # noqa: PLR2004 -- above or below the middle
    axes.text(x, y, format_label(name), ha=side, va="center", fontsize=6.5)
