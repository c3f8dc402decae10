"""Letters by probability: spellings joined, shares that add up, nothing invented where no letter was reported."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import BadRequestError
from eyechart.models._letter_probabilities import first_token_letters, letter_reply

FOUR = ("red", "green", "blue", "white")


@given(st.dictionaries(st.sampled_from("ABCD"), st.floats(-30, -0.1), min_size=1))
def test_shares_add_up_to_one_and_the_likeliest_reported_letter_wins(reported):
    reply = letter_reply(reported, FOUR, is_complete=False)
    shares = reply.extra["letter_probabilities"]
    assert math.isclose(sum(shares.values()), 1, abs_tol=1e-6)
    assert shares[reply.text] == max(shares.values())
    assert set(reply.extra.get("letters_not_reported", [])) == set("ABCD") - set(reported)


def test_letters_beyond_the_options_do_not_count():
    top = [("C", -0.1), (" B", -2.0), ("(A", -3.0), ("Blue", -1.0)]
    assert set(first_token_letters(top, ("x", "y"))) == {"A", "B"}


def test_without_a_reported_letter_there_is_no_answer():
    reply = letter_reply(first_token_letters([("The", -0.1)], FOUR), FOUR, is_complete=False)
    assert (reply.text, reply.extra) == ("", {"letter_mass": 0.0})


def test_a_question_without_options_is_refused():
    with pytest.raises(BadRequestError, match="no option letters"):
        letter_reply({}, (), is_complete=True)
