"""Whether a result survives other ways to read and to count the answers."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np

from eyechart.errors import StatisticsError
from eyechart.schema import Contrast
from eyechart.stats.conditions import Pair, ScoreTable, contrasts_between


class Sensitivity(NamedTuple):
    """One contrast under several readings of the same answers.

    Args:
        contrasts: Name of the reading → contrast; readings without a common question are left out.
        sign_changes: Whether it is significantly positive under one reading and significantly negative under another.
        significance_changes: Whether p crosses ``alpha`` between readings.
    """

    contrasts: dict[str, Contrast]
    sign_changes: bool
    significance_changes: bool

    @property
    def is_robust(self) -> bool:
        """Whether the verdict is the same under every reading."""
        return not (self.sign_changes or self.significance_changes)


def compare_readings(
    readings: Mapping[str, ScoreTable], pair: Pair, *, alpha: float = 0.05, confidence: float = 0.95
) -> Sensitivity:
    """Estimate one contrast under several readings: strict, lenient, parsed only, missing as wrong or as right.

    Args:
        readings: Name → scores of the same questions, read that way.
        pair: (condition, baseline).
        alpha: Level at which significance is judged.
        confidence: Coverage of the intervals, in (0, 1).

    Raises:
        StatisticsError: If there is no reading, or a condition does not exist.

    Example:
        >>> values = np.zeros((40, 2)); values[:12, 1] = 1.0
        >>> table = ScoreTable(values, values >= 0, [f"im{i}" for i in range(40)], ("original", "crop_3x"))
        >>> compare_readings({"strict": table, **bound_missing(table)}, ("crop_3x", "original")).is_robust
        True
    """
    if not readings:
        raise StatisticsError("no reading to compare", hint="give at least the strict one")
    contrasts = {
        name: contrast
        for name, table in readings.items()
        for contrast in contrasts_between(table, [pair], confidence=confidence)
    }
    changes = changes_of_verdict(verdict_of(one, alpha) for one in contrasts.values() if one.p is not None)
    return Sensitivity(contrasts, "sign" in changes, "significance" in changes)


def verdict_of(contrast: Contrast, alpha: float) -> int:
    """Return 1 or −1 where a contrast is significant, its direction, and 0 where it is not.

    Decided by p after correction where there is one, since that is what a report claims by.
    """
    p = contrast.p if contrast.p_adjusted is None else contrast.p_adjusted
    return 0 if p is None or p > alpha else int(np.sign(contrast.value))


def changes_of_verdict(verdicts: Iterable[int]) -> tuple[str, ...]:
    """Return what changes between the verdicts of several readings: ``sign``, ``significance``, both or nothing.

    The sign of what is insignificant under every reading says nothing, so it is not a change.

    Example:
        >>> changes_of_verdict([1, 0]), changes_of_verdict([1, -1]), changes_of_verdict([0, 0])
        (('significance',), ('sign',), ())
    """
    distinct = set(verdicts)
    return ("sign",) * ({-1, 1} <= distinct) + ("significance",) * (0 in distinct and len(distinct) > 1)


def bound_missing(table: ScoreTable) -> dict[str, ScoreTable]:
    """Return the table with all missing scores wrong, and with all of them right.

    Example:
        >>> table = ScoreTable(np.zeros((1, 1)), np.zeros((1, 1), dtype=bool), ("a",), ("original",))
        >>> [float(reading.values[0, 0]) for reading in bound_missing(table).values()]
        [0.0, 1.0]
    """
    mask = np.asarray(table.present, dtype=np.bool_)
    return {
        f"missing {name}": msgspec.structs.replace(
            table, values=np.where(mask, table.values, score), present=np.ones(mask.shape, dtype=np.bool_), filled=None
        )
        for name, score in (("wrong", 0.0), ("right", 1.0))
    }
