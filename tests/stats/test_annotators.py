"""Agreement of people: alpha against published values, overlap of boxes, intervals for people and pictures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.schema import Box
from eyechart.stats.annotators import box_overlap, human_accuracy, krippendorff_alpha
from eyechart.stats.clusters import find_clusters
from eyechart.stats.proportion import estimate_proportions

# Krippendorff's own example ("Computing Krippendorff's Alpha-Reliability", 2011, C): four people, twelve units,
# gaps; nominal alpha 0.743.
_GAP = np.nan
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _GAP, _GAP, _GAP],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _GAP, 3],
        [_GAP, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _GAP],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _GAP],
    ]
).T


def test_alpha_is_that_of_the_published_example():
    assert krippendorff_alpha(PUBLISHED, ~np.isnan(PUBLISHED)) == pytest.approx(0.743, abs=5e-4)


@given(st.integers(2, 5), st.integers(2, 30))
def test_full_agreement_is_one(n_people, n_units):
    codes = np.tile(np.arange(n_units, dtype=float)[:, None] % 3, (1, n_people))
    assert krippendorff_alpha(codes, np.ones(codes.shape, dtype=bool)) == pytest.approx(1.0)


def test_guesses_agree_about_as_chance_does():
    codes = np.random.default_rng(0).integers(0, 4, (4000, 3)).astype(float)
    assert abs(krippendorff_alpha(codes, np.ones(codes.shape, dtype=bool))) < 0.03


@pytest.mark.parametrize("codes", [np.zeros((4, 2)), np.zeros((0, 2)), np.arange(3.0).reshape(3, 1)])
def test_where_nothing_can_be_compared_alpha_is_unknown(codes):
    assert krippendorff_alpha(codes, np.ones(codes.shape, dtype=bool)) is None


def test_shapes_that_differ_are_refused():
    with pytest.raises(StatisticsError, match="beside marks of shape"):
        krippendorff_alpha(np.zeros((2, 2)), np.ones((2, 3), dtype=bool))
    with pytest.raises(StatisticsError, match="for 3 questions"):
        human_accuracy(np.zeros((2, 2)), np.ones((2, 2), dtype=bool), list("abc"))


boxes = st.tuples(*[st.integers(0, 50)] * 2, *[st.integers(1, 50)] * 2).map(
    lambda edges: Box(edges[0], edges[1], edges[0] + edges[2], edges[1] + edges[3])
)


@given(boxes, boxes)
def test_overlap_is_symmetric_between_zero_and_one_and_one_for_a_box_with_itself(first, second):
    assert 0 <= box_overlap(first, second) == box_overlap(second, first) <= 1
    assert box_overlap(first, first) == 1


def test_a_box_without_area_is_refused():
    with pytest.raises(StatisticsError, match="has no area"):
        box_overlap(Box(0, 0, 0, 5), Box(0, 0, 5, 5))


def people_who_differ(rng, n_people=8, n_pictures=40, spread=0.25):
    rates = np.clip(0.7 + spread * rng.standard_normal((1, n_people)) / 2, 0.02, 0.98)
    hard = 0.2 * rng.standard_normal((n_pictures, 1)) / 2
    return (rng.random((n_pictures, n_people)) < np.clip(rates + hard, 0.01, 0.99)).astype(float)


def test_the_interval_is_at_least_as_wide_as_that_of_pictures_alone():
    rng = np.random.default_rng(1)
    for _ in range(50):
        values = people_who_differ(rng)
        groups = [str(index) for index in range(len(values))]
        both = human_accuracy(values, np.ones(values.shape, dtype=bool), groups)
        clusters = find_clusters([group for group in groups for _ in range(values.shape[1])])
        pictures = estimate_proportions(values.ravel(), np.ones(values.size, dtype=bool), clusters)
        assert both.high - both.low >= pictures.high - pictures.low - 1e-12
        assert 0 <= both.low <= both.value <= both.high <= 1


def test_it_covers_the_rate_of_people_in_general():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        values = people_who_differ(rng)
        found = human_accuracy(values, np.ones(values.shape, dtype=bool), [str(index) for index in range(len(values))])
        covered += bool(found.low <= 0.7 <= found.high)
    assert covered >= 180


def test_one_person_is_clustered_by_picture():
    values = np.array([[1.0], [0.0], [1.0], [1.0]])
    found = human_accuracy(values, np.ones((4, 1), dtype=bool), list("aabc"))
    expected = estimate_proportions(values[:, 0], np.ones(4, dtype=bool), find_clusters(list("aabc")))
    assert (float(found.low), float(found.high)) == (float(expected.low), float(expected.high))


def test_without_answers_there_is_no_accuracy():
    with pytest.raises(StatisticsError, match="nobody answered"):
        human_accuracy(np.zeros((2, 2)), np.zeros((2, 2), dtype=bool), list("ab"))
