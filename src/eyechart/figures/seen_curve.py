"""Accuracy against the size of the target in the pixels the model saw."""

from math import isfinite, sqrt
from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_estimate, opening
from eyechart.figures._numbers import BANDS_DIFFER, format_count, format_px, format_reciprocal
from eyechart.figures._series import count_note
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
from eyechart.schema import SizeBand, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SeenCurve"]

_HEIGHT_IN = 2.6


class SeenCurve:
    """Accuracy by bands of the target's shorter side as the model saw it, with 95 % intervals and n above each.

    A band pools the views in which the target was seen at that size, so that views are compared by what they leave
    to see and not by their names. Bands hold different questions. The horizontal bar is the width of the band.
    """

    name = "seen_curve"
    title = "What the model saw: size of the target in its own pixels"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None if the sizes the model saw are not known.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        bands = summary.size_bands
        if not bands:
            return None
        with drawing_style(ax):
            target = take_axes(ax, _HEIGHT_IN)
            _draw_bands(target, bands)
            draw_accuracy_axis(target)
            draw_chance(target, summary.chance, [bands[-1].estimate])
            _draw_px_axis(target, bands)
            write_note(
                target,
                [count_note(band.estimate for band in bands), f"n above each band; views are pooled; {BANDS_DIFFER}"],
            )
            if ax is None:
                settle_ticks(target)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        if not summary.size_bands:
            return ""
        bands = [describe_estimate(_label(band), band.estimate) for band in summary.size_bands]
        start = opening(summary, "the shorter side of the target as the model saw it")
        return f"{start} {'; '.join(bands)}. Views are pooled, and {BANDS_DIFFER}."


def _label(band: SizeBand) -> str:
    """Name a band by its limits."""
    if not isfinite(band.high_px):
        return f"from {format_px(band.low_px)} px"
    return f"{format_px(band.low_px)} to below {format_px(band.high_px)} px"


def _limits(band: SizeBand) -> tuple[float, float]:
    """Return limits that can stand on a log axis: an open end becomes a factor of two."""
    high = band.high_px if isfinite(band.high_px) else 2 * max(band.low_px, 1.0)
    low = band.low_px if band.low_px > 0 else high / 2
    return low, high


def _draw_bands(axes: "Axes", bands: tuple[SizeBand, ...]) -> None:
    """Draw each band's estimate at its geometric middle, its interval, its width and its n."""
    middles = []
    for band in bands:
        low, high = _limits(band)
        middle, estimate = sqrt(low * high), band.estimate
        middles.append(middle)
        axes.hlines(estimate.value, low, high, color=ACCENT, linewidth=0.8, alpha=0.6, zorder=2)
        if estimate.interval is not None:
            axes.vlines(middle, *estimate.interval, color=ACCENT, linewidth=0.9, zorder=2)
        axes.annotate(
            format_count(estimate.n_questions),
            xy=(middle, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small",
            color=MUTED,
        )
    values = [band.estimate.value for band in bands]
    axes.plot(middles, values, color=ACCENT, marker="o", linewidth=1.0, zorder=3, clip_on=False)


def _draw_px_axis(axes: "Axes", bands: tuple[SizeBand, ...]) -> None:
    """Scale the horizontal axis by powers of two, labelled at the limits of the bands."""
    edges = sorted({edge for band in bands for edge in _limits(band)})
    axes.set_xscale("log", base=2)
    axes.set_xlim(edges[0] / 1.1, edges[-1] * 1.1)
    axes.set_xticks(edges, labels=[format_reciprocal(edge) for edge in edges])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("shorter side of the target as the model saw it, px")
