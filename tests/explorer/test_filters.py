"""Laws of choosing questions: the address is the choice, and a count says what its click shows."""

from urllib.parse import parse_qsl

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import UsageError
from eyechart.explorer.filters import SORTS, Filter, choose, find_facets, read_filter, sort_questions

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(str.strip)
CONDITIONS = st.lists(st.sampled_from(["original", "crop_3x", "crop_3x@1"]), max_size=2).map(tuple)


CHOICES = st.builds(
    Filter, task=WORDS, source=WORDS, text=WORDS, right=CONDITIONS, wrong=CONDITIONS, sort=st.sampled_from(SORTS)
)


@given(CHOICES)
def test_address_of_a_choice_reads_back_as_the_choice(wanted):
    assert read_filter(parse_qsl(wanted.query())) == wanted


def test_unknown_order_is_refused():
    with pytest.raises(UsageError, match="sort=sideways is not an order"):
        read_filter([("sort", "sideways")])


@pytest.mark.parametrize("wanted", [Filter(), Filter(right=("crop_3x",)), Filter(wrong=("original",), text="place")])
def test_facet_counts_say_what_their_click_shows(study, wanted):
    facets = find_facets(study, 0, wanted)
    assert {facet.field for facet in facets} >= {"task", "target"}
    for facet in facets:
        for value, n in facet.values:
            assert len(choose(study, 0, msgspec.structs.replace(wanted, **{facet.field: value}))) == n


def test_verdicts_part_the_questions(study):
    """Right, wrong and not scored under one view are all questions, each once."""
    parts = [choose(study, 0, Filter(**{verdict: ("original",)})) for verdict in ("right", "wrong", "unscored")]
    assert sorted(position for part in parts for position in part) == list(range(6))
    assert [len(part) for part in parts] == [2, 3, 1]


def test_right_in_the_crop_and_wrong_in_the_whole_is_one_choice(study):
    chosen = choose(study, 0, Filter(right=("crop_3x",), wrong=("original",)))
    assert {study.run(0).table.questions[position].id for position in chosen} == {"q/1 é", "q/2 é", "q/4 é"}


def test_verdict_of_another_run_narrows_this_one(study):
    run = study.run(1)
    wrong_there = {run.table.questions[at].id for at in choose(study, 1, Filter(wrong=("original",)))}
    here = choose(study, 0, Filter(wrong=("original@1",)))
    assert {study.run(0).table.questions[at].id for at in here} == wrong_there


@pytest.mark.parametrize("order", SORTS)
def test_every_order_keeps_every_question(study, order):
    assert sorted(sort_questions(study.run(0), range(6), order)) == list(range(6))


@pytest.mark.parametrize(
    ("condition", "message"),
    [("crop_99x", "was not asked"), ("original@7", "no run 7"), ("original@x", "not a number")],
)
def test_unknown_condition_or_run_is_refused(study, condition, message):
    with pytest.raises(UsageError, match=message):
        choose(study, 0, Filter(right=(condition,)))
