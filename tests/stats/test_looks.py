"""Looks lie at equal steps of information, spend the error rate once, and never see the same twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.looks import information, plan_looks

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=120)


@given(SIZES)
def test_information_rises_to_1(sizes):
    found = information(sizes)
    assert found[-1] == 1.0
    assert (np.diff(found) >= 0.0).all()
    assert (found > 0.0).all()


@given(SIZES, st.integers(2, 20), st.sampled_from([0.01, 0.05, 0.2]))
def test_looks_rise_to_the_end_and_spend_the_whole_error_rate(sizes, n_looks, alpha):
    try:
        looks = plan_looks(sizes, n_looks, alpha)
    except StatisticsError:
        return
    ends = [look.n_pictures for look in looks]
    assert ends == sorted(set(ends))
    assert ends[-1] == len(sizes)
    spent = sum(look.alpha for look in looks)
    assert spent <= alpha * (1 + 1e-9)
    assert all(look.alpha >= 0.0 for look in looks)
    shares = information(sizes)
    for at, look in enumerate(looks[:-1], 1):
        assert shares[look.n_pictures - 1] >= at / n_looks - 1e-9
    n_questions = np.cumsum(sizes)
    assert all(n_questions[look.n_pictures - 1] >= 30 for look in looks if look.alpha)
    if looks[-1].alpha:
        assert spent == pytest.approx(alpha)
        assert looks[-1].alpha >= 0.7 * alpha * (1 - 1e-9)


def test_one_large_picture_moves_looks_behind_it():
    """It holds half of the questions, so that what came before it is next to nothing."""
    even, uneven = plan_looks([1] * 80, 4, 0.05), plan_looks([1] * 40 + [40] + [1] * 39, 4, 0.05)
    assert [look.n_pictures for look in even] == [20, 40, 60, 80]
    assert information([1] * 40 + [40] + [1] * 39)[39] < 1.0
    assert uneven[-1].n_pictures == 80


@pytest.mark.parametrize(("sizes", "n_looks", "message"), [([1] * 80, 1, "1 looks cannot"), ([1] * 3, 5, "same twice")])
def test_impossible_looks_are_refused(sizes, n_looks, message):
    with pytest.raises(StatisticsError, match=message):
        plan_looks(sizes, n_looks, 0.05)
