"""How answers change between views: flips, churn, and what holds over all views."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats, check_scores
from eyechart.stats.clusters import Clusters
from eyechart.stats.proportion import ProportionTable, estimate_proportions


class Flips(NamedTuple):
    """Shares of questions whose score changed between two conditions; net = gained − lost.

    Print the churn beside that of two identical runs and beside ``guessing_churn``.
    """

    gained: ProportionTable
    lost: ProportionTable
    churn: ProportionTable


def estimate_flips(differences: Floats, present: Bools, clusters: Clusters, *, confidence: float = 0.95) -> Flips:
    """Estimate how many scores rose, fell, or changed at all.

    Args:
        differences: (n_questions, …) paired differences.
        present: Same shape, True where both sides are scored.
        clusters: Grouping of the questions.
        confidence: Coverage of the intervals, in (0, 1).

    Raises:
        StatisticsError: As ``estimate_proportions``.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> flips = estimate_flips(np.array([1.0, -1, 0, 0]), np.full(4, True), find_clusters(list("abcd")))
        >>> float(flips.gained.value), float(flips.churn.value)
        (0.25, 0.5)
    """
    rose, fell = differences > SCORE_ROUNDING, differences < -SCORE_ROUNDING
    gained, lost, churn = (
        estimate_proportions(change.astype(np.float64), present, clusters, confidence=confidence)
        for change in (rose, fell, rose | fell)
    )
    return Flips(gained, lost, churn)


def guessing_churn(chance: Floats, share_guessed: float = 1.0) -> float:
    """Return the churn of two independent guesses: mean 2c(1−c), times the share of questions guessed.

    Args:
        chance: (n_questions,) guess rates.
        share_guessed: Share of questions answered by guessing, such as 1 − κ.

    Returns:
        Churn in [0, 0.5]; 0.0 without questions.

    Raises:
        StatisticsError: If the share lies outside [0, 1].

    Example:
        >>> round(guessing_churn(np.full(700, 0.25), share_guessed=0.4), 3)
        0.15
    """
    if not 0.0 <= share_guessed <= 1.0:
        raise StatisticsError(f"share guessed {share_guessed} is not in 0–1", hint="give 1 − κ, cut to 0–1")
    return share_guessed * float((2.0 * chance * (1.0 - chance)).mean()) if chance.size else 0.0


class Robustness(NamedTuple):
    """What holds over a fixed set of views, on the questions scored in all of them.

    Args:
        all_right: Share right on every view. Falls mechanically with ``n_views``.
        any_right: Share right on at least one view. Rises mechanically with ``n_views``.
        agreement: Share of pairs of views with the same score.
        independent: Π A_v, the share right everywhere if views had nothing in common: the floor of ``all_right``.
        n_views: Number of views.
    """

    all_right: ProportionTable
    any_right: ProportionTable
    agreement: ProportionTable
    independent: float
    n_views: int


def estimate_robustness(values: Floats, present: Bools, clusters: Clusters, *, confidence: float = 0.95) -> Robustness:
    """Estimate robust, any-right and agreeing shares over all columns; right means a score of 1.

    Args:
        values: (n_questions, n_views) scores in [0, 1].
        present: Same shape; questions with a view missing are left out.
        clusters: Grouping of the questions.
        confidence: Coverage of the intervals, in (0, 1).

    Raises:
        StatisticsError: If there are fewer than two views, or as ``estimate_proportions``.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> scores = np.array([[1.0, 1, 1], [1, 0, 1], [0, 0, 0]])
        >>> robust = estimate_robustness(scores, scores >= 0, find_clusters(list("abc")))
        >>> round(float(robust.all_right.value), 3), round(float(robust.agreement.value), 3)
        (0.333, 0.778)
    """
    scores, mask = check_scores(values, present)
    if len(scores.shape[1:]) != 1 or scores.shape[1] <= 1:
        raise StatisticsError(f"scores of shape {scores.shape}", hint="give (n_questions, n_views), at least two views")
    is_complete = np.asarray(mask.all(axis=1), dtype=np.bool_)
    is_right = scores >= 1.0 - SCORE_ROUNDING
    rows = scores[is_complete]
    accuracies = rows.mean(axis=0) if len(rows) else np.zeros(scores.shape[1])
    shares = (is_right.all(axis=1), is_right.any(axis=1), pairwise_agreement(scores))
    all_right, any_right, agreement = (
        estimate_proportions(np.asarray(share, dtype=np.float64), is_complete, clusters, confidence=confidence)
        for share in shares
    )
    return Robustness(all_right, any_right, agreement, float(accuracies.prod()), scores.shape[1])


def pairwise_agreement(answers: Floats) -> Floats:
    """Return per question the share of pairs of columns with equal entries: of scores, or of coded answer letters.

    Args:
        answers: (n_questions, n_views) numbers; at least two views.

    Returns:
        (n_questions,) shares.

    Example:
        >>> pairwise_agreement(np.array([[0.0, 0.0, 2.0]])).round(3).tolist()
        [0.333]
    """
    pairs = list(combinations(range(answers.shape[1]), 2))
    equal = sum(np.abs(answers[:, i] - answers[:, j]) <= SCORE_ROUNDING for i, j in pairs)
    return np.asarray(equal, dtype=np.float64) / len(pairs)
