"""Accuracy of every view against the size of target that the model really saw, and the half-accuracy target size."""

from math import log2
from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_estimate, opening
from eyechart.figures._labels import Label, write_labels
from eyechart.figures._numbers import format_half_size, format_px, format_reciprocal
from eyechart.figures._series import Point, accuracies, count_note, is_plain
from eyechart.figures._style import (
    ACCENT,
    CONTEXT_STYLES,
    INK,
    MUTED,
    LineStyle,
    draw_accuracy_axis,
    draw_chance,
    drawing_style,
    settle_ticks,
    take_axes,
    write_note,
)
from eyechart.schema import HalfAccuracySize, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AcuityCurve"]

_HEIGHT_IN = 3.2
_SCENE = frozenset({"original", "downsample"})
_STYLES = {"scene": LineStyle(INK, "D", "-"), **CONTEXT_STYLES}
_OTHER = LineStyle(MUTED, "v", "-")
_ONE_LABEL_OCTAVES = 0.3
_MOST_SCALES = 3


class AcuityCurve:
    """A point per view at the median effective size of its target (shorter side, log₂), with its 95 % interval.

    Scales of the whole picture are written beside their points as labels only. Views that are one picture to the model
    are joined and drawn hollow: their difference is the noise of asking twice. The line is what would be right if all
    targets had one size, by what changes within a question; the shade is the half-accuracy size with its interval.
    """

    name = "acuity_curve"
    title = "Accuracy by the pixels the model saw of the target"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None if the sizes the model saw are not known.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        points = _points(summary)
        if not points:
            return None
        size = next((one for one in summary.half_accuracy_sizes if one.task is None), None)
        with drawing_style(ax):
            target = take_axes(ax, _HEIGHT_IN)
            _draw_px_axis(target, points, size)
            draw_accuracy_axis(target)
            draw_chance(target, summary.chance, [points[-1].estimate])
            if size is not None:
                _draw_curve(target, size, summary.chance or 0.0)
            _draw_joins(target, summary, points)
            _draw_points(target, points, _joined(summary))
            target.legend(
                loc="lower right",
                bbox_to_anchor=(1.0, 1.0),
                ncols=2,
                frameon=False,
                labelcolor=MUTED,
                borderaxespad=0.2,
            )
            write_note(target, _notes(summary, points, size))
            if ax is None:
                settle_ticks(target)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        points = _points(summary)
        if not points:
            return ""
        said = [
            describe_estimate(f"{point.condition.condition} ({format_px(point.x)} px)", point.estimate)
            for point in points
        ]
        size = next((one for one in summary.half_accuracy_sizes if one.task is None), None)
        end = "" if size is None else f" {format_half_size(size)}"
        return f"{opening(summary, 'the shorter side of the target as the model saw it')} {'; '.join(said)}.{end}"


def _points(summary: Summary) -> tuple[Point, ...]:
    """Return the views whose target's seen size is known, from the smallest size up."""
    found = accuracies(summary)
    points = [
        Point(condition.target_px_seen, condition, found[condition.condition])
        for condition in summary.conditions
        if condition.target_px_seen and condition.condition in found
    ]
    return tuple(sorted(points, key=lambda point: (point.x or 0.0, point.condition.condition)))


def _joined(summary: Summary) -> frozenset[str]:
    """Return the conditions that are one picture with another one."""
    return frozenset(
        name for one in summary.close_views if one.is_one_picture for name in (one.condition, one.baseline)
    )


def _family(point: Point) -> str:
    family = point.condition.family
    if family in _SCENE:
        return "scene"
    return family if family in _STYLES else "other"


def _draw_points(axes: "Axes", points: tuple[Point, ...], joined: frozenset[str]) -> None:
    """Draw every view with its interval, one legend entry per family, and label the scales of the whole picture."""
    labels = {"scene": "whole picture (scale)", "other": "other views"}
    for family in ("scene", *CONTEXT_STYLES, "other"):
        style = _STYLES.get(family, _OTHER)
        own = [point for point in points if _family(point) == family]
        for number, point in enumerate(own):
            x, estimate = point.x or 1.0, point.estimate
            is_joined = point.condition.condition in joined
            if estimate.interval is not None:
                axes.vlines(x, *estimate.interval, color=style.colour, linewidth=0.8, alpha=0.7, zorder=2)
            axes.plot(
                [x], [estimate.value], color=style.colour, marker=style.marker, linestyle="none", zorder=4,
                markerfacecolor="white" if is_joined else style.colour,
                label=labels.get(family, family.replace("_", " ")) if number == 0 else None,
            )  # fmt: skip
        if family == "scene":
            scales = _scale_labels([point for point in own if is_plain(point.condition)])
            write_labels(axes, scales, [(point.x or 1.0, point.estimate.value) for point in points])


def _scale_labels(points: list[Point]) -> list[Label]:
    """Return the nominal scales of the points of the whole picture; points at about one size share one label."""
    groups: list[list[Point]] = []
    for point in sorted(points, key=lambda one: -(one.condition.linear_scale or 1.0)):
        size = log2(point.x or 1.0)
        home = next((group for group in groups if abs(log2(group[0].x or 1.0) - size) < _ONE_LABEL_OCTAVES), None)
        if home is None:
            groups.append([point])
        else:
            home.append(point)
    return [_scale_label(group) for group in groups]


def _scale_label(group: list[Point]) -> Label:
    names = [format_reciprocal(one.condition.linear_scale or 1.0) for one in group]
    return Label(
        x=max(one.x or 1.0 for one in group),
        y=sum(one.estimate.value for one in group) / len(group),
        text=", ".join(names) if len(names) <= _MOST_SCALES else f"{names[0]} … {names[-1]}",
    )


def _draw_joins(axes: "Axes", summary: Summary, points: tuple[Point, ...]) -> None:
    """Join the views that are one picture to the model."""
    places = {point.condition.condition: point for point in points}
    for one in summary.close_views:
        first, second = places.get(one.condition), places.get(one.baseline)
        if one.is_one_picture and first is not None and second is not None:
            axes.plot(
                [first.x or 1.0, second.x or 1.0],
                [first.estimate.value, second.estimate.value],
                color=INK,
                linewidth=2.4,
                alpha=0.35,
                zorder=1.8,
                solid_capstyle="round",
            )


def _draw_curve(axes: "Axes", size: HalfAccuracySize, chance: float) -> None:
    """Draw the curve within questions as accuracies, and the half-accuracy size with its interval."""
    if size.has_curve:
        sizes = [band.px for band in size.bands]
        values = [_accuracy(band.fitted, chance) for band in size.bands]
        axes.plot(sizes, values, color=ACCENT, linewidth=1.1, zorder=1.6, label="within questions")
    if size.px is not None:
        low = size.low or axes.get_xlim()[0]
        axes.axvspan(low, size.high or size.px, color=ACCENT, alpha=0.12, linewidth=0)
        axes.axvline(size.px, color=ACCENT, linewidth=0.9, linestyle=(0, (1, 2)))


def _accuracy(corrected: float, chance: float) -> float:
    return chance + (1 - chance) * corrected


def _draw_px_axis(axes: "Axes", points: tuple[Point, ...], size: HalfAccuracySize | None) -> None:
    """Scale the horizontal axis by powers of two, with round ticks over all that is drawn."""
    sizes = [point.x or 1.0 for point in points] + [band.px for band in (size.bands if size else ())]
    low, high = min(sizes) / 1.25, max(sizes) * 1.6
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    exponents = range(int(log2(low)) - 1, int(log2(high)) + 2)
    ticks = [2.0**exponent for exponent in exponents if low <= 2.0**exponent <= high]
    step = max(1, -(-len(ticks) // 9))
    axes.set_xticks(ticks[::step], labels=[format_reciprocal(tick) for tick in ticks[::step]])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("shorter side of the target as the model saw it, px")


def _notes(summary: Summary, points: tuple[Point, ...], size: HalfAccuracySize | None) -> list[str]:
    lines = [count_note(point.estimate for point in points)]
    if _joined(summary):
        lines.append("joined and hollow: one picture to the model, so their difference is noise")
    if size is not None:
        said = format_half_size(size)[:-1] if size.px is not None else f"half-accuracy target size {size.status}"
        lines.append(said)
    evidence = sorted({point.condition.seen_evidence for point in points if point.condition.seen_evidence})
    how_known = f" ({', '.join(evidence)})" if evidence else ""
    lines.append(f"each view at the median of its sizes{how_known}")
    return lines
