"""No model client follows a redirect: not for a question, a batch, a download or a listing, at no provider."""

import asyncio
import datetime

import pytest
from models.asks import KEY, ask, picture
from models.interfaces import anthropic_only, needs
from servers.waypoints import GOOD, Waypoint

from eyechart.errors import BadRequestError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.runs.execute import read_identity
from eyechart.runs.listening import Silent
from eyechart.runs.patience import Patience

STATUSES = (301, 302, 303, 307, 308)
every_status = pytest.mark.parametrize("status", STATUSES)
RESPONSES = {"interface": "responses"}
PROVIDERS = [
    *(pytest.param(name, {}, id=name) for name in ("openai", "azure", "openrouter", "together", "dashscope")),
    *(pytest.param(name, {}, id=name) for name in ("vllm", "sglang", "ollama", "lmstudio")),
    pytest.param("openai", RESPONSES, id="responses"),
    pytest.param("anthropic", {}, id="anthropic", marks=needs("anthropic")),
    pytest.param("google", {}, id="google", marks=needs("google.genai")),
]
BATCHED = [
    pytest.param("openai", id="openai"),
    pytest.param("anthropic", id="anthropic", marks=needs("anthropic")),
]


@pytest.fixture(scope="module")
def elsewhere():
    """Where redirects lead: it would answer anything, and must never be asked."""
    with Waypoint() as server:
        yield server


@pytest.fixture(scope="module")
def moved():
    with Waypoint() as server:
        yield server


@pytest.fixture
def between(moved, elsewhere):
    """A function that sets what the model's address answers, and a check that nothing went further."""
    moved.visits.clear()
    elsewhere.visits.clear()

    def answer(status, location=None, pages=None):
        there = f"{elsewhere.url}/secret/path?key=secret" if location is None else location
        moved.status, moved.pages = status, pages or {}
        moved.headers = {"location": there} if there else {}
        return moved

    yield answer
    assert elsewhere.visits == []


def opened(server, provider, settings=None):
    return open_model(f"{provider}/m", ModelOptions(base_url=f"{server.url}/v1", settings=settings or {}))


def fault_of(model, call):
    """Make a call and return the error that it ends in."""

    async def run():
        try:
            await call(model)
        finally:
            await model.close()

    with pytest.raises(BadRequestError) as caught:
        asyncio.run(run())
    return caught.value


def check(error, status, target):
    assert error.parameter == "base_url"
    assert f"HTTP {status}" in error.message
    assert target in error.message
    assert "--base-url" in error.hint
    assert "secret" not in error.message + error.hint
    assert KEY not in error.message + error.hint


@every_status
@pytest.mark.parametrize(("provider", "settings"), PROVIDERS)
def test_a_redirected_question_names_the_target_and_goes_no_further(
    between, elsewhere, monkeypatch, provider, settings, status
):
    server = between(status)
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
    error = fault_of(opened(server, provider, settings), lambda model: model.answer(ask(picture())))
    check(error, status, elsewhere.url)
    assert len(server.visits) == 1


CALLS = {
    "submit": lambda model: model.submit_batch({"r": {"model": "m", "max_tokens": 1, "messages": []}}, "label"),
    "find": lambda model: model.find_batch("label", datetime.datetime.now(datetime.UTC), 1, ()),
    "progress": lambda model: model.batch_progress("b"),
    "replies": lambda model: model.batch_replies("b", {"r": ask()}),
}


@every_status
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("provider", BATCHED)
def test_a_redirected_batch_names_the_target_and_goes_no_further(between, elsewhere, provider, call, status):
    error = fault_of(opened(between(status), provider), CALLS[call])
    check(error, status, elsewhere.url)


@every_status
def test_a_redirected_download_of_replies_names_the_target(between, elsewhere, status):
    """The batch itself is told well; only its file of replies is somewhere else."""
    pages = {"/v1/batches/b": {"id": "b", "status": "completed", "output_file_id": "f", "error_file_id": None}}
    error = fault_of(opened(between(status, pages=pages), "openai"), CALLS["replies"])
    check(error, status, elsewhere.url)


@anthropic_only
def test_results_of_a_batch_that_lie_at_another_host_are_asked_of_the_models_own(between, elsewhere, interface):
    """A batch names an address for its results, which is no redirect and would get the key all the same."""
    result = {"custom_id": "r", "result": {"type": "succeeded", "message": {**GOOD, "type": "message"}}}
    pages = {"/v1/v1/messages/batches/b": {"id": "b", "results_url": f"{elsewhere.url}/results"}}
    server = between(500, pages={**pages, "/v1/v1/messages/batches/b/results": result})
    model = opened(server, interface.provider)

    async def run():
        try:
            return await CALLS["replies"](model)
        finally:
            await model.close()

    ((request_id, reply),) = asyncio.run(run())
    assert (request_id, reply.text) == ("r", "A")


@every_status
def test_a_redirected_listing_of_models_ends_the_run_before_it_begins(between, elsewhere, status):
    server = between(status)
    with pytest.raises(BadRequestError) as caught:
        asyncio.run(read_identity(opened(server, "openai"), Patience(), Silent()))
    check(caught.value, status, elsewhere.url)
    assert [visit.path for visit in server.visits] == ["/v1/models"]


@every_status
def test_a_redirected_question_about_picture_sizes_names_the_target(between, elsewhere, status):
    error = fault_of(opened(between(status), "vllm"), lambda model: model.seen_rule(datetime.date(2026, 12, 1)))
    check(error, status, elsewhere.url)


def hint_for(between, location, status=307):
    return fault_of(opened(between(status, location), "openai"), lambda model: model.answer(ask()))


def test_a_redirect_of_the_same_address_speaks_of_the_path(between):
    error = hint_for(between, "/v1/chat/completions/?secret")
    assert "to another path" in error.hint
    assert "secret" not in error.message + error.hint


def test_a_redirect_to_another_scheme_of_the_same_host_names_the_address_to_give(between):
    error = hint_for(between, "https://127.0.0.1/v1/chat/completions", 301)
    assert error.message.endswith("to https://127.0.0.1:443")
    assert "give it as https://127.0.0.1:443" in error.hint


@pytest.mark.parametrize(
    "location",
    ["", "ftp://host.example/x", "http://[::1", "http://host.example:99999/", "javascript:alert(1)"],
)
def test_a_redirect_to_no_web_address_is_one_all_the_same(between, location):
    error = hint_for(between, location)
    assert error.parameter == "base_url"
    assert "names no web address" in error.message


def test_user_and_password_of_a_target_are_not_shown(between):
    error = hint_for(between, "https://user:secret@host.example:8443/x")
    assert error.message.endswith("to https://host.example:8443")
    assert "secret" not in error.hint


@pytest.mark.parametrize("status", [300, 304, 305, 399])
def test_every_other_status_from_300_is_a_fault_of_the_address_too(between, status):
    assert hint_for(between, "", status).parameter == "base_url"


def test_the_answer_elsewhere_would_have_been_taken(elsewhere):
    """Else these tests could not fail: what the other host says is a good answer to every provider."""
    for provider, settings in [("openai", {}), ("openai", RESPONSES), ("anthropic", {}), ("google", {})]:
        model = opened(elsewhere, provider, settings)

        async def run(model=model):
            try:
                return await model.answer(ask())
            finally:
                await model.close()

        assert asyncio.run(run()).text == GOOD["content"][0]["text"]
    elsewhere.visits.clear()
