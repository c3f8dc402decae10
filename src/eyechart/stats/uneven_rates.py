"""Whether something befalls some columns more often than others: tests of all pairs, corrected over all of them."""

from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.sign_flip import sign_flip

# Sums that lie less than this many standard errors from 0 are not worth an exact test.
_WORTH_A_TEST = 2.5
_CHUNK = 256


class UnevenPair(NamedTuple):
    """Two columns with different rates, on the questions that both have.

    Args:
        higher: Column with the higher rate.
        lower: The other column.
        high_rate: Rate of ``higher``, in [0, 1].
        low_rate: Rate of ``lower``.
        p: Exact sign-flip p over whole clusters, times the number of pairs of columns.
    """

    higher: int
    lower: int
    high_rate: float
    low_rate: float
    p: float


def find_uneven_pairs(
    rates: Bools | Floats, present: Bools, clusters: Clusters, *, points: float, alpha: float
) -> tuple[UnevenPair, ...]:
    """Return the pairs of columns whose rates differ by more than ``points`` and by more than chance explains.

    Every pair is compared on the questions that both columns have. Corrected by Bonferroni over all pairs, so that at
    most a share ``alpha`` of tables without any difference give a pair.

    Args:
        rates: (n_questions, n_columns) what befell each, in [0, 1].
        present: Same shape, True where it could have.
        clusters: Grouping of the questions.
        points: Smallest difference of rates that matters.
        alpha: Level of all tests together.

    Returns:
        The pairs, the smallest p first.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> rates = np.zeros((40, 2)); rates[:15, 1] = 1.0
        >>> [(p.higher, p.lower) for p in find_uneven_pairs(
        ...     rates, rates >= 0, find_clusters(list(range(40))), points=0.01, alpha=0.01)]
        [(1, 0)]
    """
    there = np.asarray(present, dtype=np.float64)
    counted = np.asarray(rates, dtype=np.float64) * there
    n_columns = counted.shape[1]
    if len(counted) == 0 or n_columns <= 1:
        return ()
    n_pairs = n_columns * (n_columns - 1) // 2
    # Under each pair's common questions: [a, b] is the count of column a among those that b has too.
    counts, n_common = counted.T @ there, there.T @ there
    share = np.divide(counts, n_common, out=np.zeros_like(counts), where=n_common > 0)
    has_any = np.asarray(counted > 0.0, dtype=np.float64)
    n_marked = has_any.T @ there
    # At most so many questions differ: one flip of m signs that all agree has p = 2^(1 − m).
    most_apart = n_marked + n_marked.T
    fewest = 1.0 + np.log2(n_pairs / alpha)
    is_candidate = np.triu((np.abs(share - share.T) > points) & (most_apart >= fewest), k=1)
    first, second = np.nonzero(is_candidate)
    found = []
    for start in range(0, len(first), _CHUNK):
        one, other = first[start : start + _CHUNK], second[start : start + _CHUNK]
        sums = cluster_sums(counted[:, one] * there[:, other] - counted[:, other] * there[:, one], clusters)
        is_far = np.abs(sums.sum(axis=0)) >= _WORTH_A_TEST * np.sqrt((sums**2).sum(axis=0))
        p = sign_flip(sums[:, is_far]).exact * n_pairs
        for left, right, adjusted in zip(one[is_far].tolist(), other[is_far].tolist(), p.tolist(), strict=True):
            if adjusted < alpha:
                high, low = (left, right) if share[left, right] > share[right, left] else (right, left)
                found.append(UnevenPair(high, low, float(share[high, low]), float(share[low, high]), adjusted))
    return tuple(sorted(found, key=lambda pair: (pair.p, pair.higher, pair.lower)))
