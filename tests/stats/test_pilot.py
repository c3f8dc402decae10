import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import find_clusters
from eyechart.stats.pilot import VarianceComponents, estimate_components, read_pilot


def test_independent_questions_have_no_inflation():
    change = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], (300, 50), p=[0.1, 0.8, 0.1])
    pilot = read_pilot(change, np.full(change.shape, True), find_clusters(list(range(300))))
    assert pilot.variance_inflation == pytest.approx(np.ones(50))
    assert pilot.discordance == pytest.approx((change != 0).mean(axis=0))


def test_fully_correlated_images_inflate_by_their_size():
    change = np.repeat(np.random.default_rng(0).choice([-1.0, 0.0, 1.0], 400), 4)
    pilot = read_pilot(change, np.full(1600, True), find_clusters(list(np.repeat(np.arange(400), 4))))
    assert float(pilot.variance_inflation) == pytest.approx(4.0, rel=0.01)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_pilot_without_any_change_is_stated(n):
    pilot = read_pilot(np.zeros(n), np.full(n, True), find_clusters(list(range(n))))
    assert (float(pilot.discordance), float(pilot.variance_inflation), int(pilot.n_questions)) == (0.0, 1.0, n)


def test_variance_components_are_recovered():
    rng = np.random.default_rng(0)
    n, n_views, n_repeats = 4000, 4, 3
    values = (
        rng.normal(0, 1.0, (n, 1, 1))
        + rng.normal(0, 0.7, (n, n_views, 1))
        + rng.normal(0, 0.5, (n, n_views, n_repeats))
    )
    found = estimate_components(values, np.full(values.shape, True))
    assert tuple(found) == pytest.approx((1.0, 0.49, 0.25), rel=0.1)
    assert found.variance(n, n_views, n_repeats) == pytest.approx(values.mean(axis=(1, 2)).var() / n, rel=0.1)


def test_more_views_never_beat_the_floor_between_questions():
    components = VarianceComponents(question=0.04, view=0.08, repeat=0.02)
    assert components.variance(100, 10**6, 10**6) == pytest.approx(0.04 / 100, rel=1e-4)
    assert components.useful_views == pytest.approx(2.0)
    assert VarianceComponents(0.0, 0.1, 0.1).useful_views == float("inf")


def test_single_repeats_and_constant_scores_have_components():
    assert tuple(estimate_components(np.ones((3, 2, 1)), np.full((3, 2, 1), True))) == (0.0, 0.0, 0.0)


def test_pilot_of_one_question_is_refused():
    with pytest.raises(StatisticsError, match="1 complete questions under 2 views"):
        estimate_components(np.ones((1, 2, 1)), np.full((1, 2, 1), True))
