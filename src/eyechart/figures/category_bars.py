"""Accuracy by category as bars."""

from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_estimate
from eyechart.figures._categories import category_estimates
from eyechart.figures._numbers import format_count, format_label
from eyechart.figures._series import count_note
from eyechart.figures._style import ACCENT, GRID, INK, drawing_style, settle_ticks, take_axes, write_note
from eyechart.schema import Estimate, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CategoryBars"]

_FRAME_IN = 0.95
_ROW_IN = 0.19


class CategoryBars:
    """Accuracy of every category with its interval, its own chance level as a tick, and its n; best first.

    Categories have their own questions and chance: their order says nothing about the model alone.
    """

    name = "category_bars"
    title = "Accuracy by category"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None with fewer than three categories.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        found = category_estimates(summary)
        if not found:
            return None
        ordered = sorted(found.items(), key=lambda entry: (-entry[1].value, entry[0]))
        with drawing_style(ax):
            target = take_axes(ax, _FRAME_IN + _ROW_IN * len(ordered))
            for place, (_, estimate) in enumerate(ordered):
                _draw_bar(target, place, estimate)
            target.set_ylim(len(ordered) - 0.4, -0.6)
            labels = [f"{format_label(name)}, n = {format_count(one.n_questions)}" for name, one in ordered]
            target.set_yticks(range(len(ordered)), labels=labels)
            target.set_xlim(0.0, 1.0)
            target.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], labels=["0", "25", "50", "75", "100"])
            target.set_xlabel("accuracy, % (tick: chance)", loc="right")
            target.grid(axis="x", color=GRID, linewidth=0.5)
            target.spines["left"].set_visible(False)
            write_note(target, [count_note([one for _, one in ordered])], is_centred=False)
            if ax is None:
                settle_ticks(target)
                target.tick_params(axis="y", length=0)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        found = category_estimates(summary)
        return "; ".join(describe_estimate(name, one) for name, one in found.items()) + "." if found else ""


def _draw_bar(axes: "Axes", place: int, estimate: Estimate) -> None:
    axes.barh(place, estimate.value, height=0.62, color=ACCENT, alpha=0.35, linewidth=0)
    if estimate.interval is not None:
        axes.plot(estimate.interval, [place, place], color=INK, linewidth=0.9, solid_capstyle="butt")
    axes.plot([estimate.value], [place], marker="|", color=INK, markersize=5, linestyle="none")
    if estimate.chance is not None:
        axes.plot([estimate.chance] * 2, [place - 0.36, place + 0.36], color=INK, linewidth=1.1, linestyle=(0, (1, 1)))
