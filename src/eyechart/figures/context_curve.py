"""Accuracy against how much of the picture around the target is shown."""

from typing import TYPE_CHECKING

import msgspec

from eyechart.figures._alternative_text import describe_estimate, describe_points, opening
from eyechart.figures._numbers import NOT_SCORED, format_label, format_percent
from eyechart.figures._panels import draw_panels
from eyechart.figures._series import Level, Point, context_levels, count_note, list_note
from eyechart.figures._style import (
    CONTEXT_STYLES,
    INK,
    draw_accuracy_axis,
    draw_chance,
    draw_estimates,
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
    apart at the right. Every level of a matched design has axes of its own; given axes hold the last level.
    """

    name = "context_curve"
    title = "Context: more or less of the picture around the target"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None if none of the three families has a score.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        levels = context_levels(summary)
        if not levels:
            return None

        def draw_level(target: "Axes", level: Level) -> None:
            _draw_level(target, level, summary.chance)

        return draw_panels(levels, ax, draw_level, heights_in=[_HEIGHT_IN] * len(levels))

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        levels = context_levels(summary)
        if not levels:
            return ""
        sentences = [opening(summary, "the shown area as a multiple of the target's")]
        for level in levels:
            if level.original is not None:
                sentences.append(f"{describe_estimate(level.original.condition, level.original)}.")
            sentences += [
                describe_points(own, lambda point: point.condition.condition) for own in level.families.values()
            ]
        return " ".join(sentences)


def _draw_level(axes: "Axes", level: Level, chance: float | None) -> None:
    canvas_x = _whole_canvas_x(level.families)
    _draw_original(axes, level.original)
    for family, points in level.families.items():
        _draw_family(axes, family, points, canvas_x)
    draw_accuracy_axis(axes)
    draw_chance(axes, chance, [points[-1].estimate for points in level.families.values()])
    _draw_area_axis(axes, level.families, canvas_x)
    if level.name:
        axes.set_xlabel(f"{axes.get_xlabel()}\nin {format_label(level.name)}")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, handlelength=3.0)
    shown = [point.estimate for points in level.families.values() for point in points]
    write_note(
        axes,
        [
            count_note([*shown, level.original] if level.original else shown),
            list_note(NOT_SCORED, level.unscored),
        ],
    )


def _whole_canvas_x(families: dict[str, tuple[Point, ...]]) -> float:
    """Return the place of views without an area ratio: right of all others."""
    ratios = [point.x for points in families.values() for point in points if point.x]
    return max(ratios, default=1.0) * 2.2


def _draw_original(axes: "Axes", original: Estimate | None) -> None:
    """Draw the accuracy on the untouched pictures as a line with its band."""
    if original is None:
        return
    if original.interval is not None:
        axes.axhspan(*original.interval, facecolor=INK, alpha=0.08, linewidth=0)
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
        draw_estimates(
            axes,
            [(point.x or canvas_x) * _DODGE[family] for point in chosen],
            [point.estimate for point in chosen],
            msgspec.structs.replace(style, dashes="none") if is_canvas else style,
            None if is_canvas and len(chosen) < len(points) else family.replace("_", " "),
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
