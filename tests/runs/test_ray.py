"""Over a Ray cluster: only what is missing is asked, servers are balanced, workers may be killed, nothing is lost."""

import os
import signal
import threading
import time

import pytest
from runs_made import question_file
from servers.chat_server import ChatServer, answer_from_picture

from eyechart.errors import MissingDependencyError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_benchmark, open_prompt
from eyechart.registry import load_plugin
from eyechart.runs.balanced import open_balanced
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.options import RunOptions
from eyechart.runs.patience import Patience
from eyechart.runs.ray_engine import RayWork, check_ray
from eyechart.runs.session import run_benchmark
from eyechart.runs.spending import SpendingLimits
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
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield ray
    ray.shutdown()


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("VLLM_API_KEY", "none")

    def start(model, urls=(), *, n=40, plugins=(), **changes):
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
                loop=LoopSettings(concurrency=4, patience=Patience(first_wait_seconds=0.01, attempt_seconds=10)),
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


@pytest.mark.ray
def test_what_concerns_the_whole_run_ends_it(cluster, run):
    with ChatServer(key="another") as server:
        outcome = run("vllm/local-vlm", (server.base_url,))
    assert outcome.exit_code == 3
    assert "HTTP 401" in outcome.stop.reason


def test_bounds_that_need_one_place_to_count_are_refused():
    for limits in (SpendingLimits(max_requests=5), SpendingLimits(max_dollars=5.0)):
        with pytest.raises((UsageError, MissingDependencyError), match=r"cannot keep --max-cost|ray is not installed"):
            check_ray(LoopSettings(spending=limits))
