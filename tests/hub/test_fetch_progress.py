"""A fetch tells how far it is: lines in a log, events with ``--json``, of bytes and files that really arrived."""

import re
import threading
from types import SimpleNamespace

import msgspec
import pytest
from servers.hub_server import HubFault

from eyechart.cli import _meter
from eyechart.cli._app import run_app
from eyechart.cli._events import Began, Ended, Event, Failed, Note, Progressed
from eyechart.hub import loading
from eyechart.hub.hosts import RemoteFile
from eyechart.hub.record import FetchRecord

FETCH = ["fetch", "sum", "--views", "original,crop_3x", "--jobs", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "sum"


def told(text):
    return [msgspec.json.decode(line, type=Event) for line in text.splitlines()]


def n_bytes_in(folder):
    own = (path for path in folder.rglob("*") if path.is_file() and path.name != "fetched.json")
    return sum(path.stat().st_size for path in own)


def test_events_count_the_bytes_that_arrived_and_stdout_is_the_result_alone(hub, folder, capsys):
    del hub
    assert run_app([*FETCH, "--json"]) == 0
    captured = capsys.readouterr()
    result = msgspec.json.decode(captured.out)
    began, *between, ended = [one for one in told(captured.err) if not isinstance(one, Note)]
    assert began == Began(work="fetch", folder="sum")
    assert ended == Ended(work="fetch")
    assert all(isinstance(one, Progressed) and (one.work, one.unit) == ("fetch", "bytes") for one in between)
    done = [one.n_done for one in between]
    assert done == sorted(done)
    assert between[-1].n_done == between[-1].n_all == result["n_loaded_bytes"] == n_bytes_in(folder)


def test_what_is_there_already_is_not_counted_as_loaded(hub, folder, capsys):
    del hub, folder
    run_app([*FETCH, "--json"])
    capsys.readouterr()
    assert run_app([*FETCH, "--json"]) == 0
    last = [one for one in told(capsys.readouterr().err) if isinstance(one, Progressed)][-1]
    assert last.n_done == 0


def test_a_fetch_that_fails_tells_the_error_and_that_it_ended(hub, capsys):
    hub.add_fault(HubFault("*/crop_3x/*/000075.png", "404"))
    assert run_app([*FETCH, "--json"]) == 1
    events = told(capsys.readouterr().err)
    assert sum(isinstance(one, Ended) for one in events) == 1
    (failed,) = (one for one in events if isinstance(one, Failed))
    assert "000075.png" in failed.message
    last = [one for one in events if isinstance(one, Progressed)][-1]
    assert 0 < last.n_done < last.n_all


def test_a_log_has_lines_with_files_bytes_rate_and_time_left(hub, folder, monkeypatch, capsys):
    del hub
    now = iter(range(0, 10**9, 9))
    monkeypatch.setattr(_meter, "time", SimpleNamespace(monotonic=lambda: float(next(now))))
    assert run_app(FETCH) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if " MB" in line and " files, " in line]
    shown = re.compile(r"\d+ of \d+ files, [\d.,]+ of [\d.,]+ MB(, [\d.]+ MB/s)?(, [\d a-z]+ left)?")
    assert 2 <= len(lines) <= 12
    assert all(shown.fullmatch(line) for line in lines)
    n_files = [int(line.split()[0]) for line in lines]
    assert n_files == sorted(n_files)
    assert any(" left" in line for line in lines)
    assert not any("\r" in line or "\x1b" in line for line in lines)
    assert folder.is_dir()


class SlowHost:
    """A host whose one file arrives by halves: the second when somebody was told of the first."""

    name, repository = "slow", "own/er"

    def __init__(self, content):
        self.content, self.is_told = content, threading.Event()

    def download(self, commit, file, out):
        del commit
        (out / file.path).parent.mkdir(parents=True, exist_ok=True)
        half = len(self.content) // 2
        with (out / file.path).open("wb") as stream:
            stream.write(self.content[:half])
            stream.flush()
            assert self.is_told.wait(60)
            stream.write(self.content[half:])


def test_a_large_file_is_told_while_it_arrives(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "_TELL_SECONDS", 0.02)
    host, heard = SlowHost(b"x" * 1000), []

    def hear(now):
        heard.append(now)
        if now.n_bytes:
            host.is_told.set()

    record = FetchRecord(collection="c", host="slow", repository="own/er", revision="r")
    loader = loading.Loader(host, tmp_path, record, n_at_once=1, on_progress=hear)
    loader.load([RemoteFile("a/b.bin", 1000)])
    assert {one.n_bytes for one in heard} == {0, 500, 1000}
    assert heard[-1] == loading.LoadProgress(1, 1, 1000, 1000)
