import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.stats.clusters import find_clusters
from eyechart.stats.sign_flip import sign_flip
from eyechart.stats.uneven_rates import find_uneven_pairs


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 4))
def test_the_screen_before_the_exact_test_loses_no_pair_of_single_questions(seed, n_columns, n_each):
    rng = np.random.default_rng(seed)
    rates = rng.random((80, n_columns)) < np.linspace(0.02, 0.4, n_columns)
    clusters = find_clusters(np.arange(80) // n_each)
    found = find_uneven_pairs(rates, rates >= 0, clusters, points=0.01, alpha=0.005)
    n_pairs = n_columns * (n_columns - 1) // 2
    for pair in found:
        change = rates[:, pair.higher].astype(float) - rates[:, pair.lower]
        sums = np.array([change[np.arange(80) // n_each == at].sum() for at in range((80 + n_each - 1) // n_each)])
        assert pair.p == pytest.approx(float(sign_flip(sums).exact) * n_pairs)
        assert pair.high_rate > pair.low_rate
    if n_each == 1:
        clear = {
            frozenset((a, b))
            for a in range(n_columns)
            for b in range(a)
            if float(sign_flip(rates[:, a].astype(float) - rates[:, b]).exact) * n_pairs < 0.005
        }
        assert {frozenset((pair.higher, pair.lower)) for pair in found} == clear


def test_pairs_are_compared_on_the_questions_that_both_have():
    rates, present = np.zeros((200, 3), dtype=bool), np.ones((200, 3), dtype=bool)
    rates[:60, 1:] = True
    present[:60, 0] = False
    assert find_uneven_pairs(rates, present, find_clusters(np.arange(200)), points=0.01, alpha=0.005) == ()
