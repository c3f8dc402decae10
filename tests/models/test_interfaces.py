"""OpenAI's responses, Anthropic's messages and Google's content: the same faults end in the same states."""

import asyncio
import importlib.util
import json
import traceback
from dataclasses import dataclass, field

import pytest
from models.asks import KEY, ask, asked, picture
from servers.chat_server import ChatServer, answer_from_picture
from servers.dialects import Answer
from servers.faults import Script

from eyechart.errors import (
    AuthenticationError,
    BadRequestError,
    MissingDependencyError,
    ModelError,
    RefusedInputError,
    TransientModelError,
    UsageError,
)
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.schema import Sampling


@dataclass(frozen=True)
class Interface:
    """One way to ask: which model name, below which address."""

    provider: str
    path: str
    settings: dict = field(default_factory=dict)

    def open(self, server, timeout_seconds=20.0, extra_body=None, **settings):
        options = ModelOptions(
            base_url=server.url + self.path,
            timeout_seconds=timeout_seconds,
            settings={**self.settings, **settings},
            extra_body=extra_body or {},
        )
        return open_model(f"{self.provider}/local-vlm", options)


def needs(library):
    found = importlib.util.find_spec(library.partition(".")[0]) and importlib.util.find_spec(library)
    return pytest.mark.skipif(not found, reason=f"the SDK {library} is not installed")


RESPONSES = pytest.param(Interface("openai", "/v1", {"interface": "responses"}), id="responses")
ANTHROPIC = pytest.param(Interface("anthropic", ""), id="anthropic", marks=needs("anthropic"))
GOOGLE = pytest.param(Interface("google", ""), id="google", marks=needs("google.genai"))
every_interface = pytest.mark.parametrize("interface", [RESPONSES, ANTHROPIC, GOOGLE])
anthropic_only = pytest.mark.parametrize("interface", [ANTHROPIC])
google_only = pytest.mark.parametrize("interface", [GOOGLE])
responses_only = pytest.mark.parametrize("interface", [RESPONSES])


def answers(model, *questions):
    """Ask one question after the other; return each reply, or the error in its place."""

    async def run():
        outcomes = []
        for question in questions:
            try:
                outcomes.append(await model.answer(question))
            except ModelError as error:
                outcomes.append(error)
        await model.close()
        return outcomes

    return asyncio.run(run())


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
    class Hollow(ChatServer):
        async def _misbehave_or_answer(self, received, writer, fault):
            from servers.chat_server import _send_json

            return await _send_json(writer, 200, {"id": "reply-1"})

    with Hollow() as server:
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


@pytest.mark.parametrize("interface", [RESPONSES, ANTHROPIC])
def test_a_reply_sent_twice_never_answers_the_next_question(interface):
    with ChatServer(answer=lambda received: received.prompt, script=Script(faults=("duplicate",))) as server:
        outcomes = answers(interface.open(server), *(ask(prompt=f"question {n}") for n in range(4)))
    assert "sent one reply twice" in outcomes[1].message
    assert [outcomes[n].text for n in (0, 2, 3)] == ["question 0", "question 2", "question 3"]


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
    class Echoing(ChatServer):
        async def _misbehave_or_answer(self, received, writer, fault):
            from servers.chat_server import _send_json

            error = {"code": 401, "type": "authentication_error", "message": f"no such key {received.key}"}
            return await _send_json(writer, 401, {"type": "error", "error": error})

    with Echoing() as server:
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


@responses_only
def test_responses_settings_go_where_openai_reads_them(interface):
    with ChatServer() as server:
        model = interface.open(server, reasoning_effort="low", verbosity="low", system_prompt="Be brief.", detail="low")
        answers(model, ask(picture(), sampling=Sampling(temperature=None, max_tokens=9)))
    body = server.received[0].json
    assert body["reasoning"] == {"effort": "low"}
    assert body["text"] == {"verbosity": "low"}
    assert body["instructions"] == "Be brief."
    assert body["input"][0]["content"][0]["detail"] == "low"
    assert (body["store"], body["max_output_tokens"]) == (False, 9)
    assert "temperature" not in body


@responses_only
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", TransientModelError),
        ("rate_limit_exceeded", TransientModelError),
        ("image_too_large", RefusedInputError),
        ("invalid_image_format", RefusedInputError),
        ("invalid_prompt", BadRequestError),
    ],
)
def test_a_response_that_failed_later_has_the_state_of_its_code(interface, code, kind):
    class Failing(ChatServer):
        async def _misbehave_or_answer(self, received, writer, fault):
            from servers.chat_server import _send_json

            error = {"code": code, "message": "it failed"}
            return await _send_json(writer, 200, {"id": "r", "status": "failed", "error": error, "output": []})

    with Failing() as server:
        (error,) = answers(interface.open(server), ask(picture()))
    assert type(error) is kind


@anthropic_only
def test_anthropic_settings_go_where_claude_reads_them(interface):
    with ChatServer() as server:
        model = interface.open(
            server, thinking="enabled", thinking_budget=2048, effort="low", top_k="5", oversized_image="error"
        )
        answers(model, ask(picture(), sampling=Sampling(temperature=0.5, top_p=0.9, max_tokens=4000)))
    received = server.received[0]
    assert received.json["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert received.json["output_config"] == {"effort": "low"}
    assert (received.json["temperature"], received.json["top_p"], received.json["top_k"]) == (0.5, 0.9, 5)
    assert received.json["messages"][0]["content"][0]["transformations"] == {"oversized_image": "error"}
    assert received.headers["anthropic-version"] == "2023-06-01"
    assert model.identity.settings["api_version"] == "2023-06-01"


@anthropic_only
@pytest.mark.parametrize(
    "message", ["`temperature` is deprecated for this model.", "temperature: Extra inputs are not permitted"]
)
def test_a_sampling_parameter_that_claude_refuses_stops_the_run(interface, message):
    class Refusing(ChatServer):
        async def _misbehave_or_answer(self, received, writer, fault):
            from servers.chat_server import _send_json

            error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
            return await _send_json(writer, 400, error)

    with Refusing() as server:
        (error,) = answers(interface.open(server), ask(picture()))
    assert error.parameter == "temperature"
    assert "--set temperature=not-sent" in error.hint


@anthropic_only
def test_claude_needs_a_token_limit(interface):
    with ChatServer() as server:
        (error,) = answers(interface.open(server), ask(sampling=Sampling(max_tokens=None)))
    assert (error.parameter, len(server.received)) == ("max_tokens", 0)
    assert "answers no request without max_tokens" in error.message


@google_only
def test_google_settings_go_where_gemini_reads_them(interface):
    with ChatServer() as server:
        model = interface.open(
            server, media_resolution="low", thinking_budget="0", include_thoughts="true", system_prompt="Be brief."
        )
        answers(model, ask(picture(), sampling=Sampling(seed=3, top_p=0.9)))
        answers(interface.open(server, media_resolution="not-sent"), ask(sampling=Sampling(None, None, None, None)))
    first, second = (received.json for received in server.received)
    assert first["generationConfig"] == {
        "temperature": 0,
        "topP": 0.9,
        "seed": 3,
        "maxOutputTokens": 1024,
        "mediaResolution": "MEDIA_RESOLUTION_LOW",
        "thinkingConfig": {"thinking_budget": 0, "include_thoughts": True},
    } or first["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 0, "includeThoughts": True}
    assert "Be brief." in json.dumps(first["systemInstruction"])
    assert not second.get("generationConfig")


@google_only
def test_gemini_image_tokens_and_version_are_read(interface):
    with ChatServer(answer=Answer(image_tokens=1100, reasoning_tokens=7)) as server:
        (reply,) = answers(interface.open(server), ask(picture()))
    assert (reply.usage.image_tokens, reply.usage.reasoning_tokens) == (1100, 7)
    assert reply.seen[0].visual_tokens == 1100


class Saying(ChatServer):
    """Answers everything with one status and body."""

    def __init__(self, status, body):
        super().__init__()
        self._said = (status, body)

    async def _misbehave_or_answer(self, received, writer, fault):
        from servers.chat_server import _send_json

        return await _send_json(writer, *self._said)


@google_only
def test_a_prompt_that_google_blocks_is_filtered(interface):
    with Saying(200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}) as server:
        (reply,) = answers(interface.open(server), ask(picture()))
    assert (reply.text, reply.finish, reply.extra["filter"]) == ("", "content_filter", "PROHIBITED_CONTENT")


@google_only
def test_googles_wait_and_its_rejected_key_are_understood(interface):
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    busy = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [retry]}}
    with Saying(429, busy) as server:
        (error,) = answers(interface.open(server), ask(picture()))
    assert error.retry_after_seconds == 34.5
    rejected = {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}
    with Saying(400, rejected) as server:
        (error,) = answers(interface.open(server), ask(picture()))
    assert isinstance(error, AuthenticationError)


@pytest.mark.parametrize(("provider", "library"), [("anthropic", "anthropic"), ("google", "google.genai")])
def test_a_missing_sdk_names_its_extra(provider, library):
    if importlib.util.find_spec(library.partition(".")[0]) and importlib.util.find_spec(library):
        pytest.skip(f"the SDK {library} is installed")
    with pytest.raises(MissingDependencyError, match="is not installed") as caught:
        open_model(f"{provider}/m")
    assert f"eyechart[{provider}]" in caught.value.hint
