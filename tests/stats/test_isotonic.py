import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from eyechart.errors import StatisticsError
from eyechart.stats.isotonic import find_crossing, fit_falling

curves = st.lists(st.tuples(st.floats(-1, 1), st.floats(0.1, 10)), min_size=1, max_size=12)


def test_fit_equals_r(reference, expected):
    fitted = fit_falling(np.array(reference["inputs"]["d7"]["acc"]), np.ones(12))
    assert fitted == pytest.approx(expected["d7"]["isotonic_decreasing"], abs=1e-9)


@given(curves)
def test_fit_is_monotone_keeps_the_mean_is_idempotent_and_equals_scipy(points):
    values, weights = np.array(points).T
    fitted = fit_falling(values, weights)
    assert (np.diff(fitted) <= 1e-12).all()
    assert (fitted * weights).sum() == pytest.approx((values * weights).sum(), abs=1e-9)
    assert fit_falling(fitted, weights) == pytest.approx(fitted, abs=1e-9)
    assert fitted == pytest.approx(isotonic_regression(values, weights=weights, increasing=False).x, abs=1e-9)


def test_many_curves_are_fitted_as_one_by_one():
    values = np.random.default_rng(0).random((4, 5, 12))
    assert fit_falling(values, np.ones(12))[2, 3] == pytest.approx(fit_falling(values[2, 3], np.ones(12)))


def test_level_without_weight_is_refused():
    with pytest.raises(StatisticsError, match="a level has no weight"):
        fit_falling(np.ones(2), np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    ("curve", "crossing"),
    [
        ([0.8, 0.6, 0.2], -1.5),
        ([0.8, 0.4, 0.2], -1.0),  # reached exactly at a level
        ([0.8, 0.4, 0.4], -1.0),  # where a plateau begins
        ([0.8, 0.8, 0.5], -np.inf),  # never reached
        ([0.0, 0.0, 0.0], 0.0),  # nothing to lose
        ([-0.1, -0.2, -0.3], 0.0),
    ],
)
def test_crossing(curve, crossing):
    assert float(find_crossing(np.array(curve), np.array([0.0, -1.0, -2.0]))) == pytest.approx(crossing)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.floats(0.05, 0.9))
def test_curve_has_the_wanted_value_at_its_crossing(values, fraction):
    curve = np.sort(np.array(values))[::-1]
    levels = -np.arange(float(len(values)))
    crossing = float(find_crossing(curve, levels, fraction))
    if np.isfinite(crossing) and curve[0] > 0.0:
        assert np.interp(crossing, levels[::-1], curve[::-1]) == pytest.approx(fraction * curve[0], abs=1e-6)


@pytest.mark.parametrize(("levels", "fraction"), [([0.0, -1.0], 0.0), ([0.0, -1.0], 1.0), ([-1.0, 0.0], 0.5)])
def test_levels_must_fall_and_the_fraction_lie_inside(levels, fraction):
    with pytest.raises(StatisticsError, match="of a curve over levels"):
        find_crossing(np.ones(2), np.array(levels), fraction)
