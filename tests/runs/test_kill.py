"""Kill -9 at any moment and run again: the same estimates, and nothing asked twice but what was in flight."""

import json
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from runs.killed_run import CONCURRENCY, Pictures, ask_everything, ask_until_interrupted
from servers.chat_server import ChatServer, answer_from_picture

from eyechart.runs.store import RunStore

# Nothing waits this long but on a machine that is very busy.
PATIENCE_SECONDS = 600


class Rounds:
    """Uninterrupted runs, and rounds that are killed once and finished; several may go on at once, each with a server.

    Args:
        tmp_path: Where pictures and runs lie.
        plugin: The plug-in file with the scorer.
        n_questions: Each is asked under three views.
        latency_seconds: What the server takes to answer.
    """

    def __init__(self, tmp_path: Path, plugin: Path, n_questions: int, latency_seconds: float) -> None:
        self._tmp_path, self._plugin, self.n_questions = tmp_path, plugin, n_questions
        self._latency_seconds = latency_seconds
        self.n_requests = 3 * n_questions
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["runs.killed_run"])
        # A process that starts looks whether the others ended, and only one thread may learn how.
        self._processes = threading.Lock()
        Pictures(tmp_path / "pictures", n_questions).make()

    def whole(self, name: str) -> tuple[dict, float]:
        """Return estimates of a run that nothing interrupts, and the seconds from its first request to its last."""
        with self._server() as server:
            self._finish(server, name)
            assert Counter(server.asked.values()) == {1: self.n_requests}
            times = [entry.seconds for entry in server.log if entry.event == "received"]
        return self.estimates(name), max(times) - min(times)

    def killed(self, name: str, kill_after: float) -> bool:
        """Kill a run, finish it, check what was asked; return whether it was killed with requests in flight."""
        with self._server() as server:
            self._kill(server, name, kill_after)
            n_sent = sum(server.asked.values())
            n_stored = self._n_stored(name)
            self._finish(server, name)
            # What the killed process had sent and not stored is asked again, and nothing else.
            n_in_flight = n_sent - n_stored
            assert 0 <= n_in_flight <= CONCURRENCY
            asked = server.asked
            assert len(asked) == self.n_requests
            assert max(asked.values()) <= 2
            assert sum(asked.values()) == self.n_requests + n_in_flight
        return n_stored < self.n_requests and n_in_flight > 0

    def interrupted(self, name: str) -> int:
        """Press Ctrl-C once the first answers are in, then finish; return the exit code of the interrupted process."""
        with self._server() as server:
            child = self._child(server, name, ask_until_interrupted)
            self._await_requests(server, child, self.n_requests // 3)
            assert child.pid is not None
            os.kill(child.pid, signal.SIGINT)
            exit_code = self._exit_code(child)
            self._finish(server, name)
        return exit_code

    def estimates(self, name: str) -> dict:
        stored = json.loads((self._tmp_path / name / "estimates.json").read_bytes())
        for field in ("id", "created_at", "command"):
            del stored["run"][field]
        return stored

    def _server(self) -> ChatServer:
        return ChatServer(latency_seconds=self._latency_seconds, answer=answer_from_picture)

    def _finish(self, server: ChatServer, name: str) -> None:
        """Start the run and wait for its end."""
        assert self._exit_code(self._child(server, name, ask_everything)) == 0

    def _kill(self, server: ChatServer, name: str, kill_after: float) -> None:
        """Start the run, kill it some seconds after its first request, and wait until all it sent has arrived."""
        child = self._child(server, name, ask_everything)
        self._await_requests(server, child, 1)
        time.sleep(kill_after)
        child.kill()
        self._exit_code(child)
        server.wait_until_left()

    def _child(self, server: ChatServer, name: str, target):
        """Start a run and return its process once the interpreter is ready."""
        started = self._context.Event()
        folders = (self._tmp_path / "pictures", self._tmp_path / name)
        arguments = (*folders, self.n_questions, server.base_url, self._plugin, started)
        child = self._context.Process(target=target, args=arguments)
        with self._processes:
            child.start()
        assert started.wait(PATIENCE_SECONDS)
        return child

    def _await_requests(self, server: ChatServer, child, n_requests: int) -> None:
        while len(server.received) < n_requests:
            assert not self._has_ended(child)
            time.sleep(0.005)

    def _has_ended(self, child) -> bool:
        with self._processes:
            return child.exitcode is not None

    def _exit_code(self, child) -> int:
        """Wait for the end of a process."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not self._has_ended(child):
            assert time.monotonic() < until
            time.sleep(0.01)
        return child.exitcode

    def _n_stored(self, name: str) -> int:
        folder = self._tmp_path / name
        return len(RunStore(folder).index().rows) if (folder / "run.json").exists() else 0


def kill_rounds(rounds: Rounds, n_rounds: int, seed: int, n_at_once: int) -> int:
    """Return how many of the rounds were killed with requests in flight."""
    with ThreadPoolExecutor(n_at_once) as pool:
        # Measured as busy as the rounds will be; none of these was faster than the shortest.
        (whole, *others), durations = zip(
            *pool.map(rounds.whole, [f"whole-{n}" for n in range(n_at_once)]), strict=True
        )
        assert all(other == whole for other in others)
        kill_times = np.random.default_rng(seed).uniform(0, min(durations), n_rounds)
        names = [f"round-{number}" for number in range(n_rounds)]
        n_mid_run = sum(pool.map(rounds.killed, names, kill_times.tolist()))
    assert all(rounds.estimates(name) == whole for name in names)
    return n_mid_run


@pytest.fixture
def make_rounds(tmp_path, plugin_file, monkeypatch):
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))
    return lambda *arguments: Rounds(tmp_path, plugin_file, *arguments)


def test_three_killed_runs_end_like_one_that_was_not(make_rounds):
    assert kill_rounds(make_rounds(8, 0.1), 3, seed=1, n_at_once=3) >= 1


def test_ctrl_c_exits_with_130_and_leaves_a_store_that_goes_on(make_rounds):
    rounds = make_rounds(8, 0.15)
    whole, _ = rounds.whole("whole")
    assert rounds.interrupted("interrupted") == 130
    assert rounds.estimates("interrupted") == whole


@pytest.mark.slow(seconds=35)
def test_fifty_killed_runs_end_like_one_that_was_not(make_rounds):
    assert kill_rounds(make_rounds(20, 0.25), 50, seed=2, n_at_once=8) >= 40
