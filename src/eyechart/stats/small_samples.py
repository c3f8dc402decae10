"""What few clusters need: the bias-reduced standard error, its degrees of freedom, and the cluster correlation."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Floats


class BiasReduced(NamedTuple):
    """A mean's CR2 standard error and its Satterthwaite degrees of freedom."""

    standard_error: float
    degrees_of_freedom: float


def bias_reduced_error(sums: Floats, sizes: Floats) -> BiasReduced:
    """Return the CR2 standard error of Σsums/Σsizes with Bell–McCaffrey degrees of freedom.

    V = Σ(S_g − m_g A)²/(1 − m_g/n)/n². Slightly wider than CR1, and the degrees of freedom fall where clusters are
    unequal: the check to make when clusters are few and large.

    Args:
        sums: (n_clusters,) sums of scores or differences per cluster.
        sizes: (n_clusters,) positive numbers of questions per cluster.

    Raises:
        StatisticsError: If there are fewer than two clusters.

    Example:
        >>> bias_reduced_error(np.array([1.0, 0.0, 1.0]), np.ones(3)).degrees_of_freedom
        2.0

    References:
        Pustejovsky & Tipton (2018), https://doi.org/10.1080/07350015.2016.1247004
    """
    _need_two_clusters(sums)
    n = sizes.sum()
    weights = 1.0 / (1.0 - sizes / n)
    squares = weights * (sums - sizes * sums.sum() / n) ** 2
    # Gram matrix of the residual vectors: c_g c_h (m_g δ_gh − m_g m_h / n) with c² = weights
    loads = weights * sizes**2
    trace_of_square = (loads.sum() / n) ** 2 - ((loads / n) ** 2).sum() + (sizes**2).sum()
    return BiasReduced(float(np.sqrt(squares.sum()) / n), float(round(n**2 / trace_of_square, 12)))


def intracluster_correlation(sums: Floats, sizes: Floats, sum_of_squares: float) -> float:
    """Return the ANOVA estimate of the correlation of two questions on one image; it may be negative.

    Args:
        sums: (n_clusters,) sums of scores per cluster.
        sizes: (n_clusters,) positive numbers of questions per cluster.
        sum_of_squares: Σy² over all questions.

    Returns:
        The correlation, at most 1; 0.0 where no image repeats or no score varies, since nothing can be learned then.

    Raises:
        StatisticsError: If there are fewer than two clusters.

    Example:
        >>> intracluster_correlation(np.array([2.0, 0.0]), np.array([2.0, 2.0]), 2.0)
        1.0

    References:
        Donner (1986), https://doi.org/10.2307/1403259
    """
    _need_two_clusters(sums)
    n, n_clusters = float(sizes.sum()), len(sizes)
    between_squares = float((sums**2 / sizes).sum())
    if n <= n_clusters:
        return 0.0
    between = (between_squares - float(sums.sum()) ** 2 / n) / (n_clusters - 1)
    within = (sum_of_squares - between_squares) / (n - n_clusters)
    mean_size = (n - float((sizes**2).sum()) / n) / (n_clusters - 1)
    total = between + (mean_size - 1.0) * within
    return (between - within) / total if total > 0.0 else 0.0


def _need_two_clusters(sums: Floats) -> None:
    if len(sums) <= 1:
        raise StatisticsError(f"{len(sums)} clusters have no variance between them", hint="ask about more images")
