"""Replies are read in every spelling, and never invented."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import EyechartError, TransientModelError
from eyechart.models._chat_reply import body_failure, chat_reply, failure_of, read_json, read_usage
from eyechart.models._http_errors import is_content_filter
from eyechart.schema import Usage

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def reply(message, finish="stop", **body):
    return chat_reply({"choices": [{"message": message, "finish_reason": finish}], **body}, 1)


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "B"}, "B", None),
        ({"content": "B", "reasoning_content": "A?"}, "B", "A?"),
        ({"content": "B", "reasoning": "A?"}, "B", "A?"),
        ({"content": "B", "reasoning": "A?", "reasoning_content": "A?"}, "B", "A?"),
        ({"content": "<think>A?</think>B"}, "B", "A?"),
        ({"content": [{"type": "text", "text": "B"}]}, "B", None),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "A?"}]},
                      {"type": "text", "text": "B"}]}, "B", "A?"),
        ({"content": [{"type": "thinking", "thinking": "A?"}, {"type": "text", "text": "B"}]}, "B", "A?"),
        ({"content": None, "reasoning_content": "A?"}, "", "A?"),
        ({"content": None}, "", None),
    ],
)  # fmt: skip
def test_thoughts_are_kept_apart_in_every_spelling(message, text, reasoning):
    read = reply(message)
    assert (read.text, read.reasoning) == (text, reasoning)


def test_only_the_ending_says_that_a_thought_was_cut_off():
    """An open thought with a normal ending sent its reader to --max-tokens."""
    read = reply({"content": "<think>A or"}, finish="stop")
    assert (read.finish, read.says_nothing, read.reasoning) == ("stop", True, "A or")
    assert reply({"content": "<think>A or"}, finish="length").finish == "length"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (["B"], "B"),
        (["The answer", " is B"], "The answer is B"),
        ([{"text": "B"}], "B"),
        ([{"type": "text", "text": {"value": "B"}}], "B"),
        ([{"type": "reference", "reference_ids": [1]}, {"text": "B"}], "B"),
        ([], ""),
    ],
)
def test_lists_of_texts_and_parts_without_a_type_are_read(content, text):
    assert reply({"content": content}).text == text


@pytest.mark.parametrize("content", [5, 0.5, True, {"text": "B"}, {"type": "text"}, [5], [None], [["B"]], [{"a": 1}]])
def test_content_of_a_wrong_type_is_asked_again_and_never_an_empty_answer(content):
    with pytest.raises(TransientModelError, match="content") as caught:
        reply({"content": content})
    assert caught.value.fault


def test_a_refusal_is_marked_and_its_words_are_kept():
    read = reply({"content": None, "refusal": "I cannot."})
    assert (read.text, read.is_refusal) == ("I cannot.", True)


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": None}, {"choices": [{}]}, {"choices": ["B"]}])
def test_a_reply_without_choice_is_asked_again(body):
    with pytest.raises(TransientModelError, match="holds no choice"):
        chat_reply(body, 1)


@pytest.mark.parametrize(
    ("usage", "image_tokens"),
    [
        ({"prompt_tokens_details": {"image_tokens": 85}}, 85),
        ({"input_tokens_details": {"image_tokens": 85}}, 85),
        ({"prompt_tokens_details": {"multimodal_tokens": {"image": 85}}}, 85),
        ({"prompt_tokens_details": {"cached_tokens": 3}}, None),
        ({"prompt_tokens_details": {"image_tokens": -1}}, None),
        ({"prompt_tokens_details": {"image_tokens": 8.5}}, None),
        ({"prompt_tokens_details": {"image_tokens": True}}, None),
    ],
)
def test_image_tokens_are_read_where_they_are_whole_numbers(usage, image_tokens):
    read = reply({"content": "B"}, usage=usage)
    assert read.usage.image_tokens == image_tokens
    assert [seen.visual_tokens for seen in read.seen] == ([] if image_tokens is None else [image_tokens])


def test_several_pictures_share_no_count():
    usage = {"prompt_tokens_details": {"image_tokens": 85}}
    body = {"choices": [{"message": {"content": "B"}}], "usage": usage}
    assert chat_reply(body, 2).seen == ()


def test_usage_is_read_in_both_spellings():
    chat = {"prompt_tokens": 9, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 2}}
    other = {"input_tokens": 9, "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 2}}
    expected = Usage(input_tokens=9, output_tokens=4, reasoning_tokens=2)
    assert read_usage(chat) == read_usage(other) == expected
    assert read_usage(None) is None


def test_cost_and_host_of_a_router_are_kept():
    read = reply({"content": "B"}, usage={"cost": 0.25}, provider="DeepInfra", id="x", model="m-2026")
    assert read.extra == {"model": "m-2026", "provider": "DeepInfra", "response_id": "x", "cost": 0.25}


@given(json_values)
def test_no_reply_of_any_shape_breaks_the_reader(value):
    for body in ({"choices": [{"message": value}]}, {"choices": value, "usage": value}, {"error": value}):
        with contextlib.suppress(EyechartError):
            assert isinstance(chat_reply(body, 1).text, str)
        body_failure(body)
        failure_of(400, value, {})


@pytest.mark.parametrize(
    ("content_type", "payload", "match"),
    [
        ("text/html; charset=utf-8", b"<html>", "text/html instead of JSON"),
        ("text/plain", b'data: {"a": 1}', "text/plain instead of JSON"),
        ("application/json", b'{"a": ', "damaged"),
        ("application/json", b"", "damaged"),
        ("application/json", b'{"a": "\xff"}', "damaged"),
        ("application/json", b"[]", "not an object"),
    ],
)
def test_a_damaged_reply_is_asked_again(content_type, payload, match):
    with pytest.raises(TransientModelError, match=match):
        read_json(content_type, payload)


@pytest.mark.parametrize("declared", ["", "text/plain", "application/octet-stream", "text/html; charset=utf-8"])
def test_json_is_read_whatever_it_is_declared_as(declared):
    assert read_json(declared, b'{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (b'\xef\xbb\xbf{"a": "B"}', "B"),
        (b'{"a": "B", "logprob": NaN, "cost": -Infinity}', "B"),
        (rb'{"a": "B \ud83d"}', "B \ufffd"),
        (rb'{"a": "B \udc00 C"}', "B \ufffd C"),
        (rb'{"a": "\ud83d\ude00"}', "\U0001f600"),
        (b'{"a": "two\nlines"}', "two\nlines"),
    ],
)
def test_json_is_read_as_servers_spell_it(payload, value):
    assert read_json("application/json", payload)["a"] == value


@given(st.text(), st.sampled_from(["\ud800", "\udfff", ""]))
def test_every_text_is_read_with_its_halves_of_pairs_replaced(text, half):
    payload = json.dumps({"a": half + text, "b": float("nan")}).encode()
    expected = (half + text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert read_json("", payload)["a"] == expected
    expected.encode()


def test_json_that_is_nested_for_ever_is_asked_again():
    with pytest.raises(TransientModelError, match="damaged"):
        read_json("application/json", b'{"a":' + b"[" * 100_000 + b"NaN")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, 429, "slow down"),
        ({"error": {"code": "rate_limit", "message": "slow down"}}, 500, "slow down"),
        ({"error": "broken"}, 500, "broken"),
        ({"error": {"code": 502, "message": "bad", "metadata": {"raw": "upstream"}}}, 502, "bad (upstream)"),
        ({"error": {"code": 200}}, 500, "no message"),
    ],
)
def test_an_error_inside_a_good_status_is_an_error(body, status, message):
    failure = body_failure(json.loads(json.dumps(body)))
    assert (failure.status, failure.message) == (status, message)


@pytest.mark.parametrize(
    ("body", "message", "parameter"),
    [
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra inputs",
                      "input": "the whole question"}]}, "body.top_k: Extra inputs", "top_k"),
        ({"detail": "Not Found"}, "Not Found", None),
        ({"detail": {"error": {"message": "no", "param": "top_k"}}}, "no", "top_k"),
        ({"error": "Bad Request", "message": "temperature is wrong"}, "Bad Request: temperature is wrong", None),
        ({"errors": [{"message": "no", "code": 7}]}, "no", None),
        ({"error": True, "message": "no"}, "no", None),
        ({"detail": [{"loc": ["body", "temperature", "float"], "msg": "no"}]}, "body.temperature.float: no",
         "temperature"),
        ({"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "no"}]}, "body.messages.0.content: no",
         "messages.0.content"),
        ([{"error": {"message": "no", "status": "INVALID_ARGUMENT"}}], "no", None),
        ({"code": "Arrearage", "message": "no", "request_id": "r"}, "no", None),
        ({"object": "error", "message": "no", "param": "seed", "code": 400}, "no", "seed"),
        ("<html>Bad gateway</html>", "<html>Bad gateway</html>", None),
        (None, "no message", None),
    ],
)  # fmt: skip
def test_errors_are_read_in_every_shape(body, message, parameter):
    failure = failure_of(400, body, {})
    assert (failure.message, failure.parameter) == (message, parameter)


@pytest.mark.parametrize(
    "body",
    [
        {"code": "Arrearage", "message": "no"},
        {"error": {"code": "Arrearage"}},
        {"choices": [{"error": {"code": "Arrearage"}, "message": {"content": "A"}}]},
        {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}},
        {"detail": "gone"},
        {"error": True, "message": "gone"},
    ],
)
def test_an_error_in_a_good_reply_is_found_wherever_it_stands(body):
    assert body_failure(body) is not None


def test_a_reply_without_an_error_is_none():
    assert body_failure({"choices": [{"message": {"content": "A"}}], "error": None, "message": ""}) is None
    assert body_failure({"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}) is None
    assert body_failure({"choices": [], "base_resp": {"status_code": 0, "status_msg": "success"}}) is None


def test_moderation_and_azure_filters_are_recognised():
    flagged = {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["x"], "flagged_input": "…"}}}
    azure = {"error": {"message": "no", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}
    assert is_content_filter(failure_of(403, flagged, {}))
    assert is_content_filter(failure_of(400, azure, {}))
    assert not is_content_filter(failure_of(403, {"error": {"code": 403, "message": "no"}}, {}))
