"""One command started twice must not pay twice, and nothing that is dead, idle or a shard may be in the way."""

import os
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from runs_made import question_file
from servers.chat_server import ChatServer

from eyechart.errors import UsageError
from eyechart.runs import writers
from eyechart.runs.execute import writer_name
from eyechart.runs.folders import Destination
from eyechart.runs.listening import Silent
from eyechart.runs.session import RunOptions, ask_shard, run_benchmark
from eyechart.runs.shard import Shard
from eyechart.runs.store import RunStore
from eyechart.runs.writers import check_alone
from eyechart.views import resolve_views

has_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files of others cannot be told here")
HOLD = """
import os, sys
file = open(sys.argv[1].replace("PID", str(os.getpid())), "a")
if sys.argv[2] == "answered":
    print("{}", file=file, flush=True)
if sys.argv[2] == "idle":
    file.close()
print("ready", flush=True)
sys.stdin.read()
"""


def host():
    return re.sub(r"-\d+-[0-9a-f]{8}$", "", writer_name())


@pytest.fixture
def hold(tmp_path):
    """Start a process that has a writer's file open, has closed it, or wrote into it; return it."""
    (tmp_path / "responses").mkdir()
    started = []

    def start(state):
        name = str(tmp_path / "responses" / f"{host()}-PID-0123abcd.jsonl")
        command = [sys.executable, "-c", HOLD, name, state]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(child)
        assert child.stdout.readline() == "ready\n"
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


@pytest.fixture
def own(tmp_path):
    def make():
        path = tmp_path / "responses" / f"{writer_name()}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.touch()
        return path

    return make


def now():
    return datetime.now(UTC)


@has_proc
@pytest.mark.parametrize("state", ["empty", "answered"])
def test_process_that_has_its_file_open_is_named_with_the_way_out(hold, own, state):
    child = hold(state)
    mine = own()
    os.utime(mine, (mine.stat().st_mtime + 1,) * 2)  # made in one tick of the clock, names would decide
    with pytest.raises(UsageError, match=f"process {child.pid} on this machine is asking this run too") as caught:
        check_alone(mine, now())
    assert "--shard i/n" in caught.value.hint


@has_proc
def test_process_that_began_later_is_left_to_give_way_itself(hold, own):
    mine = own()
    hold("empty")
    assert check_alone(mine, now()) is None


@has_proc
def test_process_that_began_later_and_has_answers_is_not_joined(hold, own):
    mine = own()
    hold("answered")
    with pytest.raises(UsageError):
        check_alone(mine, now())


@has_proc
def test_process_that_lives_and_asks_nothing_is_in_nobodys_way(hold, own):
    hold("idle")  # a notebook whose run ended
    assert check_alone(own(), now()) is None


def test_process_that_was_killed_is_in_nobodys_way(hold, own):
    child = hold("answered")
    child.kill()
    child.wait()
    assert check_alone(own(), now()) is None


@pytest.mark.parametrize(("age", "is_told"), [(timedelta(seconds=5), True), (timedelta(minutes=2), False)])
def test_another_machine_is_warned_of_if_it_wrote_within_a_minute(own, tmp_path, age, is_told):
    mine = own()
    (tmp_path / "responses" / "node-7-42-0123abcd.jsonl").write_text("{}\n")
    warning = check_alone(mine, now() + age)
    assert (warning is not None) == is_told
    if is_told:
        assert "a process on node-7 (42) wrote into this run" in warning
        assert "--shard i/n" in warning


def test_where_open_files_cannot_be_told_a_live_process_is_warned_of(hold, own, monkeypatch, tmp_path):
    monkeypatch.setattr(writers, "_OWN_DESCRIPTORS", tmp_path / "no-proc")
    child = hold("answered")
    assert f"({child.pid})" in check_alone(own(), now())
    child.kill()
    child.wait()
    assert check_alone(own(), now()) is None


@pytest.mark.parametrize("name", ["merged", "w", "mine-x-0123abcd"])
def test_files_that_no_process_is_named_in_are_passed_over(own, tmp_path, name):
    mine = own()
    (tmp_path / "responses" / f"{name}.jsonl").write_text("{}\n")
    assert check_alone(mine, now()) is None


class Told(Silent):
    def __init__(self):
        self.notes = []

    def noted(self, message):
        self.notes.append(message)


@pytest.fixture
def ask(make, tmp_path, tiny_letter):
    """A function that asks a run of four questions into this test's folder, or one shard of it."""

    def start(shard=None, listener=None):
        model = make.model()
        options = RunOptions(scorer=tiny_letter, shard=shard, where=Destination(out=tmp_path))
        benchmark = make.benchmark(make.question(index) for index in range(4))
        begin = run_benchmark if shard is None else ask_shard
        try:
            begin(benchmark, model, resolve_views("original")[0], make.prompt(), options=options, listener=listener)
        finally:
            assert model.is_closed
        return model

    return start


@pytest.fixture
def planned(ask, tmp_path):
    """The folder of a run of which half is answered."""
    ask(Shard(1, 2))
    for path in (tmp_path / "responses").iterdir():
        path.rename(path.with_name("earlier.jsonl"))
    (tmp_path / "responses").rename(tmp_path / "away")
    return tmp_path


@has_proc
def test_a_second_run_asks_nothing_and_leaves_no_file(planned, hold, ask):
    child = hold("empty")
    with pytest.raises(UsageError, match="is asking this run too"):
        ask()
    assert [path.name.split("-")[-2] for path in (planned / "responses").iterdir()] == [str(child.pid)]
    child.kill()
    child.wait()
    assert len(ask().asked) == 4


@has_proc
def test_shards_beside_a_live_process_and_runs_with_nothing_to_ask_are_not_affected(planned, hold, ask):
    hold("empty")
    assert len(ask(Shard(1, 2)).asked) + len(ask(Shard(2, 2)).asked) == 4
    assert ask().asked == []


def test_a_run_beside_another_machine_warns_and_asks(planned, ask):
    (planned / "responses").mkdir()
    (planned / "responses" / "node7-42-0123abcd.jsonl").touch()
    told = Told()
    assert len(ask(listener=told).asked) == 4
    assert any("a process on node7 (42)" in note for note in told.notes)


@has_proc
def test_three_commands_started_at_once_ask_everything_once(tmp_path):
    data = question_file(tmp_path, n=10)
    with ChatServer(latency_seconds=0.4) as server:
        command = [sys.executable, "-m", "eyechart", "run", "folder", "--data", str(data), "--no-preflight"]
        command += ["--option", "box_format=xyxy", "--model", "openai/local-vlm", "--base-url", server.base_url]
        command += ["--views", "original", "--out", str(tmp_path / "run"), "--no-report", "--concurrency", "2"]
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        started = [
            subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
            for _ in range(3)
        ]
        told = [one.communicate(timeout=120)[1] for one in started]
        assert Counter(one.returncode for one in started) == {0: 1, 2: 2}, told
        assert sum(server.asked.values()) == 10
    assert sum("is asking this run too" in words for words in told) == 2
    assert RunStore(tmp_path / "run").index().n_rows == 10
