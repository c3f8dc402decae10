"""Patterns of right and wrong count every question once, in the order of the explorer's grid."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from eyechart.runs.patterns import count_patterns

SHAPES = st.tuples(st.integers(1, 30), st.integers(1, 5))


@st.composite
def tables(draw):
    shape = draw(SHAPES)
    values = draw(arrays.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    present = draw(arrays.arrays(np.bool_, shape))
    return values, present, draw(st.lists(st.sampled_from("abc"), min_size=shape[0], max_size=shape[0]))


@given(tables())
def test_marks_count_what_is_right_wrong_and_not_scored_in_every_view(table):
    values, present, clusters = table
    found = count_patterns(values, present, clusters)
    assert sum(one.n_questions for one in found) == len(values)
    assert len({one.marks for one in found}) == len(found)
    for column in range(values.shape[1]):
        counts = {mark: sum(one.n_questions for one in found if one.marks[column] == mark) for mark in "rw-"}
        assert counts["r"] == (present[:, column] & (values[:, column] >= 0.5)).sum()
        assert counts["-"] == (~present[:, column]).sum()


@given(tables())
def test_most_right_comes_first(table):
    n_right = [one.marks.count("r") for one in count_patterns(*table)]
    assert n_right == sorted(n_right, reverse=True)


def test_pictures_are_counted_once_however_many_questions_are_about_them():
    (one,) = count_patterns(np.ones((3, 2)), np.full((3, 2), True), ["a", "a", "b"])
    assert (one.marks, one.n_questions, one.n_clusters) == ("rr", 3, 2)
