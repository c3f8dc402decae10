"""An eye chart of the model: letters at the sizes at which it can and cannot read, from its own answers."""

from textwrap import wrap
from typing import TYPE_CHECKING

from eyechart.figures._numbers import (
    BANDS_DIFFER,
    NO_INTERVAL,
    format_count,
    format_half_size,
    format_label,
    format_level,
    format_n,
    format_percent,
    format_px,
)
from eyechart.figures._style import COLUMN_WIDTH_IN, INK, MUTED, drawing_style, take_axes
from eyechart.schema import AcuityBand, HalfAccuracySize, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["EyeChart"]

# Sloan's ten letters, about equally legible (Sloan 1959, https://doi.org/10.1016/0002-9394(59)90626-9).
_LETTERS = "CDHKNORSVZ"
_POINTS_PER_INCH = 72
_LETTERS_LEFT, _LETTERS_RIGHT = 40.0, 176.0
_TALLEST, _WIDEST_GAP = 40.0, 0.55
_HALF_SIZE_ROW = 8.0
_MOST_LETTERS = 9
_LEAST_ROW, _PADDING = 8.0, 5.0
_HOLLOW = "#b4bac2"
_MOST_TASKS, _LINE = 4, 62


class EyeChart:
    """Rows of letters, each as tall as the targets of one band, all to one scale of pixels the model saw.

    In every row the share of black letters is the share of targets that the model read (chance-corrected); the rest is
    hollow; at the right stands the accuracy itself. Rows hold different questions. The dashed line is the half-accuracy
    target size, from what changes within a question.
    """

    name = "eye_chart"
    title = "Eye chart: what the model reads at which size"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None if the sizes the model saw are not known.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        size = _main(summary)
        if size is None:
            return None
        rows, left_out = _rows(size)
        heights = [max(height, _LEAST_ROW) + 2 * _PADDING for _, height in rows]
        notes = _notes(summary, size, left_out)
        total = sum(heights) + 18.0
        with drawing_style(ax):
            target = take_axes(ax, (total + 9.5 * len(notes) + 4.0) / _POINTS_PER_INCH)
            target.set_xlim(0.0, COLUMN_WIDTH_IN * _POINTS_PER_INCH - 8.0)
            target.set_ylim(-9.5 * len(notes), total)
            target.set_aspect("equal")
            target.set_axis_off()
            _draw_rows(target, rows, heights, total)
            _draw_half_size(target, size, rows, heights, total)
            for number, note in enumerate(notes):
                target.text(0.0, -9.5 * number - 2.0, note, fontsize="small", color=MUTED, va="top", ha="left")
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        size = _main(summary)
        if size is None:
            return ""
        bands = "; ".join(
            f"about {format_px(band.px)} px: {_accuracy(band)} % right, {_read(band)}, "
            f"n = {format_count(band.n_questions)}"
            for band in size.bands
        )
        return (
            f"Share of answers of {summary.run.model.spec} that are right, with their intervals, and share of targets "
            f"read, which is corrected for guessing, by the shorter side of the target as it saw it; {BANDS_DIFFER}. "
            f"{bands}. {format_half_size(size)}"
        )


def _read(band: AcuityBand) -> str:
    """Return the share of targets read, as the black letters show it: none where guesses are right as often."""
    return f"{format_percent(band.corrected)} % read" if band.corrected > 0.0 else "none read beyond guessing"


def _main(summary: Summary) -> HalfAccuracySize | None:
    """Return the half-accuracy size over all tasks if there are answers at several sizes behind it."""
    return next((one for one in summary.half_accuracy_sizes if one.task is None and one.bands), None)


def _rows(size: HalfAccuracySize) -> tuple[list[tuple[AcuityBand, float]], list[AcuityBand]]:
    """Return bands with the height of their letters in points, largest first, and those too large to be drawn."""
    smallest_shown = size.px or size.bands[-1].px
    points_per_px = min(_HALF_SIZE_ROW / smallest_shown, _TALLEST / size.bands[-1].px)
    if size.px is None:
        points_per_px = max(points_per_px, _TALLEST / size.bands[0].px)
    drawn = [(band, band.px * points_per_px) for band in size.bands]
    shown = [(band, height) for band, height in drawn if height <= _TALLEST]
    return shown, [band for band, height in drawn if height > _TALLEST]


def _draw_rows(axes: "Axes", rows: list[tuple[AcuityBand, float]], heights: list[float], total: float) -> None:
    """Draw the letters of every band, its size at the left, and its accuracy at the right."""
    right = COLUMN_WIDTH_IN * _POINTS_PER_INCH - 10.0
    _write(axes, 0.0, total - 6.0, "target, px", "left", MUTED)
    _write(axes, right, total - 6.0, "right, % [95 %]", "right", MUTED)
    top = total - 18.0
    for number, ((band, height), row) in enumerate(zip(rows, heights, strict=True)):
        middle = top - row / 2
        _write(axes, 0.0, middle, format_px(band.px), "left", INK)
        _write(axes, right, middle, _accuracy(band), "right", INK)
        _draw_letters(axes, height, middle, band.corrected, number)
        top -= row


def _draw_letters(axes: "Axes", height: float, middle: float, share: float, row: int) -> None:
    """Draw one row of letters around the middle of the column, the read ones black and spread evenly."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    pitch = height * (1 + _WIDEST_GAP)
    n = max(1, min(_MOST_LETTERS, int((_LETTERS_RIGHT - _LETTERS_LEFT) // pitch)))
    n_read = round(max(0.0, min(1.0, share)) * n)
    start = (_LETTERS_LEFT + _LETTERS_RIGHT) / 2 - (n - 1) * pitch / 2
    font = FontProperties(family="DejaVu Sans", weight="bold")
    for index in range(n):
        path = TextPath((0, 0), _LETTERS[(3 * row + index) % len(_LETTERS)], size=10, prop=font)
        box = path.get_extents()
        scale = height / box.height
        move = Affine2D().translate(-(box.x0 + box.x1) / 2, -(box.y0 + box.y1) / 2).scale(scale)
        placed = move.translate(start + index * pitch, middle).transform_path(path)
        is_read = (index + 1) * n_read // n > index * n_read // n
        colour = INK if is_read else _HOLLOW
        width = min(0.6, height / 14)
        axes.add_patch(PathPatch(placed, facecolor=INK if is_read else "none", edgecolor=colour, linewidth=width))


def _draw_half_size(
    axes: "Axes", size: HalfAccuracySize, rows: list[tuple[AcuityBand, float]], heights: list[float], total: float
) -> None:
    """Draw a dashed line between the rows above and below the half-accuracy size."""
    if size.px is None:
        return
    above = [row for (band, _), row in zip(rows, heights, strict=True) if band.px >= size.px]
    place = total - 18.0 - sum(above)
    axes.axhline(place, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))


def _notes(summary: Summary, size: HalfAccuracySize, left_out: list[AcuityBand]) -> list[str]:
    """Return the lines under the chart."""
    headline = format_half_size(size)[:-1]
    lines = [
        *wrap(f"{format_label(summary.run.model.spec)}: {headline}", _LINE),
        f"{format_n(size.n_questions, size.n_clusters)}, {format_level(size.confidence)} intervals",
    ]
    lines.append(f"black letters: share read, corrected for guessing; {BANDS_DIFFER}")
    if size.evidence:
        lines.append(f"letters to scale; sizes the model saw: {size.evidence}")
    if left_out:
        least, most = (format_percent(pick(band.accuracy[0] for band in left_out)) for pick in (min, max))
        span = f"{least} %" if least == most else f"{least} to {most} %"
        lines.append(f"larger targets, up to {format_px(left_out[0].px)} px, are left out: {span} right")
    tasks = [one for one in summary.half_accuracy_sizes if one.task is not None]
    for task in tasks[:_MOST_TASKS]:
        said = format_half_size(task)[:-1] if task.px is not None else task.status
        lines.append(f"{format_label(task.task or '')}: {said.removeprefix('Half-accuracy target size ')}")
    if len(tasks) > _MOST_TASKS:
        lines.append(f"and {len(tasks) - _MOST_TASKS} more tasks in the table")
    return lines


def _accuracy(band: AcuityBand) -> str:
    """Write the accuracy of a band in percent, not corrected for guessing, with its interval."""
    value, low, high = band.accuracy
    if low is None or high is None:
        return f"{format_percent(value)} {NO_INTERVAL}"
    return f"{format_percent(value)} [{format_percent(low)}, {format_percent(high)}]"


def _write(axes: "Axes", x: float, y: float, text: str, side: str, colour: str) -> None:
    axes.text(x, y, text, ha=side, va="center", color=colour, fontsize="small")
