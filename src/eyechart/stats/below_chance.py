"""Whether answers are right less often than guesses are: the mark of swapped labels, orders or readings."""

from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import Floats, Integers
from eyechart.stats.clusters import Clusters
from eyechart.stats.conditions import can_test
from eyechart.stats.one_sided import compare_mean
from eyechart.stats.proportion import estimate_proportions

_POINTS = 0.05


class BelowChance(NamedTuple):
    """How often letters that were read are right, beside what guessing gives.

    Args:
        n_answers: Answers read.
        accuracy: Share that is right.
        chance: Mean guess rate of their questions.
        expected: Share that the same letters would hit if they had nothing to do with the right ones: what a model
            gets that prefers letters and never looks.
        p: One-sided p against ``expected``.
        is_below: Whether the accuracy lies at least 5 points below ``chance`` and ``expected``, and a test against
            each says so.
    """

    n_answers: int
    accuracy: float
    chance: float
    expected: float
    p: float
    is_below: bool


def compare_with_chance(
    given: Integers, gold: Integers, n_options: Integers, clusters: Clusters, *, alpha: float
) -> BelowChance:
    """Test whether answers are right less often than guesses, whatever letters the model prefers.

    A model that always says B is right as often as B is the right letter, which can be well below 1/k; so the accuracy
    must also lie below what its letters hit by accident, among questions with the same number of options.

    Args:
        given: (n_answers,) index of the option read, from 0.
        gold: (n_answers,) index of the right option.
        n_options: (n_answers,) number of options of each question, at least 2.
        clusters: Grouping of the answers by picture.
        alpha: Level of each of the two tests.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> gold = np.arange(80) % 2
        >>> swapped = compare_with_chance(1 - gold, gold, np.full(80, 2), find_clusters(list(range(80))), alpha=0.01)
        >>> swapped.accuracy, swapped.expected, swapped.is_below
        (0.0, 0.5, True)
    """
    n = len(given)
    if n == 0:
        return BelowChance(0, 0.0, 0.0, 0.0, 1.0, is_below=False)
    right = np.asarray(np.equal(given, gold), dtype=np.float64)
    accident, deviations = _accidents(given, gold, n_options, right)
    chance = float((1.0 / np.asarray(n_options, dtype=np.float64)).mean())
    accuracy, expected = float(right.mean()), float(accident.mean())
    table = estimate_proportions(right, np.ones(n, dtype=np.bool_), clusters, confidence=1.0 - 2.0 * alpha)
    p = compare_mean(deviations, clusters).p_below
    is_below = (
        can_test(n, has_interval=bool(table.has_interval))
        and accuracy <= min(chance, expected) - _POINTS
        and float(table.high) < chance
        and p < alpha
    )
    return BelowChance(n, accuracy, chance, expected, p, is_below)


def _accidents(given: Integers, gold: Integers, n_options: Integers, right: Floats) -> tuple[Floats, Floats]:
    """Return each answer's chance to be right by accident, and how it departs from it.

    The deviations have the mean accuracy less accidents, and the variance of it where shares of letters are estimated.
    """
    accident, deviations = np.zeros(len(given)), np.zeros(len(given))
    for number in np.unique(n_options):
        own = np.asarray(n_options) == number
        said = np.bincount(given[own], minlength=number) / own.sum()
        asked = np.bincount(gold[own], minlength=number) / own.sum()
        accident[own] = float(said @ asked)
        deviations[own] = right[own] - said[gold[own]] - asked[given[own]] + accident[own]
    return accident, deviations
