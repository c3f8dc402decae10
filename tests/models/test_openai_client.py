"""A real server that misbehaves: faults end in their own states, no key leaks, only pixels and prompt are sent."""

import asyncio
import logging
import socket
import traceback

import pytest
from models.asks import KEY, ask, asked, picture
from servers.chat_server import ChatServer, answer_from_picture
from servers.faults import Script

from eyechart.errors import (
    AuthenticationError,
    BadRequestError,
    ModelError,
    RefusedInputError,
    TransientModelError,
    UsageError,
)
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.schema import Sampling

CHAT_PROVIDERS = (
    *("openai", "azure", "openrouter", "together", "dashscope"),
    *("vllm", "sglang", "ollama", "lmstudio"),
)


def answers(server, *questions, spec="openai/local-vlm", timeout_seconds=20.0, settings=None):
    """Ask one question after the other; return each reply, or the error in its place."""

    async def run():
        options = ModelOptions(base_url=server.base_url, timeout_seconds=timeout_seconds, settings=settings or {})
        model = open_model(spec, options)
        outcomes = []
        try:
            for question in questions:
                try:
                    outcomes.append(await model.answer(question))
                except ModelError as error:
                    outcomes.append(error)
        finally:
            await model.close()
        return outcomes

    return asyncio.run(run())


def test_the_model_answers_from_the_pixels_it_was_sent():
    questions = [ask(picture(colour)) for colour in ((255, 0, 0), (0, 200, 0), (0, 0, 255), (90, 90, 90))]
    with ChatServer(answer=answer_from_picture) as server:
        replies = answers(server, *questions, ask(picture(kind="JPEG")), ask())
    assert [reply.text for reply in replies] == ["A", "B", "C", "D", "A", "D"]


def test_the_picture_arrives_byte_for_byte():
    sent = picture((10, 20, 30), kind="JPEG")
    with ChatServer() as server:
        answers(server, ask(sent))
    received = server.received[0].pictures[0]
    assert (received.encoded, received.media_type) == (sent.payload, "image/jpeg")


FAULTS = [
    ("429", TransientModelError, {"retry_after_seconds": None}),
    ("429-retry-after:0.2", TransientModelError, {"retry_after_seconds": 0.2}),
    ("429-hour", TransientModelError, {"retry_after_seconds": 3600.0}),
    ("500", TransientModelError, {"is_connection": False}),
    ("truncated-json", TransientModelError, {}),
    ("cut-body", TransientModelError, {"is_connection": False}),
    ("wrong-content-type", TransientModelError, {}),
    ("drop", TransientModelError, {"is_connection": False}),
    ("empty-choices", TransientModelError, {}),
    ("error-200", TransientModelError, {}),
    ("400-parameter:top_p", BadRequestError, {"parameter": "top_p"}),
    ("400-plain", BadRequestError, {"parameter": None}),
    ("413", RefusedInputError, {}),
    ("400-pixels", RefusedInputError, {}),
    ("400-image", RefusedInputError, {}),
    ("400-context", RefusedInputError, {}),
    ("401", AuthenticationError, {}),
    ("403", AuthenticationError, {}),
    ("429-quota", AuthenticationError, {}),
]


@pytest.mark.parametrize(("fault", "kind", "details"), FAULTS)
def test_each_fault_ends_in_its_own_state_and_is_asked_once(fault, kind, details):
    with ChatServer(script=Script(faults=(fault,))) as server:
        error, after = answers(server, ask(picture()), ask(picture()))
    assert type(error) is kind
    assert {name: getattr(error, name) for name in details} == details
    assert after.text == "A"
    assert len(server.received) == 2


@pytest.mark.parametrize("fault", ["hang", "slow-loris"])
def test_a_reply_that_does_not_end_in_time_is_asked_again(fault):
    with ChatServer(script=Script(faults=(fault,))) as server:
        (error,) = answers(server, ask(picture()), timeout_seconds=0.4)
    assert isinstance(error, TransientModelError)
    assert "within 0.4 s" in error.message


def test_a_retry_after_date_becomes_a_wait_in_seconds():
    with ChatServer(script=Script(faults=("429-date:40",))) as server:
        (error,) = answers(server, ask(picture()))
    assert 30 < error.retry_after_seconds <= 40


def test_a_reply_sent_twice_never_answers_the_next_question():
    def numbered(received):
        return received.prompt

    questions = [ask(prompt=f"question {n}") for n in range(6)]
    with ChatServer(answer=numbered, script=Script(faults=(None, "duplicate"))) as server:
        outcomes = answers(server, *questions)
    assert isinstance(outcomes[2], TransientModelError)
    assert "sent one reply twice" in outcomes[2].message
    others = [0, 1, 3, 4, 5]
    assert [outcomes[n].text for n in others] == [f"question {n}" for n in others]


STATES = [
    ("empty", {"text": "", "finish": "stop"}),
    ("null", {"text": "", "finish": "stop"}),
    ("refusal", {"text": "I cannot help with that.", "is_refusal": True}),
    ("length", {"text": "The sign on the", "finish": "length"}),
    ("content-filter", {"text": "", "finish": "content_filter"}),
    ("400-filter", {"text": "", "finish": "content_filter"}),
    ("think", {"text": "B", "reasoning": "Could be A or B."}),
    ("think-cut", {"text": "", "finish": "length"}),
    ("reasoning", {"text": "B", "reasoning": "Could be A or B."}),
    ("reasoning-cut", {"text": "", "reasoning": "Could be A or", "finish": "length"}),
]


@pytest.mark.parametrize(("fault", "expected"), STATES)
def test_replies_without_a_plain_answer_keep_their_state(fault, expected):
    with ChatServer(script=Script(faults=(fault,))) as server:
        (reply,) = answers(server, ask(picture()))
    assert {name: getattr(reply, name) for name in expected} == expected


def test_absurd_usage_is_missing_and_good_usage_is_kept():
    with ChatServer(script=Script(faults=("wrong-usage", "reasoning"))) as server:
        absurd, good = answers(server, ask(picture()), ask(picture()))
    assert absurd.usage.input_tokens is absurd.usage.output_tokens is absurd.usage.image_tokens is None
    assert (good.usage.input_tokens, good.usage.image_tokens, good.usage.reasoning_tokens) == (100, 85, 7)
    assert good.seen[0].visual_tokens == 85
    assert good.provider_fingerprint == "fp_local"


def test_an_unknown_model_names_the_nearest_that_the_server_offers():
    with ChatServer(script=Script(faults=("404",))) as server:
        (error,) = answers(server, ask(), spec="openai/locl-vlm")
    assert (error.parameter, error.hint) == ("model", "did you mean local-vlm?")


def test_an_unknown_model_lists_what_the_server_offers():
    with ChatServer(script=Script(faults=("404",))) as server:
        (error,) = answers(server, ask(), spec="openai/gpt-9")
    assert error.hint == f"{server.base_url} offers local-vlm"


def test_a_wrong_path_names_the_address():
    with ChatServer() as server:
        options = ModelOptions(base_url=server.url + "/nowhere")
        with pytest.raises(BadRequestError, match="404") as caught:
            asyncio.run(open_model("openai/m", options).answer(ask()))
    assert f"the base URL {server.url}/nowhere, which usually ends in /v1" in caught.value.hint


def test_a_closed_port_is_a_connection_error():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(TransientModelError, match=f"no server answered at {url}") as caught:
        asyncio.run(open_model("vllm/m", ModelOptions(base_url=url)).answer(ask()))
    assert caught.value.is_connection
    assert "is the server running" in caught.value.hint


def test_fingerprint_is_asked_for_only_when_asked_for():
    async def run(base_url, name):
        model = open_model(f"vllm/{name}", ModelOptions(base_url=base_url))
        try:
            return await model.fingerprint()
        finally:
            await model.close()

    models = ({"id": "a", "root": "org/weights"}, {"id": "b", "root": "org/weights"}, {"id": "c"})
    with ChatServer(models=models) as server:
        prints = [asyncio.run(run(server.base_url, name)) for name in "abcd"]
    assert prints[0] == prints[1]
    assert len(prints[0]) == 64
    assert prints[2:] == [None, None]


def test_only_what_is_set_is_sent():
    with ChatServer() as server:
        answers(server, ask(sampling=Sampling(temperature=None, max_tokens=5)), ask(sampling=Sampling(seed=3, top_p=1)))
    first, second = (received.json for received in server.received)
    assert sorted(first) == ["max_completion_tokens", "messages", "model"]
    assert (second["temperature"], second["seed"], second["top_p"]) == (0, 3, 1)


@pytest.mark.parametrize("provider", CHAT_PROVIDERS)
def test_payload_depends_on_pixels_and_prompt_alone(provider):
    """Scrambled ids, views, conditions and repeats leave every sent byte as it was."""
    identities = [
        None,
        asked("sum/000112", "crop_3x", "match_px_32", 0, "r1"),
        asked("gold-B.png", "downsample_0_25", "other", 7, "r2"),
    ]
    with ChatServer() as server:
        answers(server, *(ask(picture(), identity=one) for one in identities), spec=f"{provider}/local-vlm")
    assert len(server.asked) == 1
    assert len(server.received) == 3
    for received in server.received:
        sent = f"{received.path} {received.headers} {received.body!r}"
        assert not any(word in sent for word in ("000112", "crop", "match_px", "gold", "downsample", "r2"))


def test_openai_organisation_is_told_to_nobody_else(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-planted")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-planted")
    with ChatServer() as server:
        answers(server, ask(), spec="vllm/local-vlm")
        answers(server, ask(), spec="openai/local-vlm")
    own, others = server.received[1].headers, server.received[0].headers
    assert "org-planted" not in str(others)
    assert "proj-planted" not in str(others)
    assert KEY not in str(others)
    assert own["openai-organization"] == "org-planted"


class TestKey:
    """The key goes into one header and nowhere else."""

    def test_key_of_the_environment_is_sent_and_checked(self, monkeypatch):
        with ChatServer(key=KEY) as server:
            assert answers(server, ask())[0].text == "A"
            monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
            (error,) = answers(server, ask())
        assert isinstance(error, AuthenticationError)
        assert "OPENAI_API_KEY" in error.hint

    def test_a_missing_key_is_named_before_anything_is_sent(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY")
        model = open_model("openai/gpt-4o")
        with pytest.raises(AuthenticationError, match="OPENAI_API_KEY is not set"):
            asyncio.run(model.answer(ask()))

    def test_a_server_of_ones_own_needs_no_key(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY")
        with ChatServer() as server:
            assert answers(server, ask())[0].text == "A"

    @pytest.mark.parametrize("fault", ["401", "400-echo", "500-echo", "drop", "hang", "truncated-json", "404"])
    def test_key_is_in_no_error_no_log_and_no_identity(self, fault, caplog, monkeypatch, capfd):
        monkeypatch.setenv("OPENAI_LOG", "debug")
        caplog.set_level(logging.DEBUG)

        def echo(received):
            return int(fault[:3]), {"error": {"message": f"no such key {received.key}", "code": None, "param": None}}

        say = echo if fault.endswith("-echo") else None
        with ChatServer(script=Script(faults=(fault,)), say=say) as server:
            options = ModelOptions(base_url=server.base_url, timeout_seconds=1.0)
            model = open_model("openai/local-vlm", options)
            with pytest.raises(ModelError) as caught:
                asyncio.run(model.answer(ask(picture())))
        told = "".join(traceback.format_exception(caught.value))
        output = capfd.readouterr()
        for text in (told, caught.value.hint, caplog.text, output.out, output.err, repr(model.identity)):
            assert KEY not in text

    def test_a_key_with_a_line_break_inside_is_refused_unread(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-planted\nvalue")
        with pytest.raises(AuthenticationError, match="holds characters that no key has") as caught:
            asyncio.run(open_model("openai/gpt-4o").answer(ask()))
        assert "planted" not in caught.value.message


class TestBaseUrl:
    """Where a model is reached: as given, from the environment, or the provider's own place."""

    def test_base_url_of_the_environment_is_used(self, monkeypatch):
        with ChatServer() as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            model = open_model("openai/local-vlm")
            assert asyncio.run(model.answer(ask())).text == "A"

    def test_a_bad_base_url_is_refused_at_once(self):
        with pytest.raises(UsageError, match="'localhost:8000' is not a web address"):
            open_model("openai/m", ModelOptions(base_url="localhost:8000"))

    def test_a_bad_base_url_of_the_environment_stops_the_run(self, monkeypatch):
        monkeypatch.setenv("OPENAI_BASE_URL", "localhost")
        with pytest.raises(BadRequestError, match="OPENAI_BASE_URL 'localhost' is not a web address") as caught:
            asyncio.run(open_model("openai/m").answer(ask()))
        assert caught.value.parameter == "base_url"

    def test_a_provider_without_a_place_of_its_own_asks_for_one(self, monkeypatch):
        monkeypatch.delenv("AZURE_OPENAI_BASE_URL", raising=False)
        with pytest.raises(BadRequestError, match="azure has no address of its own"):
            asyncio.run(open_model("azure/m").answer(ask()))


def test_many_questions_at_once_get_their_own_answers():
    async def run(base_url):
        model = open_model("openai/local-vlm", ModelOptions(base_url=base_url))
        try:
            questions = [ask(prompt=f"question {n}") for n in range(60)]
            return [reply.text for reply in await asyncio.gather(*map(model.answer, questions))]
        finally:
            await model.close()

    with ChatServer(answer=lambda received: received.prompt, latency_seconds=0.05) as server:
        assert asyncio.run(run(server.base_url)) == [f"question {n}" for n in range(60)]
    assert server.max_in_flight > 10


def test_all_chat_providers_are_tested_here():
    from eyechart.models._chat_settings import ChatSettings
    from eyechart.registry import load, names

    found = [name for name in names("model") if issubclass(load("model", name).settings, ChatSettings)]
    assert sorted(found) == sorted(CHAT_PROVIDERS)
