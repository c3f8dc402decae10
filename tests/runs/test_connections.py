"""What stands between a run and its model ends the run at once, and stores nothing that the next start believes."""

import pytest
from servers.certificates import make_certificate
from servers.chat_server import ChatServer
from servers.waypoints import Waypoint

from eyechart.errors import BadRequestError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.options import RunOptions
from eyechart.runs.session import run_benchmark
from eyechart.views import resolve_views

N_QUESTIONS = 40
LISTING = {"/v1/models": {"data": [{"id": "m", "root": "weights"}]}}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for variable in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.lower(), raising=False)
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def run(make, tmp_path, tiny_letter):
    def start(spec, base_url, concurrency=1):
        options = RunOptions(
            scorer=tiny_letter,
            loop=LoopSettings(concurrency=concurrency),
            where=Destination(out=tmp_path / "run"),
            has_preflight=False,
        )
        benchmark = make.benchmark(make.question(index) for index in range(N_QUESTIONS))
        model = open_model(spec, ModelOptions(base_url=base_url))
        return run_benchmark(benchmark, model, resolve_views("no_image")[0], make.prompt(), options=options)

    return start


def stored(folder):
    return [line for path in (folder / "run").glob("responses/*") for line in path.read_text().splitlines()]


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_run_ends_at_the_first_redirect_and_a_mended_address_is_asked_for_all(run, tmp_path, status, concurrency):
    with Waypoint() as elsewhere:
        headers = {"location": f"{elsewhere.url}/v1/chat/completions"}
        with Waypoint(status=status, headers=headers, pages=LISTING) as moved:
            with pytest.raises(BadRequestError, match="redirect") as caught:
                run("sglang/m", f"{moved.url}/v1", concurrency)
            assert caught.value.parameter == "base_url"
            assert sum(visit.method == "POST" for visit in moved.visits) <= concurrency
        assert elsewhere.visits == []
        assert stored(tmp_path) == []
    with ChatServer(models=({"id": "m", "root": "weights"},)) as server:
        outcome = run("sglang/m", server.base_url)
    assert (outcome.exit_code, outcome.n_asked) == (0, N_QUESTIONS)


def test_a_redirect_of_the_question_about_picture_sizes_ends_the_run_before_it_begins(run, tmp_path):
    with Waypoint(status=307, headers={"location": "https://model.example/v1"}, pages=LISTING) as moved:
        with pytest.raises(BadRequestError, match="redirect"):
            run("vllm/m", f"{moved.url}/v1")
        assert sum(visit.method == "POST" for visit in moved.visits) == 1
    assert not (tmp_path / "run").exists()


def test_a_run_ends_at_the_first_untrusted_certificate(run, tmp_path):
    with ChatServer(tls=make_certificate(tmp_path).tls) as server:
        with pytest.raises(BadRequestError, match="the certificate of"):
            run("sglang/m", server.base_url)
        assert server.received == []
    assert stored(tmp_path) == []


@pytest.mark.parametrize("spec", ["sglang/m", "anthropic/m"])
def test_a_proxy_that_cannot_be_used_is_a_usage_error_of_the_run(run, tmp_path, monkeypatch, spec):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-planted-0123456789")
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:9")
    with pytest.raises(UsageError, match="ALL_PROXY names a proxy of the unknown kind") as caught:
        run(spec, "https://model.example/v1")
    assert caught.value.exit_code == 2
    assert stored(tmp_path) == []


@pytest.mark.parametrize("concurrency", [1, 64])
def test_a_run_pays_each_honest_reply_once(run, concurrency):
    """A server as common inference servers are: an empty id, the second it was made in, and one letter."""

    def say(received):
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "A"}}
        return 200, {"id": "", "created": 1_764_547_200 + len(server.received) // 20, "choices": [choice]}

    with ChatServer(say=say, models=({"id": "m", "root": "weights"},)) as server:
        outcome = run("sglang/m", server.base_url, concurrency)
    assert (outcome.exit_code, outcome.n_missing) == (0, 0)
    assert len(server.received) == N_QUESTIONS
