"""OpenAI's responses, Anthropic's messages and Google's content: the same faults end in the same states."""

import asyncio
import importlib.util
import traceback

import pytest
from models.asks import KEY, ask, asked, picture
from models.interfaces import ANTHROPIC, RESPONSES, answers, every_interface
from servers.chat_server import ChatServer, answer_from_picture
from servers.dialects import Answer
from servers.faults import Script

from eyechart.errors import (
    AuthenticationError,
    BadRequestError,
    MissingDependencyError,
    RefusedInputError,
    TransientModelError,
    UsageError,
)
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model


@every_interface
def test_the_model_answers_from_the_pixels_it_was_sent(interface):
    questions = [ask(picture(colour)) for colour in ((255, 0, 0), (0, 200, 0), (0, 0, 255))]
    with ChatServer(answer=answer_from_picture, key=KEY) as server:
        replies = answers(interface.open(server), *questions, ask(picture(kind="JPEG"), picture()), ask())
    assert [getattr(reply, "text", reply) for reply in replies] == ["A", "B", "C", "A", "D"]
    assert [received.prompt for received in server.received] == [ask().prompt] * 5
    first = server.received[3].pictures[0]
    assert (first.encoded, first.media_type) == (picture(kind="JPEG").payload, "image/jpeg")


@every_interface
def test_good_replies_have_usage_and_finish(interface):
    with ChatServer() as server:
        (reply,) = answers(interface.open(server), ask(picture()))
    assert reply.finish == "stop"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 3)
    assert not reply.is_refusal


FAULTS = [
    ("429-retry-after:0.2", TransientModelError, {"retry_after_seconds": 0.2}),
    ("429-hour", TransientModelError, {"retry_after_seconds": 3600.0}),
    ("500", TransientModelError, {"is_connection": False}),
    ("503", TransientModelError, {}),
    ("529", TransientModelError, {}),
    ("truncated-json", TransientModelError, {}),
    ("cut-body", TransientModelError, {"is_connection": False}),
    ("wrong-content-type", TransientModelError, {}),
    ("drop", TransientModelError, {"is_connection": False}),
    ("400-plain", BadRequestError, {"parameter": None}),
    ("400-parameter:temperature", BadRequestError, {"parameter": "temperature"}),
    ("413", RefusedInputError, {}),
    ("400-pixels", RefusedInputError, {}),
    ("400-image", RefusedInputError, {}),
    ("401", AuthenticationError, {}),
    ("403", AuthenticationError, {}),
    ("404", BadRequestError, {"parameter": "model"}),
]


@every_interface
@pytest.mark.parametrize(("fault", "kind", "details"), FAULTS)
def test_each_fault_ends_in_its_own_state_and_is_asked_once(interface, fault, kind, details):
    with ChatServer(script=Script(faults=(fault,))) as server:
        error, after = answers(interface.open(server), ask(picture()), ask(picture()))
    assert type(error) is kind
    assert {name: getattr(error, name) for name in details} == details
    assert after.text == "A"
    assert len(server.received) == 2


@every_interface
def test_a_reply_without_content_and_reason_is_asked_again(interface):
    with ChatServer(say=lambda received: (200, {"id": "reply-1"})) as server:
        (error,) = answers(interface.open(server), ask(picture()))
    assert isinstance(error, TransientModelError)
    assert "holds no" in error.message


@every_interface
@pytest.mark.parametrize("fault", ["hang", "slow-loris"])
def test_a_reply_that_does_not_end_in_time_is_asked_again(interface, fault):
    with ChatServer(script=Script(faults=(fault,))) as server:
        (error,) = answers(interface.open(server, timeout_seconds=0.5), ask(picture()))
    assert isinstance(error, TransientModelError)
    assert "within 0.5 s" in error.message


@every_interface
def test_a_closed_port_is_a_connection_error(interface):
    with ChatServer() as server:
        model = interface.open(server)
    (error,) = answers(model, ask(picture()))
    assert isinstance(error, TransientModelError)
    assert error.is_connection
    assert "no server answered at http://127.0.0.1" in error.message


@every_interface
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("length", {"text": "The sign on the", "finish": "length"}),
        ("content-filter", {"text": "", "finish": "content_filter"}),
        ("think", {"text": "B", "reasoning": "Could be A or B."}),
        ("reasoning", {"text": "B", "reasoning": "Could be A or B."}),
        ("reasoning-cut", {"text": "", "reasoning": "Could be A or", "finish": "length"}),
    ],
)
def test_replies_without_a_plain_answer_keep_their_state(interface, fault, expected):
    with ChatServer(script=Script(faults=(fault,))) as server:
        (reply,) = answers(interface.open(server), ask(picture()))
    assert {name: getattr(reply, name) for name in expected} == expected


@pytest.mark.parametrize("interface", [RESPONSES, ANTHROPIC])
def test_a_refusal_is_marked_and_its_words_are_kept(interface):
    with ChatServer(script=Script(faults=("refusal",))) as server:
        (reply,) = answers(interface.open(server), ask(picture()))
    assert (reply.text, reply.is_refusal) == ("I cannot help with that.", True)


@every_interface
def test_a_reply_sent_twice_never_answers_the_next_question(interface):
    script = Script(faults=(None, "duplicate"))  # the first ids show that they vary
    with ChatServer(answer=lambda received: received.prompt, script=script) as server:
        outcomes = answers(interface.open(server), *(ask(prompt=f"question {n}") for n in range(6)))
    assert isinstance(outcomes[2], TransientModelError)
    assert "sent one reply twice" in outcomes[2].message
    others = [0, 1, 3, 4, 5]
    assert [outcomes[n].text for n in others] == [f"question {n}" for n in others]


@every_interface
def test_absurd_usage_is_missing(interface):
    with ChatServer(script=Script(faults=("wrong-usage",))) as server:
        (reply,) = answers(interface.open(server), ask(picture()))
    assert reply.usage.input_tokens is reply.usage.output_tokens is reply.usage.image_tokens is None


@every_interface
def test_payload_depends_on_pixels_and_prompt_alone(interface):
    identities = [None, asked("sum/000112", "crop_3x", "match_px_32"), asked("gold-B", "downsample_0_25", "x", 7, "r2")]
    with ChatServer() as server:
        answers(interface.open(server), *(ask(picture(), identity=one) for one in identities))
    assert len(server.received) == 3
    assert len(server.asked) == 1
    for received in server.received:
        sent = f"{received.path} {received.headers} {received.body!r}"
        assert not any(word in sent for word in ("000112", "crop", "match_px", "gold", "downsample", "r2"))


@every_interface
def test_a_rejected_key_is_named_by_its_variable_and_never_told(interface, capfd):
    def echo(received):
        error = {"code": 401, "type": "authentication_error", "message": f"no such key {received.key}"}
        return 401, {"type": "error", "error": error}

    with ChatServer(say=echo) as server:
        model = interface.open(server)
        (error,) = answers(model, ask(picture()))
    assert isinstance(error, AuthenticationError)
    assert "_API_KEY" in error.hint
    told = "".join(traceback.format_exception(error)) + error.hint + repr(model.identity) + str(capfd.readouterr())
    assert KEY not in told


@every_interface
def test_a_missing_key_is_named_before_anything_is_sent(interface, monkeypatch):
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(variable)
    model = open_model(f"{interface.provider}/m", ModelOptions(settings=interface.settings))
    with pytest.raises(AuthenticationError, match="_API_KEY is not set"):
        asyncio.run(model.answer(ask()))


@every_interface
def test_an_unknown_setting_names_the_nearest(interface):
    with ChatServer() as server, pytest.raises(UsageError, match="sytem_prompt") as caught:
        interface.open(server, sytem_prompt="x")
    assert caught.value.hint == "did you mean system_prompt?"


@every_interface
def test_extra_body_goes_into_the_request_and_into_the_identity(interface):
    with ChatServer() as server:
        model = interface.open(server, extra_body={"labels": {"a": "b"}})
        answers(model, ask())
    assert server.received[0].json["labels"] == {"a": "b"}
    assert model.identity.settings["extra_body"] == {"labels": {"a": "b"}}


@pytest.mark.parametrize(("provider", "library"), [("anthropic", "anthropic"), ("google", "google.genai")])
def test_a_missing_sdk_names_its_extra(provider, library):
    if importlib.util.find_spec(library.partition(".")[0]) and importlib.util.find_spec(library):
        pytest.skip(f"the SDK {library} is installed")
    with pytest.raises(MissingDependencyError, match="is not installed") as caught:
        open_model(f"{provider}/m")
    assert f"eyechart[{provider}]" in caught.value.hint


@pytest.mark.parametrize("told", [-1, 10**12, pytest.param(10**400, id="huge"), 1e30, "100", True])
@every_interface
def test_a_number_of_tokens_that_cannot_be_one_is_not_known(interface, told):
    """Else the cost of one absurd reply ends the run, or is no number at all."""
    with ChatServer(answer=Answer(text="A", input_tokens=told, output_tokens=3)) as server:
        (reply,) = answers(interface.open(server), ask())
    assert (reply.text, reply.usage.input_tokens) == ("A", None)
