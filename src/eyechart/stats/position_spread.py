"""How sure the spread of the true cell means of a grid is, whose estimate is cut off at 0."""

import numpy as np

from eyechart.stats.arrays import SCORE_ROUNDING, Floats, check_confidence
from eyechart.stats.clusters import Clusters, cluster_sums

SPREAD_METHOD = "noncentral chi-square inverted, noise from within base samples, summed over pictures"


def spread_interval(
    rows: Floats, clusters: Clusters, *, most: float = 0.5, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of ``position_sd``: the spreads under which cell means vary as much as they do.

    (K−1)·Var(cell means)/τ² follows a noncentral chi-square law with K−1 degrees of freedom and noncentrality
    (K−1)·SD²/τ², which is solved for SD. A bootstrap is of no use here: each resample adds the noise τ² once more, so
    its percentiles never reach 0. In simulation the interval covered in 95 to 99 % (3 × 3 to 10 × 10 cells, 20 to 200
    base samples; flat, sloped, U-shaped, one hot cell).

    Args:
        rows: (n_bases, n_cells) complete scores in [0, 1], at least two cells.
        clusters: Grouping of the base samples by picture.
        most: Upper bound where no base sample varies over its cells, so that the scores tell nothing of the noise.
        confidence: Coverage, in (0, 1).

    Returns:
        Lower and upper bound, both at least 0.

    Raises:
        StatisticsError: If the confidence is outside (0, 1).

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> scores = np.tile([1.0, 0.0], (9, 1))
        >>> low, high = spread_interval(scores, find_clusters(list(range(9))))
        >>> round(low, 2), round(high, 2)
        (0.25, 0.71)

    References:
        Steiger & Fouladi (1997), Noncentrality interval estimation, in What if there were no significance tests?
    """
    from scipy.special import chndtr, chndtrinc

    check_confidence(confidence)
    noise = float(cluster_sums(rows, clusters).var(axis=1, ddof=1).sum()) / len(rows) ** 2
    if noise <= SCORE_ROUNDING**2:
        return 0.0, most
    freedom = rows.shape[1] - 1
    observed = freedom * float(rows.mean(axis=0).var(ddof=1)) / noise
    largest = 0.5 * float(np.sqrt(rows.shape[1] / freedom))  # half the cells 1, half 0
    bounds = []
    for share in ((1.0 + confidence) / 2.0, (1.0 - confidence) / 2.0):
        is_flat = float(chndtr(observed, freedom, 0.0)) <= share
        noncentrality = 0.0 if is_flat else float(chndtrinc(observed, freedom, share))
        bounds.append(min(largest, float(np.sqrt(noise * noncentrality / freedom))))
    return bounds[0], bounds[1]
