"""Kill -9 at any moment and run again: the same estimates, and nothing asked twice but what was in flight."""

import json
import multiprocessing
import os
import signal
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from runs.killed_run import Pictures, ask_everything, ask_until_interrupted
from servers.chat_server import ServerProcess

from eyechart.runs.store import RunStore

CONCURRENCY = 4
ASKING_SHARE = 0.8


class Rounds:
    """One uninterrupted run, then rounds that are killed once and finished."""

    def __init__(self, tmp_path: Path, plugin: Path, n_questions: int, latency_seconds: float) -> None:
        self._tmp_path, self._plugin, self.n_questions = tmp_path, plugin, n_questions
        self._latency_seconds = latency_seconds
        self.n_requests = 3 * n_questions
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["runs.killed_run"])
        Pictures(tmp_path / "pictures", n_questions).make()

    def whole(self, name: str) -> tuple[dict, float]:
        """Return estimates of a run that nothing interrupts, and how long it asked."""
        with self._server(name) as server:
            duration = self._finish(server, name)
            assert Counter(server.asked.values()) == {1: self.n_requests}
        return self.estimates(name), duration

    def killed(self, name: str, kill_after: float) -> bool:
        """Kill a run, finish it, check what was asked; return whether it was killed with requests in flight."""
        with self._server(name) as server:
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
        with self._server(name) as server:
            child = self._child(server, name, ask_until_interrupted)
            while sum(server.asked.values()) < self.n_requests // 3:
                time.sleep(0.01)
            assert child.pid is not None
            os.kill(child.pid, signal.SIGINT)
            child.join(60)
            self._finish(server, name)
        return child.exitcode

    def estimates(self, name: str) -> dict:
        stored = json.loads((self._tmp_path / name / "estimates.json").read_bytes())
        for field in ("id", "created_at", "command"):
            del stored["run"][field]
        return stored

    def _server(self, name: str) -> ServerProcess:
        log = self._tmp_path / f"{name}.log"
        return ServerProcess(log=log, latency_seconds=self._latency_seconds, answer="picture")

    def _finish(self, server: ServerProcess, name: str) -> float:
        """Start the run and wait for its end; return the seconds from its first request to its end."""
        child = self._child(server, name, ask_everything)
        began = self._first_request(server, child)
        child.join(120)
        assert child.exitcode == 0
        return time.monotonic() - began

    def _kill(self, server: ServerProcess, name: str, kill_after: float) -> None:
        """Start the run and kill it some seconds after its first request."""
        child = self._child(server, name, ask_everything)
        self._first_request(server, child)
        time.sleep(kill_after)
        child.kill()
        child.join(60)

    def _first_request(self, server: ServerProcess, child) -> float:
        """Wait for a request that was not there before, or for the end of the run; return the time."""
        n_before = sum(server.asked.values())
        while child.is_alive() and sum(server.asked.values()) == n_before:
            time.sleep(0.005)
        return time.monotonic()

    def _child(self, server: ServerProcess, name: str, target):
        """Start a run and return its process once the interpreter is ready."""
        started = self._context.Event()
        folders = (self._tmp_path / "pictures", self._tmp_path / name)
        arguments = (*folders, self.n_questions, server.base_url, self._plugin, started)
        child = self._context.Process(target=target, args=arguments)
        child.start()
        assert started.wait(60)
        return child

    def _n_stored(self, name: str) -> int:
        folder = self._tmp_path / name
        return len(RunStore(folder).index().rows) if (folder / "run.json").exists() else 0


def kill_rounds(rounds: Rounds, n_rounds: int, seed: int) -> int:
    """Return how many of the rounds were killed with requests in flight."""
    whole, duration = rounds.whole("whole")
    # After the last request come scores and estimates, which are no part of the time in which it asks.
    duration *= ASKING_SHARE
    rng = np.random.default_rng(seed)
    n_mid_run = 0
    for number in range(n_rounds):
        n_mid_run += rounds.killed(f"round-{number}", float(rng.uniform(0, duration)))
        assert rounds.estimates(f"round-{number}") == whole
    return n_mid_run


@pytest.fixture
def make_rounds(tmp_path, plugin_file, monkeypatch):
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))
    return lambda *arguments: Rounds(tmp_path, plugin_file, *arguments)


def test_three_killed_runs_end_like_one_that_was_not(make_rounds):
    assert kill_rounds(make_rounds(8, 0.08), 3, seed=1) >= 1


def test_ctrl_c_exits_with_130_and_leaves_a_store_that_goes_on(make_rounds):
    rounds = make_rounds(8, 0.15)
    whole, _ = rounds.whole("whole")
    assert rounds.interrupted("interrupted") == 130
    assert rounds.estimates("interrupted") == whole


@pytest.mark.slow
def test_fifty_killed_runs_end_like_one_that_was_not(make_rounds):
    assert kill_rounds(make_rounds(30, 0.1), 50, seed=2) >= 40
