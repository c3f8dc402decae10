"""Accuracy with the Wilson interval on the effective number of questions."""

from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import Bools, Floats, Integers, check_confidence, check_scores, divide
from eyechart.stats.clusters import Clusters, cluster_sums

PROPORTION_METHOD = "Wilson on n_eff, t(G-1)"

# Clusters that all have the same mean give V = 0 up to rounding, which stays far below this.
_VARIANCE_ROUNDING = 1e-14


class ProportionTable(NamedTuple):
    """Accuracies of any number of conditions at once; every field has the shape of the trailing axes.

    Args:
        value: Mean score in [0, 1]; 0.0 where ``n_questions`` is 0, which is no accuracy.
        low: Lower bound; 0.0 where there are fewer than two clusters.
        high: Upper bound; 1.0 where there are fewer than two clusters.
        standard_error: CR1 cluster-robust standard error; infinite where there are fewer than two clusters.
        n_questions: Scored questions.
        n_clusters: Clusters with a scored question.
        n_effective: Independent questions that would give this variance; at most ``n_questions``.
    """

    value: Floats
    low: Floats
    high: Floats
    standard_error: Floats
    n_questions: Integers
    n_clusters: Integers
    n_effective: Floats


def estimate_proportions(
    values: Floats, present: Bools, clusters: Clusters, *, confidence: float = 0.95
) -> ProportionTable:
    """Estimate mean scores with intervals that respect clusters and hold up near 0 and 1.

    With S_g the sum and m_g the number of scores in cluster g, A = ΣS_g/n,
    V = G/(G−1)·Σ(S_g − m_g A)²/n², n_eff = min(n, A(1−A)/V), and n_eff = n²/Σm_g² (intracluster correlation 1) where
    A is 0 or 1 or V is 0. The interval is Wilson's with n_eff for n and the t quantile with G−1 degrees of freedom
    for z. With one cluster nothing is known about the variance between clusters, so the interval is [0, 1].
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
        Korn & Graubard (1998), Survey Methodology 24, 193–201 (effective sample size).
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
    variance = mean_variance(sums, sizes, value)
    n_effective = _effective_n(value, variance, n, (sizes**2).sum(axis=0))
    low, high = wilson(value, n_effective, critical_t(n_clusters - 1, confidence))
    is_known = n_clusters > 1
    return ProportionTable(
        value=value,
        low=np.where(is_known, low, 0.0),
        high=np.where(is_known, high, 1.0),
        standard_error=np.where(is_known, np.sqrt(variance), np.inf),
        n_questions=n.astype(np.int64),
        n_clusters=n_clusters,
        n_effective=n_effective,
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


def _effective_n(value: Floats, variance: Floats, n: Floats, sum_of_squares: Floats) -> Floats:
    """Return min(n, A(1−A)/V), or n²/Σm² where that is undefined; residuals of rounding count as V = 0."""
    binomial = value * (1.0 - value)
    fully_correlated = divide(n**2, sum_of_squares, where_zero=0.0)
    is_degenerate = (binomial <= 0.0) | (variance * n <= _VARIANCE_ROUNDING)
    ratio = divide(binomial, np.where(is_degenerate, 0.0, variance), where_zero=0.0)
    return np.where(is_degenerate, fully_correlated, np.minimum(n, ratio))


def critical_t(degrees_of_freedom: Integers | Floats, confidence: float) -> Floats:
    """Return two-sided critical values of Student's t; infinite below one degree of freedom.

    Example:
        >>> round(float(critical_t(np.array(43), 0.95)), 4)
        2.0167
    """
    from scipy.special import stdtrit  # late: keeps the command line fast

    freedom = np.asarray(degrees_of_freedom, dtype=np.float64)
    quantile = stdtrit(np.maximum(freedom, 1.0), 0.5 + confidence / 2.0)
    return np.where(freedom >= 1.0, quantile, np.inf)


def wilson(value: Floats, n: Floats, critical: Floats) -> tuple[Floats, Floats]:
    """Return Wilson's score interval of proportions.

    Args:
        value: Proportions in [0, 1].
        n: Numbers of independent questions, not necessarily whole; 0 gives [0, 1].
        critical: Critical values, 1.96 for z at 95 %; infinite gives [0, 1].

    Returns:
        Lower and upper bounds inside [0, 1], exactly 0 or 1 where the proportion is.

    Example:
        >>> low, high = wilson(np.array(1.0), np.array(21.0), np.array(1.959964))
        >>> round(float(low), 4), float(high)
        (0.8454, 1.0)

    References:
        Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953
    """
    is_known = (n > 0.0) & np.isfinite(critical)
    size, t = np.where(is_known, n, 1.0), np.where(is_known, critical, 0.0)
    shrink = 1.0 + t**2 / size
    centre = (value + t**2 / (2.0 * size)) / shrink
    half = t / shrink * np.sqrt(value * (1.0 - value) / size + t**2 / (4.0 * size**2))
    low = np.where(value <= 0.0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(value >= 1.0, 1.0, np.minimum(centre + half, 1.0))
    return np.where(is_known, low, 0.0), np.where(is_known, high, 1.0)
