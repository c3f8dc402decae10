"""What belongs to one interface alone: its settings, its states, its spelling of errors."""

import json

import pytest
from models.asks import ask, picture
from models.interfaces import answers, anthropic_only, google_only, responses_only
from servers.chat_server import ChatServer
from servers.dialects import Answer

from eyechart.errors import AuthenticationError, BadRequestError, RefusedInputError, TransientModelError
from eyechart.schema import Sampling


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
    error = {"code": code, "message": "it failed"}
    body = {"id": "r", "status": "failed", "error": error, "output": []}
    with ChatServer(say=lambda received: (200, body)) as server:
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
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    with ChatServer(say=lambda received: (400, body)) as server:
        (error,) = answers(interface.open(server), ask(picture()))
    assert error.parameter == "temperature"
    assert "--temperature not-sent" in error.hint


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


@google_only
def test_a_prompt_that_google_blocks_is_filtered(interface):
    with ChatServer(say=lambda received: (200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})) as server:
        (reply,) = answers(interface.open(server), ask(picture()))
    assert (reply.text, reply.finish, reply.extra["filter"]) == ("", "content_filter", "PROHIBITED_CONTENT")


@google_only
def test_googles_wait_and_its_rejected_key_are_understood(interface):
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    busy = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [retry]}}
    with ChatServer(say=lambda received: (429, busy)) as server:
        (error,) = answers(interface.open(server), ask(picture()))
    assert error.retry_after_seconds == 34.5
    rejected = {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}
    with ChatServer(say=lambda received: (400, rejected)) as server:
        (error,) = answers(interface.open(server), ask(picture()))
    assert isinstance(error, AuthenticationError)
