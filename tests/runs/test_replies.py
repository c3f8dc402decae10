"""States of replies and failures, as the table of states says."""

import pytest

from eyechart.errors import AuthenticationError, BadRequestError, ModelError, RefusedInputError, TransientModelError
from eyechart.kinds import Reply
from eyechart.runs.replies import Asking, error_row, reply_row
from eyechart.schema import Response, ResponseState, Usage, decode_record, encode_record

ASKING = Asking(request_id="r", seconds=1.23456, finished_at="2026-11-30T12:00:00+00:00", attempts=2)


@pytest.mark.parametrize(
    ("reply", "state", "text", "reasoning"),
    [
        (Reply(text="B", finish="stop"), "answered", "B", None),
        (Reply(text="", finish="stop"), "answered", "", None),
        (Reply(text="", finish="stop", says_nothing=True), "empty_reply", None, None),
        (Reply(text="", finish="length", says_nothing=True), "truncated", "", None),
        (Reply(text="B, since", finish="length"), "truncated", "B, since", None),
        (Reply(text="", finish="length"), "truncated", "", None),
        (Reply(text=" \n", finish="MAX_TOKENS"), "truncated", " \n", None),
        (Reply(text="", reasoning="It could be A", finish="stop"), "empty_reply", None, "It could be A"),
        (Reply(text="", reasoning="It could be A", finish="length"), "truncated", "", "It could be A"),
        (Reply(text="<think>A? B?</think>\nB", finish="stop"), "answered", "B", "A? B?"),
        (Reply(text="A? B?</think>B", finish="stop"), "answered", "B", "A? B?"),
        (Reply(text="<think>It could be A", finish="length"), "truncated", "", "It could be A"),
        (Reply(text="B", reasoning="why", finish="stop"), "answered", "B", "why"),
        (
            Reply(text="I can't help with that", is_refusal=True, finish="stop"),
            "refusal",
            "I can't help with that",
            None,
        ),
        (Reply(text="", finish="refusal"), "refusal", "", None),
        (Reply(text="", finish="content_filter"), "content_filter", "", None),
        (Reply(text="", finish="SAFETY"), "content_filter", "", None),
    ],
)
def test_each_kind_of_reply_has_its_own_state(reply, state, text, reasoning):
    row = reply_row(reply, ASKING)
    assert (row.state.value, row.text, row.reasoning) == (state, text, reasoning)
    assert (row.error is None) is (state != "empty_reply")


@pytest.mark.parametrize(
    ("error", "state", "is_final"),
    [
        (TransientModelError("HTTP 503"), ResponseState.TRANSIENT, False),
        (RefusedInputError("HTTP 413"), ResponseState.REFUSED_INPUT, True),
        (BadRequestError("HTTP 400"), ResponseState.BAD_REQUEST, True),
        (AuthenticationError("HTTP 401"), ResponseState.TRANSIENT, False),
        (ModelError("odd"), ResponseState.TRANSIENT, False),
        (ValueError("a plug-in's fault"), ResponseState.TRANSIENT, False),
        (ZeroDivisionError(), ResponseState.TRANSIENT, False),
    ],
)
def test_an_error_is_a_state_and_never_a_text(error, state, is_final):
    row = error_row(error, ASKING)
    assert (row.state, row.state.is_final, row.text) == (state, is_final, None)
    assert row.error


def test_what_the_provider_reported_is_kept():
    usage = Usage(input_tokens=900, output_tokens=3)
    row = reply_row(Reply(text="A", usage=usage, provider_fingerprint="fp", extra={"model": "m"}), ASKING)
    assert (row.usage, row.provider_fingerprint, row.extra) == (usage, "fp", {"model": "m"})
    assert (row.attempts, row.seconds) == (2, 1.235)


@pytest.mark.parametrize("text", ["half a pair \ud800", "\udfff", "zero \x00 byte", "<script>", "\x1b[2J", "\u2028"])
def test_any_text_survives_the_store(text):
    row = reply_row(Reply(text=text, finish="stop"), ASKING)
    assert decode_record(encode_record(row), Response, "here") == row


def test_half_surrogates_in_an_error_survive_the_store():
    row = error_row(ValueError("\ud800"), ASKING)
    assert decode_record(encode_record(row), Response, "here").error == "ValueError: \ufffd"
