"""Haystacks: the order looks random, and depends on question, pictures and seed alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import GeometryError
from eyechart.images.haystack import find_haystacks, name_haystack, order_by_hash, order_haystack
from eyechart.schema import ImageRef, Question, Size

NAMES = [f"{index:064x}" for index in range(12)]


def asked(question_id="q", n=12):
    images = tuple(ImageRef(name, Size(4, 3), "image/png") for name in NAMES[:n])
    return Question(
        id=question_id,
        benchmark="b",
        text="a kite",
        image=ImageRef("needle", Size(4, 3), "image/png"),
        image_group="g",
        distractors=images,
        asks_for_cell=True,
    )


def test_order_is_the_same_on_every_machine():
    assert order_by_hash("q1", ("a", "b", "c", "d", "e"), 0) == ("a", "b", "e", "c", "d")


@given(st.integers(0, 12), st.integers(0, 5))
def test_a_smaller_haystack_takes_the_first_distractors_in_some_order(n_cells, seed):
    assert sorted(order_haystack(asked(), n_cells, seed)) == NAMES[:n_cells]


def test_another_seed_or_question_orders_otherwise():
    orders = {order_haystack(asked(name), 12, seed) for name in ("q", "r") for seed in (0, 1)}
    assert len(orders) == 4


def test_haystacks_are_found_by_name():
    questions = [asked("q"), asked("r"), asked("s", n=3)]
    found = find_haystacks(questions, 8, 0)
    assert found == {name_haystack(order_haystack(one, 8, 0)): order_haystack(one, 8, 0) for one in questions[:2]}
    assert name_haystack(()) is None


def test_too_few_distractors_are_refused():
    with pytest.raises(GeometryError, match="needs 8 distractors, the question has 3"):
        order_haystack(asked(n=3), 8, 0)
