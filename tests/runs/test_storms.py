"""A server that misbehaves on purpose, whole runs: the store ends like that of a quiet run."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from powers import as_anybody
from runs_made import question_file
from servers.chat_server import ChatServer, answer_from_picture
from servers.dialects import Answer
from servers.faults import Script

from eyechart.errors import StoreError
from eyechart.kinds import ModelOptions
from eyechart.opening import open_benchmark, open_model, open_prompt
from eyechart.runs import execute
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.options import RunOptions
from eyechart.runs.patience import Patience
from eyechart.runs.plan import PlanOptions
from eyechart.runs.session import run_benchmark
from eyechart.runs.spending import SpendingLimits
from eyechart.runs.store import RunStore
from eyechart.views import resolve_views

QUICK = Patience(first_wait_seconds=0.002, longest_wait_seconds=0.01, attempt_seconds=30.0, max_attempts=40)
STORM = {
    "429-retry-after:0.01": 0.1,
    "500": 0.1,
    "503": 0.05,
    "529": 0.05,
    "truncated-json": 0.05,
    "cut-body": 0.05,
    "wrong-content-type": 0.05,
    "drop": 0.05,
    "empty-choices": 0.05,
    "error-200": 0.05,
    "duplicate": 0.03,
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    data = question_file(tmp_path, n=12)

    def start(server, out, **changes):
        changes.setdefault("loop", LoopSettings(concurrency=8, patience=QUICK))
        changes.setdefault("has_preflight", False)
        return run_benchmark(
            open_benchmark("folder", data, {"box_format": "xyxy"}),
            open_model("openai/local-vlm", ModelOptions(base_url=server.base_url, timeout_seconds=30.0)),
            resolve_views("original,crop_3x")[0],
            open_prompt(),
            options=RunOptions(where=Destination(out=tmp_path / out), **changes),
        )

    return start


def estimates(outcome):
    stored = json.loads((outcome.store.folder / "estimates.json").read_bytes())
    for name in ("id", "created_at", "command"):
        del stored["run"][name]
    return stored


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_a_storm_of_every_fault_ends_in_the_estimates_of_a_quiet_run(run, seed):
    with ChatServer(answer=answer_from_picture) as server:
        quiet = run(server, "quiet")
    with ChatServer(answer=answer_from_picture, script=Script(share=STORM, seed=seed)) as server:
        stormy = run(server, "stormy")
        n_good = sum(entry.event == "answered" and entry.fault is None for entry in server.log)
    assert (stormy.exit_code, stormy.n_missing) == (0, 0)
    assert estimates(stormy) == estimates(quiet)
    # A good reply is asked for once, but for those on a connection that a repeated reply has spoilt.
    assert n_good <= 24 + 8


def test_a_drip_of_bytes_and_a_server_that_hangs_are_given_up_in_time(run):
    script = Script(first=("slow-loris", "hang"))
    with ChatServer(answer=answer_from_picture, script=script) as server:
        patience = Patience(first_wait_seconds=0.002, longest_wait_seconds=0.01, attempt_seconds=2.0)
        outcome = run(server, "slow", loop=LoopSettings(concurrency=16, patience=patience), plan=PlanOptions(limit=3))
    assert outcome.exit_code == 0
    assert {row.attempts for row in outcome.store.responses()} == {3}


def test_an_hour_long_retry_after_ends_cleanly_and_the_same_command_goes_on(run):
    with ChatServer(answer=answer_from_picture, script=Script(faults=(None,) * 10 + ("429-hour",))) as server:
        outcome = run(server, "hour", loop=LoopSettings(concurrency=1, patience=QUICK))
        assert (outcome.exit_code, outcome.n_asked) == (3, 11)
        assert "asks to wait 3,600 s" in outcome.stop.reason
        assert run(server, "hour").exit_code == 0
    assert max(server.asked.values()) == 2


@pytest.mark.parametrize("tokens", [-5, "many", 3.7])
def test_wrong_usage_is_left_out_and_the_answer_stands(run, tokens):
    with ChatServer(answer=Answer(text="A", input_tokens=tokens, output_tokens=tokens, image_tokens=tokens)) as server:
        outcome = run(server, "usage")
    assert outcome.n_missing == 0
    usages = [row.usage for row in outcome.store.responses()]
    assert all(usage is None or usage.input_tokens is None for usage in usages)
    assert outcome.summary.usage is None or outcome.summary.usage.input_tokens is None


def test_a_folder_that_may_not_be_written_is_an_error_with_a_hint(run, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with ChatServer() as server, as_anybody(), pytest.raises(StoreError, match="Permission denied") as caught:
        run(server, "locked/run")
    assert "cannot be written" in caught.value.message
    assert "--out" in caught.value.hint
    assert server.received == []


def test_a_run_folder_that_was_locked_is_an_error_and_goes_on_when_it_is_opened(run, tmp_path):
    """Nothing is asked that could not be stored, and what was stored stays."""
    with ChatServer(answer=answer_from_picture) as server:
        first = run(server, "run", loop=LoopSettings(patience=QUICK, spending=SpendingLimits(max_requests=5)))
        assert first.n_asked == 5
        for room in ("responses", "seen"):
            (tmp_path / "run" / room).chmod(0o500)
        with as_anybody(), pytest.raises(StoreError, match="Permission denied"):
            run(server, "run", loop=LoopSettings(concurrency=2, patience=QUICK))
        assert len(RunStore(tmp_path / "run").index().rows) == 5
        for room in ("responses", "seen"):
            (tmp_path / "run" / room).chmod(0o700)
        assert run(server, "run").n_asked == 19
    # Two were in flight when the first of them could not be stored.
    assert sum(server.asked.values()) <= 24 + 2


def test_pictures_in_a_folder_that_may_not_be_written_are_asked_all_the_same(run, tmp_path):
    (tmp_path / "out").mkdir()
    tmp_path.chmod(0o500)
    try:
        with ChatServer(answer=answer_from_picture) as server, as_anybody():
            assert run(server, "out/run").exit_code == 0
    finally:
        tmp_path.chmod(0o700)


def test_a_file_in_the_place_of_the_folder_is_an_error_before_anything_is_asked(run, tmp_path):
    (tmp_path / "taken").write_text("no folder")
    with ChatServer() as server, pytest.raises(StoreError, match="is a file"):
        run(server, "taken")
    assert server.received == []


def test_a_clock_that_jumps_back_loses_and_repeats_nothing(run, monkeypatch, tmp_path):
    jumps = iter(range(10_000))

    def jumping():
        return datetime.now(UTC) - timedelta(days=365 * (next(jumps) % 3))

    monkeypatch.setattr(execute, "utc_now", jumping)
    with ChatServer(answer=answer_from_picture) as server:
        outcome = run(server, "clock")
        assert outcome.exit_code == 0
        assert run(server, "clock", is_same_weights=True).n_asked == 0
    assert len(RunStore(tmp_path / "clock").index().rows) == 24
