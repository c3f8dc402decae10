"""Four ways to average the scores of datasets in categories, each with its weights and an interval."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.clusters import cluster_sums, find_clusters
from eyechart.stats.intervals import critical_t, wilson
from eyechart.stats.proportion import mean_variance
from eyechart.stats.small_samples import has_interval

Rule = Literal["micro", "macro_dataset", "macro_category", "size_weighted"]
RULES: tuple[Rule, ...] = get_args(Rule)
LABELS: dict[Rule, str] = {
    "micro": "every question counts the same",
    "macro_dataset": "plain mean of the datasets",
    "macro_category": "plain mean of the categories, each the plain mean of its datasets",
    "size_weighted": "datasets and categories weighted by their whole size, not by that of the split",
}
AVERAGE_METHOD = "Wilson on n_eff of the weighted mean, t(pictures - datasets)"
_LARGEST_VARIANCE = 0.25


class Group(NamedTuple):
    """One dataset: its name, its category, and the size of the whole dataset."""

    dataset: str
    category: str
    size: int


class AverageTable(NamedTuple):
    """A weighted mean of dataset means.

    Args:
        value: The mean, in [0, 1].
        low: Lower bound.
        high: Upper bound.
        n_questions: Questions scored.
        n_clusters: Pictures.
        n_effective: Independent questions that would give this variance.
        has_interval: Whether the bounds may be printed: at least 10 effective pictures, by their weights.
    """

    value: float
    low: float
    high: float
    n_questions: int
    n_clusters: int
    n_effective: float
    has_interval: bool


def average_categories(scores: Mapping[str, float], rule: Rule, sizes: Mapping[str, float]) -> float:
    """Average the scores of categories, where their datasets are not known.

    Args:
        scores: Category → score, in any unit.
        rule: ``macro_category`` or ``size_weighted``; the other two need datasets.
        sizes: Category → size, for ``size_weighted``.

    Raises:
        StatisticsError: If the rule needs datasets, there is no category, or one has no size.

    Example:
        >>> average_categories({"a": 50.0, "b": 100.0}, "size_weighted", {"a": 3, "b": 1})
        62.5
    """
    if rule not in {"macro_category", "size_weighted"}:
        raise StatisticsError(f"{rule} needs the score of every dataset", hint="take macro_category or size_weighted")
    lacking = [name for name in scores if rule == "size_weighted" and not sizes.get(name)]
    if not scores or lacking:
        raise StatisticsError(
            f"no size is known of {', '.join(lacking)}" if lacking else "there is no category", hint="name every size"
        )
    weights = {name: float(sizes[name]) if rule == "size_weighted" else 1.0 for name in scores}
    return sum(weights[name] * score for name, score in scores.items()) / sum(weights.values())


def weigh_datasets(groups: Sequence[Group], counts: Sequence[int], rule: Rule, sizes: Mapping[str, float]) -> Floats:
    """Return the weight of every dataset in the overall score.

    Args:
        groups: The datasets that have a score.
        counts: (n_datasets,) questions scored in each.
        rule: How to average.
        sizes: Category → size, for ``size_weighted``; a category without one takes the sum over its datasets.

    Returns:
        (n_datasets,) positive weights with sum 1.

    Raises:
        StatisticsError: If there is no dataset.

    Example:
        >>> groups = [Group("x", "a", 30), Group("y", "a", 10), Group("z", "b", 60)]
        >>> weigh_datasets(groups, [5, 5, 10], "macro_category", {}).tolist()
        [0.25, 0.25, 0.5]
        >>> weigh_datasets(groups, [5, 5, 10], "size_weighted", {"a": 100, "b": 100}).tolist()
        [0.375, 0.125, 0.5]
    """
    if not groups:
        raise StatisticsError("no dataset has a score", hint="score a run whose questions name their dataset")
    categories = [group.category for group in groups]
    if rule == "micro":
        weights = np.array(counts, dtype=np.float64)
    elif rule == "macro_dataset":
        weights = np.ones(len(groups))
    elif rule == "macro_category":
        weights = np.array([1.0 / categories.count(name) for name in categories])
    else:
        within = {name: sum(group.size for group in groups if group.category == name) for name in set(categories)}
        weights = np.array([sizes.get(g.category, within[g.category]) * g.size / within[g.category] for g in groups])
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def estimate_average(
    values: Floats,
    present: Bools,
    image_groups: Sequence[str],
    datasets: Sequence[str],
    weights: Mapping[str, float],
    *,
    confidence: float = 0.95,
) -> AverageTable:
    """Estimate a weighted mean of dataset means; datasets are strata, pictures are clusters inside them.

    With A = Σ w_d A_d and V = Σ w_d² V_d (V_d the CR1 variance of a dataset's mean), the interval is Wilson's on
    n_eff = A(1−A)/V. A dataset whose scores are all alike gets the variance of one success and one failure more, and
    one with a single picture the largest possible, so that nothing is certain.

    Args:
        values: (n_questions,) scores in [0, 1].
        present: Same shape, True where there is a score.
        image_groups: (n_questions,) cluster of each question.
        datasets: (n_questions,) dataset of each question; those without a weight are left out.
        weights: Dataset → weight; they are scaled to sum 1 over the datasets that have a score.
        confidence: Coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: If no dataset with a weight has a score.

    Example:
        >>> scores = np.array([1.0, 0.0, 1.0, 1.0])
        >>> table = estimate_average(scores, scores >= 0, list("abcd"), list("xxyy"), {"x": 0.5, "y": 0.5})
        >>> table.value, table.n_questions
        (0.75, 4)
    """
    labels = np.asarray(datasets)
    used = [name for name in weights if weights[name] > 0.0 and (present & (labels == name)).any()]
    if not used:
        raise StatisticsError("no dataset with a weight has a score", hint="check the names of the datasets")
    total = sum(weights[name] for name in used)
    value = variance = 0.0
    n_questions = n_clusters = 0
    shares: list[Floats] = []
    for name in used:
        rows = np.flatnonzero(present & (labels == name)).tolist()
        clusters = find_clusters([image_groups[row] for row in rows])
        mean, own = _stratum(values[rows], cluster_sums(values[rows], clusters), clusters.sizes.astype(np.float64))
        value += weights[name] / total * mean
        variance += (weights[name] / total) ** 2 * own
        n_questions += len(rows)
        n_clusters += clusters.n_clusters
        shares.append(weights[name] / total * clusters.sizes / len(rows))
    value = min(max(value, 0.0), 1.0)
    spread = max(value * (1.0 - value), 1.0 / (4.0 * (n_questions + 2.0)))
    n_effective = spread / variance
    low, high = wilson(
        np.array(value),
        np.array(n_effective),
        critical_t(np.array(max(n_clusters - len(used), 1)), confidence),
    )
    is_enough = bool(has_interval(np.concatenate(shares)))
    return AverageTable(value, float(low), float(high), n_questions, n_clusters, n_effective, is_enough)


def _stratum(values: Floats, sums: Floats, sizes: Floats) -> tuple[float, float]:
    """Return mean and variance of the mean of one dataset."""
    mean = float(values.mean())
    if len(sums) <= 1:
        return mean, _LARGEST_VARIANCE
    variance = float(mean_variance(sums, sizes, np.asarray(mean)))
    if variance > 1e-14:  # noqa: PLR2004 -- what rounding leaves of 0
        return mean, variance
    shrunk = (values.sum() + 1.0) / (len(values) + 2.0)
    n_effective = sizes.sum() ** 2 / (sizes**2).sum()
    return mean, float(shrunk * (1.0 - shrunk) / n_effective)
