"""A run that no terminal shows writes few lines."""

import io
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from rich.console import Console
from runs_made import question_file

from eyechart.cli import _meter
from eyechart.cli._app import run_app
from eyechart.cli._events import Began, Ended, Event, Failed, PartProgress, Progressed
from eyechart.cli._progress import RunProgress
from eyechart.cli._work import WorkProgress
from eyechart.explorer.study import read_study
from eyechart.runs.listening import Beginning, Silent
from eyechart.runs.so_far import ScoringListener
from eyechart.schema import (
    ImageRef,
    ModelIdentity,
    Question,
    Request,
    Response,
    ResponseState,
    Sampling,
    Score,
    Size,
    TokenPrice,
    Usage,
)

IMAGE = ImageRef("0" * 64, Size(8, 8), "image/png")

REQUEST = Request(
    id="r",
    benchmark="b",
    question_id="q",
    view="original",
    condition="original",
    pictures=(),
    prompt="?",
    prompt_id="p@1",
    prompt_sha256="",
    choices=("no", "yes"),
    choice_order=(0, 1),
    model=ModelIdentity("simulated", "x"),
    sampling=Sampling(),
)
RESPONSE = Response(request_id="r", state=ResponseState.ANSWERED, text="A")


@pytest.mark.parametrize(
    ("n_requests", "seconds_each", "n_lines"),
    [
        (10, 0.1, 0),  # over before there is anything to tell
        (400, 0.25, 10),  # 100 s: a line per tenth
        (20_000, 0.01, 10),  # 200 s
        (20, 600.0, 20),  # slow answers: a line each
        (7200, 0.5, 60),  # an hour: a line per minute
    ],
)
def test_log_of_a_run_has_a_line_per_tenth_or_per_minute(n_requests, seconds_each, n_lines, monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_meter.time, "monotonic", lambda: now[0])
    with RunProgress(Console(file=io.StringIO())) as progress:
        progress.began(Beginning(folder="r", is_resumed=False, n_planned={"original": n_requests}, n_settled={}))
        for _ in range(n_requests):
            now[0] += seconds_each
            progress.answered(REQUEST, RESPONSE)
    lines = [line for line in capsys.readouterr().err.splitlines() if "answered" in line]
    assert len(lines) == pytest.approx(n_lines, abs=1 + n_lines // 50)
    assert all(", 0 failed, " in line and " left: original " in line for line in lines)


def test_resumed_run_counts_only_what_is_new(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_meter.time, "monotonic", lambda: now[0])
    with RunProgress(Console(file=io.StringIO())) as progress:
        progress.began(Beginning(folder="r", is_resumed=True, n_planned={"original": 100}, n_settled={"original": 90}))
        now[0] += 6
        progress.answered(REQUEST, RESPONSE)
    assert "answered" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("n_views", "line"),
    [
        (2, "1/20 answered, 1 failed, 0.984/min, 19 min 19 s left: original 1/10 (1 failed), view_1 0/10"),
        (20, "1/200 answered, 1 failed, 0.984/min, 3 h 22 min left: view_1 0/10, original 1/10 (1 failed), …"),
    ],
)
def test_plain_lines_tell_the_progress_of_views(n_views, line, monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_meter.time, "monotonic", lambda: now[0])
    planned = {"original" if index == 0 else f"view_{index}": 10 for index in range(n_views)}
    with RunProgress(Console(file=io.StringIO())) as progress:
        progress.began(Beginning(folder="r", is_resumed=False, n_planned=planned, n_settled={}))
        now[0] += 61
        progress.answered(REQUEST, Response(request_id="r", state=ResponseState.TRANSIENT, error="down"))
    assert capsys.readouterr().err.strip() == line


def told(capsys):
    """The events on stderr, each decoded as what the documentation says of it."""
    return [msgspec.json.decode(line, type=Event) for line in capsys.readouterr().err.splitlines()]


RUN = ["run", "folder", "--views", "original,crop_3x", "--option", "box_format=xyxy", "--no-report"]


def start(tmp_path, *more, model="simulated/oracle"):
    data = str(question_file(tmp_path, n=12))
    return run_app([*RUN, "--data", data, "--model", model, "--out", str(tmp_path / "run"), *more])


def test_accuracy_so_far_is_that_of_the_report(tmp_path, capsys):
    assert start(tmp_path, "--json", model="simulated/vlm") == 0
    captured = capsys.readouterr()
    events = [msgspec.json.decode(line, type=Event) for line in captured.err.splitlines()]
    last = [one for one in events if isinstance(one, Progressed)][-1]
    estimates = {one["condition"]: one for one in msgspec.json.decode(captured.out)["estimates"]}
    assert {part.name for part in last.parts} == {"original", "crop_3x"}
    for part in last.parts:
        assert (part.n_done, part.n_all, part.n_scored) == (12, 12, 12)
        assert part.accuracy == pytest.approx(estimates[part.name]["value"])
        assert part.low < part.accuracy < part.high or part.accuracy in {0.0, 1.0}


def test_accuracy_so_far_goes_on_from_earlier_starts(tmp_path, capsys):
    assert start(tmp_path, "--max-requests", "10", "--json") == 3
    capsys.readouterr()
    assert start(tmp_path, "--json") == 0
    events = told(capsys)
    began = next(one for one in events if isinstance(one, Began))
    assert sum(began.settled.values()) == 10
    last = [one for one in events if isinstance(one, Progressed)][-1]
    assert sum(part.n_scored for part in last.parts) == 24
    assert all(part.accuracy == 1.0 for part in last.parts)


def test_with_json_every_line_of_stderr_is_an_event_and_stdout_is_the_result_alone(tmp_path, capsys):
    assert start(tmp_path, "--json") == 0
    captured = capsys.readouterr()
    assert msgspec.json.decode(captured.out)
    kinds = [msgspec.json.decode(line)["event"] for line in captured.err.splitlines()]
    assert kinds.count("began") == kinds.count("ended") == 1
    assert kinds.index("began") < kinds.index("progress") < kinds.index("ended")


def test_with_json_an_error_is_an_event_too(tmp_path, capsys):
    assert start(tmp_path, "--json", "--scorer", "odd") == 2
    (failed,) = (one for one in told(capsys) if isinstance(one, Failed))
    assert "odd" in failed.message
    assert failed.hint
    assert start(tmp_path, "--scorer", "odd") == 2  # and without it, text again
    assert capsys.readouterr().err.startswith("error: ")


def test_spend_is_told_where_a_price_is_known(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_meter.time, "monotonic", lambda: now[0])
    price = TokenPrice(input_per_million=2.0, output_per_million=10.0, source="here", date="2026-01-01")
    beginning = Beginning(folder="r", is_resumed=False, n_planned={"original": 4}, n_settled={}, price=price)
    usage = Usage(input_tokens=100_000, output_tokens=20_000)
    with RunProgress(Console(file=io.StringIO())) as progress:
        progress.began(beginning)
        now[0] += 61
        progress.scored(REQUEST, Score(request_id="r", scorer="s", value=1.0))
        progress.answered(REQUEST, msgspec.structs.replace(RESPONSE, usage=usage))
    assert capsys.readouterr().err.strip() == (
        "1/4 answered, 0 failed, 0.984/min, 3 min 3 s left, $0.40 spent: original 1/4 100 % ± 40 of 1"
    )


def test_scorer_that_fails_ends_no_run():
    class Broken:
        name, version, modes = "broken", 1, ("strict",)

        def score(self, *_):
            raise KeyError("x")

    heard = []

    class Recorder(Silent):
        def scored(self, request, score):
            heard.append(score)

        def noted(self, message):
            heard.append(message)

    question = Question(
        id="q", benchmark="b", text="?", image=IMAGE, image_group="g", choices=("no", "yes"), answer="A"
    )
    listener = ScoringListener(Recorder(), Broken(), "strict", [question])
    for _ in range(3):
        listener.answered(REQUEST, RESPONSE)
    assert heard == ["no accuracy so far: broken failed on q: 'x'"]


@pytest.mark.parametrize(
    ("unit", "line"), [("images", "50/100 images, 49.2/min"), ("bytes", "0.0 of 0.0 MB, 0.0 MB/s")]
)
def test_long_work_writes_plain_lines_with_rate_and_time_left(unit, line, monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_meter.time, "monotonic", lambda: now[0])
    with WorkProgress("build", unit, console=Console(file=io.StringIO())) as progress:
        progress.update(0, 100)
        now[0] += 61
        progress.update(50, 100)
    assert capsys.readouterr().err.strip() == f"{line}, 1 min 1 s left"


@pytest.mark.parametrize(("has_colour", "draws"), [(True, True), (False, False)])
def test_terminal_without_colour_has_plain_lines_and_no_bar(has_colour, draws, monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_meter.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    for progress, step in (
        (lambda console: WorkProgress("build", "images", console=console), lambda one: one.update(50, 100)),
        (RunProgress, lambda one: one.answered(REQUEST, RESPONSE)),
    ):
        console = Console(file=io.StringIO(), force_terminal=True, no_color=not has_colour)
        with progress(console) as shown:
            if isinstance(shown, RunProgress):
                shown.began(Beginning(folder="r", is_resumed=False, n_planned={"original": 9}, n_settled={}))
            else:
                shown.update(0, 100)
            now[0] += 61
            step(shown)
        assert ("\x1b" in console.file.getvalue()) == draws
        assert ("left" in capsys.readouterr().err) != draws


@pytest.mark.parametrize("command", ["build", "verify"])
def test_building_and_checking_tell_events(command, tmp_path, capsys):
    data = str(question_file(tmp_path, n=3))
    build = ["build", "folder", "--data", data, "--option", "box_format=xyxy", "--views", "original,crop_3x"]
    assert run_app([*build, "--out", str(tmp_path / "built"), "--jobs", "1", "--json"]) == 0
    if command == "verify":
        capsys.readouterr()
        assert run_app(["verify", str(tmp_path / "built"), "--jobs", "1", "--json", "--no-open"]) == 0
    events = told(capsys)
    assert next(one for one in events if isinstance(one, Began)).work == command
    last = [one for one in events if isinstance(one, Progressed)][-1]
    assert last.n_done == last.n_all > 0


def test_writing_a_report_tells_how_many_files_are_there(tmp_path, capsys):
    assert start(tmp_path) == 0
    capsys.readouterr()
    out = tmp_path / "report"
    assert run_app(["report", str(tmp_path / "run"), "--out", str(out), "--json"]) == 0
    captured = capsys.readouterr()
    events = [msgspec.json.decode(line, type=Event) for line in captured.err.splitlines()]
    assert [one.work for one in events if isinstance(one, Began | Ended)] == ["report", "report"]
    last = [one for one in events if isinstance(one, Progressed)][-1]
    files = msgspec.json.decode(captured.out)["files"]
    assert (last.unit, last.n_done) == ("files", len(files))
    assert len(files) == len([path for path in out.rglob("*") if path.is_file()])


def test_reading_runs_tells_how_many_are_read(tmp_path):
    assert start(tmp_path) == 0
    heard = []
    read_study([tmp_path / "run"], tell=lambda *counts: heard.append(counts))
    assert heard == [(0, 1), (1, 1)]


def test_every_event_and_its_fields_are_documented():
    text = (Path(__file__).parents[2] / "docs" / "progress.md").read_text(encoding="utf-8")
    for kind in get_args(Event):
        assert f"`{kind.__struct_config__.tag}`" in text
        for field in kind.__struct_fields__:
            assert f"`{field}`" in text, (kind, field)
    for field in PartProgress.__struct_fields__:
        assert f"`{field}`" in text
