"""Failures are grouped by cause, whatever numbers their messages hold."""

import pytest
from runs_made import SCORER, make_run

from eyechart.runs.cells import read_table
from eyechart.runs.failures import common_cause, group_failures
from eyechart.runs.plan import PlanOptions


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP 429: try again in 1.25 s", "HTTP 429: try again in 60 s"),
        ("HTTP 400: image of 35503x26627 px", "HTTP 400: image of 9000x9000 px"),
        ("request 0123456789abcdef01 failed", "request fedcba987654321000 failed"),
        ("no answer within 300 s", "no answer within 0.01 s"),
        ("no server answered at http://127.0.0.1:8000/v1", "no server answered at http://127.0.0.1:9/v1"),
    ],
)
def test_messages_that_differ_in_numbers_are_one_cause(one, other):
    assert common_cause(one) == common_cause(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("HTTP 429: slow down", "HTTP 503: slow down"), ("HTTP 400: bad image", "HTTP 400: bad prompt")],
)
def test_different_statuses_and_words_are_different_causes(one, other):
    assert common_cause(one) != common_cause(other)


def test_long_and_empty_messages_have_a_short_cause():
    assert len(common_cause("x" * 5000)) <= 160
    assert common_cause("  \n ") == "no message"
    assert common_cause("first line\nsecond line") == "first line"


def test_failures_under_every_order_of_the_choices_are_counted(make, tmp_path):
    questions = [make.question(0), make.question(1, choices=("yes", "no"))]
    plan = PlanOptions(rotations=4, repeats=2)
    store = make_run(make, tmp_path / "run", lambda ask: "hm", questions=questions, views="original", plan=plan)
    (failure,) = group_failures(read_table(store, SCORER))
    assert failure.n == failure.conditions["original"] == 2 * (4 + 2)
