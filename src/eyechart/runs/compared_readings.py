"""Whether differences between sides survive other ways to read and to count the same answers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from eyechart.runs.pairing import Paired, Side
from eyechart.runs.readings import AS_SCORED, readings_of
from eyechart.schema import Contrast
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.codes import Code
from eyechart.stats.composite import compare_models
from eyechart.stats.conditions import ScoreTable, contrasts_between
from eyechart.stats.corrections import Correction, adjust
from eyechart.stats.sensitivity import changes_of_verdict, verdict_of

MEAN_OVER_VIEWS = "mean over views"


class Reading(NamedTuple):
    """The scores of all sides, counted in one way.

    Args:
        values: (n_common, n_views, n_sides) scores.
        present: Same shape, True where there is a score.
    """

    values: Floats
    present: Bools


def readings_of_sides(paired: Paired) -> dict[str, Reading]:
    """Return every way to read and count the answers that differs on some side; a side without it stays as scored."""
    by_side = [_readings_of_side(side) for side in paired.sides]
    names = dict.fromkeys(name for own in by_side for name in own)
    return {
        name: _aligned(paired, [own.get(name, own[AS_SCORED]) for own in by_side])
        for name in names
        if name != AS_SCORED
    }


def contrast_under(
    paired: Paired, scores: Reading, view: str, pair: tuple[int, int], confidence: float
) -> Contrast | None:
    """Return one difference under one reading: first side of ``pair`` less second; None without a common question.

    Args:
        paired: The sides.
        scores: How their answers are counted.
        view: A view, or ``MEAN_OVER_VIEWS``.
        pair: Positions of the two sides.
        confidence: Coverage of the interval, in (0, 1).
    """
    names = (paired.sides[pair[0]].label, paired.sides[pair[1]].label)
    values, present = scores.values[..., list(pair)], scores.present[..., list(pair)]
    if view == MEAN_OVER_VIEWS:
        return compare_models(values, present, paired.image_groups, names, confidence=confidence)
    index = paired.views.index(view)
    table = ScoreTable(values[:, index], present[:, index], paired.image_groups, names)
    return next(iter(contrasts_between(table, [names], confidence=confidence)), None)


def changes_between(
    as_scored: Sequence[Contrast], others: Iterable[Sequence[Contrast | None]], correction: Correction
) -> list[tuple[str, ...]]:
    """Return what the readings change in the verdict on each difference: ``sign``, ``significance`` or nothing.

    Every reading is corrected over all its differences by one correction, as the claims are.

    Args:
        as_scored: All differences.
        others: Per reading the same differences; None where it has no common question.
        correction: The correction.
    """
    verdicts: list[list[int]] = [[] for _ in as_scored]
    for row in (as_scored, *others):
        tested = [(index, one, one.p) for index, one in enumerate(row) if one is not None and one.p is not None]
        adjusted = adjust(np.array([p for *_, p in tested], dtype=np.float64), correction)
        for (index, one, _), p in zip(tested, adjusted.tolist(), strict=True):
            corrected = msgspec.structs.replace(one, p_adjusted=p)
            verdicts[index].append(verdict_of(corrected, round(1.0 - one.confidence, 10)))
    return [changes_of_verdict(own) for own in verdicts]


def block_unreadable(contrast: Contrast, changes: Sequence[str], allowed: Iterable[str]) -> Contrast:
    """Block a difference that unreadable answers alone could make, unless that is allowed by name."""
    code = str(Code.UNREADABLE_BY_VIEW)
    if not changes or code not in contrast.warnings or code in set(allowed):
        return contrast
    return msgspec.structs.replace(contrast, blocked_by=tuple(dict.fromkeys((*contrast.blocked_by, code))))


def _readings_of_side(side: Side) -> Mapping[str, ScoreTable]:
    table = side.table
    values, present = table.scores()
    scores = ScoreTable(values, present, table.image_groups, table.conditions, chance=table.chance)
    return readings_of(table, scores, side.lenient)


def _aligned(paired: Paired, tables: Sequence[ScoreTable]) -> Reading:
    """Return the common questions and the chosen views of every side's scores."""
    values, present = [], []
    for scores, rows in zip(tables, paired.rows, strict=True):
        cut = np.ix_(rows, [scores.conditions.index(view) for view in paired.views])
        values.append(np.asarray(scores.values)[cut])
        present.append(np.asarray(scores.present)[cut])
    return Reading(np.stack(values, axis=2), np.stack(present, axis=2))
