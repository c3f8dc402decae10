"""Whether a difference is small enough not to matter: the counterpart of a test for a difference."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats
from eyechart.stats.clusters import Clusters
from eyechart.stats.missing import ScoreBounds
from eyechart.stats.paired import bonett_price, check_differences


class EquivalenceTable(NamedTuple):
    """Two one-sided tests; every field has the shape of the trailing axes.

    Args:
        p: The larger of the two one-sided p-values: small means "equivalent within the margin".
        low: Lower bound of the 1 − 2·alpha interval.
        high: Upper bound; equivalence holds where the interval lies inside ±margin.
        is_equivalent: Whether p ≤ alpha.
        margin: The margin given.
    """

    p: Floats
    low: Floats
    high: Floats
    is_equivalent: Bools
    margin: float


def equivalence(
    differences: Floats, present: Bools, clusters: Clusters, margin: float, *, alpha: float = 0.05
) -> EquivalenceTable:
    """Test whether mean paired differences lie inside ±margin (two one-sided tests on the Bonett–Price estimate).

    "No significant difference" is not equivalence: only a small p here is.

    Args:
        differences: (n_questions, …) paired differences in [−1, 1], 0 where not present.
        present: Same shape, True where both sides are scored.
        clusters: Grouping of the questions.
        margin: Largest difference that does not matter, in (0, 1), fixed before looking.
        alpha: Error rate of the claim, in (0, 0.5).

    Raises:
        StatisticsError: If the margin or alpha is out of range, or as ``check_differences``.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> same = np.zeros(700)
        >>> bool(equivalence(same, np.full(700, True), find_clusters(list(range(700))), 0.02).is_equivalent)
        True

    References:
        Schuirmann (1987), https://doi.org/10.1007/BF01068419
    """
    from scipy.special import stdtr, stdtrit

    if not 0.0 < margin < 1.0:
        raise StatisticsError(
            f"margin {margin:g} does not lie between 0 and 1", hint="two points of accuracy are a margin of 0.02"
        )
    if not 0.0 < alpha < 0.5:  # noqa: PLR2004 - at one half, any result would be equivalent
        raise StatisticsError(
            f"an error rate of {alpha:.3g} does not lie between 0 and 0.5", hint="95 % confidence has a rate of 0.05"
        )
    check_differences(differences, present)
    centre, error, freedom = bonett_price(differences, present, clusters)
    p = 1.0 - stdtr(freedom, np.minimum(margin - centre, margin + centre) / error)
    half = stdtrit(freedom, 1.0 - alpha) * error
    return EquivalenceTable(p, centre - half, centre + half, np.asarray(p <= alpha), margin)


def worst_equivalence(
    table: EquivalenceTable, bounds: ScoreBounds, clusters: Clusters, *, alpha: float = 0.05
) -> float:
    """Return the p of an equivalence whatever the missing answers are: every one of them counts against it.

    The lower of the two tests is made with every difference at its lowest, the upper one at its highest.

    Args:
        table: The equivalence of the answers that came back, one pair.
        bounds: Bounds of the (n_questions,) differences.
        clusters: Grouping of the questions.
        alpha: Error rate of the claim, in (0, 0.5).
    """
    if not (bounds.highest - bounds.lowest > SCORE_ROUNDING).any():
        return float(table.p)
    ends = (
        equivalence(end, bounds.asked, clusters, table.margin, alpha=alpha) for end in (bounds.lowest, bounds.highest)
    )
    return max(float(table.p), *(float(end.p) for end in ends))
