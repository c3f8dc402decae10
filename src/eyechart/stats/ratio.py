"""Ratios of sums over clusters: retention, and accuracy corrected for chance."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, Integers, check_confidence, check_scores, divide
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.intervals import critical_t
from eyechart.stats.proportion import estimate_proportions, mean_variance
from eyechart.stats.small_samples import has_interval


class RatioTable(NamedTuple):
    """Ratios ΣN/ΣM; every field has the shape of the trailing axes.

    Args:
        value: The ratio; 0.0 where not ``is_defined``.
        low: Lower bound; −inf where not ``is_defined``.
        high: Upper bound; inf where not ``is_defined``.
        standard_error: By linearisation; inf where not ``is_defined``.
        n_clusters: Clusters with anything in them.
        is_defined: Whether the interval of the denominator excludes 0 in at least two clusters. Print nothing else.
        has_interval: Whether the bounds may be printed: defined, with at least 10 effective clusters.
    """

    value: Floats
    low: Floats
    high: Floats
    standard_error: Floats
    n_clusters: Integers
    is_defined: Bools
    has_interval: Bools


def estimate_ratios(
    numerators: Floats, denominators: Floats, present: Bools, clusters: Clusters, *, confidence: float = 0.95
) -> RatioTable:
    """Estimate ratios of two sums by linearisation over clusters.

    R = ΣN/ΣM, e_g = N_g − R·M_g, SE² = G/(G−1)·Σe_g²/(ΣM)²; interval R ± t(G−1)·SE.

    Args:
        numerators: (n_questions, …) numbers; 0 where not present.
        denominators: Same shape.
        present: Same shape, True where the question counts.
        clusters: Grouping of the questions.
        confidence: Coverage of the intervals, in (0, 1).

    Raises:
        StatisticsError: If shapes differ or the confidence is outside (0, 1).

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> right = np.array([1.0, 1, 1, 0, 1, 1]); after = np.array([1.0, 0, 1, 0, 1, 1])
        >>> table = estimate_ratios(right * after, right, np.full(6, True), find_clusters(list(range(6))))
        >>> float(table.value)
        0.8

    References:
        Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, chapter 5 (= ``survey::svyratio``).
    """
    check_confidence(confidence)
    if not np.shape(numerators) == np.shape(denominators) == np.shape(present):
        raise StatisticsError(
            f"shapes {np.shape(numerators)}, {np.shape(denominators)} and {np.shape(present)} differ",
            hint="give numerators, denominators and mask in one shape",
        )
    tops = cluster_sums(np.where(present, numerators, 0.0), clusters)
    bottoms = cluster_sums(np.where(present, denominators, 0.0), clusters)
    sizes = cluster_sums(present, clusters)
    n_clusters = np.count_nonzero(sizes, axis=0).astype(np.int64)
    critical = critical_t(n_clusters - 1, confidence)
    n, total = sizes.sum(axis=0), bottoms.sum(axis=0)
    mean = divide(total, n, where_zero=0.0)
    reach = np.where(n_clusters > 1, critical, 0.0) * np.sqrt(mean_variance(bottoms, sizes, mean))
    is_defined = (n_clusters > 1) & (np.abs(mean) > reach)
    value = np.where(is_defined, divide(tops.sum(axis=0), total, where_zero=0.0), 0.0)
    squares = ((tops - value * bottoms) ** 2).sum(axis=0) * divide(n_clusters * 1.0, n_clusters - 1, where_zero=0.0)
    error = np.where(is_defined, np.sqrt(divide(squares, total**2, where_zero=0.0)), np.inf)
    half = critical * error
    is_printed = is_defined & has_interval(sizes)
    return RatioTable(value, value - half, value + half, error, n_clusters, is_defined, is_printed)


def estimate_retention(
    before: Floats, after: Floats, present: Bools, clusters: Clusters, *, confidence: float = 0.95
) -> RatioTable:
    """Estimate P(right after | right before), such as how much of the right answers a smaller picture keeps.

    Args:
        before: (n_questions, …) scores in [0, 1] that select.
        after: Same shape, scores that are kept or lost.
        present: Same shape, True where both are scored.
        clusters: Grouping of the questions.
        confidence: Coverage of the intervals, in (0, 1).

    Returns:
        Ratios Σ before·after / Σ before, with bounds cut to [0, 1].

    Raises:
        StatisticsError: If shapes differ, a score lies outside [0, 1], or the confidence outside (0, 1).

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> right, later = np.ones(40), np.r_[np.zeros(10), np.ones(30)]
        >>> float(estimate_retention(right, later, np.full(40, True), find_clusters(list(range(40)))).value)
        0.75
    """
    first, mask = check_scores(before, present)
    second, _ = check_scores(after, mask)
    table = estimate_ratios(first * second, first, mask, clusters, confidence=confidence)
    return table._replace(low=np.clip(table.low, 0.0, 1.0), high=np.clip(table.high, 0.0, 1.0))


class ChanceCorrectedTable(NamedTuple):
    """Accuracies with guessing taken out; every field has the shape of the trailing axes.

    Args:
        value: κ = (ΣY − Σc)/(n − Σc); below 0 where a model does worse than guessing; 0.0 where undefined.
        low: Lower bound.
        high: Upper bound.
        standard_error: By linearisation over clusters; inf where there are fewer than two.
        chance: Mean guess rate of the scored questions.
        has_interval: Whether the bounds may be printed: at least 10 effective clusters.
    """

    value: Floats
    low: Floats
    high: Floats
    standard_error: Floats
    chance: Floats
    has_interval: Bools


def correct_for_chance(
    values: Floats, present: Bools, chance: Floats, clusters: Clusters, *, confidence: float = 0.95
) -> ChanceCorrectedTable:
    """Put accuracies on the scale where guessing is 0 and all right is 1.

    With mixed numbers of options this is not the mean of (y−c)/(1−c), which would give a two-option question 1.5
    times the weight of a four-option one. Bounds are those of the accuracy, moved by the same map.

    Args:
        values: (n_questions, …) scores in [0, 1].
        present: Same shape, True where there is a score.
        chance: (n_questions,) guess rates in [0, 1).
        clusters: Grouping of the questions.
        confidence: Coverage of the intervals, in (0, 1).

    Raises:
        StatisticsError: If a guess rate lies outside [0, 1), or as ``estimate_proportions``.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> right = np.array([1.0, 1, 1, 0])
        >>> table = correct_for_chance(right, right >= 0, np.full(4, 0.25), find_clusters(list("abcd")))
        >>> round(float(table.value), 4)
        0.6667

    References:
        Abbott (1925), https://doi.org/10.1093/jee/18.2.265a
    """
    rates = np.asarray(chance, dtype=np.float64)
    scores, mask = check_scores(values, present)
    if rates.shape != scores.shape[:1] or not ((rates >= 0.0) & (rates < 1.0)).all():
        raise StatisticsError(
            f"guess rates of shape {rates.shape} for {scores.shape[0]} questions, or outside [0, 1)",
            hint="a question with one option has nothing to correct: leave it out",
        )
    table = estimate_proportions(scores, mask, clusters, confidence=confidence)
    guesses = np.where(mask, rates.reshape(-1, *[1] * (scores.ndim - 1)), 0.0)
    mean = divide(guesses.sum(axis=0), table.n_questions, where_zero=0.0)
    room = np.where(mask, 1.0 - guesses, 0.0)
    ratio = estimate_ratios(scores - guesses, room, mask, clusters, confidence=confidence)
    return ChanceCorrectedTable(
        value=np.where(table.n_questions > 0, (table.value - mean) / (1.0 - mean), 0.0),
        low=(table.low - mean) / (1.0 - mean),
        high=(table.high - mean) / (1.0 - mean),
        standard_error=ratio.standard_error,
        chance=mean,
        has_interval=table.has_interval,
    )
