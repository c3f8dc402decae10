"""Over a Ray cluster: only what is missing is asked, servers are balanced, workers may be killed, nothing is lost."""

import datetime
import os
import signal
import threading
import time

import pytest
from runs_made import question_file
from servers.chat_server import ChatServer, answer_from_picture
from servers.dialects import Answer

from eyechart.kinds import ModelOptions
from eyechart.opening import open_benchmark, open_prompt
from eyechart.registry import load_plugin
from eyechart.runs.balanced import open_balanced
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.options import RunOptions
from eyechart.runs.patience import Patience
from eyechart.runs.ray_engine import Counter, RayWork
from eyechart.runs.session import run_benchmark
from eyechart.runs.spending import SpendingLimits
from eyechart.schema import TokenPrice, encode_record
from eyechart.views import resolve_views

VIEWS = "original,crop_3x"
DEADLY = '''
import os
from eyechart.kinds import ModelOptions, Reply
from eyechart.models.simulated import SimulatedSettings
from eyechart.schema import ModelIdentity

class Deadly:
    """Answers A, and ends its process where the question is about the seventh picture."""

    reads, max_concurrency = "pixels", None
    identity = ModelIdentity("deadly", "m", fingerprint="f")

    async def answer(self, ask):
        if ask.pictures[0].pixels()[0, 0, 0] == 7:
            os._exit(1)
        return Reply(text="A", finish="stop")

    async def close(self):
        pass

class DeadlyKind:
    settings = SimulatedSettings

    def open(self, name, options):
        return Deadly()

EYECHART = {"model": {"deadly": DeadlyKind}}
'''


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray")
    # Ray gives its own processes thirty seconds to start; the first start on a slow machine reads all of it from disk.
    for n_left in (2, 1, 0):
        try:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
            break
        except Exception:
            ray.shutdown()
            if n_left == 0:
                raise
    yield ray
    ray.shutdown()


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("VLLM_API_KEY", "none")

    def start(model, urls=(), *, n=40, plugins=(), spending=None, n_workers=None, **changes):
        data = tmp_path / "questions.jsonl"
        if not data.exists():
            question_file(tmp_path, n=n)
        options = {"box_format": "xyxy"}
        work = RayWork(
            benchmark="folder",
            data=str(data),
            benchmark_options=options,
            model=model,
            model_options=ModelOptions(base_url=next(iter(urls), None)),
            base_urls=tuple(urls),
            plugins=plugins,
            n_workers=n_workers,
        )
        return run_benchmark(
            open_benchmark("folder", data, options),
            open_balanced(model, work.model_options, urls),
            resolve_views(VIEWS)[0],
            open_prompt(),
            options=RunOptions(
                where=Destination(out=tmp_path / "run"),
                ray=work,
                has_preflight=False,
                loop=LoopSettings(
                    concurrency=4,
                    patience=Patience(first_wait_seconds=0.01, attempt_seconds=60),
                    spending=spending or SpendingLimits(),
                ),
                **changes,
            ),
        )

    return start


@pytest.mark.ray
def test_everything_is_asked_once_and_servers_are_balanced(cluster, run):
    with ChatServer(answer=answer_from_picture) as first, ChatServer(answer=answer_from_picture) as second:
        outcome = run("vllm/local-vlm", (first.base_url, second.base_url))
        assert (outcome.exit_code, outcome.n_asked, outcome.stop) == (0, 80, None)
        n_asked = [n_answers(server) for server in (first, second)]
        assert sum(n_asked) == 80
        assert min(n_asked) > 20
        again = run("vllm/local-vlm", (first.base_url, second.base_url))
        assert (again.n_asked, n_answers(first) + n_answers(second)) == (0, 80)


def n_answers(server):
    """Requests for an answer; what the server is asked about its own picture handling costs nothing."""
    return sum(one.path.endswith("/chat/completions") for one in server.received)


@pytest.mark.ray
def test_a_worker_killed_in_the_middle_loses_nothing_that_was_answered(cluster, run, tmp_path):
    killed = []

    def kill_the_first_worker():
        folder = tmp_path / "run" / "responses"
        while not killed:
            for path in folder.glob("*.jsonl"):
                if path.read_bytes().count(b"\n") >= 3:
                    pid = int(path.stem.rsplit("-", 3)[1])
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                    return
            time.sleep(0.01)

    watching = threading.Thread(target=kill_the_first_worker, daemon=True)
    with ChatServer(answer=answer_from_picture, latency_seconds=0.05) as server:
        watching.start()
        outcome = run("vllm/local-vlm", (server.base_url,))
        n_twice = sum(times - 1 for times in server.asked.values())
    watching.join(5)
    assert killed
    assert (outcome.exit_code, outcome.n_missing) == (0, 0)
    # Two requests of each worker are in flight at a time; a worker is killed once.
    assert n_twice <= 2


@pytest.mark.full
@pytest.mark.ray
def test_a_block_that_always_kills_its_worker_is_given_up_and_said(cluster, run, tmp_path):
    plugin = tmp_path / "deadly.py"
    plugin.write_text(DEADLY)
    load_plugin(plugin)
    outcome = run("deadly/m", plugins=(str(plugin),))
    assert outcome.exit_code == 3
    assert "came back without an answer" in outcome.stop.reason
    assert 2 <= outcome.n_missing <= 16
    assert outcome.n_asked == 80 - outcome.n_missing


@pytest.mark.full
@pytest.mark.ray
def test_what_concerns_the_whole_run_ends_it(cluster, run):
    with ChatServer(key="another") as server:
        outcome = run("vllm/local-vlm", (server.base_url,))
    assert outcome.exit_code == 3
    assert "HTTP 401" in outcome.stop.reason


@pytest.mark.ray
@pytest.mark.parametrize("n_workers", [pytest.param(1, marks=pytest.mark.full), 2])
def test_max_requests_holds_for_all_workers_together(cluster, run, n_workers):
    with ChatServer(answer=answer_from_picture, latency_seconds=0.02) as server:
        first = run("vllm/local-vlm", (server.base_url,), spending=SpendingLimits(max_requests=21), n_workers=n_workers)
        assert (n_answers(server), first.n_asked, first.n_missing, first.exit_code) == (21, 21, 59, 3)
        assert first.stop.reason == "--max-requests 21 is reached"
        again = run("vllm/local-vlm", (server.base_url,), spending=SpendingLimits(max_requests=100))
        assert (again.n_asked, again.exit_code, n_answers(server)) == (59, 0, 80)


@pytest.mark.ray
def test_max_cost_holds_for_all_workers_together_and_counts_what_was_spent_before(cluster, run):
    price = TokenPrice(input_per_million=10.0, output_per_million=10.0, date=datetime.date(2026, 1, 2), source="test")
    with ChatServer(answer=cent, latency_seconds=0.02) as server:
        first = run("vllm/local-vlm", (server.base_url,), spending=SpendingLimits(max_dollars=0.205), price=price)
        assert (n_answers(server), first.exit_code) == (20, 3)
        assert "--max-cost 0.205 is reached: $0." in first.stop.reason
        again = run("vllm/local-vlm", (server.base_url,), spending=SpendingLimits(max_dollars=0.305), price=price)
        assert (again.n_asked, n_answers(server)) == (10, 30)
    assert again.summary.expense.dollars == pytest.approx(0.30)


def cent(received):
    """Answer with tokens that cost one cent."""
    return Answer(text=answer_from_picture(received), input_tokens=990, output_tokens=10)


@pytest.mark.ray
def test_what_ends_the_run_for_one_worker_ends_it_for_all_and_loses_no_answer(cluster, run):
    """One server of two refuses the key: what the other has in flight is awaited, and nothing more is asked."""
    with ChatServer(answer=answer_from_picture, latency_seconds=0.3) as good, ChatServer(key="another") as bad:
        outcome = run("vllm/local-vlm", (good.base_url, bad.base_url))
        assert "HTTP 401" in outcome.stop.reason
        assert outcome.n_asked == n_answers(good)
        assert outcome.n_missing > 40


def test_the_first_cost_is_not_awaited_for_ever(make):
    """Whoever asks the first answer may be killed, and then its cost never comes."""
    request = make.plan().requests[0]
    line = encode_record(request)
    price = {"input_per_million": 10.0, "output_per_million": 10.0, "date": "2026-01-02", "source": "test"}
    limits = {"max_dollars": 1.0, "price": price}
    patient, hasty = (Counter(limits, 0.0, None, 0, seconds) for seconds in (60.0, -1.0))
    for counter in (patient, hasty):
        assert counter.begin(line) == (True, "", "")
        assert counter.begin(line) == (False, "", "")
    assert patient.begin(line) == (False, "", "")
    assert hasty.begin(line) == (True, "", "")


def test_nobody_sends_anything_after_a_stop(make):
    line = encode_record(make.plan().requests[0])
    counter = Counter({}, 0.0, None, 0, 60.0)
    assert counter.begin(line) == (True, "", "")
    counter.stop("the key is wrong", "try another")
    assert counter.begin(line) == (False, "the key is wrong", "try another")
