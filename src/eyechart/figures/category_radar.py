"""Accuracy by category on a wheel, as leaderboards show it."""

from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_estimate
from eyechart.figures._categories import category_estimates
from eyechart.figures._series import count_note
from eyechart.figures._style import ACCENT, INK, LineStyle, drawing_style, take_axes
from eyechart.figures._wheel import CHANCE_LOOK, draw_outline, draw_spoke, draw_wheel
from eyechart.schema import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CategoryRadar"]

_HEIGHT_IN = 3.0
_LOOK = LineStyle(ACCENT, "o", "-")


class CategoryRadar:
    """Accuracy of every category from the middle (0 %) to the rim (100 %), intervals as spokes, chance dashed.

    The area means nothing: it depends on the order of the categories. The bars say the same without that.
    """

    name = "category_radar"
    title = "Accuracy by category, on a wheel"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None with fewer than three categories.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        found = category_estimates(summary)
        if not found:
            return None
        estimates = list(found.values())
        with drawing_style(ax):
            target = take_axes(ax, _HEIGHT_IN)
            draw_wheel(target, list(found))
            chance = [estimate.chance for estimate in estimates]
            if None not in chance:
                draw_outline(target, chance, CHANCE_LOOK, "chance")
            draw_outline(target, [estimate.value for estimate in estimates], _LOOK, "accuracy, %")
            for place, estimate in enumerate(estimates):
                if estimate.interval is not None:
                    draw_spoke(target, place, len(found), estimate.interval, INK)
            target.set_xlim(-1.75, 1.75)
            target.set_ylim(-1.55, 1.35)
            target.legend(loc="upper left", frameon=False)
            target.text(0.0, -1.5, count_note(estimates), ha="center", va="bottom", fontsize="small")
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        found = category_estimates(summary)
        return "; ".join(describe_estimate(name, one) for name, one in found.items()) + "." if found else ""
