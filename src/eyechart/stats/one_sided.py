"""Whether deviations lie on one side of 0: a test that few or unequal clusters cannot fool."""

from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import Floats
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.small_samples import bell_mccaffrey_freedom, has_interval

_ROUNDING = 1e-9


class MeanTest(NamedTuple):
    """A mean with two one-sided p-values.

    Args:
        mean: Mean of the deviations.
        p_below: p against a mean of 0 or more.
        p_above: p against a mean of 0 or less.
    """

    mean: float
    p_below: float
    p_above: float


def compare_mean(deviations: Floats, clusters: Clusters) -> MeanTest:
    """Test whether deviations have a mean of 0, whole clusters together.

    The variance is that around 0 and not around the mean, which can only make the test more careful. There is no
    evidence (both p 1.0) below 10 effective clusters, or where all deviations are 0.

    Args:
        deviations: (n_questions,) differences from what is expected.
        clusters: Grouping of the questions.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> found = compare_mean(np.tile([-0.5, -0.5, 0.5], 40), find_clusters(list(range(120))))
        >>> round(found.mean, 3), found.p_below < 0.001, found.p_above > 0.99
        (-0.167, True, True)
    """
    from scipy.special import stdtr  # late: it takes longer to load than everything else here

    if clusters.n_questions == 0:
        return MeanTest(0.0, 1.0, 1.0)
    sums = cluster_sums(deviations, clusters)
    spread, total = float(np.sqrt((sums**2).sum())), float(sums.sum())
    mean = total / clusters.n_questions
    sizes = clusters.sizes.astype(np.float64)
    if spread <= _ROUNDING or not has_interval(sizes):
        return MeanTest(mean, 1.0, 1.0)
    below = float(stdtr(float(bell_mccaffrey_freedom(sizes)), total / spread))
    return MeanTest(mean, below, 1.0 - below)
