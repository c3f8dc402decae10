import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import cluster_sums
from eyechart.stats.small_samples import bias_reduced_error, intracluster_correlation


def test_bias_reduced_error_equals_club_sandwich(paired, expected):
    for index, view in enumerate(paired.views):
        reduced = bias_reduced_error(
            cluster_sums(paired.values[:, index], paired.clusters), paired.clusters.sizes * 1.0
        )
        assert reduced.standard_error == pytest.approx(expected["d1_marginal"][view]["se_CR2"], abs=1e-9)
        assert reduced.degrees_of_freedom == pytest.approx(expected["d1_marginal"][view]["df_CR2"], abs=1e-6)


def test_singletons_have_n_minus_1_degrees_of_freedom():
    assert bias_reduced_error(np.array([1.0, 0.0, 0.0, 1.0]), np.ones(4)).degrees_of_freedom == 3.0


def test_intracluster_correlation_equals_r(paired, expected):
    sums = cluster_sums(paired.values[:, 0], paired.clusters)
    found = intracluster_correlation(sums, paired.clusters.sizes * 1.0, float((paired.values[:, 0] ** 2).sum()))
    assert found == pytest.approx(expected["d1_icc_viewA"], abs=1e-9)


def test_images_that_never_repeat_have_no_correlation():
    assert intracluster_correlation(np.array([1.0, 0.0]), np.ones(2), 1.0) == 0.0


def test_scores_that_never_vary_have_no_correlation():
    assert intracluster_correlation(np.array([2.0, 2.0]), np.full(2, 2.0), 4.0) == 0.0


def test_one_cluster_is_refused():
    with pytest.raises(StatisticsError, match="1 clusters have no variance"):
        bias_reduced_error(np.ones(1), np.ones(1))
    with pytest.raises(StatisticsError, match="1 clusters have no variance"):
        intracluster_correlation(np.ones(1), np.ones(1), 1.0)
