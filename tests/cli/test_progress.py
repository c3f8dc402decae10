"""A run that no terminal shows writes few lines."""

import io

import pytest
from rich.console import Console

from eyechart.cli import _progress
from eyechart.cli._progress import RunProgress
from eyechart.runs.listening import Beginning
from eyechart.schema import ModelIdentity, Request, Response, ResponseState, Sampling

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
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    with RunProgress(Console(file=io.StringIO())) as progress:
        progress.began(Beginning(folder="r", is_resumed=False, n_planned={"original": n_requests}, n_settled={}))
        for _ in range(n_requests):
            now[0] += seconds_each
            progress.answered(REQUEST, RESPONSE)
    lines = [line for line in capsys.readouterr().err.splitlines() if "answered" in line]
    assert len(lines) == pytest.approx(n_lines, abs=1 + n_lines // 50)
    assert not lines or n_lines == 0 or lines[-1].endswith("0 failed")


def test_resumed_run_counts_only_what_is_new(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    with RunProgress(Console(file=io.StringIO())) as progress:
        progress.began(Beginning(folder="r", is_resumed=True, n_planned={"original": 100}, n_settled={"original": 90}))
        now[0] += 6
        progress.answered(REQUEST, RESPONSE)
    assert "answered" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("n_views", "line"),
    [
        (2, "1/20 answered, 1 failed: original 1/10 (1 failed), view_1 0/10"),
        (20, "1/200 answered, 1 failed: view_1 0/10, original 1/10 (1 failed), …"),
    ],
)
def test_plain_lines_tell_the_progress_of_views(n_views, line, monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    planned = {"original" if index == 0 else f"view_{index}": 10 for index in range(n_views)}
    with RunProgress(Console(file=io.StringIO())) as progress:
        progress.began(Beginning(folder="r", is_resumed=False, n_planned=planned, n_settled={}))
        now[0] += 61
        progress.answered(REQUEST, Response(request_id="r", state=ResponseState.TRANSIENT, error="down"))
    assert capsys.readouterr().err.strip() == line
