"""Paired differences between conditions with the cluster Bonett–Price interval."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import (
    SCORE_ROUNDING,
    Bools,
    Floats,
    Integers,
    check_confidence,
    check_scores,
    divide,
)
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.intervals import critical_t
from eyechart.stats.small_samples import cautious_variance, has_interval

DIFFERENCE_METHOD = "cluster Bonett-Price, CR2 with Bell-McCaffrey t"


class DifferenceTable(NamedTuple):
    """Paired differences of any number of contrasts at once; every field has the shape of the trailing axes.

    Args:
        value: Mean difference; 0.0 where ``n_questions`` is 0, which is no difference.
        low: Lower bound.
        high: Upper bound; never equal to ``low``.
        n_questions: Questions scored on both sides.
        n_clusters: Clusters with such a question.
        gained: Questions whose score is higher than on the other side.
        lost: Questions whose score is lower.
        has_interval: Whether the bounds may be printed: at least 10 effective clusters.
    """

    value: Floats
    low: Floats
    high: Floats
    n_questions: Integers
    n_clusters: Integers
    gained: Integers
    lost: Integers
    has_interval: Bools


def subtract(values: Floats, present: Bools, condition: Integers, baseline: Integers) -> tuple[Floats, Bools]:
    """Return differences between pairs of columns, on the questions scored in both.

    Args:
        values: (n_questions, n_conditions) scores in [0, 1].
        present: Same shape, True where there is a score.
        condition: (n_contrasts,) column index of the first side.
        baseline: (n_contrasts,) column index of the side that is subtracted.

    Returns:
        (n_questions, n_contrasts) differences in [−1, 1], 0.0 where a side is missing; and the mask of both present.

    Raises:
        StatisticsError: If shapes differ or a score lies outside [0, 1].

    Example:
        >>> both = subtract(np.array([[1.0, 0.0]]), np.full((1, 2), True), np.array([1]), np.array([0]))
        >>> both[0].tolist(), both[1].tolist()
        ([[-1.0]], [[True]])
    """
    scores, mask = check_scores(values, present)
    is_paired = mask[:, condition] & mask[:, baseline]
    return np.where(is_paired, scores[:, condition] - scores[:, baseline], 0.0), is_paired


def estimate_differences(
    differences: Floats, present: Bools, clusters: Clusters, *, confidence: float = 0.95, limit: float = 1.0
) -> DifferenceTable:
    """Estimate mean paired differences with intervals that respect clusters and never have zero width.

    Two pseudo-clusters of one question each, with differences +1 and −1, are added for the interval: with T_g the sum
    of differences, m_g their number and Q_g the sum of their squares in cluster g, d̃ = ΣT_g/(n+2), and V is the
    cautious CR2 variance (``small_samples.cautious_variance``) of these G+2 clusters, the variance of one question
    being ΣQ_g/(n+2) − d̃². The interval is d̃ ± t·√V with Bell–McCaffrey degrees of freedom (G+1 where no image repeats),
    cut at ±``limit``. The point estimate is the plain mean, so it is not the middle of the interval.

    Args:
        differences: (n_questions, …) differences; entries that are not present must be 0.
        present: Same shape, True where both sides are scored.
        clusters: Grouping of the questions.
        confidence: Coverage of the intervals, in (0, 1).
        limit: Largest possible difference: 1 between two scores, 2 between two differences.

    Returns:
        One entry per trailing index. Without any question the interval is that of the pseudo-clusters alone.

    Raises:
        StatisticsError: If shapes differ, a difference exceeds ``limit``, or the confidence is outside (0, 1).

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> table = estimate_differences(np.zeros(700), np.full(700, True), find_clusters(list(range(700))))
        >>> round(float(table.high), 5)
        0.00396

    References:
        Bonett & Price (2012), https://doi.org/10.3102/1076998611411915 (the interval without clusters).
        Fagerland, Lydersen & Laake (2014), https://doi.org/10.1002/sim.6148 (its recommendation).
    """
    check_confidence(confidence)
    check_differences(differences, present, limit)
    centre, error, freedom = bonett_price(differences, present, clusters)
    half = critical_t(freedom, confidence) * error
    n = np.count_nonzero(present, axis=0).astype(np.int64)
    sizes = cluster_sums(present, clusters)
    return DifferenceTable(
        value=divide(np.sum(differences, axis=0), n, where_zero=0.0),
        low=np.maximum(centre - half, -limit),
        high=np.minimum(centre + half, limit),
        n_questions=n,
        n_clusters=np.count_nonzero(sizes, axis=0).astype(np.int64),
        gained=np.count_nonzero(differences > SCORE_ROUNDING, axis=0).astype(np.int64),
        lost=np.count_nonzero(differences < -SCORE_ROUNDING, axis=0).astype(np.int64),
        has_interval=has_interval(sizes),
    )


def bonett_price(differences: Floats, present: Bools, clusters: Clusters) -> tuple[Floats, Floats, Floats]:
    """Return the shrunken mean difference d̃, its standard error √V, and its degrees of freedom.

    Args:
        differences: (n_questions, …) differences; entries that are not present must be 0.
        present: Same shape, True where both sides are scored.
        clusters: Grouping of the questions.

    Raises:
        StatisticsError: If the number of questions differs from that of the labels.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> centre, error, freedom = bonett_price(np.ones(2), np.full(2, True), find_clusters(["a", "b"]))
        >>> float(centre), int(freedom)
        (0.5, 3)
    """
    pseudo = np.ones((1, *np.shape(differences)[1:]))
    sums = np.concatenate([cluster_sums(differences, clusters), pseudo, -pseudo])
    sizes = np.concatenate([cluster_sums(present, clusters), pseudo, pseudo])
    squares = np.sum(np.asarray(differences, dtype=np.float64) ** 2, axis=0) + 2.0
    n = sizes.sum(axis=0)
    centre = np.asarray(sums.sum(axis=0) / n)
    found = cautious_variance(sums - sizes * centre, sizes, squares / n - centre**2)
    return centre, np.sqrt(found.variance), found.degrees_of_freedom


def check_differences(differences: Floats, present: Bools, limit: float = 1.0) -> None:
    """Refuse differences that no pair of scores can have.

    Raises:
        StatisticsError: If shapes differ, a difference exceeds ``limit``, or one stands where nothing is present.

    Example:
        >>> check_differences(np.array([0.5, 0.0]), np.array([True, False]))
    """
    if np.shape(differences) != np.shape(present) or np.ndim(differences) == 0:
        raise StatisticsError(
            f"differences of shape {np.shape(differences)} with a mask of shape {np.shape(present)}",
            hint="give both as (n_questions, …) arrays of one shape",
        )
    is_wrong = ~(np.abs(differences) <= np.where(present, limit + SCORE_ROUNDING, 0.0))
    if is_wrong.any():
        place = tuple(int(index) for index in np.argwhere(is_wrong)[0])
        raise StatisticsError(
            f"difference {float(differences[place])} at index {place} exceeds {limit}, or a side is missing there",
            hint="take differences of scores in 0–1, and 0 where a side is missing",
        )
