"""The paired difference of every view from the baseline."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyechart.figures._differences import difference_handles, draw_difference, points_limits, points_ticks
from eyechart.figures._numbers import format_contrast, format_count, format_label, format_level, format_p
from eyechart.figures._series import (
    count_note,
    list_note,
    main_contrasts,
    name_baseline,
    name_difference,
)
from eyechart.figures._style import GRID, INK, drawing_style, settle_ticks, take_axes, write_note
from eyechart.schema import Contrast, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ViewForest"]

_FRAME_IN = 1.05
_ROW_IN = 0.145
_MOST_TICKS = 8


class ViewForest:
    """Paired differences from the baseline with their intervals, largest gain on top.

    A filled square and a bold name mark a difference that holds after correction; an open circle one that cannot be
    told from zero; a small cross one without a p-value. Blocked contrasts are named below and not drawn.
    """

    name = "view_forest"
    title = "What each view gains or loses"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None if there is no contrast to draw.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        contrasts = _sorted_contrasts(summary)
        if not contrasts:
            return None
        blocked = [contrast.condition for contrast in main_contrasts(summary).values() if contrast.blocked_by]
        with drawing_style(ax):
            target = take_axes(ax, _FRAME_IN + _ROW_IN * len(contrasts))
            target.axvline(0.0, color=INK, linewidth=0.8, zorder=1.5)
            for place, contrast in enumerate(contrasts):
                draw_difference(target, place, contrast)
            _draw_points_axis(target, contrasts, name_baseline(summary) or "")
            _draw_names(target, contrasts, [name_difference(contrast, summary) for contrast in contrasts])
            target.legend(
                handles=difference_handles(contrasts), loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3,
                frameon=False, handletextpad=0.2,
            )  # fmt: skip
            write_note(target, [count_note(contrasts), list_note("blocked", blocked)], is_centred=False)
            if ax is None:
                settle_ticks(target)
                target.tick_params(axis="y", length=0)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        contrasts = _sorted_contrasts(summary)
        if not contrasts:
            return ""
        rows = [
            f"{name_difference(contrast, summary)}: {format_contrast(contrast)}, "
            f"n = {format_count(contrast.n_questions)}"
            f"{'' if contrast.p_adjusted is None else f', adjusted p {format_p(contrast.p_adjusted)}'}"
            for contrast in contrasts
        ]
        return (
            f"Paired difference in accuracy from {name_baseline(summary)}, in percentage points with "
            f"{format_level(contrasts[0].confidence)} intervals, for {summary.run.model.spec}. {'; '.join(rows)}."
        )


def _sorted_contrasts(summary: Summary) -> tuple[Contrast, ...]:
    """Return the contrasts that may be shown, largest gain first, ties in the order of the summary."""
    shown = [contrast for contrast in main_contrasts(summary).values() if not contrast.blocked_by]
    return tuple(sorted(shown, key=lambda contrast: -contrast.value))


def _draw_points_axis(axes: "Axes", contrasts: tuple[Contrast, ...], baseline: str) -> None:
    """Scale the horizontal axis in percentage points around 0, to whole tens."""
    low, high = points_limits(contrasts)
    ticks, labels = points_ticks(low, high, _MOST_TICKS)
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, labels=labels)
    axes.set_xlabel(f"difference from {format_label(baseline)}, percentage points", loc="right")
    axes.grid(axis="x", color=GRID, linewidth=0.5)


def _draw_names(axes: "Axes", contrasts: tuple[Contrast, ...], names: Sequence[str]) -> None:
    """Name the rows from top to bottom, in bold where the difference holds after correction."""
    axes.set_ylim(len(contrasts) - 0.4, -0.6)
    axes.set_yticks(range(len(contrasts)), labels=[format_label(name) for name in names])
    for label, contrast in zip(axes.get_yticklabels(), contrasts, strict=True):
        label.set_fontweight("bold" if contrast.claimed else "normal")
    axes.spines["left"].set_visible(False)
