"""Accuracy with the Wilson interval on the effective number of questions."""

from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import Bools, Floats, Integers, check_confidence, check_scores, divide
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.intervals import clopper_pearson, critical_t, wilson
from eyechart.stats.small_samples import cautious_variance, effective_clusters, has_interval

PROPORTION_METHOD = "Wilson on n_eff, CR2 with Bell-McCaffrey t"

# Below so many effective answers of the rarer kind Wilson's interval can miss (91.6 % at 22 of 24).
_FEW_RARE = 5.0


class ProportionTable(NamedTuple):
    """Accuracies of any number of conditions at once; every field has the shape of the trailing axes.

    Args:
        value: Mean score in [0, 1]; 0.0 where ``n_questions`` is 0, which is not an accuracy.
        low: Lower bound; 0.0 where there are fewer than two clusters.
        high: Upper bound; 1.0 where there are fewer than two clusters.
        standard_error: Cautious cluster-robust standard error; infinite where there are fewer than two clusters.
        n_questions: Scored questions.
        n_clusters: Clusters with a scored question.
        n_effective: Independent questions that would give this variance; at most ``n_questions``.
        has_interval: Whether the bounds may be printed: at least 10 effective clusters.
    """

    value: Floats
    low: Floats
    high: Floats
    standard_error: Floats
    n_questions: Integers
    n_clusters: Integers
    n_effective: Floats
    has_interval: Bools


def estimate_proportions(
    values: Floats, present: Bools, clusters: Clusters, *, confidence: float = 0.95
) -> ProportionTable:
    """Estimate mean scores with intervals that respect clusters and hold up near 0 and 1.

    With S_g the sum and m_g the number of scores in cluster g, A = ΣS_g/n, and V the cautious CR2 variance
    (``small_samples.cautious_variance``): n_eff = min(n, A(1−A)/V), and n_eff = n²/Σm_g² (intracluster correlation 1)
    where A is 0 or 1 or V is 0. The interval is Wilson's with n_eff for n and the t quantile with Bell–McCaffrey
    degrees of freedom for z; with fewer than 5 effective answers of the rarer kind it is widened to Clopper and
    Pearson's. With one cluster nothing is known about the variance between clusters, so the interval is [0, 1].
    Fractional scores that vary much less than right-or-wrong ones get an interval that is too wide, never too narrow.

    Args:
        values: (n_questions, …) scores in [0, 1], fractions allowed.
        present: Same shape, True where there is a score.
        clusters: Grouping of the questions.
        confidence: Coverage of the intervals, in (0, 1).

    Returns:
        One entry per trailing index.

    Raises:
        StatisticsError: If shapes differ, a score lies outside [0, 1], or the confidence outside (0, 1).

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> table = estimate_proportions(np.array([1.0, 1, 1, 0]), np.full(4, True), find_clusters(list("aabc")))
        >>> round(float(table.value), 2), int(table.n_clusters)
        (0.75, 3)

    References:
        Korn & Graubard (1998), Survey Methodology 24, 193–201 (effective sample size, Clopper–Pearson on it).
        Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953
    """
    check_confidence(confidence)
    scores, mask = check_scores(values, present)
    return _from_sums(cluster_sums(scores, clusters), cluster_sums(mask, clusters), confidence)


def estimate_pooled(values: Floats, present: Bools, clusters: Clusters, *, confidence: float = 0.95) -> ProportionTable:
    """Estimate the mean over views or repeats of the same questions, all of a question's scores in one cluster.

    Rows of one question are never independent, but they do carry more than one row does: n_eff may exceed the number
    of questions, up to the number of rows. (``estimate_proportions`` of each question's mean would cap it there and be
    too wide.)

    Args:
        values: (n_questions, …, n_rows) scores in [0, 1]; the last axis is pooled.
        present: Same shape, True where there is a score; a question weighs as much as it has scores.
        clusters: Grouping of the questions.
        confidence: Coverage of the intervals, in (0, 1).

    Returns:
        One entry per index between first and last axis; ``n_questions`` counts questions with any score.

    Raises:
        StatisticsError: As ``estimate_proportions``.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> table = estimate_pooled(np.eye(4), np.ones((4, 4), dtype=bool), find_clusters(list("aabc")))
        >>> float(table.value), int(table.n_questions)
        (0.25, 4)
    """
    check_confidence(confidence)
    scores, mask = check_scores(values, present)
    sums = cluster_sums(scores.sum(axis=-1), clusters)
    sizes = cluster_sums(mask.sum(axis=-1).astype(np.float64), clusters)
    n_questions = np.count_nonzero(mask.any(axis=-1), axis=0)
    return _from_sums(sums, sizes, confidence)._replace(n_questions=np.asarray(n_questions, dtype=np.int64))


def _from_sums(sums: Floats, sizes: Floats, confidence: float) -> ProportionTable:
    """Return the table of ratios of cluster sums."""
    n = sizes.sum(axis=0)
    n_clusters = np.count_nonzero(sizes, axis=0).astype(np.int64)
    value = np.minimum(divide(sums.sum(axis=0), n, where_zero=0.0), 1.0)
    counts = np.broadcast_to(sizes, sums.shape)
    spread = value * (1.0 - value)
    found = cautious_variance(sums - counts * value, counts, spread)
    n_effective = np.where(
        (spread <= 0.0) | (found.variance <= 0.0),
        effective_clusters(counts),
        np.minimum(n, divide(spread, found.variance, where_zero=0.0)),
    )
    critical = critical_t(np.where(n_clusters > 1, found.degrees_of_freedom, 0.0), confidence)
    low, high = wilson(value, n_effective, critical)
    squeezed = n_effective * (critical_t(np.array(np.inf), confidence) / critical) ** 2
    few_low, few_high = clopper_pearson(value, squeezed, confidence=confidence)
    is_rare = np.minimum(value, 1.0 - value) * n_effective < _FEW_RARE
    is_known = n_clusters > 1
    return ProportionTable(
        value=value,
        low=np.where(is_known, np.where(is_rare, np.minimum(low, few_low), low), 0.0),
        high=np.where(is_known, np.where(is_rare, np.maximum(high, few_high), high), 1.0),
        standard_error=np.where(is_known, np.sqrt(found.variance), np.inf),
        n_questions=n.astype(np.int64),
        n_clusters=n_clusters,
        n_effective=n_effective,
        has_interval=has_interval(counts),
    )


def mean_variance(sums: Floats, sizes: Floats, value: Floats) -> Floats:
    """Return the CR1 variance of means Σsums/Σsizes: G/(G−1)·Σ(S_g − m_g A)²/n².

    The factor is G/(G−1) alone; Stata and statsmodels multiply by (n−1)/(n−k) as well.

    Args:
        sums: (n_clusters, …) cluster sums.
        sizes: (n_clusters, …) or broadcastable, numbers summed; a cluster of size 0 does not count.
        value: (…) the means.

    Returns:
        (…) variances; 0.0 where there are fewer than two clusters.

    Example:
        >>> mean_variance(np.array([[1.0], [0.0]]), np.array([[1.0], [1.0]]), np.array([0.5])).tolist()
        [0.25]
    """
    n_clusters = np.count_nonzero(sizes, axis=0)
    squares = ((sums - sizes * value) ** 2).sum(axis=0)
    correction = divide(np.asarray(n_clusters, dtype=np.float64), n_clusters - 1, where_zero=0.0)
    return correction * divide(squares, sizes.sum(axis=0) ** 2, where_zero=0.0)
