"""Which conditions show the model one picture, or nearly one, so that no effect of resolution can be read from them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import median

import msgspec

from eyechart.runs.cells import Cell, RunTable
from eyechart.schema import CloseViews, Contrast, Flips, View
from eyechart.seen.collapse import NEAR_SEEN_RATIO
from eyechart.seen.ledger import have_collapsed
from eyechart.stats.codes import Code
from eyechart.stats.conditions import Pair
from eyechart.stats.findings import Finding

_MOST_NAMED = 4
_HALF = 0.5


def find_close(table: RunTable) -> tuple[CloseViews, ...]:
    """Return the pairs of conditions that show the same part at scales less than 1.25 apart, in order of the run.

    Only questions count for which both show the same part and what the model saw is known; a pair is close if that is
    so for more than half of the questions asked under both.
    """
    ratios: dict[tuple[int, int], list[float]] = defaultdict(list)
    n_same: dict[tuple[int, int], int] = defaultdict(int)
    for group in _same_cuts(table):
        for (first, one), (second, other) in combinations(group, 2):
            left, right = _information(one), _information(other)
            ratios[first, second].append(max(max(a, b) / min(a, b) for a, b in zip(left, right, strict=True)))
            n_same[first, second] += have_collapsed(left, right)
    shared = _shared(table)
    found = []
    for pair, values in sorted(ratios.items()):
        is_common = len(values) > _HALF * shared[pair]
        if is_common and median(values) < NEAR_SEEN_RATIO and not _are_same_recipes(table, pair):
            larger, smaller = _by_size(table, pair)
            found.append(CloseViews(smaller, larger, median(values), n_same[pair], shared[pair]))
    return tuple(found)


def repeated(close: Iterable[CloseViews]) -> tuple[Pair, ...]:
    """Return the pairs that are one picture to the model for every question: to ask both is to ask twice."""
    return tuple((one.condition, one.baseline) for one in close if one.is_one_picture)


def without_repeats(views: Mapping[str, View], close: Iterable[CloseViews]) -> dict[str, View]:
    """Return condition → view without the smaller one of two that are one picture for every question."""
    dropped = {one.condition for one in close if one.is_one_picture}
    return {name: view for name, view in views.items() if name not in dropped}


def block_close(contrasts: Sequence[Contrast], close: Iterable[CloseViews]) -> tuple[Contrast, ...]:
    """Mark the contrasts that would read an effect of resolution from what the model cannot tell apart.

    A contrast of two conditions that are one picture for every question is no effect but a measure of noise, and keeps
    its number; a contrast of conditions less than 1.25 apart in scale is blocked.
    """
    by_pair = {frozenset((one.condition, one.baseline)): one for one in close}
    marked = []
    for contrast in contrasts:
        one = by_pair.get(frozenset((contrast.condition, contrast.baseline)))
        if one is None:
            marked.append(contrast)
        elif one.is_one_picture:
            warnings = tuple(dict.fromkeys((*contrast.warnings, str(Code.SAME_PICTURE))))
            marked.append(msgspec.structs.replace(contrast, warnings=warnings))
        else:
            blocked = tuple(dict.fromkeys((*contrast.blocked_by, str(Code.SAME_PICTURE))))
            marked.append(msgspec.structs.replace(contrast, blocked_by=blocked))
    return tuple(marked)


def with_noise(
    close: Iterable[CloseViews], contrasts: Iterable[Contrast], flips: Iterable[Flips]
) -> tuple[CloseViews, ...]:
    """Return the pairs with the noise between those that are one picture: difference and churn of their scores."""
    by_pair = {frozenset((one.condition, one.baseline)): one for one in contrasts}
    churns = {frozenset((one.condition, one.baseline)): one.churn for one in flips}
    filled = []
    for one in close:
        pair = frozenset((one.condition, one.baseline))
        is_repeat = one.is_one_picture
        noise, churn = (by_pair.get(pair), churns.get(pair)) if is_repeat else (None, None)
        filled.append(msgspec.structs.replace(one, noise=noise, churn=churn))
    return tuple(filled)


def check_close(close: Sequence[CloseViews], conditions: Sequence[str]) -> tuple[Finding, ...]:
    """Return the rule about views that the model's own resizing makes one, and about those it brings close."""
    same = [one for one in close if one.n_same > _HALF * one.n_both]
    near = [one for one in close if one not in same]
    found = []
    for pairs, words in ((same, "makes one picture of"), (near, "leaves less than 1.25 in scale between")):
        if pairs:
            names = {name for one in pairs for name in (one.condition, one.baseline)}
            text = "; ".join(_words(one) for one in pairs[:_MOST_NAMED])
            more = f"; and {len(pairs) - _MOST_NAMED} other pairs" if len(pairs) > _MOST_NAMED else ""
            found.append(
                Finding(
                    code=Code.SAME_PICTURE,
                    level="warning",
                    message=f"the model's own resizing {words} {text}{more}",
                    conditions=tuple(name for name in conditions if name in names),
                )
            )
    return tuple(found)


def distinct_levels(levels: Sequence[tuple[str, float]], close: Iterable[CloseViews]) -> tuple[tuple[str, float], ...]:
    """Return levels without those that are mostly one picture with a larger one that stays.

    Example:
        >>> distinct_levels([("original", 1.0), ("half", 0.5)], [CloseViews("half", "original", 1.0, 9, 10)])
        (('original', 1.0),)
    """
    same = {frozenset((one.condition, one.baseline)) for one in close if one.n_same > _HALF * one.n_both}
    kept: list[tuple[str, float]] = []
    for name, scale in levels:
        if not any(frozenset((name, other)) in same for other, _ in kept):
            kept.append((name, scale))
    return tuple(kept)


def _words(one: CloseViews) -> str:
    if one.n_same <= _HALF * one.n_both:
        return f"{one.baseline} and {one.condition} ({one.ratio:.2f})"
    counts = "" if one.is_one_picture else f" ({one.n_same} of {one.n_both} questions)"
    return f"{one.baseline} and {one.condition}{counts}"


def _same_cuts(table: RunTable) -> list[list[tuple[int, Cell]]]:
    """Return per question and part of its picture the conditions that show it, with their first cells."""
    groups: dict[tuple[int, str], list[tuple[int, Cell]]] = defaultdict(list)
    for (question, condition, _), cell in sorted(_first_cells(table).items()):
        if cell.cut and cell.sight is not None and cell.sight.information_scale is not None:
            groups[question, cell.cut].append((condition, cell))
    return [group for group in groups.values() if len(group) > 1]


def _first_cells(table: RunTable) -> Mapping[tuple[int, int, int], Cell]:
    """Return one cell of every question and condition: repeats and rotations show the same picture."""
    first: dict[tuple[int, int], tuple[int, int, int]] = {}
    for key in sorted(table.cells):
        first.setdefault(key[:2], key)
    return {key: table.cells[key] for key in first.values()}


def _shared(table: RunTable) -> dict[tuple[int, int], int]:
    """Return for how many questions both conditions of each pair were asked."""
    asked: list[set[int]] = [set() for _ in table.conditions]
    for question, condition, _ in table.cells:
        asked[condition].add(question)
    return {
        (first, second): len(asked[first] & asked[second])
        for first, second in combinations(range(len(table.conditions)), 2)
    }


def _are_same_recipes(table: RunTable, pair: tuple[int, int]) -> bool:
    """Whether two conditions send the very same pictures, which no model makes one."""
    first = {question: cell.recipes for question, cell in table.column(pair[0])}
    second = {question: cell.recipes for question, cell in table.column(pair[1])}
    shared = first.keys() & second.keys()
    return all(first[question] == second[question] for question in shared)


def _by_size(table: RunTable, pair: tuple[int, int]) -> tuple[str, str]:
    """Return the names of two conditions, the one that sends more pixels first."""
    pixels = [median(cell.sent_px for _, cell in table.column(index)) for index in pair]
    first, second = (table.conditions[index] for index in pair)
    return (first, second) if pixels[0] >= pixels[1] else (second, first)


def _information(cell: Cell) -> tuple[float, float]:
    assert cell.sight is not None  # noqa: S101 -- only cells with a scale are grouped
    assert cell.sight.information_scale is not None  # noqa: S101 -- likewise
    return cell.sight.information_scale
