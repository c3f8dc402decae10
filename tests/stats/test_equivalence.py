import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import find_clusters
from eyechart.stats.equivalence import equivalence
from eyechart.stats.paired import estimate_differences


def _test(changes, margin, **options):
    values = np.asarray(changes, dtype=float)
    return equivalence(values, np.full(values.shape, True), find_clusters(list(range(len(values)))), margin, **options)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=5, max_size=80), st.floats(0.01, 0.5))
def test_equivalent_means_that_the_90_percent_interval_lies_inside_the_margin(changes, margin):
    found = _test(changes, margin)
    values = np.array(changes)
    interval = estimate_differences(
        values, np.full(values.shape, True), find_clusters(list(range(len(values)))), confidence=0.9
    )
    assert np.clip([found.low, found.high], -1, 1) == pytest.approx([interval.low, interval.high])
    assert bool(found.is_equivalent) == bool(found.low >= -margin and found.high <= margin)


def test_few_identical_answers_prove_nothing():
    assert not _test(np.zeros(20), 0.02).is_equivalent
    assert _test(np.zeros(700), 0.02).is_equivalent


def test_swapping_the_sides_changes_nothing():
    changes = np.r_[np.ones(8), -np.ones(3), np.zeros(100)]
    assert float(_test(changes, 0.1).p) == pytest.approx(float(_test(-changes, 0.1).p))


def test_difference_at_the_margin_is_called_equivalent_at_the_nominal_rate():
    rng = np.random.default_rng(0)
    changes = rng.choice([-1.0, 0.0, 1.0], size=(300, 4000), p=[0.05, 0.8, 0.15])
    assert (_test(changes, 0.1).is_equivalent).mean() == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize(("margin", "alpha"), [(0.0, 0.05), (2.0, 0.05), (0.02, 0.5), (0.02, 0.0)])
def test_margin_and_alpha_must_be_possible(margin, alpha):
    with pytest.raises(StatisticsError, match="does not lie between"):
        _test(np.zeros(9), margin, alpha=alpha)
