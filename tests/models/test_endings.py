"""How replies end: a closed list in each dialect, and nothing outside it is an answer."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.asks import ask, picture
from models.interfaces import answers
from models.test_failure_table import ASKING, every_dialect
from servers.chat_server import ChatServer

from eyechart.errors import BadRequestError, TransientModelError
from eyechart.kinds import Reply
from eyechart.models._chat_reply import body_failure, chat_reply, lenient_json
from eyechart.models._endings import ENDINGS, ended, known_endings
from eyechart.models._responses import reply as read_response
from eyechart.models.anthropic import read_message
from eyechart.models.google import read_content
from eyechart.runs.replies import reply_row
from eyechart.schema import ResponseState, content_sha256

TORSO = "The answer is A because"
STATES = {"stop": "answered", "length": "truncated", "content_filter": "content_filter"}
FAILING = {
    "chat": [
        *("error", "network_error", "insufficient_system_resource", "aborted", "abort", "repetition", "tool_calls"),
        *("function_call", "load", "null"),
    ],
    "responses": ["failed", "cancelled", "in_progress", "queued", "some_reason"],
    "messages": ["pause_turn", "tool_use", "error", "compaction"],
    "generate": ["OTHER", "MALFORMED_FUNCTION_CALL", "LANGUAGE", "UNEXPECTED_TOOL_CALL", "FINISH_REASON_UNSPECIFIED"],
}


def reply_body(dialect, ending, text=TORSO):
    """A reply of a dialect with an ending; a text of None is a reply without content."""
    if dialect == "chat":
        return {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": ending}]}
    if dialect == "responses":
        content = [] if text is None else [{"type": "output_text", "text": text}]
        body = {"status": ending, "output": [{"type": "message", "content": content}]}
        is_reason = ending in {"max_output_tokens", "content_filter", "some_reason"}
        return {**body, "status": "incomplete", "incomplete_details": {"reason": ending}} if is_reason else body
    if dialect == "messages":
        content = [] if text is None else [{"type": "text", "text": text}]
        return {"type": "message", "role": "assistant", "content": content, "stop_reason": ending}
    parts = {"content": {"parts": [{"text": text}]}} if text is not None else {}
    return {"candidates": [{**parts, "finishReason": ending}]}


def read(dialect, body):
    readers = {"chat": chat_reply, "responses": read_response, "generate": read_content}
    return read_message(body) if dialect == "messages" else readers[dialect](body, 1)


def state_of(reply):
    return reply_row(reply, ASKING).state.value


def test_every_known_ending_is_stored_as_the_table_says():
    for dialect, endings in ENDINGS.items():
        assert all(ending.source.startswith("https://") for ending in endings)
        for name, finish in known_endings(dialect).items():
            for spelled in (name, name.upper()):
                reply = read(dialect, reply_body(dialect, spelled, "B"))
                assert (reply.finish, reply.text, state_of(reply)) == (finish, "B", STATES[finish])


@pytest.mark.parametrize("text", [TORSO, "", None])
@pytest.mark.parametrize(("dialect", "ending"), [(name, one) for name, all_ in FAILING.items() for one in all_])
def test_a_torso_with_a_failing_ending_is_never_read(dialect, ending, text):
    """Finish ``error`` was stored as an empty answer, and its torso read as A."""
    with pytest.raises(TransientModelError) as caught:
        read(dialect, reply_body(dialect, ending, text))
    assert repr(ending)[:20] in caught.value.message or "no ending" in caught.value.message


@settings(max_examples=50)
@given(st.sampled_from(sorted(ENDINGS)), st.text(max_size=12) | st.integers() | st.booleans())
def test_an_unknown_ending_is_asked_again_in_every_dialect(dialect, ending):
    if ending != "" and str(ending).lower() not in known_endings(dialect):
        with pytest.raises(TransientModelError):
            ended(dialect, ending, Reply(text="B"), {})


def test_a_text_without_an_ending_is_an_answer_where_home_made_servers_speak():
    for dialect, none in (("chat", None), ("chat", ""), ("responses", None)):
        reply = read(dialect, reply_body(dialect, none, "B"))
        assert (reply.finish, state_of(reply)) == (None, "answered")
        with pytest.raises(TransientModelError, match="no ending"):
            read(dialect, reply_body(dialect, None, ""))
    for dialect in ("messages", "generate"):
        with pytest.raises(TransientModelError, match="no ending"):
            read(dialect, reply_body(dialect, None, "B"))


@every_dialect
def test_a_server_that_tells_endings_and_leaves_one_out_has_cut_the_reply(dialect, interface):
    good = {"chat": "stop", "responses": "completed", "messages": "end_turn", "generate": "STOP"}[dialect]
    bodies = iter([reply_body(dialect, good, "A"), reply_body(dialect, None, TORSO), reply_body(dialect, good, "B")])
    with ChatServer(say=lambda received: (200, next(bodies))) as server:
        first, cut, last = answers(interface.open(server), *[ask(picture())] * 3)
    assert (first.text, last.text) == ("A", "B")
    assert isinstance(cut, TransientModelError)


@pytest.mark.parametrize("dialect", sorted(ENDINGS))
@pytest.mark.parametrize(
    ("text", "reasoning", "reason"),
    [
        ("", None, "empty"),
        (None, None, "empty"),
        (" \n", None, "empty"),
        ("<think>A or B?</think>", "A or B?", "only_reasoning"),
        ("<think>A or B", "A or B", "only_reasoning"),
    ],
)
def test_a_reply_that_ended_well_and_says_nothing_is_a_state_of_its_own(dialect, text, reasoning, reason):
    """It was scored 0 as ``answered``, or called ``truncated`` and sent its reader to --max-tokens."""
    good = {"chat": "stop", "responses": "completed", "messages": "end_turn", "generate": "STOP"}[dialect]
    row = reply_row(read(dialect, reply_body(dialect, good, text)), ASKING)
    assert (row.state, row.text, row.reasoning, row.reason) == (ResponseState.EMPTY_REPLY, None, reasoning, reason)
    assert ("reasoning parser" in row.error) is (reason == "only_reasoning")
    assert ("chat template" in row.error) is (reason == "empty")
    assert "max-tokens" not in row.error


def test_thoughts_in_a_channel_of_their_own_and_no_text_are_only_reasoning():
    """vLLM's reasoning parser can take the whole answer."""
    message = {"role": "assistant", "content": None, "reasoning_content": "The sign says B."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    row = reply_row(chat_reply(body, 1), ASKING)
    assert (row.state, row.reason) == (ResponseState.EMPTY_REPLY, "only_reasoning")
    body["choices"][0]["finish_reason"] = "length"
    assert state_of(chat_reply(body, 1)) == "truncated"


def test_an_empty_reading_of_a_picture_stays_an_answer():
    """An OCR reader that finds no text has read the picture."""
    row = reply_row(Reply(text="", finish="stop"), ASKING)
    assert (row.state, row.text, row.error) == (ResponseState.ANSWERED, "", None)


def test_a_refusal_in_words_is_no_empty_reply():
    body = {"choices": [{"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]}
    assert state_of(chat_reply(body, 1)) == "refusal"


def test_anthropics_classifiers_are_a_filter_like_the_others():
    body = {"content": [{"type": "text", "text": "I can"}], "stop_reason": "refusal"}
    row = reply_row(read_message(body), ASKING)
    assert (row.state, row.text) == (ResponseState.FILTERED, "I can")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "type", "thought", "thinking", "parts", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
GOOD = {"chat": "stop", "responses": "completed", "messages": "end_turn", "generate": "STOP"}


@settings(max_examples=120)
@given(st.sampled_from(sorted(GOOD)), json_values, st.integers(0, 4))
def test_no_shape_breaks_a_reader_or_becomes_a_silent_0(dialect, value, place):
    body = reply_body(dialect, GOOD[dialect])
    if dialect == "chat":
        holders = [body, body["choices"][0], body["choices"][0]["message"]]
        holder, key = holders[place % 3], ("choices", "message", "content")[place % 3]
    elif dialect == "responses":
        holder, key = (body, "output") if place % 2 else (body["output"][0], "content")
    elif dialect == "messages":
        holder, key = body, "content"
    else:
        holders = [body, body["candidates"][0], body["candidates"][0]["content"]]
        holder, key = holders[place % 3], ("candidates", "content", "parts")[place % 3]
    holder[key] = value
    body["usage"] = body["usageMetadata"] = value
    body_failure(body)
    faults = []
    try:
        row = reply_row(read(dialect, body), ASKING)
    except TransientModelError as error:
        faults.append(error.fault)
    assert all(faults) if faults else row.state is ResponseState.EMPTY_REPLY or row.text.strip()


@every_dialect
def test_content_of_every_shape_is_read_or_asked_again_and_never_scored_0(dialect, interface):
    wrapped = {
        "chat": lambda value: {"choices": [{"message": {"content": value}, "finish_reason": "stop"}]},
        "responses": lambda value: {"status": "completed", "output": [{"type": "message", "content": value}]},
        "messages": lambda value: {"content": value, "stop_reason": "end_turn"},
        "generate": lambda value: {"candidates": [{"content": {"parts": value}, "finishReason": "STOP"}]},
    }[dialect]
    for value in (["B"], [{"text": "B"}], [{"type": "text" if dialect != "responses" else "output_text", "text": "B"}]):
        assert read(dialect, wrapped(value)).text == "B"
    for value in (5, True, {"a": "B"}, [5], [{"type": "image_url"}] if dialect != "responses" else [7]):
        with pytest.raises(TransientModelError):
            read(dialect, wrapped(value))


@every_dialect
@pytest.mark.parametrize("depth", [150, 500, 900, 1_020, 100_000])
def test_a_reply_of_any_depth_is_no_traceback(dialect, interface, depth):
    """Brackets at a depth between the limits of two decoders ended the whole run with a traceback."""
    good = json.dumps(reply_body(dialect, GOOD[dialect])).encode()
    pairs = (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth)
    told = [
        *((200, pair) for pair in pairs),
        *((200, good[:-1] + b',"odd":' + pair + b"}") for pair in pairs),
        *((200, good[:-1] + b',"x":NaN,"odd":' + pair + b"}") for pair in pairs),
        *((200, good.replace(b'"' + TORSO.encode() + b'"', pair)) for pair in pairs),
        *((500, b'{"error":{"message":' + pair + b"}}") for pair in pairs),
        *((400, b'{"error":{"message":' + pair + b"}}") for pair in pairs),
    ]
    said = iter(told)
    with ChatServer(say=lambda received: (*next(said), "application/json")) as server:
        outcomes = answers(interface.open(server), *[ask(picture())] * len(told))
    assert all(isinstance(one, TransientModelError) for one in outcomes[:-2])
    assert all(isinstance(one, TransientModelError | BadRequestError) for one in outcomes[-2:])


@given(st.integers(1, 3_000), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_is_read_of_json_can_be_walked_and_written(depth, is_object, has_nan):
    inner = b"NaN" if has_nan else b"1"
    payload = b'{"a":' * depth + inner + b"}" * depth if is_object else b"[" * depth + inner + b"]" * depth
    if depth > 100:
        with pytest.raises(ValueError, match="nested too deeply"):
            lenient_json(payload)
    else:
        assert content_sha256(lenient_json(payload))


@every_dialect
@pytest.mark.parametrize("odd", [[1], {"a": []}, 5, True, None, 10**30])
def test_odd_values_beside_an_answer_cost_no_answer(dialect, interface, odd):
    """A fingerprint that was a list ended the run with a traceback."""
    keys = ("id", "responseId", "created", "model", "modelVersion", "system_fingerprint", "provider", "usage")
    body = {**reply_body(dialect, GOOD[dialect], "B"), **dict.fromkeys(keys, odd)}
    with ChatServer(say=lambda received: (200, body)) as server:
        outcomes = answers(interface.open(server), *[ask(picture())] * 2)
    assert [one.text for one in outcomes] == ["B", "B"]


@pytest.mark.parametrize(
    "content",
    [[{"type": "output_text", "text": 5}], [{"type": "output_text", "text": None}], [{"type": "image_url"}], [None]],
)
def test_a_responses_message_whose_parts_hold_no_text_is_asked_again(content):
    """It was an empty reply, which scores 0."""
    body = {"status": "completed", "output": [{"type": "message", "content": content}]}
    with pytest.raises(TransientModelError):
        read_response(body, 1)
    with pytest.raises(TransientModelError):
        read_response({"status": "completed", "output": [{}]}, 1)


@pytest.mark.parametrize("dialect", sorted(ENDINGS))
@pytest.mark.parametrize("text", ["\u200b", "\x00", "\ufeff \n"])
def test_a_text_that_nobody_can_see_is_an_empty_reply(dialect, text):
    assert state_of(read(dialect, reply_body(dialect, GOOD[dialect], text))) == "empty_reply"


def test_equal_faults_are_known_by_what_was_said_and_not_by_their_ids():
    faults = []
    for name, text in (("r1", "x"), ("r2", "x"), ("r3", "y")):
        with pytest.raises(TransientModelError) as caught:
            chat_reply({"id": name, "created": len(faults), **reply_body("chat", "error", text)}, 1)
        faults.append(caught.value.fault)
    assert faults[0] == faults[1] != faults[2]


SPELLED = {
    "text/plain": lambda body: (json.dumps(body).encode(), "text/plain"),
    "octet-stream": lambda body: (json.dumps(body).encode(), "application/octet-stream"),
    "byte order mark": lambda body: (b"\xef\xbb\xbf" + json.dumps(body).encode(), "application/json"),
    "NaN": lambda body: (json.dumps({**body, "odd": float("nan")}).encode(), "application/json"),
    "half a pair": lambda body: (json.dumps(body).replace("The answer", r"\ud83d").encode(), "application/json"),
}


@every_dialect
def test_a_perfect_reply_is_read_however_it_is_sent(dialect, interface):
    """text/plain, a byte order mark, NaN and half a surrogate pair cost eight paid attempts and the answer."""
    good = {"chat": "stop", "responses": "completed", "messages": "end_turn", "generate": "STOP"}[dialect]
    spellings = iter(SPELLED.values())
    with ChatServer(say=lambda received: (200, *next(spellings)(reply_body(dialect, good)))) as server:
        outcomes = answers(interface.open(server), *[ask(picture())] * len(SPELLED))
    assert [getattr(one, "text", one) for one in outcomes] == [*[TORSO] * 4, TORSO.replace("The answer", "\ufffd")]
