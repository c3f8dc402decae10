"""Whether a result survives other ways to read and to count the answers."""

from collections.abc import Mapping
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
        sign_changes: Whether the difference is positive under one reading and negative under another.
        significance_changes: Whether p crosses ``alpha`` between readings.
    """

    contrasts: dict[str, Contrast]
    sign_changes: bool
    significance_changes: bool

    @property
    def is_robust(self) -> bool:
        """Whether neither sign nor significance changes."""
        return not (self.sign_changes or self.significance_changes)


def compare_readings(
    readings: Mapping[str, ScoreTable], pair: Pair, *, alpha: float = 0.05, confidence: float = 0.95
) -> Sensitivity:
    """Estimate one contrast under several readings: strict, lenient, parsed only, missing as wrong or as right.

    Args:
        readings: Name → scores of the same questions, read that way.
        pair: (condition, baseline).
        alpha: Level at which significance is judged, on raw p.
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
    signs = {float(np.sign(contrast.value)) for contrast in contrasts.values()}
    verdicts = {contrast.p <= alpha for contrast in contrasts.values() if contrast.p is not None}
    return Sensitivity(contrasts, {-1.0, 1.0} <= signs, len(verdicts) > 1)


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
