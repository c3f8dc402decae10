"""Bets hold at every moment: bounds shrink, sides mirror, the worst filling is the worst, and what is true stays."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.stats.betting import bet, with_bet
from eyechart.stats.conditions import ScoreTable, contrasts_between

PICTURES = st.lists(st.tuples(st.integers(1, 4), st.floats(-1, 1)), min_size=1, max_size=60)


def arrays(pictures):
    sizes = np.array([size for size, _ in pictures], dtype=np.float64)
    return sizes * np.array([mean for _, mean in pictures]), sizes


@given(PICTURES)
def test_later_moments_only_narrow_what_is_known(pictures):
    sums, sizes = arrays(pictures)
    moments = [bet(sums[:n], sizes[:n], most=4, alpha=0.05) for n in range(len(sums) + 1)]
    for before, after in pairwise(moments):
        if after == (-1.0, 1.0, 1.0):  # refuted altogether
            continue
        assert before.low <= after.low + 1e-9
        assert after.high <= before.high + 1e-9
        assert after.p <= before.p + 1e-12


@given(PICTURES)
def test_the_other_way_round_is_the_mirror_image(pictures):
    sums, sizes = arrays(pictures)
    one, other = bet(sums, sizes, most=4, alpha=0.05), bet(-sums, sizes, most=4, alpha=0.05)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.p == other.p


@given(PICTURES, st.sampled_from([0.01, 0.05, 0.2]))
def test_p_and_interval_say_the_same(pictures, alpha):
    sums, sizes = arrays(pictures)
    found = bet(sums, sizes, most=4, alpha=alpha)
    if abs(found.p - alpha) > 1e-6 and found != (-1.0, 1.0, 1.0):
        assert (found.p < alpha) == (found.low > 0.0 or found.high < 0.0)


@given(st.data())
def test_no_filling_of_missing_answers_has_a_larger_p_than_the_worst(data):
    n = 40
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    values = (rng.random((n, 2)) < (0.2, 0.8)).astype(float)
    present = rng.random((n, 2)) > 0.05
    pictures = [str(at // 2) for at in range(n)]
    place = {str(at): at for at in range(n // 2)}
    names = ("original", "crop_3x")

    def contrast(scores, mask):
        table = ScoreTable(scores, mask, pictures, names)
        (one,) = contrasts_between(table, [("crop_3x", "original")])
        return with_bet(one, table, place, most=2)

    shown = contrast(values, present)
    filled = np.where(present, values, rng.random((n, 2)) < 0.5)
    if shown.value > 0 and shown.p is not None:
        whole = contrast(filled, np.full((n, 2), True))
        if whole.value > 0:
            assert shown.p_worst >= whole.p - 1e-9
    assert shown.p_worst is None or shown.p_worst >= shown.p


def test_looking_after_every_picture_refutes_the_truth_in_no_more_than_5_percent():
    """Pictures of one to four questions; the bounds have been running, so the end says what any moment said."""
    rng = np.random.default_rng(11)
    n_runs, wrong = 400, 0
    for _ in range(n_runs):
        sizes = rng.integers(1, 5, 150).astype(float)
        each = rng.choice([-1.0, 0.0, 1.0], 150, p=[0.15, 0.6, 0.25])
        found = bet(sizes * each, sizes, most=4, alpha=0.05)
        wrong += not found.low <= 0.1 <= found.high
    assert wrong / n_runs <= 0.05
