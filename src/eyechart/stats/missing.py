"""What missing answers could change: bounds of a difference, and the largest p over all ways to fill them in."""

from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats, Integers, check_scores, divide
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.sign_flip import sign_flip

Index = Bools | Integers | tuple[slice | Integers | int, ...]


class ScoreBounds(NamedTuple):
    """Between which values every score lies, whatever the missing answers are.

    Args:
        lowest: (n_questions, …) scores in [0, 1] if every missing answer is wrong.
        highest: Same shape; the scores if every missing answer is right. Equal to ``lowest`` where nothing is missing.
        asked: Same shape, True where the question was asked; elsewhere there is nothing to miss.
    """

    lowest: Floats
    highest: Floats
    asked: Bools

    def at(self, index: Index) -> "ScoreBounds":
        """Return the bounds of some of the scores, by any index that NumPy takes."""
        return ScoreBounds(self.lowest[index], self.highest[index], self.asked[index])


class WorstCase(NamedTuple):
    """What is left of a difference in the worst case; every field has the shape of the trailing axes.

    Args:
        low: Mean difference if every missing answer speaks against the first side; 0.0 where nothing was asked.
        high: Mean difference if every missing answer speaks for it.
        p: Largest two-sided sign-flip mid-p over all fillings, for a claim in the direction of the value.
    """

    low: Floats
    high: Floats
    p: Floats


def bounds_from(values: Floats, present: Bools) -> ScoreBounds:
    """Return the bounds of scores that are either there or missing as a whole.

    Example:
        >>> bounds = bounds_from(np.array([[1.0], [0.0]]), np.array([[True], [False]]))
        >>> bounds.lowest.ravel().tolist(), bounds.highest.ravel().tolist()
        ([1.0, 0.0], [1.0, 1.0])
    """
    scores, mask = check_scores(values, present)
    return ScoreBounds(scores, np.where(mask, scores, 1.0), np.ones(mask.shape, dtype=np.bool_))


def gap_bounds(bounds: ScoreBounds, condition: Integers, baseline: Integers) -> ScoreBounds:
    """Return between which values the differences of pairs of columns lie, on the questions asked in both.

    Args:
        bounds: Bounds of (n_questions, n_conditions) scores.
        condition: (n_contrasts,) column index of the first side.
        baseline: (n_contrasts,) column index of the side that is subtracted.

    Example:
        >>> bounds = bounds_from(np.array([[1.0, 0.0]]), np.array([[True, False]]))
        >>> gap = gap_bounds(bounds, np.array([0]), np.array([1]))
        >>> gap.lowest.tolist(), gap.highest.tolist()
        ([[0.0]], [[1.0]])
    """
    asked = bounds.asked[:, condition] & bounds.asked[:, baseline]
    lowest = np.where(asked, bounds.lowest[:, condition] - bounds.highest[:, baseline], 0.0)
    highest = np.where(asked, bounds.highest[:, condition] - bounds.lowest[:, baseline], 0.0)
    return ScoreBounds(lowest, highest, asked)


def worst_case(gap: ScoreBounds, clusters: Clusters, value: Floats, p: Floats, n_shown: Integers) -> WorstCase:
    """Return the bounds of mean differences, and the largest p over all ways to fill in what is missing.

    For cluster sums T with a positive total, the one-sided sign-flip p is the probability that the clusters whose sign
    is flipped sum to no more than 0. It falls when any T grows, so the filling with every difference at its lowest has
    the largest p: no search is needed, whole pictures stay whole, and fractional scores are covered. Where that filling
    has no total above 0, the sign itself depends on what is missing, and p is 1.

    Args:
        gap: Bounds of (n_questions, …) differences, 0 where not asked on both sides.
        clusters: Grouping of the questions.
        value: (…) differences shown, whose sign is the direction of the claim.
        p: (…) two-sided p of the answers that came back; the result is never below it.
        n_shown: (…) questions behind value and p, which may be fewer than were asked although none is missing: those
            that a third side lacks.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> gained = np.array([1.0] * 12)
        >>> gap = ScoreBounds(np.append(gained, -1.0), np.append(gained, 1.0), np.full(13, True))
        >>> worst = worst_case(gap, find_clusters(list(range(13))), np.array(1.0), np.array(0.0002), np.array(12))
        >>> round(float(worst.low), 3), round(float(worst.p), 5)
        (0.846, 0.00183)

    References:
        Manski (1990), https://www.jstor.org/stable/2006592 (bounds without an assumption about what is missing).
    """
    lowest, highest, asked = gap
    n = np.count_nonzero(asked, axis=0)
    low = divide(np.sum(lowest, axis=0), n, where_zero=0.0)
    high = divide(np.sum(highest, axis=0), n, where_zero=0.0)
    has_gap = (np.abs(highest - lowest) > SCORE_ROUNDING).any(axis=0) | (n_shown != n)
    found = np.array(p, dtype=np.float64)
    if not has_gap.any():
        return WorstCase(low, high, found)
    is_up = np.asarray(value) > 0.0
    against = cluster_sums(np.where(is_up, lowest, -highest), clusters)
    is_sure = against.sum(axis=0) > SCORE_ROUNDING
    found[has_gap] = 1.0
    chosen = has_gap & is_sure & (np.abs(value) > 0.0)
    if chosen.any():
        columns = against.reshape(len(against), -1)[:, np.ravel(chosen)]
        found[chosen] = sign_flip(columns).mid
    return WorstCase(low, high, np.maximum(found, p))
