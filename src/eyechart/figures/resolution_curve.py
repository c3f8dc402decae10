"""Accuracy against how far the whole picture was shrunk."""

from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_points, opening
from eyechart.figures._differences import difference_handles, draw_difference, points_limits, points_ticks
from eyechart.figures._numbers import NOT_SCORED, format_contrast, format_label, format_px, format_reciprocal
from eyechart.figures._panels import stack_axes
from eyechart.figures._series import Point, count_note, list_note, main_contrasts, resolution_points, unscored
from eyechart.figures._style import (
    ACCENT,
    GRID,
    INK,
    MUTED,
    draw_accuracy_axis,
    draw_chance,
    drawing_style,
    settle_ticks,
    take_axes,
    write_note,
)
from eyechart.schema import Contrast, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ResolutionCurve"]

_HEIGHT_IN, _DIFFERENCE_IN, _LABELS_IN = 2.7, 1.6, 0.35
_MOST_TICKS = 6
_FAMILIES = ("original", "downsample")
# Below this share of the target's sent pixels the model shrank the picture further by itself.
_BINDING = 0.98
# Labels of the upper axis closer than this share of its length would touch.
_TICK_SPACING = 0.14
# How far the legend reaches up, and where on the axis it begins, if it stands at the lower right.
_LEGEND_TOP, _LEGEND_WIDTH = 0.15, 0.35


class ResolutionCurve:
    """Accuracy with its 95 % band on a log₂ axis of linear scale, original at 1, chance as a dashed line.

    Below it, on the same axis, stands the paired difference of every scale from the original, which is what a claim is
    about. The upper axis gives the shorter side of the target in the pixels the model saw (median), where known. Scales
    at which the model shrank the picture further by itself are hatched: there the view changes the input less than its
    name says.
    """

    name = "resolution_curve"
    title = "Resolution: the whole picture made smaller"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw both on a new figure, or the accuracies on given matplotlib axes; None if no smaller view has a score.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        points = resolution_points(summary)
        if not points:
            return None
        if ax is not None or not _differences(summary, points):
            with drawing_style(ax):
                target = take_axes(ax, _HEIGHT_IN)
                _draw_accuracies(target, summary, points)
                write_note(target, _notes(summary, points))
                if ax is None:
                    settle_ticks(target)
            return target
        with drawing_style(None):
            target, lower = stack_axes([_HEIGHT_IN - _LABELS_IN, _DIFFERENCE_IN])
            _draw_accuracies(target, summary, points)
            target.set_xlabel("")
            _draw_differences(lower, summary, points)
            write_note(lower, [*_notes(summary, points), *_difference_notes(summary, points)])
            for panel in (target, lower):
                settle_ticks(panel)
            target.tick_params(axis="x", labelbottom=False)
        return target

    def draw_differences(self, summary: Summary, axes: object | None = None) -> "Axes | None":
        """Draw the paired differences from the original alone; None if there is none that may be shown.

        Raises:
            UsageError: If ``axes`` is not matplotlib axes.
        """
        points = resolution_points(summary)
        if not _differences(summary, points):
            return None
        with drawing_style(axes):
            target = take_axes(axes, _DIFFERENCE_IN + _LABELS_IN)
            _draw_differences(target, summary, points)
            write_note(target, _difference_notes(summary, points))
            if axes is None:
                settle_ticks(target)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        points = resolution_points(summary)
        if not points:
            return ""
        sentences = [
            opening(summary, "linear scale of the whole picture"),
            describe_points(points, lambda point: f"{point.condition.condition} (scale {point.x:g})"),
        ]
        shown = _differences(summary, points)
        if shown:
            differences = "; ".join(f"{one.condition}: {format_contrast(one)}" for _, one in shown)
            sentences.append(f"Paired difference from {shown[0][1].baseline}, in percentage points: {differences}.")
        return " ".join(sentences)


def _differences(summary: Summary, points: tuple[Point, ...]) -> list[tuple[float, Contrast]]:
    """Return scale and contrast with the original of every smaller view whose contrast nothing blocks."""
    return [(scale, one) for scale, one in _contrasts(summary, points) if not one.blocked_by]


def _contrasts(summary: Summary, points: tuple[Point, ...]) -> list[tuple[float, Contrast]]:
    found = main_contrasts(summary)
    wholes = {point.condition.condition for point in points if point.condition.family == "original"}
    return [
        (point.x or 1.0, found[point.condition.condition])
        for point in points
        if point.condition.condition in found and found[point.condition.condition].baseline in wholes
    ]


def _notes(summary: Summary, points: tuple[Point, ...]) -> list[str]:
    return [count_note(point.estimate for point in points), list_note(NOT_SCORED, unscored(summary, _FAMILIES))]


def _difference_notes(summary: Summary, points: tuple[Point, ...]) -> list[str]:
    shown = [one for _, one in _differences(summary, points)]
    blocked = [one.condition for _, one in _contrasts(summary, points) if one.blocked_by]
    return [f"differences: {count_note(shown)}", list_note("blocked", blocked)]


def _draw_accuracies(axes: "Axes", summary: Summary, points: tuple[Point, ...]) -> None:
    _draw_curve(axes, points)
    draw_accuracy_axis(axes)
    draw_chance(axes, summary.chance, [points[-1].estimate])
    _draw_scale_axis(axes, points)
    _shade_model_limit(axes, points)
    _draw_seen_axis(axes, points)


def _draw_differences(axes: "Axes", summary: Summary, points: tuple[Point, ...]) -> None:
    """Draw the differences over the axis of scales, with the original as the line at 0."""
    shown = _differences(summary, points)
    contrasts = [one for _, one in shown]
    axes.axhline(0.0, color=INK, linewidth=0.8, zorder=1.5)
    for scale, one in shown:
        draw_difference(axes, scale, one, is_upright=True)
    low, high = points_limits(contrasts)
    ticks, labels = points_ticks(low, high, _MOST_TICKS)
    axes.set_ylim(low, high)
    axes.set_yticks(ticks, labels=labels)
    axes.set_ylabel(f"difference from\n{format_label(contrasts[0].baseline)}, points")
    axes.grid(axis="y", color=GRID, linewidth=0.5)
    _draw_scale_axis(axes, points)
    axes.legend(
        handles=difference_handles(contrasts), loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3,
        frameon=False, handletextpad=0.2, borderaxespad=0.1,
    )  # fmt: skip


def _draw_curve(axes: "Axes", points: tuple[Point, ...]) -> None:
    """Draw the line through the estimates and the band of their intervals."""
    scales = [point.x or 1.0 for point in points]
    estimates = [point.estimate for point in points]
    known = [(scale, one.interval) for scale, one in zip(scales, estimates, strict=True) if one.interval is not None]
    lows, highs = [low for _, (low, _) in known], [high for _, (_, high) in known]
    axes.fill_between([scale for scale, _ in known], lows, highs, color=ACCENT, alpha=0.16, linewidth=0)
    axes.plot(scales, [estimate.value for estimate in estimates], color=ACCENT, marker="o", zorder=3, clip_on=False)


def _draw_scale_axis(axes: "Axes", points: tuple[Point, ...]) -> None:
    """Scale the horizontal axis by powers of two, labelled at each."""
    scales = [point.x or 1.0 for point in points]
    ticks, tick = [], 1.0
    while tick >= min(scales) * 0.99:
        ticks.append(tick)
        tick /= 2
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(scales) / 1.12, max(scales) * 1.12)
    axes.set_xticks(ticks, labels=[format_reciprocal(tick) for tick in ticks])
    axes.set_xlabel("linear scale of the picture (1 = original)")


def _draw_seen_axis(axes: "Axes", points: tuple[Point, ...]) -> None:
    """Add an upper axis with the target's size as the model saw it, leaving out labels that would touch."""
    from math import log2

    known = [(point.x or 1.0, point.condition.target_px_seen) for point in points if point.condition.target_px_seen]
    if not known:
        return
    low, high = axes.get_xlim()
    chosen: list[tuple[float, float]] = []
    for scale, seen_px in reversed(known):
        if not chosen or log2(chosen[-1][0] / scale) >= _TICK_SPACING * log2(high / low):
            chosen.append((scale, seen_px))
    upper = axes.secondary_xaxis("top")
    upper.set_xticks([scale for scale, _ in chosen], labels=[format_px(seen_px) for _, seen_px in chosen])
    evidence = sorted({point.condition.seen_evidence for point in points if point.condition.seen_evidence})
    upper.set_xlabel(f"target as the model saw it, px (median{''.join(f', {word}' for word in evidence)})")
    upper.tick_params(which="major", length=2.5, width=0.6, color=MUTED)
    upper.tick_params(which="minor", length=0.0, labeltop=False)
    upper.spines["top"].set_linewidth(0.6)


def _shade_model_limit(axes: "Axes", points: tuple[Point, ...]) -> None:
    """Shade the scales at which the model shrank the picture further by itself."""
    bound = [
        point.x or 1.0
        for point in points
        if point.condition.target_px_sent
        and point.condition.target_px_seen
        and point.condition.target_px_seen < _BINDING * point.condition.target_px_sent
    ]
    if not bound:
        return
    axes.axvspan(
        min(bound) / 1.06,
        axes.get_xlim()[1],
        facecolor="none",
        edgecolor=MUTED,
        alpha=0.4,
        hatch="////",
        linewidth=0,
        label="shrunk further by the model",
    )
    low, high = axes.get_xlim()
    is_low = any(
        point.estimate.value < _LEGEND_TOP and (point.x or 1.0) > low ** (1 - _LEGEND_WIDTH) * high**_LEGEND_WIDTH
        for point in points
    )
    axes.legend(
        loc="upper left" if is_low else "lower right", framealpha=0.85, edgecolor="none", labelcolor=MUTED,
        borderaxespad=0.2,
    )  # fmt: skip
