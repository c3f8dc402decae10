import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.bootstrap import draw_weights
from eyechart.stats.clusters import find_clusters
from eyechart.stats.threshold import estimate_threshold

SCALES = np.array([1, 0.9375, 0.875, 0.8125, 0.75, 0.6875, 0.625, 0.5, 0.375, 0.25, 0.125, 0.0625])


def _answers(log2_thresholds, log2_levels, chance, rng):
    """Right where the level is above the question's threshold, else a guess."""
    is_seen = log2_levels >= np.asarray(log2_thresholds)[:, None]
    return (is_seen | (rng.random(is_seen.shape) < chance)).astype(float)


def _estimate(values, levels, chance=0.25, present=None, **options):
    n = len(values)
    return estimate_threshold(
        values,
        values >= 0 if present is None else present,
        np.full(n, chance),
        find_clusters(list(range(n))),
        levels,
        weights=draw_weights(n, np.random.default_rng(1)),
        **options,
    )


def test_interval_covers_the_true_threshold():
    rng = np.random.default_rng(0)
    values = _answers(rng.normal(-2.0, 1.0, 400), np.log2(SCALES), 0.25, rng)
    found = _estimate(values, np.log2(SCALES))
    assert found.log2_low < -2.0 < found.log2_high  # half of the 97.7 % that are right at scale 1 are left near −2
    assert found.log2_value == pytest.approx(-2.0, abs=0.35)
    assert found.is_defined
    assert not found.is_flat


def test_curve_that_never_falls_has_a_threshold_below_the_smallest_level():
    found = _estimate(np.ones((40, 12)), np.log2(SCALES))
    assert (found.log2_value, found.log2_low, found.log2_high) == (-np.inf, -np.inf, -np.inf)


def test_model_that_guesses_has_no_threshold():
    values = (np.random.default_rng(3).random((60, 12)) < 0.25).astype(float)
    assert not _estimate(values, np.log2(SCALES)).is_defined


@pytest.mark.parametrize("fraction", [0.499, 0.5, 0.501])
def test_plateau_at_the_half_level_is_flagged(fraction):
    rng = np.random.default_rng(0)
    thresholds = np.r_[np.full(100, -0.2), np.full(100, -3.5)]
    found = _estimate(_answers(thresholds, np.log2(SCALES), 0.0, rng), np.log2(SCALES), chance=0.0, fraction=fraction)
    assert found.is_flat


def test_order_of_levels_changes_nothing():
    rng = np.random.default_rng(0)
    values = _answers(rng.normal(-2, 1, 100), np.log2(SCALES), 0.25, rng)
    order = rng.permutation(12)
    one, other = _estimate(values, np.log2(SCALES)), _estimate(values[:, order], np.log2(SCALES)[order])
    assert one.log2_low == pytest.approx(float(other.log2_low), abs=1e-12)


def test_models_are_estimated_as_one_by_one():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (80, 3, 12)).astype(float)
    together, alone = _estimate(values, np.log2(SCALES)), _estimate(values[:, 1], np.log2(SCALES))
    assert together.log2_value[1] == alone.log2_value
    assert together.curve[1] == pytest.approx(alone.curve, abs=1e-12)


def test_missing_answers_are_left_out():
    rng = np.random.default_rng(0)
    values = _answers(rng.normal(-2, 1, 300), np.log2(SCALES), 0.25, rng)
    found = _estimate(values, np.log2(SCALES), present=rng.random(values.shape) < 0.8)
    assert found.log2_value == pytest.approx(-2.0, abs=0.5)


def test_level_without_any_answer_is_refused():
    present = np.full((9, 12), True)
    present[:, 4] = False
    with pytest.raises(StatisticsError, match="a level has no weight"):
        _estimate(np.ones((9, 12)), np.log2(SCALES), present=present)


def test_shapes_must_agree():
    with pytest.raises(StatisticsError, match="for 11 levels and 9 guess rates"):
        _estimate(np.ones((9, 12)), np.log2(SCALES)[1:])
