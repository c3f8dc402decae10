"""How large the pictures of several benchmarks are, beside what models take in."""

from collections.abc import Sequence
from math import log10, sqrt
from typing import TYPE_CHECKING

from eyechart.figures._numbers import format_label
from eyechart.figures._style import MUTED, drawing_style
from eyechart.figures.picture_sizes import describe_boxes, draw_boxes
from eyechart.schema import PictureGroup, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES_A_LINE = 2
_LABELS = "abcdefghijklmnopqrstuvwxyz"
# Lines closer than this share of the axis have one label: two letters beside each other would touch.
_CLOSE = 0.05
_NAMES_IN, _NAME_LINE_IN = 0.12, 0.09


class ModelLimit(Value, frozen=True):
    """The most pixels of one large picture that reach a model, by a documented rule with its date."""

    model: str
    n_px: int
    rule: str
    date: str


def draw_resolutions(
    groups: Sequence[PictureGroup], limits: Sequence[ModelLimit] = (), axes: object | None = None
) -> "Axes":
    """Draw one box per benchmark and one lettered line per model, named below.

    Args:
        groups: At least one benchmark.
        limits: At most 26 models.
        axes: matplotlib axes of the author, or None.

    Raises:
        UsageError: If ``axes`` is not matplotlib axes.
    """
    ordered = sorted(limits, key=lambda limit: limit.n_px)[: len(_LABELS)]
    n_lines = -(-len(ordered) // _NAMES_A_LINE)
    target = draw_boxes(tuple(groups), axes, head_in=_NAMES_IN + _NAME_LINE_IN * n_lines if ordered else 0.0)
    if not ordered:
        return target
    with drawing_style(axes):
        low = min(target.get_xlim()[0], min(limit.n_px for limit in ordered) * 0.8)
        target.set_xlim(low, target.get_xlim()[1])
        for limit in ordered:
            target.axvline(limit.n_px, color=MUTED, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1.5)
        for label, place in _labels([limit.n_px for limit in ordered], target):
            target.annotate(
                label,
                xy=(place, 0.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 1),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=5.5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )
        names = [
            f"{letter} {format_label(limit.model)} {limit.n_px / 1e6:.2g} MP"
            for letter, limit in zip(_LABELS, ordered, strict=False)
        ]
        starts = range(0, len(names), _NAMES_A_LINE)
        lines = [";  ".join(names[start : start + _NAMES_A_LINE]) for start in starts]
        target.set_title("most that reaches a model:\n" + "\n".join(lines), fontsize=5.5, loc="right", pad=11)
    return target


def _labels(sizes: Sequence[int], axes: "Axes") -> list[tuple[str, float]]:
    """Return letters for the sorted sizes and where they stand; sizes close to each other share one label."""
    low, high = axes.get_xlim()
    groups: list[list[int]] = []
    for place, size in enumerate(sizes):
        if place and log10(size / sizes[place - 1]) < _CLOSE * log10(high / low):
            groups[-1].append(place)
        else:
            groups.append([place])
    return [
        (
            _LABELS[group[0]] if len(group) == 1 else f"{_LABELS[group[0]]}–{_LABELS[group[-1]]}",
            sqrt(sizes[group[0]] * sizes[group[-1]]),
        )
        for group in groups
    ]


def describe_resolutions(groups: Sequence[PictureGroup], limits: Sequence[ModelLimit]) -> str:
    """Say the numbers of every box and line, with the rule behind each line."""
    models = " ".join(
        f"At most {limit.n_px / 1e6:.3g} megapixels of a picture reach {limit.model} (rule {limit.rule}, {limit.date})."
        for limit in limits
    )
    return f"{describe_boxes(tuple(groups))} {models}".strip()
