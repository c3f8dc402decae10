"""Accuracy against how far the whole picture was shrunk."""

from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_points, opening
from eyechart.figures._numbers import NOT_SCORED, format_px
from eyechart.figures._series import Point, count_note, list_note, resolution_points, unscored
from eyechart.figures._style import (
    ACCENT,
    MUTED,
    draw_accuracy_axis,
    draw_chance,
    drawing_style,
    settle_ticks,
    take_axes,
    write_note,
)
from eyechart.schema import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ResolutionCurve"]

_HEIGHT_IN = 2.7
_FAMILIES = ("original", "downsample")
# Below this share of the target's sent pixels the model shrank the picture further by itself.
_BINDING = 0.98
# Labels of the upper axis closer than this share of its length would touch.
_TICK_SPACING = 0.14


class ResolutionCurve:
    """Accuracy with its 95 % band on a log₂ axis of linear scale, original at 1, chance as a dashed line.

    The upper axis gives the shorter side of the target in the pixels the model saw (median), where that is known.
    Scales at which the model shrank the picture further by itself are shaded: there the view changes the input less
    than its name says.
    """

    name = "resolution_curve"
    title = "Resolution: the whole picture made smaller"

    def draw(self, summary: Summary, axes: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None if no downsampled view has a score.

        Raises:
            UsageError: If ``axes`` is no matplotlib axes.
        """
        points = resolution_points(summary)
        if not points:
            return None
        with drawing_style(axes):
            target = take_axes(axes, _HEIGHT_IN)
            _draw_curve(target, points)
            draw_accuracy_axis(target)
            draw_chance(target, summary.chance, [points[-1].estimate])
            _draw_scale_axis(target, points)
            _shade_model_limit(target, points)
            _draw_seen_axis(target, points)
            write_note(
                target,
                [
                    count_note(point.estimate for point in points),
                    list_note(NOT_SCORED, unscored(summary, _FAMILIES)),
                ],
            )
            if axes is None:
                settle_ticks(target)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        points = resolution_points(summary)
        if not points:
            return ""
        return " ".join(
            [
                opening(summary, "linear scale of the whole picture"),
                describe_points(points, lambda point: f"{point.condition.condition} (scale {point.x:g})"),
            ]
        )


def _draw_curve(axes: "Axes", points: tuple[Point, ...]) -> None:
    """Draw the line through the estimates and the band of their intervals."""
    scales = [point.x or 1.0 for point in points]
    estimates = [point.estimate for point in points]
    axes.fill_between(
        scales,
        [estimate.low for estimate in estimates],
        [estimate.high for estimate in estimates],
        color=ACCENT,
        alpha=0.16,
        linewidth=0,
    )
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
    axes.set_xticks(ticks, labels=["1" if tick == 1 else f"1/{1 / tick:.0f}" for tick in ticks])
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
    axes.legend(loc="lower right", framealpha=0.85, edgecolor="none", labelcolor=MUTED, borderaxespad=0.2)
