"""Accuracy against how much of the picture around the target is shown."""

from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_estimate, describe_points, opening
from eyechart.figures._numbers import NOT_SCORED, format_percent
from eyechart.figures._series import (
    CONTEXT_FAMILIES,
    Point,
    context_points,
    count_note,
    list_note,
    original_estimate,
    unscored,
)
from eyechart.figures._style import (
    CONTEXT_STYLES,
    INK,
    draw_accuracy_axis,
    draw_chance,
    drawing_style,
    settle_ticks,
    take_axes,
    write_note,
)
from eyechart.schema import Estimate, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ContextCurve"]

_HEIGHT_IN = 2.9
# Families stand beside each other at one area ratio, so that their intervals can be told apart.
_DODGE = {"crop": 1 / 1.045, "whiteground": 1.0, "target_only": 1.045}
_CLOSEST_TICKS = 1.35


class ContextCurve:
    """Accuracy of crops, whitegrounds and target-only views against the shown area, with 95 % intervals.

    The area ratio is the shown area divided by the target's, on a log axis; never drawn on one axis with linear scale.
    The original is a reference line with its own band. A target alone on the whole canvas has no ratio and stands
    apart at the right.
    """

    name = "context_curve"
    title = "Context: more or less of the picture around the target"

    def draw(self, summary: Summary, axes: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None if none of the three families has a score.

        Raises:
            UsageError: If ``axes`` is no matplotlib axes.
        """
        families = context_points(summary)
        if not families:
            return None
        original = original_estimate(summary)
        with drawing_style(axes):
            target = take_axes(axes, _HEIGHT_IN)
            canvas_x = _whole_canvas_x(families)
            _draw_original(target, original)
            for family, points in families.items():
                _draw_family(target, family, points, canvas_x)
            draw_accuracy_axis(target)
            draw_chance(target, summary.chance, [points[-1].estimate for points in families.values()])
            _draw_area_axis(target, families, canvas_x)
            target.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, handlelength=3.0)
            shown = [point.estimate for points in families.values() for point in points]
            write_note(
                target,
                [
                    count_note([*shown, original] if original else shown),
                    list_note(NOT_SCORED, unscored(summary, CONTEXT_FAMILIES)),
                ],
            )
            if axes is None:
                settle_ticks(target)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        families = context_points(summary)
        if not families:
            return ""
        sentences = [opening(summary, "the shown area as a multiple of the target's")]
        original = original_estimate(summary)
        if original is not None:
            sentences.append(f"{describe_estimate('original', original)}.")
        sentences += [describe_points(points, lambda point: point.condition.condition) for points in families.values()]
        return " ".join(sentences)


def _whole_canvas_x(families: dict[str, tuple[Point, ...]]) -> float:
    """Return the place of views without an area ratio: right of all others."""
    ratios = [point.x for points in families.values() for point in points if point.x]
    return max(ratios, default=1.0) * 2.2


def _draw_original(axes: "Axes", original: Estimate | None) -> None:
    """Draw the accuracy on the untouched pictures as a line with its band."""
    if original is None:
        return
    axes.axhspan(original.low, original.high, facecolor=INK, alpha=0.08, linewidth=0)
    axes.axhline(
        original.value,
        color=INK,
        linewidth=0.8,
        linestyle=(0, (8, 2, 1, 2)),
        label=f"original {format_percent(original.value)} %",
    )


def _draw_family(axes: "Axes", family: str, points: tuple[Point, ...], canvas_x: float) -> None:
    """Draw one family: a line over the ratios, and the whole canvas, if asked, as a marker apart."""
    style = CONTEXT_STYLES[family]
    for is_canvas in (False, True):
        chosen = [point for point in points if (point.x is None) is is_canvas]
        if not chosen:
            continue
        values = [point.estimate.value for point in chosen]
        axes.errorbar(
            [(point.x or canvas_x) * _DODGE[family] for point in chosen],
            values,
            yerr=[
                [point.estimate.value - point.estimate.low for point in chosen],
                [point.estimate.high - point.estimate.value for point in chosen],
            ],
            color=style.colour,
            marker=style.marker,
            linestyle="none" if is_canvas else style.dashes,
            elinewidth=0.8,
            capsize=1.5,
            zorder=3,
            clip_on=False,
            label=None if is_canvas and len(chosen) < len(points) else family.replace("_", " "),
        )


def _draw_area_axis(axes: "Axes", families: dict[str, tuple[Point, ...]], canvas_x: float) -> None:
    """Label the area ratios that occur, leaving out labels that would touch, and the whole canvas."""
    ratios = sorted({point.x for points in families.values() for point in points if point.x})
    has_canvas = any(point.x is None for points in families.values() for point in points)
    ticks: list[float] = []
    for ratio in ratios:
        if not ticks or ratio >= ticks[-1] * _CLOSEST_TICKS:
            ticks.append(ratio)
    labels = [f"{tick:g}×" for tick in ticks]
    if has_canvas:
        ticks.append(canvas_x)
        labels.append("whole\ncanvas")
    axes.set_xscale("log")
    axes.set_xlim(min(ticks) / 1.15, max(ticks) * 1.15)
    axes.set_xticks(ticks, labels=labels)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("shown area as a multiple of the target's")
