import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eyechart.errors import StatisticsError
from eyechart.stats.omnibus import cochran_q, friedman


def test_cochran_q_equals_r(paired, reference, expected):
    test = cochran_q(paired.values, paired.present)
    row = expected["d1_cochranQ"]
    assert (test.statistic, test.p) == pytest.approx((row["Q"], row["p"]), abs=1e-9)
    assert test.degrees_of_freedom == row["df"]
    grid = np.array(reference["inputs"]["d2"]["y"], dtype=float)
    test = cochran_q(grid, grid >= 0)
    assert test.statistic == pytest.approx(expected["d2_grid"]["cochranQ"], abs=1e-9)
    assert test.p == pytest.approx(expected["d2_grid"]["cochranQ_p"], abs=1e-9)


def test_friedman_of_binary_scores_is_cochran_q(paired):
    assert friedman(paired.values, paired.present) == pytest.approx(cochran_q(paired.values, paired.present))


@given(st.integers(3, 6), st.integers(4, 20), st.integers(0, 2**32 - 1))
def test_friedman_equals_scipy(k, n, seed):
    values = np.random.default_rng(seed).choice([0, 1 / 3, 2 / 3, 1.0], (n, k))
    values[0] = np.arange(k) / k  # scipy divides by zero where every row is tied
    ours, theirs = friedman(values, values >= 0), stats.friedmanchisquare(*values.T)
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))


@pytest.mark.parametrize("test", [cochran_q, friedman])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_rows_that_do_not_vary_have_p_one(test, n):
    assert test(np.ones((n, 3)), np.ones((n, 3), dtype=bool)).p == 1.0


def test_incomplete_rows_are_left_out():
    values = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert cochran_q(values, np.array([[True, True], [True, True], [True, False]])).n_rows == 2


def test_fractions_are_refused_by_cochran_q():
    with pytest.raises(StatisticsError, match="scores of 0 and 1 only"):
        cochran_q(np.full((3, 3), 0.5), np.ones((3, 3), dtype=bool))


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_one_column_is_no_comparison(shape):
    with pytest.raises(StatisticsError, match="with a mask of shape"):
        friedman(np.ones(shape), np.ones(shape, dtype=bool))
