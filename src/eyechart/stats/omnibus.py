"""One test for any difference among several paired conditions."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, mean_ranks
from eyechart.stats.clusters import Clusters, cluster_sums

_ROUNDING = 1e-9
_RANK_ROUNDING = 1e-10


class Omnibus(NamedTuple):
    """A χ² statistic over the complete rows; p is 1.0 where no row varies."""

    statistic: float
    degrees_of_freedom: int
    p: float
    n_rows: int


def cochran_q(values: Floats, present: Bools) -> Omnibus:
    """Test whether binary scores have the same mean in every column, rows as blocks.

    Args:
        values: (n_rows, n_columns) scores, 0 or 1.
        present: Same shape; rows with anything missing are left out.

    Returns:
        Cochran's Q, (k−1)·Σ(C_j − C̄)²·k/(k·ΣR − ΣR²), χ² with k−1 degrees of freedom.

    Raises:
        StatisticsError: If there are fewer than two columns, or a score is neither 0 nor 1.

    Example:
        >>> scores = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1]])
        >>> cochran_q(scores, scores >= 0).statistic
        1.0

    References:
        Cochran (1950), https://doi.org/10.1093/biomet/37.3-4.256
    """
    rows = _complete(values, present)
    if not np.isin(rows, (0.0, 1.0)).all():
        raise StatisticsError("Cochran's Q takes scores of 0 and 1 only", hint="use friedman for fractional scores")
    k = rows.shape[1]
    columns, totals = rows.sum(axis=0), rows.sum(axis=1)
    spread = float((k * totals - totals**2).sum())
    statistic = (k - 1) * k * float(((columns - columns.mean()) ** 2).sum()) / spread if spread else 0.0
    return _chi_square(statistic, k - 1, len(rows))


def friedman(values: Floats, present: Bools) -> Omnibus:
    """Test whether scores of any kind rank the same in every column, rows as blocks, with the correction for ties.

    On binary scores it equals Cochran's Q.

    Args:
        values: (n_rows, n_columns) scores.
        present: Same shape; rows with anything missing are left out.

    Raises:
        StatisticsError: If there are fewer than two columns.

    Example:
        >>> scores = np.array([[0.1, 0.2, 0.3], [0.1, 0.3, 0.9], [0.0, 0.5, 0.6]])
        >>> friedman(scores, scores >= 0).statistic
        6.0

    References:
        Conover (1999), Practical Nonparametric Statistics, section 5.8.
    """
    rows = _complete(values, present)
    k = rows.shape[1]
    ranks = mean_ranks(rows)
    columns = ranks.sum(axis=0)
    spread = float((ranks**2).sum()) - len(rows) * k * (k + 1) ** 2 / 4
    numerator = (k - 1) * float(((columns - len(rows) * (k + 1) / 2) ** 2).sum())
    return _chi_square(numerator / spread if spread > 0.0 else 0.0, k - 1, len(rows))


def score_test(deviations: Floats, clusters: Clusters) -> Omnibus:
    """Test whether deviations have a mean of 0 in every column at once, whole clusters together.

    The variance is that around 0, not around the mean, which can only make the test more careful.

    Args:
        deviations: (n_rows, n_columns) differences from what is expected.
        clusters: Grouping of the rows.

    Returns:
        dᵀV⁻d with d the sums, χ² with the rank of V as degrees of freedom; p is 1.0 where nothing deviates.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> score_test(np.array([[1.0], [1.0], [1.0], [-1.0]]), find_clusters([0, 1, 2, 3])).statistic
        1.0
    """
    from scipy.special import chdtrc

    sums = cluster_sums(deviations, clusters)
    used = sums[:, (np.abs(sums) > _ROUNDING).any(axis=0)]
    variance, difference = used.T @ used, used.sum(axis=0)
    freedom = int(np.linalg.matrix_rank(variance, hermitian=True)) if difference.size else 0
    if freedom == 0:
        return Omnibus(0.0, 0, 1.0, clusters.n_questions)
    inverse = np.linalg.pinv(variance, rcond=_RANK_ROUNDING, hermitian=True)
    statistic = round(float(difference @ inverse @ difference), 12)
    return Omnibus(statistic, freedom, float(chdtrc(freedom, statistic)), clusters.n_questions)


def _complete(values: Floats, present: Bools) -> Floats:
    """Return the rows without a gap."""
    shape = np.shape(values)
    if shape != np.shape(present) or len(shape[1:]) != 1 or shape[1] <= 1:
        raise StatisticsError(
            f"scores of shape {np.shape(values)} with a mask of shape {np.shape(present)}",
            hint="give both as (n_rows, n_columns) with at least two columns",
        )
    rows: Floats = np.asarray(values, dtype=np.float64)[np.asarray(present, dtype=np.bool_).all(axis=1)]
    return rows


def _chi_square(statistic: float, degrees_of_freedom: int, n_rows: int) -> Omnibus:
    from scipy.special import chdtrc

    return Omnibus(statistic, degrees_of_freedom, float(chdtrc(degrees_of_freedom, statistic)), n_rows)
