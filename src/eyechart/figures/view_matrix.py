"""Every question under every view: right, wrong or not scored, sorted by what goes together."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from eyechart.figures._alternative_text import describe_estimate
from eyechart.figures._numbers import format_count, format_label, format_percent
from eyechart.figures._panels import stack_axes
from eyechart.figures._series import accuracies, count_note, main_contrasts
from eyechart.figures._style import (
    ACCENT,
    INK,
    MUTED,
    LineStyle,
    draw_accuracy_axis,
    draw_chance,
    draw_estimates,
    drawing_style,
    settle_ticks,
    take_axes,
    write_note,
)
from eyechart.schema import AnswerPattern, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ViewMatrix"]

_STRIP_IN, _MATRIX_IN = 1.1, 3.4
_RIGHT, _WRONG, _NOT_SCORED = "r", "w", "-"
_WRONG_FILL = "#d3d8de"
# More columns would have names smaller than 5 points.
_MOST_CONDITIONS = 36
_FEW_CONDITIONS = 16
_FEWEST_CONDITIONS = 2
_GAP = 0.08
_MOST_SAID = 6
_STRIP_LOOK = LineStyle(INK, "o", "none")


class ViewMatrix:
    """Questions in rows, views in columns: dark is right, light is wrong, hatched is not scored.

    Questions with most right answers stand on top and like patterns together, so that what is right in a crop and wrong
    in the whole shows as a block. Above every column stands its accuracy with the 95 % interval; given axes hold the
    matrix alone.
    """

    name = "view_matrix"
    title = "Question by question: what is right under which view"

    def draw(self, summary: Summary, ax: object | None = None) -> "Axes | None":
        """Draw on the given matplotlib axes or on new ones; None with fewer than two views or without any score.

        Raises:
            UsageError: If ``ax`` is not matplotlib axes.
        """
        if not _is_drawn(summary):
            return None
        with drawing_style(ax):
            if ax is not None:
                target = take_axes(ax, _MATRIX_IN)
                _draw_matrix(target, summary)
                return target
            strip, target = stack_axes([_STRIP_IN, _MATRIX_IN])
            _draw_strip(strip, summary)
            _draw_matrix(target, summary)
            for panel in (strip, target):
                settle_ticks(panel)
            strip.tick_params(axis="x", length=0, labelbottom=False)
            target.tick_params(axis="x", labelsize=6.5 if len(_conditions(summary)) <= _FEW_CONDITIONS else 5.0)
        return target

    def describe(self, summary: Summary) -> str:
        """Return the figure's numbers in words, for readers who do not see it; empty if there is nothing to draw."""
        if not _is_drawn(summary):
            return ""
        found, names = accuracies(summary), _conditions(summary)
        shares = "; ".join(describe_estimate(name, found[name]) for name in names if name in found)
        commonest = sorted(summary.patterns, key=lambda one: -one.n_questions)
        said = "; ".join(f"{_say(one, names)}: {format_count(one.n_questions)}" for one in commonest[:_MOST_SAID])
        return (
            f"{format_count(_n_questions(summary))} questions under {len(names)} views in {len(commonest)} patterns of "
            f"right and wrong. Accuracy in percent: {shares}. Commonest patterns, in questions: {said}. "
            f"{_discordance(summary)}"
        ).rstrip()


def _is_drawn(summary: Summary) -> bool:
    has_score = not accuracies(summary).keys().isdisjoint(_conditions(summary))
    return has_score and bool(summary.patterns) and len(_conditions(summary)) >= _FEWEST_CONDITIONS


def _conditions(summary: Summary) -> tuple[str, ...]:
    return summary.pattern_conditions[:_MOST_CONDITIONS]


def _n_questions(summary: Summary) -> int:
    return sum(one.n_questions for one in summary.patterns)


def _say(pattern: AnswerPattern, names: Sequence[str]) -> str:
    """Say a pattern by the shorter of its two lists."""
    marks = pattern.marks[: len(names)]
    words = {_RIGHT: "right", _WRONG: "wrong", _NOT_SCORED: "not scored"}
    if len(set(marks)) == 1:
        return f"all {words[marks[0]]}"
    lists = {mark: [name for name, own in zip(names, marks, strict=True) if own == mark] for mark in words}
    rarer = [mark for mark in sorted(words, key=lambda mark: len(lists[mark])) if lists[mark]]
    return "; ".join(
        [*(f"{words[mark]} in {', '.join(lists[mark])}" for mark in rarer[:-1]), f"else {words[rarer[-1]]}"]
    )


def _discordance(summary: Summary) -> str:
    """Say which view puts most questions right that are wrong under its baseline, and the reverse."""
    names, shown = summary.pattern_conditions, _conditions(summary)
    compared = main_contrasts(summary).values()
    pairs = [(one.condition, one.baseline) for one in compared if one.condition in shown and one.baseline in names]
    gained = {pair: _count(summary, *map(names.index, pair)) for pair in pairs}
    if not gained:
        return ""
    best = max(gained, key=lambda pair: gained[pair])
    reverse = _count(summary, *map(names.index, reversed(best)))
    return (
        f"Right in {best[0]} and wrong in {best[1]}: {format_count(gained[best])} of "
        f"{format_count(_n_questions(summary))} questions; the reverse: {format_count(reverse)}."
    )


def _count(summary: Summary, right: int, wrong: int) -> int:
    """Count the questions right under one condition and wrong under another."""
    return sum(one.n_questions for one in summary.patterns if one.marks[right] == _RIGHT and one.marks[wrong] == _WRONG)


def _draw_strip(axes: "Axes", summary: Summary) -> None:
    """Draw the accuracy of every column with its interval."""
    found, names = accuracies(summary), _conditions(summary)
    shown = [(place, found[name]) for place, name in enumerate(names) if name in found]
    draw_estimates(axes, [place for place, _ in shown], [one for _, one in shown], _STRIP_LOOK)
    draw_accuracy_axis(axes)
    draw_chance(axes, summary.chance, is_written=False)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xticks(range(len(names)), labels=[""] * len(names))


def _draw_matrix(axes: "Axes", summary: Summary) -> None:
    """Draw every column as few rectangles, one for every run of alike marks, and name them."""
    from matplotlib.patches import Patch

    names, total = _conditions(summary), _n_questions(summary)
    columns = [_runs([(one.marks[place], one.n_questions) for one in summary.patterns]) for place in range(len(names))]
    looks = {
        _WRONG: ("wrong", _WRONG_FILL, ""),
        _RIGHT: ("right", ACCENT, ""),
        _NOT_SCORED: ("not scored", "white", "xxxxxx"),
    }
    handles = []
    for mark, (label, fill, hatch) in looks.items():
        boxes = [(place, *own) for place, runs in enumerate(columns) for own in runs.get(mark, [])]
        if boxes:
            _draw_boxes(axes, boxes, fill, hatch)
            handles.append(Patch(label=label, linewidth=0.4, facecolor=fill, edgecolor=MUTED, hatch=hatch or None))
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(total, 0)
    axes.set_yticks([0, total], labels=["0", format_count(total)])
    axes.set_ylabel("questions, sorted by pattern", labelpad=-6)
    axes.set_xticks(range(len(names)), labels=[format_label(name) for name in names], rotation=90)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, borderaxespad=0.1
    )
    axes.set_xlabel("view")
    write_note(axes, _notes(summary))


def _runs(marks: Sequence[tuple[str, int]]) -> dict[str, list[tuple[int, int]]]:
    """Return mark → first question and number of questions of every run of that mark.

    Example:
        >>> _runs([("r", 2), ("r", 1), ("w", 4), ("r", 1)])
        {'r': [(0, 3), (7, 1)], 'w': [(3, 4)]}
    """
    found: dict[str, list[tuple[int, int]]] = {}
    start = 0
    for mark, group in groupby(marks, key=lambda one: one[0]):
        length = sum(n for _, n in group)
        found.setdefault(mark, []).append((start, length))
        start += length
    return found


def _draw_boxes(axes: "Axes", boxes: Sequence[tuple[int, int, int]], fill: str, hatch: str) -> None:
    """Draw boxes (column, first question, questions) as one path, which keeps vector files small."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners: list[tuple[float, float]] = []
    for column, start, length in boxes:
        left, right = column - 0.5 + _GAP, column + 0.5 - _GAP
        corners += [(left, start), (right, start), (right, start + length), (left, start + length), (left, start)]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(boxes)
    boxed = Path(corners, codes)
    axes.add_patch(PathPatch(boxed, facecolor=fill, edgecolor=MUTED, hatch=hatch or None, linewidth=0.0, zorder=2))


def _notes(summary: Summary) -> list[str]:
    found = [one for name, one in accuracies(summary).items() if name in _conditions(summary)]
    left_out = len(summary.pattern_conditions) - len(_conditions(summary))
    return [
        count_note(found),
        "" if summary.chance is None else f"dashed: chance {format_percent(summary.chance)} %",
        _discordance(summary).removesuffix(".").replace("; the reverse", ";\nthe reverse"),
        f"{left_out} more views are in the table" if left_out else "",
    ]
