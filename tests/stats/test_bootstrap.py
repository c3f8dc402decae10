import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.bootstrap import bca_interval, draw_weights, leave_one_out, percentile_interval, resample_ratios
from eyechart.stats.clusters import cluster_sums


def test_cluster_bootstrap_agrees_with_r_boot(paired, expected):
    row = expected["d1_cluster_bootstrap_BA"]
    sums = cluster_sums(paired.values[:, 1] - paired.values[:, 0], paired.clusters)
    sizes = paired.clusters.sizes * 1.0
    draws = resample_ratios(sums, sizes, draw_weights(44, np.random.default_rng(0), n_resamples=19999))
    assert draws.std(ddof=1) == pytest.approx(row["se"], abs=row["tolerance"])
    assert percentile_interval(draws) == pytest.approx(row["perc"], abs=row["tolerance"])
    bounds = bca_interval(sums.sum() / 60, draws, leave_one_out(sums, sizes))
    assert bounds == pytest.approx(row["bca"], abs=row["tolerance"])


def test_weights_are_reproducible_and_add_up():
    weights = draw_weights(7, np.random.default_rng(5), n_resamples=50)
    assert (weights == draw_weights(7, np.random.default_rng(5), n_resamples=50)).all()
    assert (weights.sum(axis=1) == 7).all()


def test_resampled_means_centre_on_the_mean(paired):
    sums, sizes = cluster_sums(paired.values, paired.clusters), paired.clusters.sizes * 1.0
    draws = resample_ratios(sums, sizes, draw_weights(44, np.random.default_rng(0)))
    assert draws.mean(axis=0) == pytest.approx(paired.values.mean(axis=0), abs=0.005)


def test_resample_without_any_answer_gives_the_sample():
    ratios = resample_ratios(np.array([[1.0], [0.0]]), np.array([[2.0], [0.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
    assert ratios.tolist() == [[0.5], [0.5]]


def test_infinite_draws_are_carried_through():
    draws = np.r_[np.full(10, -np.inf), np.arange(90.0)]
    low, high = percentile_interval(draws)
    assert low == -np.inf
    assert high == 87.0


def test_interval_is_made_of_draws_and_shrinks_with_confidence():
    draws = np.random.default_rng(0).normal(size=1000)
    wide, narrow = percentile_interval(draws, confidence=0.99), percentile_interval(draws, confidence=0.5)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    assert wide[0] in draws


def test_constant_draws_give_that_constant():
    assert bca_interval(2.0, np.full(100, 2.0), np.zeros(5)) == (2.0, 2.0)


@pytest.mark.parametrize(("n_clusters", "n_resamples"), [(0, 10), (3, 0)])
def test_nothing_to_draw_is_refused(n_clusters, n_resamples):
    with pytest.raises(StatisticsError, match="resamples of"):
        draw_weights(n_clusters, np.random.default_rng(0), n_resamples=n_resamples)


def test_no_draws_are_refused():
    with pytest.raises(StatisticsError, match="no draws"):
        percentile_interval(np.zeros(0))
