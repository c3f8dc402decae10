"""Laws of the interval of the position SD."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import find_clusters
from eyechart.stats.position_spread import spread_interval
from eyechart.stats.region import position_sd

ALONE = find_clusters(list(range(50)))
FLAT = np.zeros(25)
SLOPE = 0.15 - 0.3 * np.add.outer(range(5), range(5)).ravel() / 8
HOT = np.where(np.arange(25) == 0, 0.2, 0.0)


def drawn(effect, seed, n_bases=50):
    rng = np.random.default_rng(seed)
    level = rng.beta(4, 2, n_bases)[:, None]
    return (rng.random((n_bases, len(effect))) < np.clip(level + effect, 0, 1)).astype(float)


@pytest.mark.parametrize("effect", [FLAT, SLOPE, HOT], ids=["flat", "slope", "hot"])
def test_interval_covers_the_true_spread(effect):
    level = np.random.default_rng(0).beta(4, 2, 20000)[:, None]
    true = np.clip(level + effect, 0, 1).mean(axis=0).std(ddof=1) if effect.any() else 0.0
    bounds = [spread_interval(drawn(effect, seed), ALONE) for seed in range(200)]
    assert sum(low <= true <= high for low, high in bounds) >= 184


@given(st.integers(0, 2**32 - 1))
def test_estimate_lies_in_its_interval_which_a_wider_one_holds(seed):
    rows = np.random.default_rng(seed).choice([0.0, 1 / 3, 1.0], (12, 9))
    clusters = find_clusters(list(range(12)))
    low, high = spread_interval(rows, clusters)
    assert 0.0 <= low <= position_sd(rows) + 1e-12
    assert position_sd(rows) <= high + 1e-12
    wide = spread_interval(rows, clusters, confidence=0.99)
    assert wide[0] <= low <= high <= wide[1]


def test_without_an_effect_the_interval_reaches_zero_and_with_a_hot_cell_it_does_not():
    assert spread_interval(drawn(FLAT, 1), ALONE)[0] == 0.0
    assert spread_interval(drawn(4 * HOT - 0.4, 1), ALONE)[0] > 0.05


def test_one_picture_asked_twice_is_no_second_picture():
    rows = drawn(SLOPE, 3)
    alone = spread_interval(rows, ALONE)
    twice = spread_interval(np.repeat(rows, 2, axis=0), find_clusters([index // 2 for index in range(100)]))
    assert twice == pytest.approx(alone)


def test_scores_that_never_vary_bound_nothing_but_what_is_given():
    assert spread_interval(np.ones((50, 25)), ALONE, most=0.1) == (0.0, 0.1)


def test_confidence_is_a_share():
    with pytest.raises(StatisticsError, match="confidence"):
        spread_interval(np.ones((50, 25)), ALONE, confidence=95)
