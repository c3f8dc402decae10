"""What few or unequal clusters need: variances that do not flatter, their degrees of freedom, cluster correlation."""

from typing import NamedTuple, Protocol

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, divide

MIN_EFFECTIVE_CLUSTERS = 10.0
"""Below these effective pictures (``effective_clusters``) no interval is printed."""

# How many effective pictures must carry a variance before it is believed for its half. Simulated over 20 layouts,
# accuracies .05 to .98, discordances .02 to .9 and correlations 0, .1, .3: docs/validity.md.
_CARRIERS = 2.0
# Clusters that all have the same mean leave residuals of rounding, which carry nothing.
_ROUNDING = 1e-9


class HasBounds(Protocol):
    """A table of intervals: every field has the shape of the trailing axes."""

    @property
    def low(self) -> Floats:
        """Lower bounds."""
        ...

    @property
    def high(self) -> Floats:
        """Upper bounds."""
        ...

    @property
    def has_interval(self) -> Bools:
        """Whether the bounds may be printed."""
        ...


class CautiousVariance(NamedTuple):
    """Variances of means, and how well they are known; every field has the shape of the trailing axes.

    Args:
        variance: Variance of the mean.
        degrees_of_freedom: Bell–McCaffrey degrees of freedom, at least 1.
    """

    variance: Floats
    degrees_of_freedom: Floats


def effective_clusters(sizes: Floats) -> Floats:
    """Return n²/Σm²: as many equal clusters would give the variance of these if all questions of one were alike.

    Args:
        sizes: (n_clusters, …) numbers of questions.

    Returns:
        (…) effective clusters, 0.0 where there is no question.

    Example:
        >>> effective_clusters(np.array([30.0, *[1.0] * 70])).round(2).item()
        10.31
    """
    counts = np.asarray(sizes, dtype=np.float64)
    return divide(counts.sum(axis=0) ** 2, (counts**2).sum(axis=0), where_zero=0.0)


def has_interval(sizes: Floats) -> Bools:
    """Return where there are enough effective pictures for an interval or a sign-flip test.

    Args:
        sizes: (n_clusters, …) numbers of questions.

    Example:
        >>> has_interval(np.ones(10)).item(), has_interval(np.array([30.0, *[1.0] * 60])).item()
        (True, False)
    """
    return np.asarray(effective_clusters(sizes) >= MIN_EFFECTIVE_CLUSTERS - 1e-9, dtype=np.bool_)


def printed_bounds(table: HasBounds, index: int | tuple[()] = ()) -> tuple[float | None, float | None]:
    """Return an interval as a record holds it: no bounds where there are too few effective pictures."""
    if not table.has_interval[index]:
        return None, None
    return float(table.low[index]), float(table.high[index])


def cautious_variance(residuals: Floats, sizes: Floats, spread: Floats) -> CautiousVariance:
    """Return variances of means that hold up where few pictures, or one large one, carry them.

    The CR2 variance V = Σ e_g²/(1 − m_g/n)/n² is too small as long as the rare picture that would show the correlation
    is not among those asked. So it is pulled towards the variance F under complete correlation, ``spread``·Σm²/n²:
    V + max(0, F − V)·min(1, 2/K), where K = (Σe²)²/Σe⁴ is the effective number of pictures that carry V.
    With one question a picture F is never larger, and nothing is pulled.

    Args:
        residuals: (n_clusters, …) sums per cluster less what the mean expects of them, 0 where a cluster is empty.
        sizes: (n_clusters, …) numbers of questions, of the same shape.
        spread: (…) variance of one question, such as A(1−A).

    Example:
        >>> scores = np.array([2.0, 0.0, 1.0, 1.0])
        >>> found = cautious_variance(scores - 2 * 0.5, np.full(4, 2.0), np.array(0.25))
        >>> round(float(found.variance), 4), float(found.degrees_of_freedom)
        (0.0625, 3.0)

    References:
        Pustejovsky & Tipton (2018), https://doi.org/10.1080/07350015.2016.1247004 (CR2 and degrees of freedom).
    """
    counts = np.asarray(sizes, dtype=np.float64)
    n = counts.sum(axis=0)
    left = 1.0 - divide(counts, np.broadcast_to(n, counts.shape), where_zero=0.0)
    squares = divide(np.where(np.abs(residuals) > _ROUNDING, residuals, 0.0) ** 2, left, where_zero=0.0)
    total = squares.sum(axis=0)
    variance = divide(total, n**2, where_zero=0.0)
    complete = divide(spread, effective_clusters(counts), where_zero=0.0)
    carriers = divide(total**2, (squares**2).sum(axis=0), where_zero=0.0)
    pull = np.minimum(1.0, divide(np.full(carriers.shape, _CARRIERS), carriers, where_zero=1.0))
    return CautiousVariance(variance + np.maximum(complete - variance, 0.0) * pull, bell_mccaffrey_freedom(counts))


def bell_mccaffrey_freedom(sizes: Floats) -> Floats:
    """Return the Satterthwaite degrees of freedom of a mean's CR2 variance; at least 1.

    Args:
        sizes: (n_clusters, …) numbers of questions.

    Example:
        >>> bell_mccaffrey_freedom(np.ones(12)).item()
        11.0
    """
    counts = np.asarray(sizes, dtype=np.float64)
    n = counts.sum(axis=0)
    shares = divide(counts, np.broadcast_to(n, counts.shape), where_zero=0.0)
    # Gram matrix of the residual vectors: c_g c_h (m_g δ_gh − m_g m_h / n) with c² = 1/(1 − m_g/n)
    loads = divide(shares**2, 1.0 - shares, where_zero=0.0)
    trace_of_square = loads.sum(axis=0) ** 2 - (loads**2).sum(axis=0) + (shares**2).sum(axis=0)
    return np.maximum(np.round(divide(np.ones(trace_of_square.shape), trace_of_square, where_zero=1.0), 12), 1.0)


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
    squares = (sums - sizes * sums.sum() / n) ** 2 / (1.0 - sizes / n)
    return BiasReduced(float(np.sqrt(squares.sum()) / n), float(bell_mccaffrey_freedom(sizes)))


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
