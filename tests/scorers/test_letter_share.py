"""The share of the right letter: between 0 and 1, missing where no probabilities were asked for."""

import pytest

from eyechart.errors import UsageError
from eyechart.schema import Response, ResponseState
from eyechart.scorers.letter_share import LetterShare

SHARES = {"letter_probabilities": {"A": 0.75, "B": 0.25}, "letter_mass": 0.9}


def score(gold, extra=SHARES, state=ResponseState.ANSWERED):
    response = Response(request_id="r", state=state, text="A", extra=extra)
    return LetterShare().score(response, None, ("x", "y"), gold, "plain")


@pytest.mark.parametrize(
    ("gold", "extra", "value", "reason"),
    [
        ("A", SHARES, 0.75, None),
        ("B", SHARES, 0.25, None),
        (None, SHARES, None, None),
        ("A", {"letter_mass": 0.0}, 0.0, "no_option_letter"),
        ("A", {}, None, "no_probabilities"),
    ],
)
def test_the_score_is_the_share_of_the_right_letter(gold, extra, value, reason):
    found = score(gold, extra)
    assert (found.value, found.reason, found.scorer) == (value, reason, "letter_share.plain@1")


def test_an_error_has_no_score():
    assert score("A", state=ResponseState.TRANSIENT).value is None


def test_an_unknown_mode_is_refused():
    with pytest.raises(UsageError, match="has no mode 'strict'"):
        LetterShare().score(Response(request_id="r", state=ResponseState.ANSWERED), None, (), "A", "strict")
