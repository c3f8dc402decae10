"""The cluster bootstrap as one matrix product: weights of clusters times sums of clusters."""

import math

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Floats, check_confidence, divide

N_RESAMPLES = 2000


def draw_weights(n_clusters: int, rng: np.random.Generator, *, n_resamples: int = N_RESAMPLES) -> Floats:
    """Draw how often each cluster enters each resample.

    One matrix serves a whole report, so that all intervals derived from it agree with each other.

    Args:
        n_clusters: Number of clusters.
        rng: Source of the draws.
        n_resamples: Number of resamples.

    Returns:
        (n_resamples, n_clusters) whole numbers as float64, each row with sum ``n_clusters``.

    Raises:
        StatisticsError: If there is no cluster, or no resample.

    Example:
        >>> draw_weights(3, np.random.default_rng(0), n_resamples=2).sum(axis=1).tolist()
        [3.0, 3.0]

    References:
        Davison & Hinkley (1997), https://doi.org/10.1017/CBO9780511802843, section 2.4.
    """
    if n_clusters < 1 or n_resamples < 1:
        raise StatisticsError(f"{n_resamples} resamples of {n_clusters} clusters", hint="both must be at least 1")
    drawn = rng.integers(0, n_clusters, size=(n_resamples, n_clusters))
    cells = drawn + n_clusters * np.arange(n_resamples)[:, None]
    counts = np.bincount(cells.ravel(), minlength=n_resamples * n_clusters)
    return counts.reshape(n_resamples, n_clusters).astype(np.float64)


def resample_ratios(tops: Floats, bottoms: Floats, weights: Floats) -> Floats:
    """Return Σtops/Σbottoms in every resample: means, if bottoms are counts.

    Args:
        tops: (n_clusters, …) sums per cluster.
        bottoms: (n_clusters, …) sums per cluster in the same shape, or (n_clusters,) if they are the same for all.
        weights: (n_resamples, n_clusters) from ``draw_weights``.

    Returns:
        (n_resamples, …); where a resample holds nothing of a column, the ratio of the sample itself, or 0.0.

    Example:
        >>> resample_ratios(np.array([[1.0], [0.0]]), np.ones((2, 1)), np.array([[2.0, 0.0], [1.0, 1.0]])).tolist()
        [[1.0], [0.5]]
    """
    shape = tops.shape[1:]
    flat_tops = tops.reshape(len(tops), math.prod(shape))
    flat_bottoms = bottoms.reshape(len(bottoms), math.prod(bottoms.shape[1:]))
    sample = divide(flat_tops.sum(axis=0), flat_bottoms.sum(axis=0), where_zero=0.0)
    numerators, denominators = weights @ flat_tops, weights @ flat_bottoms
    ratios = np.where(denominators != 0.0, divide(numerators, denominators, where_zero=0.0), sample)
    return ratios.reshape(len(weights), *shape)


def percentile_interval(draws: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the percentile interval of draws along the first axis; infinite draws are carried through.

    Args:
        draws: (n_resamples, …) draws of a statistic.
        confidence: Coverage, in (0, 1).

    Returns:
        Lower and upper bounds: draws themselves, the outer neighbours of the quantiles.

    Raises:
        StatisticsError: If there are no draws, or the confidence is outside (0, 1).

    Example:
        >>> low, high = percentile_interval(np.arange(1000.0))
        >>> float(low), float(high)
        (24.0, 975.0)
    """
    check_confidence(confidence)
    if len(draws) == 0:
        raise StatisticsError("no draws to take an interval from", hint="draw at least 1000 resamples")
    ordered = np.sort(draws, axis=0)
    cut = int(np.floor((1.0 - confidence) / 2.0 * (len(draws) - 1) + 1e-9))
    return ordered[cut], ordered[len(draws) - 1 - cut]


def bca_interval(value: float, draws: Floats, jackknife: Floats, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval of one statistic.

    It brought no gain for means in simulation; for skewed statistics it may.

    Args:
        value: The statistic of the sample.
        draws: (n_resamples,) finite draws.
        jackknife: (n_clusters,) the statistic with each cluster left out.
        confidence: Coverage, in (0, 1).

    Raises:
        StatisticsError: If there are no draws, or the confidence is outside (0, 1).

    Example:
        >>> draws = np.arange(1000.0)
        >>> bca_interval(499.5, draws, np.zeros(10))
        (24.0, 975.0)

    References:
        Efron (1987), https://doi.org/10.1080/01621459.1987.10478410
    """
    from scipy.special import ndtr, ndtri

    percentile_interval(draws, confidence=confidence)
    ordered = np.sort(draws)
    below = ((ordered < value).sum() + (ordered <= value).sum()) / (2.0 * len(ordered))
    shift = float(ndtri(np.clip(below, 0.5 / len(ordered), 1.0 - 0.5 / len(ordered))))
    influence = jackknife.mean() - jackknife
    spread = float((influence**2).sum())
    acceleration = float((influence**3).sum()) / (6.0 * spread**1.5) if spread else 0.0
    bounds = []
    for side in (-1.0, 1.0):
        z = shift + side * float(ndtri(0.5 + confidence / 2.0))
        quantile = float(ndtr(shift + z / (1.0 - acceleration * z)))
        position = quantile * (len(ordered) - 1)
        index = int(np.floor(position + 1e-9)) if side < 0.0 else int(np.ceil(position - 1e-9))
        bounds.append(float(ordered[index]))
    return bounds[0], bounds[1]


def leave_one_out(tops: Floats, bottoms: Floats) -> Floats:
    """Return Σtops/Σbottoms with each cluster left out in turn; 0.0 where nothing remains.

    Example:
        >>> leave_one_out(np.array([1.0, 0.0]), np.ones(2)).tolist()
        [0.0, 1.0]
    """
    return divide(tops.sum(axis=0) - tops, bottoms.sum(axis=0) - bottoms, where_zero=0.0)
