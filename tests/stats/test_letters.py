import numpy as np
import pytest
from statsmodels.stats.contingency_tables import SquareTable

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import find_clusters
from eyechart.stats.letters import estimate_letter_bias, stuart_maxwell, summarise_rotations


def test_stuart_maxwell_equals_statsmodels():
    for seed in range(10):
        table = np.random.default_rng(seed).integers(1, 30, (4, 4))
        theirs = SquareTable(table, shift_zeros=False).homogeneity()
        ours = stuart_maxwell(table)
        assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
        assert ours.degrees_of_freedom == theirs.df == 3


def test_letter_that_never_occurs_is_left_out():
    table = np.zeros((4, 4), dtype=int)
    table[:3, :3] = np.random.default_rng(0).integers(1, 20, (3, 3))
    assert stuart_maxwell(table).statistic == pytest.approx(stuart_maxwell(table[:3, :3]).statistic)


@pytest.mark.parametrize("table", [np.diag([3, 4, 5]), np.zeros((4, 4), dtype=int), np.zeros((0, 0), dtype=int)])
def test_equal_margins_have_p_one(table):
    assert stuart_maxwell(table).p == 1.0


def test_table_must_be_square():
    with pytest.raises(StatisticsError, match=r"counts of shape \(2, 3\)"):
        stuart_maxwell(np.ones((2, 3), dtype=int))


def _letters(n, preference, seed=0):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 4, n)
    given = np.where(rng.random(n) < 0.5, gold, np.where(rng.random(n) < preference, 0, rng.integers(0, 4, n)))
    return given, gold


def test_preferred_letter_is_found():
    found = estimate_letter_bias(*_letters(400, 0.6), find_clusters(list(range(400))), 4)
    assert found.test.p < 0.001
    assert found.recall.argmax() == 0
    assert found.recall_range > found.noise_floor
    assert found.recall_sd > 0


def test_without_preference_recall_ranges_over_its_noise_and_p_is_nominal():
    ranges, floors, p = [], [], []
    for seed in range(200):
        found = estimate_letter_bias(*_letters(400, 0.0, seed), find_clusters(list(range(400))), 4)
        ranges.append(found.recall_range)
        floors.append(found.noise_floor)
        p.append(found.test.p)
    assert np.mean(ranges) == pytest.approx(np.mean(floors), rel=0.1)
    assert (np.array(p) <= 0.05).mean() == pytest.approx(0.05, abs=0.04)


def test_repeated_images_make_the_test_more_careful():
    given, gold = _letters(100, 0.3)
    alone = estimate_letter_bias(given, gold, find_clusters(list(range(100))), 4)
    repeated = estimate_letter_bias(np.tile(given, 4), np.tile(gold, 4), find_clusters(list(np.tile(range(100), 4))), 4)
    assert repeated.test.statistic == pytest.approx(alone.test.statistic)


@pytest.mark.parametrize(("given", "gold"), [([4], [0]), ([0], [-1]), ([], []), ([0, 1], [0])])
def test_impossible_letters_are_refused(given, gold):
    clusters = find_clusters(list(range(len(gold))))
    with pytest.raises(StatisticsError, match="among 4 options"):
        estimate_letter_bias(np.array(given, dtype=int), np.array(gold, dtype=int), clusters, 4)


def test_rotations_tell_following_a_letter_from_following_a_content():
    letters = np.array([[0, 0, 0, 0], [0, 3, 2, 1]])  # one model sticks to A, the other to the first option
    contents = np.array([[0, 1, 2, 3], [0, 0, 0, 0]])
    found = summarise_rotations(letters, contents, np.array([0, 0]), letters >= 0)
    assert found.mean.tolist() == [0.25, 1.0]
    assert found.all_right.tolist() == [False, True]
    assert found.letter_following == 0.5


def test_unanswered_rotations_do_not_count():
    letters = np.array([[0, 0], [1, 1]])
    present = np.array([[True, False], [False, False]])
    found = summarise_rotations(letters, letters, np.array([0, 1]), present)
    assert found.n_rotations.tolist() == [1, 0]
    assert found.all_right.tolist() == [True, False]
    assert found.letter_following == 0.0


def test_rotations_must_match_the_questions():
    with pytest.raises(StatisticsError, match=r"gold \(3,\)"):
        summarise_rotations(np.zeros((2, 2), dtype=int), np.zeros((2, 2), dtype=int), np.zeros(3), np.ones((2, 2)) > 0)
