"""Laws of acuity: the interval covers the truth, and neither order, duplicates nor units change the answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.acuity import estimate_acuity
from eyechart.stats.bootstrap import draw_weights
from eyechart.stats.clusters import find_clusters

SCALES = np.array([1, 0.5, 0.25, 0.125, 0.0625])
CHANCE = 0.25


def simulate(n, log2_acuity, rng, *, spread=0.0, plateau=0.9, per_image=1):
    """Scores and sizes of n questions on n / per_image pictures whose thresholds spread about a truth."""
    sizes = 2.0 ** rng.normal(5.5, 0.7, n)[:, None] * SCALES
    own = log2_acuity + spread * np.repeat(rng.normal(size=n // per_image), per_image)[:n]
    reads = plateau / (1 + np.exp(-3.0 * (np.log2(sizes) - own[:, None])))
    scores = (rng.random(sizes.shape) < CHANCE + (1 - CHANCE) * reads).astype(float)
    clusters = find_clusters(list(np.arange(n) // per_image))
    return scores, sizes, clusters


def estimate(scores, sizes, clusters, rng=None, chance=CHANCE):
    weights = draw_weights(clusters.n_clusters, rng or np.random.default_rng(0))
    return estimate_acuity(scores, sizes > 0, np.full(len(scores), chance), clusters, sizes, weights=weights)


@settings(max_examples=10, deadline=None)
@given(log2_acuity=st.floats(2.5, 4.5), seed=st.integers(0, 99))
def test_acuity_lies_near_the_truth(log2_acuity, seed):
    found = estimate(*simulate(300, log2_acuity, np.random.default_rng(seed)))
    assert found.status == "estimated"
    assert found.log2_px == pytest.approx(log2_acuity, abs=0.5)
    assert found.low is None or found.low <= found.log2_px <= found.high


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "per_image"), [(0.0, 1), (0.5, 1), (0.5, 4)])
def test_interval_covers_the_truth_in_about_95_percent(spread, per_image):
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(100):
        found = estimate(*simulate(240, 3.5, rng, spread=spread, per_image=per_image), rng=rng)
        assert found.status == "estimated"
        covered.append((found.low if found.low is not None else -np.inf) <= 3.5 <= found.high)
    assert np.mean(covered) >= 0.89


def test_order_of_views_and_a_view_asked_twice_change_nothing():
    scores, sizes, clusters = simulate(200, 3.5, np.random.default_rng(1))
    first = estimate(scores, sizes, clusters)
    order = np.array([3, 0, 4, 2, 1])
    assert estimate(scores[:, order], sizes[:, order], clusters).log2_px == pytest.approx(first.log2_px)
    twice = estimate(np.hstack([scores, scores]), np.hstack([sizes, sizes]), clusters)
    assert twice.n_questions == first.n_questions
    assert twice.log2_px == pytest.approx(first.log2_px, abs=0.15)


def test_twice_the_pixels_is_twice_the_acuity():
    scores, sizes, clusters = simulate(200, 3.5, np.random.default_rng(2))
    first, second = estimate(scores, sizes, clusters), estimate(scores, 2 * sizes, clusters)
    assert second.log2_px == pytest.approx(first.log2_px + 1)
    assert second.high == pytest.approx(first.high + 1)


def test_bands_fall_and_hold_every_question():
    found = estimate(*simulate(200, 3.5, np.random.default_rng(3)))
    bands = found.bands
    assert (np.diff(bands.log2_px) < 0).all()
    assert (np.diff(bands.fitted) <= 1e-12).all()
    assert (bands.low <= bands.corrected + 1e-9).all()
    assert (bands.corrected <= bands.high + 1e-9).all()
    assert bands.n_questions.max() <= 200


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"log2_acuity": -6}, "not reached", "more than half of the plateau is left"),
        ({"plateau": 0.0, "log2_acuity": 3}, "not identified", "not read above chance"),
        ({"n": 20, "log2_acuity": 3}, "not identified", "20 questions on 20 pictures are too few"),
        ({"n": 60, "per_image": 30, "log2_acuity": 3}, "not identified", "60 questions on 2 pictures are too few"),
    ],
)
def test_what_the_answers_do_not_tell_is_said(change, status, reason):
    found = estimate(*simulate(**{"n": 200, "rng": np.random.default_rng(5), **change}))
    assert (found.status, found.log2_px) == (status, None)
    assert reason in found.reason


def test_a_smooth_curve_is_kept_where_it_fits_and_dropped_where_it_does_not():
    scores, sizes, clusters = simulate(300, 3.5, np.random.default_rng(6))
    found = estimate(scores, sizes, clusters)
    assert found.fit is not None
    assert found.fit.ceiling == pytest.approx(0.9, abs=0.08)
    assert found.fit_p >= 0.05
    steps = np.where(sizes > 16, 1.0, np.where(sizes > 4, 0.55, 0.25))
    rough = (np.random.default_rng(0).random(sizes.shape) < steps).astype(float)
    assert estimate(rough, sizes, clusters).fit is None


def test_sizes_that_do_not_belong_to_scores_are_refused():
    scores, sizes, clusters = simulate(40, 3.5, np.random.default_rng(8))
    with pytest.raises(StatisticsError, match="target sizes of shape"):
        estimate_acuity(scores, scores >= 0, np.full(40, CHANCE), clusters, sizes[:, :2], weights=np.ones((3, 40)))
    with pytest.raises(StatisticsError, match="or not positive"):
        estimate_acuity(scores, scores >= 0, np.full(40, CHANCE), clusters, 0 * sizes, weights=np.ones((3, 40)))
