import numpy as np
import pytest

from eyechart.stats.below_chance import compare_with_chance
from eyechart.stats.clusters import find_clusters


def _tested(given, gold, n_options, n_each=1):
    clusters = find_clusters(np.arange(len(gold)) // n_each)
    return compare_with_chance(given, gold, np.full(len(gold), n_options), clusters, alpha=0.005)


def _given(share, gold, n_options, rng):
    wrong = (gold + rng.integers(1, n_options, len(gold))) % n_options
    return np.where(rng.random(len(gold)) < share, gold, wrong)


@pytest.mark.parametrize(("share", "is_below"), [(0.2, True), (0.46, False), (0.5, False)])
def test_two_options_answered_right_in_a_fifth_are_below_chance(share, is_below):
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 2, 300)
    assert _tested(_given(share, gold, 2, rng), gold, 2).is_below == is_below


@pytest.mark.parametrize("lean", [0.3, 0.7, 1.0])
def test_a_letter_bias_with_uneven_gold_letters_is_not_below_chance(lean):
    rng = np.random.default_rng(2)
    gold = rng.choice(4, 700, p=(0.35, 0.02, 0.33, 0.3))
    given = np.where(rng.random(700) < lean, 1, rng.integers(0, 4, 700))
    assert not _tested(given, gold, 4).is_below


def test_one_picture_with_most_questions_proves_nothing():
    gold = np.arange(120) % 2
    clusters = find_clusters(np.where(np.arange(120) < 100, 0, np.arange(120)))
    assert not compare_with_chance(1 - gold, gold, np.full(120, 2), clusters, alpha=0.005).is_below
    assert _tested(1 - gold, gold, 2).is_below


def test_no_answers_are_not_below():
    empty = np.zeros(0, dtype=np.int64)
    assert not compare_with_chance(empty, empty, empty, find_clusters(empty), alpha=0.005).is_below
