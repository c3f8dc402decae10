import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.agreement import estimate_flips, estimate_robustness, guessing_churn
from eyechart.stats.clusters import find_clusters

tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=k, max_size=k), min_size=1, max_size=25)
)


def test_shares_over_all_views_equal_r(paired, expected):
    found, row = estimate_robustness(paired.values, paired.present, paired.clusters), expected["d1_robust_all"]
    assert float(found.all_right.value) == pytest.approx(row["all_right"], abs=1e-12)
    assert float(found.any_right.value) == pytest.approx(row["any_right"], abs=1e-12)
    assert float(found.agreement.value) == pytest.approx(row["pairwise_agreement"], abs=1e-12)


@given(tables)
def test_robust_is_below_every_accuracy_and_any_right_above(rows):
    values = np.array(rows)
    found = estimate_robustness(values, values >= 0, find_clusters(list(range(len(rows)))))
    accuracies = values.mean(axis=0)
    assert found.all_right.value <= accuracies.min() + 1e-12
    assert accuracies.max() <= found.any_right.value + 1e-12
    assert found.independent == pytest.approx(accuracies.prod())


def test_questions_with_a_gap_are_left_out():
    values, present = np.ones((3, 2)), np.array([[True, True], [True, False], [True, True]])
    assert estimate_robustness(values, present, find_clusters(list("abc"))).all_right.n_questions == 2


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=30))
def test_churn_is_gained_plus_lost(changes):
    flips = estimate_flips(np.array(changes), np.full(len(changes), True), find_clusters(list(range(len(changes)))))
    assert float(flips.gained.value + flips.lost.value) == pytest.approx(float(flips.churn.value))


def test_two_guesses_among_four_flip_three_times_in_eight():
    assert guessing_churn(np.full(9, 0.25)) == 0.375
    assert guessing_churn(np.zeros(0)) == 0.0


def test_share_guessed_must_be_a_share():
    with pytest.raises(StatisticsError, match=r"share guessed 1.5 is not in 0–1"):
        guessing_churn(np.full(9, 0.25), share_guessed=1.5)


def test_one_view_has_no_agreement():
    with pytest.raises(StatisticsError, match=r"scores of shape \(3, 1\)"):
        estimate_robustness(np.ones((3, 1)), np.ones((3, 1), dtype=bool), find_clusters(list("abc")))
