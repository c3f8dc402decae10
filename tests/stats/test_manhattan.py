import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eyechart.errors import StatisticsError
from eyechart.stats.manhattan import estimate_shape, estimate_size_drop, mean_shape


def test_contrasts_equal_r(reference, expected):
    grid, row = np.array(reference["inputs"]["d2"]["y"], dtype=float), expected["d2_grid"]
    shape = estimate_shape(grid, 3)
    assert shape.quadratic.value == pytest.approx(row["quad_coef_mean"], abs=1e-9)
    assert (shape.quadratic.t, shape.quadratic.p) == pytest.approx((row["quad_t"], row["quad_p"]), abs=1e-9)
    assert (shape.left.value, shape.left.t) == pytest.approx((row["slope_left"], row["slope_left_t"]), abs=1e-9)
    assert (shape.right.value, shape.right.t) == pytest.approx((row["slope_right"], row["slope_right_t"]), abs=1e-9)
    assert shape.p_u == pytest.approx(row["two_lines_p_IUT"], abs=1e-9)
    drop = estimate_size_drop(grid, np.array(reference["inputs"]["d2"]["y_1x1"], dtype=float))
    assert (drop.value, drop.t, drop.p) == pytest.approx(
        (row["size_drop"], row["size_drop_t"], row["size_drop_p"]), abs=1e-9
    )


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20))
def test_mean_test_equals_scipy(numbers):
    numbers = np.round(np.array(numbers), 3)
    found = mean_shape(numbers)
    if numbers.std() > 1e-6:
        theirs = stats.ttest_1samp(numbers, 0.0)
        assert (found.t, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert found.low <= found.value <= found.high
    assert 0.0 <= found.p <= 1.0


def test_equal_numbers_have_a_stated_result():
    assert mean_shape(np.zeros(5)) == (0.0, 0.0, 0.0, 0.0, 1.0, 5)
    assert mean_shape(np.full(5, 0.1)).p == 0.0


@pytest.mark.parametrize("g", [3, 5, 7])
def test_monotone_saturation_is_no_u_though_it_is_curved(g):
    row, column = (index.ravel() for index in np.indices((g, g)))
    truth = 0.5 + 0.4 * np.exp(-(row + column) / 1.5)
    rows = np.random.default_rng(0).normal(truth, 0.05, (60, g * g))
    shape = estimate_shape(rows, g)
    assert shape.quadratic.p < 0.05
    assert shape.p_u > 0.05


@pytest.mark.parametrize("g", [3, 5, 7])
def test_true_u_is_a_u(g):
    row, column = (index.ravel() for index in np.indices((g, g)))
    truth = 0.5 + 0.3 * ((row + column - (g - 1)) / (g - 1)) ** 2
    assert estimate_shape(np.random.default_rng(0).normal(truth, 0.2, (60, g * g)), g).p_u < 0.01


def test_border_advantage_is_named_as_such():
    row, column = (index.ravel() for index in np.indices((5, 5)))
    is_border = (row % 4 == 0) | (column % 4 == 0)
    rows = np.random.default_rng(0).normal(0.5 + 0.3 * is_border, 0.1, (60, 25))
    shape = estimate_shape(rows, 5)
    assert shape.border.value == pytest.approx(0.3, abs=0.05)
    assert shape.quadratic.p < 0.05
    assert shape.quadratic_without_border.p > 0.01


def test_slopes_are_read_off_exactly():
    row, column = (index.ravel().astype(float) for index in np.indices((4, 4)))
    rows = np.tile(0.1 * row + 0.02 * column, (5, 1))
    shape = estimate_shape(rows, 4)
    assert (shape.row.value, shape.column.value) == pytest.approx((0.1, 0.02))
    assert shape.linear.value == pytest.approx(0.06)
    assert shape.quadratic.value == pytest.approx(0.0, abs=1e-12)


def test_grid_of_two_has_no_interior():
    shape = estimate_shape(np.random.default_rng(0).random((9, 4)), 2)
    assert shape.border is None
    assert shape.quadratic_without_border is None


@pytest.mark.parametrize(("shape", "g"), [((9, 8), 3), ((9, 1), 1), ((9,), 3)])
def test_grid_must_be_square(shape, g):
    with pytest.raises(StatisticsError, match="grid"):
        estimate_shape(np.ones(shape), g)


def test_one_base_sample_has_no_variance():
    with pytest.raises(StatisticsError, match="1 base samples have no variance"):
        mean_shape(np.ones(1))


def test_size_drop_is_paired_by_base():
    with pytest.raises(StatisticsError, match="3 scores at 1×1 for 4 base samples"):
        estimate_size_drop(np.eye(4), np.ones(3))
