"""Questions on one image are one cluster: the sums over clusters that every estimator starts from."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, Integers


class Clusters(NamedTuple):
    """Which questions belong together.

    Args:
        order: (n_questions,) row indices that bring the clusters together, clusters in the order of their labels.
        starts: (n_clusters,) position in ``order`` where each cluster begins.
        sizes: (n_clusters,) questions per cluster.
    """

    order: Integers
    starts: Integers
    sizes: Integers

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return int(self.order.size)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.sizes.size)

    @property
    def variance_inflation(self) -> float:
        """Σm²/n: the largest factor by which clustering can inflate a variance; 1 if no image repeats, or none is."""
        return float((self.sizes**2).sum() / self.n_questions) if self.n_questions else 1.0


def find_clusters(labels: Sequence[str] | Sequence[int] | Integers) -> Clusters:
    """Group questions by label; rows may be in any order.

    Args:
        labels: (n_questions,) cluster of each question, usually ``Question.image_group``.

    Returns:
        The clusters, sorted by label, so that no result depends on row order.

    Raises:
        StatisticsError: If ``labels`` is not one-dimensional.

    Example:
        >>> find_clusters(["b", "a", "b"]).sizes.tolist()
        [1, 2]
    """
    array = np.asarray(labels)
    if array.ndim != 1:
        raise StatisticsError(f"cluster labels of shape {array.shape}", hint="give one label per question")
    _, index, sizes = np.unique(array, return_inverse=True, return_counts=True)
    order = np.argsort(index, kind="stable").astype(np.int64)
    starts = (np.cumsum(sizes) - sizes).astype(np.int64)
    return Clusters(order=order, starts=starts, sizes=sizes.astype(np.int64))


def cluster_sums(values: Floats | Bools, clusters: Clusters) -> Floats:
    """Sum over the questions of each cluster.

    Args:
        values: (n_questions, …) numbers; set missing entries to 0 first.
        clusters: Grouping of the first axis.

    Returns:
        (n_clusters, …) float64.

    Raises:
        StatisticsError: If the first axis has another length than the labels had.

    Example:
        >>> cluster_sums(np.array([1.0, 2.0, 4.0]), find_clusters(["b", "a", "b"])).tolist()
        [2.0, 5.0]
    """
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim == 0 or rows.shape[0] != clusters.n_questions:
        raise StatisticsError(
            f"{rows.shape[0] if rows.ndim else 0} rows of scores, but cluster labels for {clusters.n_questions}",
            hint="give one cluster label per row",
        )
    if clusters.n_questions == 0:
        return np.zeros((0, *rows.shape[1:]))
    return np.add.reduceat(rows[clusters.order], clusters.starts, axis=0)
