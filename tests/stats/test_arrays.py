import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import check_confidence, check_scores, divide


def test_what_is_not_present_is_never_read():
    values, _ = check_scores(np.array([1.0, np.nan, 7.0]), np.array([True, False, False]))
    assert values.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("score", [-0.1, 1.1, 87.0, np.nan, np.inf])
def test_score_outside_0_1_is_refused_with_its_place(score):
    with pytest.raises(StatisticsError, match=r"at index \(1,\) lies outside 0–1"):
        check_scores(np.array([1.0, score]), np.full(2, True))


@pytest.mark.parametrize(("shape", "mask"), [((3,), (2,)), ((), ())])
def test_shapes_that_do_not_belong_together_are_refused(shape, mask):
    with pytest.raises(StatisticsError, match="with a mask of shape"):
        check_scores(np.zeros(shape), np.full(mask, True))


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, float("nan")])
def test_confidence_must_be_a_fraction(confidence):
    with pytest.raises(StatisticsError, match="is not between 0 and 1"):
        check_confidence(confidence)


def test_division_by_zero_has_the_stated_result():
    assert divide(np.array([1.0, 3.0]), np.array([0.0, 2.0]), where_zero=9.0).tolist() == [9.0, 1.5]
