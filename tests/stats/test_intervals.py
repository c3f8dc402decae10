import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.stats.intervals import clopper_pearson, cluster_t, jeffreys, korn_graubard, logit_t
from eyechart.stats.proportion import estimate_proportions


@pytest.fixture
def table(paired):
    return estimate_proportions(paired.values, paired.present, paired.clusters)


def test_cluster_intervals_equal_r_survey(table, paired, expected):
    for index, view in enumerate(paired.views):
        row = expected["d1_marginal"][view]
        value, error, n_clusters = table.value[index], np.array(row["se_survey"]), table.n_clusters[index]
        assert cluster_t(value, error, n_clusters) == pytest.approx(row["ci_cluster_t"], abs=1e-9)
        assert logit_t(value, error, n_clusters) == pytest.approx(row["svyciprop_logit"], abs=1e-9)
        assert logit_t(value, error, n_clusters) == pytest.approx(row["svyciprop_xlogit"], abs=1e-9)
        exact = korn_graubard(value, error, table.n_questions[index], n_clusters)
        assert exact == pytest.approx(row["svyciprop_beta_KornGraubard"], abs=1e-9)


@pytest.mark.parametrize(("interval", "column"), [(clopper_pearson, "clopper_pearson"), (jeffreys, "jeffreys")])
def test_binomial_intervals_equal_r(reference, expected, interval, column):
    for (x, n), row in zip(reference["inputs"]["d6"]["xn"], expected["d6"], strict=True):
        low, high = interval(np.array(x / n), np.array(float(n)))
        assert [float(low), float(high)] == pytest.approx(row[column], abs=1e-9)


@given(st.integers(1, 200), st.data())
def test_binomial_intervals_contain_the_estimate(n, data):
    value = data.draw(st.integers(0, n)) / n
    for interval in (clopper_pearson, jeffreys):
        low, high = interval(np.array(value), np.array(float(n)))
        assert 0.0 <= low <= value <= high <= 1.0
        assert low < high


def test_logit_interval_at_the_border_says_that_nothing_is_known():
    assert [float(bound) for bound in logit_t(np.array(1.0), np.array(0.0), np.array(9))] == [0.0, 1.0]


def test_exact_interval_without_variance_uses_all_questions():
    low, high = korn_graubard(np.array(1.0), np.array(0.0), np.array(21), np.array(9))
    assert (float(low), float(high)) == pytest.approx((0.83890238, 1.0))
