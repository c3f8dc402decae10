"""How large the pictures are, dataset by dataset."""

from collections import Counter
from collections.abc import Sequence
from math import log10
from typing import TYPE_CHECKING

from eyechart.figures._numbers import format_count, format_label
from eyechart.figures._style import ACCENT, GRID, INK, MUTED, drawing_style, settle_ticks, take_axes, write_note
from eyechart.schema import PictureGroup, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PictureSizes"]

_FRAME_IN = 1.0
_ROW_IN = 0.165
# nk means n² · 10⁶ pixels, as in HRScene.
MARKS_K = (1, 2, 3, 4, 8, 16)
_LARGEST_PX = 1e9


class PictureSizes:
    """Box plots of pixels per picture on a log axis up to 10⁹, with marks 1k, 2k, … (nk = n²·10⁶ pixels) and n.

    Box: quartiles, line: median, dot: mean, whiskers: smallest and largest.
    """

    name = "picture_sizes"
    title = "How large the pictures are"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None if no size is known.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        if not summary.pictures:
            return None
        return draw_boxes(summary.pictures, ax)

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        return describe_boxes(summary.pictures)


def draw_boxes(groups: tuple[PictureGroup, ...], axes: object | None = None, *, head_in: float = 0.0) -> "Axes":
    """Draw one box per group, largest median on top.

    Args:
        groups: At least one.
        axes: matplotlib axes of the author, or None.
        head_in: Height in inches that a new figure keeps for what stands above the boxes.

    Raises:
        UsageError: If ``axes`` is not matplotlib axes.
    """
    ordered = sorted(groups, key=lambda group: -group.quartiles_px[2])
    with drawing_style(axes):
        target = take_axes(axes, _FRAME_IN + head_in + _ROW_IN * len(ordered))
        for place, group in enumerate(ordered):
            _draw_box(target, place, group)
        _draw_axis(target, ordered)
        total = sum(group.n_pictures for group in ordered)
        write_note(
            target,
            [
                f"n = {format_count(total)} pictures; box: quartiles, dot: mean, line: smallest to largest",
                "nk = n²·10⁶ pixels",
            ],
            is_centred=False,
        )
        if axes is None:
            settle_ticks(target)
            target.tick_params(axis="y", length=0)
    return target


def describe_boxes(groups: tuple[PictureGroup, ...]) -> str:
    """Say the numbers of every box."""
    return " ".join(
        f"{name}: n = {format_count(group.n_pictures)} pictures, median {group.quartiles_px[2] / 1e6:.3g} "
        f"megapixels, from {group.quartiles_px[0] / 1e6:.3g} to {group.quartiles_px[4] / 1e6:.3g}."
        for name, group in zip(_names(groups), groups, strict=True)
    )


def _names(groups: Sequence[PictureGroup]) -> list[str]:
    """Return the dataset of every box, with its category where it has pictures in several."""
    n_boxes = Counter(group.source for group in groups)
    return [one.source if n_boxes[one.source] == 1 else f"{one.source} · {one.category}" for one in groups]


def _draw_box(axes: "Axes", place: int, group: PictureGroup) -> None:
    low, lower, middle, upper, high = group.quartiles_px
    axes.plot([low, high], [place, place], color=INK, linewidth=0.8, solid_capstyle="butt", zorder=2)
    axes.barh(place, upper - lower, left=lower, height=0.56, color="#d6e4f0", edgecolor=ACCENT, linewidth=0.8, zorder=3)
    axes.plot([middle, middle], [place - 0.28, place + 0.28], color=ACCENT, linewidth=1.4, zorder=4)
    axes.plot([group.mean_px], [place], marker="o", markersize=2.2, color=INK, linestyle="none", zorder=5)


def _draw_axis(axes: "Axes", groups: list[PictureGroup]) -> None:
    smallest = min(group.quartiles_px[0] for group in groups)
    axes.set_xscale("log")
    axes.set_xlim(10 ** (int(log10(smallest)) if smallest >= 1 else 0) * 0.9, _LARGEST_PX)
    shown = [k for k in MARKS_K if k * k * 1e6 > axes.get_xlim()[0]]
    axes.set_xticks([k * k * 1e6 for k in shown], labels=[f"{k}k" for k in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("pixels of a picture", loc="right")
    axes.grid(axis="x", color=GRID, linewidth=0.5)
    for exponent in range(int(log10(axes.get_xlim()[0])) + 1, 10):
        axes.annotate(
            f"10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}",
            xy=(10.0**exponent, 1.0),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            fontsize=5.5,
            color=MUTED,
        )
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.set_yticks(
        range(len(groups)),
        labels=[
            f"{format_label(name)}, {format_count(group.n_pictures)}"
            for name, group in zip(_names(groups), groups, strict=True)
        ],
    )
    axes.spines["left"].set_visible(False)
