"""Accuracies by task, source or target size, and whether an effect differs between them."""

from collections.abc import Sequence

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats
from eyechart.stats.clusters import Clusters, find_clusters
from eyechart.stats.paired import check_differences
from eyechart.stats.proportion import ProportionTable, estimate_proportions


def estimate_by_group(
    values: Floats,
    present: Bools,
    image_groups: Sequence[str],
    groups: Sequence[str],
    *,
    confidence: float = 0.95,
) -> dict[str, ProportionTable]:
    """Estimate accuracies within each group of questions; G counts the clusters that touch the group.

    Groups have their own chance level and size: never rank them by the point estimates.

    Args:
        values: (n_questions, …) scores in [0, 1].
        present: Same shape, True where there is a score.
        image_groups: (n_questions,) cluster of each question.
        groups: (n_questions,) task, source or size class of each question.
        confidence: Coverage of the intervals, in (0, 1).

    Returns:
        One table per group, in the order of the group names.

    Raises:
        StatisticsError: If the numbers of questions differ, or as ``estimate_proportions``.

    Example:
        >>> scores = np.array([1.0, 0.0, 1.0])
        >>> tables = estimate_by_group(scores, scores >= 0, ["a", "b", "c"], ["OCR", "OCR", "Color"])
        >>> {name: float(table.value) for name, table in tables.items()}
        {'Color': 1.0, 'OCR': 0.5}
    """
    if not len(values) == len(image_groups) == len(groups):
        raise StatisticsError(
            f"{len(values)} scores, {len(image_groups)} clusters and {len(groups)} group names",
            hint="give one of each per question",
        )
    labels, names = np.asarray(image_groups), np.asarray(groups)
    return {
        str(name): estimate_proportions(
            values[names == name], present[names == name], find_clusters(labels[names == name]), confidence=confidence
        )
        for name in np.unique(names)
    }


def interaction_p(
    differences: Floats,
    present: Bools,
    clusters: Clusters,
    groups: Sequence[str],
    *,
    rng: np.random.Generator,
    n_permutations: int = 499,
) -> Floats:
    """Test whether mean differences are equal in all groups, by shuffling group labels between images of one size.

    The statistic is Σ n_t·D̄_t². All contrasts share the shuffles. Unlike a Wald test it stays defined where a group
    has no flip.

    Args:
        differences: (n_questions, n_contrasts) paired differences, 0 where not present.
        present: Same shape, True where both sides are scored.
        clusters: Grouping of the questions.
        groups: (n_questions,) task of each question.
        rng: Source of the shuffles.
        n_permutations: Number of shuffles; the smallest p is 1/(n_permutations + 1).

    Returns:
        (n_contrasts,) p-values.

    Raises:
        StatisticsError: If shapes differ, or as ``check_differences`` with a limit of 2.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> change = np.r_[np.ones(20), -np.ones(20)][:, None]
        >>> tasks = ["OCR"] * 20 + ["Color"] * 20
        >>> interaction_p(change, np.full((40, 1), True), find_clusters(list(range(40))), tasks, rng=rng).tolist()
        [0.002]
    """
    check_differences(differences, present, limit=2.0)
    if differences.ndim == 1 or len(groups) != clusters.n_questions or len(differences) != clusters.n_questions:
        raise StatisticsError(
            f"differences of shape {differences.shape} for {len(groups)} group names", hint="one row per question"
        )
    _, index = np.unique(np.asarray(groups), return_inverse=True)
    members = np.eye(int(index.max(initial=-1)) + 1)[index]
    sizes = np.asarray(present, dtype=np.float64)
    observed = _between(members, differences, sizes)
    n_above = np.zeros(observed.shape)
    for _ in range(n_permutations):
        shuffled = members[_shuffle_images(clusters, rng)]
        n_above += _between(shuffled, differences, sizes) >= observed - SCORE_ROUNDING
    return (1.0 + n_above) / (n_permutations + 1.0)


def _between(members: Floats, differences: Floats, sizes: Floats) -> Floats:
    """Return Σ n_t·D̄_t² per contrast."""
    totals, counts = members.T @ differences, members.T @ sizes
    squares: Floats = np.where(counts > 0.0, totals**2 / np.maximum(counts, 1.0), 0.0)
    return np.asarray(squares.sum(axis=0), dtype=np.float64)


def _shuffle_images(clusters: Clusters, rng: np.random.Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return a permutation of the questions that exchanges whole images with as many questions."""
    source = np.empty(clusters.n_questions, dtype=np.int64)
    for size in np.unique(clusters.sizes):
        starts = clusters.starts[clusters.sizes == size]
        rows = clusters.order[starts[:, None] + np.arange(size)]
        source[rows] = rows[rng.permutation(len(rows))]
    return source
