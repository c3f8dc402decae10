"""Where the questions come from: categories inside, datasets outside."""

from math import cos, degrees, pi, sin
from typing import TYPE_CHECKING

from eyechart.figures._numbers import format_count, format_label, wrap_label
from eyechart.figures._style import INK, MUTED, drawing_style, take_axes
from eyechart.schema import PictureGroup, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SourceRings"]

_HEIGHT_IN = 4.0
# Eight fills after Okabe and Ito, light enough for dark letters; dark edges part the categories in grey.
_FILLS = ("#a6cee8", "#f3cfa0", "#a9dcc8", "#e9b8d2", "#f2e6a2", "#c9c4e4", "#d7d7d7", "#f0b9a8")
_SMALLEST_LABEL = 0.018
_NARROW, _WIDE = 0.1, 0.3
_WEDGE_LETTERS = 11
_INNERMOST, _OUTERMOST = 0.3, 1.02


class SourceRings:
    """Questions of the run by category (inner ring) and dataset (outer ring), with counts."""

    name = "source_rings"
    title = "Where the questions come from"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None unless two categories have datasets.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        categories = _by_category(summary)
        if len(categories) <= 1:
            return None
        with drawing_style(ax):
            target = take_axes(ax, _HEIGHT_IN)
            _draw_rings(target, categories)
            target.set_aspect("equal")
            target.set_xlim(-1.75, 1.75)
            target.set_ylim(-2.2, 1.75)
            target.set_axis_off()
            note = "\n".join(_notes(categories))
            target.text(0.0, -2.18, note, ha="center", va="bottom", fontsize="small", color=MUTED)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        categories = _by_category(summary)
        if len(categories) <= 1:
            return ""
        return " ".join(
            f"{category}, {format_count(sum(group.n_questions for group in groups))} questions: "
            f"{', '.join(f'{group.source} {format_count(group.n_questions)}' for group in groups)}."
            for category, groups in categories.items()
        )


def _by_category(summary: Summary) -> dict[str, list[PictureGroup]]:
    found: dict[str, list[PictureGroup]] = {}
    for group in summary.pictures:
        if group.category is not None:
            found.setdefault(group.category, []).append(group)
    return dict(sorted(found.items(), key=lambda entry: -sum(group.n_questions for group in entry[1])))


def _notes(categories: dict[str, list[PictureGroup]]) -> list[str]:
    """Say n, and how many datasets are too small for a name."""
    groups = [group for own in categories.values() for group in own]
    total = sum(group.n_questions for group in groups)
    n_sets = len({group.source for group in groups})
    lines = [f"n = {format_count(total)} questions of {n_sets} datasets in {len(categories)} categories"]
    small = sum(not _is_named(group, total) for group in groups)
    if small:
        names = "dataset" if small == 1 else "datasets"
        share = f"{100 * _SMALLEST_LABEL:g} %"
        lines.append(f"{format_count(small)} {names} of less than {share} of the questions not named")
    return lines


def _is_named(group: PictureGroup, total: int) -> bool:
    return group.n_questions >= _SMALLEST_LABEL * total


def _draw_category(axes: "Axes", name: str, middle: float, share: float) -> None:
    """Write a category into its wedge, along the radius where the wedge is narrow."""
    angle = pi / 2 - 2 * pi * middle
    is_narrow = share < _NARROW
    turned = degrees(angle) if cos(angle) >= 0 else degrees(angle) + 180
    axes.text(
        0.51 * cos(angle),
        0.51 * sin(angle),
        wrap_label(name, _WEDGE_LETTERS, 2)
        if is_narrow
        else f"{wrap_label(name, _WEDGE_LETTERS)}\n{100 * share:.0f} %",
        fontsize=6.0 if share > _WIDE or (not is_narrow and len(name) <= _WEDGE_LETTERS) else 5.0,
        ha="center",
        va="center",
        rotation=turned if is_narrow else 0.0,
    )


def _draw_edge(axes: "Axes", share: float) -> None:
    """Draw the edge between two categories through both rings."""
    angle = pi / 2 - 2 * pi * share
    ends = [(radius * cos(angle), radius * sin(angle)) for radius in (_INNERMOST, _OUTERMOST)]
    axes.plot([x for x, _ in ends], [y for _, y in ends], color=INK, linewidth=1.0, solid_capstyle="butt", zorder=3)


def _draw_rings(axes: "Axes", categories: dict[str, list[PictureGroup]]) -> None:
    total = sum(group.n_questions for groups in categories.values() for group in groups)
    inner = [sum(group.n_questions for group in groups) for groups in categories.values()]
    fills = [_FILLS[index % len(_FILLS)] for index in range(len(categories))]
    edge = {"linewidth": 0.6, "edgecolor": "white"}
    axes.pie(
        inner,
        radius=0.72,
        colors=fills,
        startangle=90,
        counterclock=False,
        wedgeprops={"width": 0.42, **edge},
    )
    start = 0
    for name, n in zip(categories, inner, strict=True):
        _draw_edge(axes, start / total)
        _draw_category(axes, name, (start + n / 2) / total, n / total)
        start += n
    groups = [group for own in categories.values() for group in own]
    outer_fills = [fill for fill, own in zip(fills, categories.values(), strict=True) for _ in own]
    axes.pie(
        [group.n_questions for group in groups],
        radius=1.0,
        colors=outer_fills,
        startangle=90,
        counterclock=False,
        wedgeprops={"width": 0.26, **edge},
        labels=[
            f"{format_label(group.source)} {format_count(group.n_questions)}" if _is_named(group, total) else ""
            for group in groups
        ],
        labeldistance=1.04,
        rotatelabels=True,
        textprops={"fontsize": 5.2},
    )
