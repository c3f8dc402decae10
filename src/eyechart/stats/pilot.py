"""What a pilot run says about the study to come: discordance, clustering, and where the variance comes from."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats, Integers, divide
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.paired import check_differences
from eyechart.stats.proportion import mean_variance


class Pilot(NamedTuple):
    """What ``power`` needs to know; every field has the shape of the trailing axes.

    Args:
        discordance: Share of questions whose score differs between the two sides; 0.0 without questions.
        variance_inflation: V_CR1/V_iid of the mean difference, at least 1; 1.0 where nothing varies.
        n_questions: Questions scored on both sides.
    """

    discordance: Floats
    variance_inflation: Floats
    n_questions: Integers


def read_pilot(differences: Floats, present: Bools, clusters: Clusters) -> Pilot:
    """Estimate discordance and the inflation of the variance by clusters from pilot differences.

    Args:
        differences: (n_questions, …) paired differences in [−1, 1], 0 where not present.
        present: Same shape, True where both sides are scored.
        clusters: Grouping of the questions.

    Raises:
        StatisticsError: As ``check_differences``.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> change = np.array([1.0, 1.0, 0.0, 0.0, -1.0, -1.0])
        >>> pilot = read_pilot(change, np.full(6, True), find_clusters(list("aabbcc")))
        >>> round(float(pilot.discordance), 3), round(float(pilot.variance_inflation), 3)
        (0.667, 2.5)
    """
    check_differences(differences, present)
    sums, sizes = cluster_sums(differences, clusters), cluster_sums(present, clusters)
    n = sizes.sum(axis=0)
    mean = divide(sums.sum(axis=0), n, where_zero=0.0)
    squares = np.where(present, differences - mean, 0.0) ** 2
    independent = divide(squares.sum(axis=0), n * np.maximum(n - 1.0, 1.0), where_zero=0.0)
    ratio = divide(mean_variance(sums, sizes, mean), independent, where_zero=1.0)
    changed = np.count_nonzero(np.abs(differences) > SCORE_ROUNDING, axis=0).astype(np.float64)
    return Pilot(
        discordance=divide(changed, n, where_zero=0.0),
        variance_inflation=np.maximum(ratio, 1.0),
        n_questions=n.astype(np.int64),
    )


class VarianceComponents(NamedTuple):
    """Variance of a mean difference by its sources; the variance with V views and K repeats is their sum over n.

    Args:
        question: σ²_q, between questions: the floor that more views or repeats cannot go below.
        view: σ²_qv, of views within a question.
        repeat: σ²_e, of repeats within question and view.
    """

    question: float
    view: float
    repeat: float

    def variance(self, n_questions: int, n_views: int, n_repeats: int) -> float:
        """Return (σ²_q + σ²_qv/V + σ²_e/(VK))/n."""
        return (self.question + self.view / n_views + self.repeat / (n_views * n_repeats)) / n_questions

    @property
    def useful_views(self) -> float:
        """σ²_qv/σ²_q: beyond about this many views per question, more are wasted; inf where σ²_q is 0."""
        return self.view / self.question if self.question > 0.0 else float("inf")


def estimate_components(differences: Floats, present: Bools) -> VarianceComponents:
    """Split the variance of pilot differences by ANOVA mean squares, negative components set to 0.

    Args:
        differences: (n_questions, n_views, n_repeats) paired differences; at least 2 questions and 2 views.
        present: Same shape; questions with anything missing are left out.

    Returns:
        Components; with one repeat, σ²_e cannot be told from σ²_qv and is 0.

    Raises:
        StatisticsError: If fewer than 2 complete questions or 2 views remain.

    Example:
        >>> change = np.zeros((3, 2, 1)); change[0] = 1.0
        >>> estimate_components(change, change >= 0).view
        0.0

    References:
        Searle, Casella & McCulloch (1992), https://doi.org/10.1002/9780470316856, chapter 4.
    """
    rows = differences[np.asarray(present, dtype=np.bool_).all(axis=(1, 2))]
    n, n_views, n_repeats = rows.shape
    if n <= 1 or n_views <= 1:
        raise StatisticsError(f"{n} complete questions under {n_views} views", hint="a pilot needs at least 2 of each")
    cells, questions = rows.mean(axis=2), rows.mean(axis=(1, 2))
    views = cells.mean(axis=0)
    mean_questions = n_views * n_repeats * float(((questions - questions.mean()) ** 2).sum()) / (n - 1)
    residuals = cells - questions[:, None] - views + views.mean()
    mean_views = n_repeats * float((residuals**2).sum()) / ((n - 1) * (n_views - 1))
    within = float(((rows - cells[..., None]) ** 2).sum())
    repeat = within / (n * n_views * (n_repeats - 1)) if n_repeats > 1 else 0.0
    return VarianceComponents(
        question=max(0.0, (mean_questions - mean_views) / (n_views * n_repeats)),
        view=max(0.0, (mean_views - repeat) / n_repeats),
        repeat=repeat,
    )
