import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import question_about

from eyechart.errors import UsageError
from eyechart.releases.split import split_questions, write_split
from eyechart.schema import ImageRef, Size


def made(specs):
    """Questions from (group, file, task, source) numbers."""
    return [
        msgspec.structs.replace(
            question_about(
                Size(1, 1), id=f"{number:06d}", image_group=f"g{group}", task=f"t{task}", source=f"s{source}"
            ),
            image=ImageRef(f"{file:064x}", Size(1, 1), "image/png"),
        )
        for number, (group, file, task, source) in enumerate(specs)
    ]


SPECS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60), st.integers(0, 3), st.integers(0, 2)), min_size=1)
SHARES = {"dev": 0.2, "test": 0.8}


@given(SPECS, st.integers(0, 99), st.randoms())
def test_no_picture_is_on_two_sides_and_order_does_not_matter(specs, seed, random):
    questions = made(specs)
    try:
        split = split_questions(questions, SHARES, seed=seed)
    except UsageError:
        return
    for key in (lambda question: question.image_group, lambda question: question.image.file_sha256):
        sides = {(key(question), split.parts[question.id]) for question in questions}
        assert len(sides) == len({key(question) for question in questions})
    assert sum(split.counts.values()) == len(questions)
    random.shuffle(questions)
    again = split_questions(questions, SHARES, seed=seed)
    assert (again.parts, again.id) == (split.parts, split.id)


def test_shares_hold_in_every_task_and_source():
    questions = made([(number, number, number % 4, number % 3) for number in range(600)])
    split = split_questions(questions, {"train": 0.6, "dev": 0.15, "test": 0.25}, seed=3)
    for part, share in split.shares.items():
        for field in ("task", "source"):
            for name in {getattr(question, field) for question in questions}:
                members = [question for question in questions if getattr(question, field) == name]
                n_inside = sum(split.parts[question.id] == part for question in members)
                assert n_inside / len(members) == pytest.approx(share, abs=0.03)


def test_seed_decides():
    questions = made([(number, number, 0, 0) for number in range(100)])
    first, second, other = (split_questions(questions, SHARES, seed=seed) for seed in (1, 1, 2))
    assert first == second
    assert first.parts != other.parts
    assert first.counts == other.counts == {"dev": 20, "test": 80}


def test_group_and_file_join_through_a_third_question():
    questions = made([(1, 1, 0, 0), (1, 2, 0, 0), (2, 2, 0, 0), *((n, n, 0, 0) for n in range(10, 40))])
    split = split_questions(questions, SHARES, seed=0)
    assert len({split.parts[question.id] for question in questions[:3]}) == 1


def test_split_is_written_as_json(tmp_path):
    split = split_questions(made([(n, n, 0, 0) for n in range(10)]), SHARES, seed=5)
    write_split(split, tmp_path / "new" / "split.json")
    content = json.loads((tmp_path / "new" / "split.json").read_text())
    assert (content["parts"], content["seed"], content["id"]) == (split.parts, 5, split.id)


@pytest.mark.parametrize("shares", [{}, {"a": 1.0}, {"a": 0.5, "b": 0.4}, {"a": 1.2, "b": -0.2}])
def test_shares_must_be_positive_with_sum_one(shares):
    with pytest.raises(UsageError, match="are not two or more positive numbers with sum 1"):
        split_questions([], shares, seed=0)


def test_part_that_stays_empty_is_named():
    with pytest.raises(UsageError, match="stays empty with 1 image groups"):
        split_questions(made([(1, 1, 0, 0)] * 5), SHARES, seed=0)


@pytest.mark.parametrize("seed", range(4))
def test_share_is_met_as_nearly_as_whole_pictures_allow(seed):
    """Twenty pictures with two questions each, six of them of a rare task: a fifth is exactly four pictures."""
    questions = made([(n // 2, n // 2, int(n >= 34), 0) for n in range(40)])
    assert split_questions(questions, SHARES, seed=seed).counts == {"dev": 8, "test": 32}
