"""The worst case over missing answers is the worst of all ways to fill them in, found without trying them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.stats.clusters import cluster_sums, find_clusters
from eyechart.stats.composite import compare_models
from eyechart.stats.conditions import ScoreTable, contrasts_between
from eyechart.stats.missing import bounds_from, gap_bounds, worst_case
from eyechart.stats.sign_flip import sign_flip

SCORES = st.sampled_from([0.0, 0.5, 1.0, None])


def arrays(rows):
    values = np.array([[0.0 if score is None else score for score in row] for row in rows])
    return values, np.array([[score is not None for score in row] for row in rows])


@settings(max_examples=60)
@given(st.lists(st.tuples(SCORES, SCORES, st.integers(0, 4)), min_size=1, max_size=7))
def test_worst_p_is_the_largest_over_all_fillings_with_whole_pictures_kept(rows):
    rows = [row if sum(score is None for one in rows[:at] for score in one[:2]) < 6 else (1.0, 0.0, row[2])
            for at, row in enumerate(rows)]  # fmt: skip
    values, present = arrays([row[:2] for row in rows])
    clusters = find_clusters([row[2] for row in rows])
    change = np.where(present.all(axis=1), values[:, 0] - values[:, 1], 0.0)
    value = change.sum() / max(present.all(axis=1).sum(), 1)
    p = sign_flip(cluster_sums(change, clusters)).mid
    gap = gap_bounds(bounds_from(values, present), np.array([0]), np.array([1])).at((slice(None), 0))
    found = worst_case(gap, clusters, np.array(value), p, np.array(present.all(axis=1).sum()))
    totals, largest = [], float(p)
    holes = np.argwhere(~present)
    for filling in product([0.0, 0.5, 1.0], repeat=len(holes)):
        filled = values.copy()
        filled[tuple(holes.T)] = filling
        full = filled[:, 0] - filled[:, 1]
        totals.append(full.mean())
        # A filling that turns the sign is no support of the claim, however small its p.
        turned = full.sum() * value <= 0.0 and len(holes) > 0
        largest = max(largest, 1.0 if turned else float(sign_flip(cluster_sums(full, clusters)).mid))
    assert float(found.low) == pytest.approx(min(totals), abs=1e-12)
    assert float(found.high) == pytest.approx(max(totals), abs=1e-12)
    assert float(found.p) == pytest.approx(largest, abs=1e-12)


def test_missing_answers_that_could_make_the_difference_make_no_claim():
    # Both views 60 of 100 right; under the crop 30 of the 40 wrong answers are missing.
    values = np.zeros((100, 2))
    values[:60, 1] = values[:35, 0] = values[60:85, 0] = 1.0
    present = np.ones((100, 2), dtype=bool)
    present[60:90, 1] = False
    table = ScoreTable(values, present, [f"im{i}" for i in range(100)], ("original", "crop_3x"))
    (contrast,) = contrasts_between(table, [("crop_3x", "original")])
    assert contrast.value == pytest.approx(25 / 70)
    assert contrast.p_if_like_others < 0.0001
    assert contrast.bound_low == 0.0
    assert contrast.p_worst == contrast.p_adjusted == 1.0


def test_what_was_not_asked_is_not_missing():
    values = np.zeros((60, 2))
    values[:20, 1] = values[40:50, 0] = 1.0
    present = np.ones((60, 2), dtype=bool)
    present[40:, 1] = False
    bounds = bounds_from(values, present)
    groups = [f"im{i}" for i in range(60)]
    asked = bounds._replace(asked=present)
    of_missing, of_unasked = (
        contrasts_between(ScoreTable(values, present, groups, ("a", "b"), filled=filled), [("b", "a")])[0]
        for filled in (bounds, asked)
    )
    assert of_missing.bound_low < of_missing.bound_high
    assert of_unasked.bound_low == of_unasked.bound_high == of_unasked.value
    assert of_unasked.p_worst == of_unasked.p < of_missing.p_worst


def test_a_mean_over_views_is_bounded_over_every_view_that_was_asked():
    values = np.zeros((40, 2, 2))
    values[:20, :, 0] = 1.0
    present = np.ones((40, 2, 2), dtype=bool)
    present[0, 0, 0] = present[39, 1, 1] = False
    contrast = compare_models(values, present, [f"im{i}" for i in range(40)], ("new", "old"))
    assert contrast.bound_low == pytest.approx((19.5 - 0.5) / 40)
    assert contrast.bound_high == pytest.approx(20 / 40)
    assert contrast.p <= contrast.p_worst < 0.001


@settings(max_examples=40)
@given(st.data())
def test_p_never_falls_and_bounds_never_shrink_when_one_more_answer_is_missing(data):
    rows = data.draw(st.lists(st.tuples(SCORES, SCORES), min_size=31, max_size=34))
    values, present = arrays(rows)
    table = ScoreTable(values, present, [f"im{i}" for i in range(len(rows))], ("a", "b"))
    before = contrasts_between(table, [("b", "a")])
    for one in before:
        assert one.bound_low <= one.value + 1e-12 or one.n_missing
        assert one.bound_low <= one.bound_high
        if one.p is not None:
            assert one.p <= one.p_worst <= 1.0
            assert one.p_if_like_others <= one.p_adjusted
