"""Laws of what the explorer reads: every answer that is there, and a name of its own for every run."""

import os
import shutil

import pytest

from eyechart.cli._app import run_app
from eyechart.errors import StoreError
from eyechart.explorer.labels import tell_apart
from eyechart.explorer.links import ServerLinks
from eyechart.explorer.pages import run_tabs
from eyechart.explorer.study import read_study
from eyechart.runs.store import RunStore


@pytest.fixture
def scored_halfway(explored_folders, tmp_path):
    """A run that was scored when it had half of its answers, and then went on."""
    folder = tmp_path / "halfway"
    shutil.copytree(explored_folders[1], folder)
    (whole,) = (folder / "responses").glob("*.jsonl")
    lines = whole.read_bytes().splitlines(keepends=True)
    whole.write_bytes(b"".join(lines[:5]))
    assert run_app(["score", str(folder)]) == 0
    whole.write_bytes(b"".join(lines))
    return folder, len(lines)


@pytest.mark.parametrize("seconds", [-60, 60])
def test_answers_that_came_after_the_scores_are_shown(scored_halfway, seconds):
    """Times of files are of no help where a run was copied."""
    folder, n_answers = scored_halfway
    (answers,) = (folder / "responses").glob("*.jsonl")
    later = (folder / "estimates.json").stat().st_mtime + seconds
    os.utime(answers, (later, later))
    run = read_study([folder]).run(0)
    assert run.present.sum() == n_answers
    assert sum(one.n_answered for one in run.summary.conditions) == n_answers


def test_stored_scores_are_read_where_nothing_came_after_them(scored_halfway, monkeypatch):
    folder, _ = scored_halfway
    assert run_app(["score", str(folder)]) == 0
    monkeypatch.setattr("eyechart.explorer.study.judge", lambda *_: pytest.fail("judged again"))
    monkeypatch.setattr("eyechart.explorer.study.estimate", lambda *_: pytest.fail("estimated again"))
    assert read_study([folder]).run(0).summary.n_questions == 6


def test_empty_estimates_are_an_error_in_words(explored_folders, tmp_path):
    folder = tmp_path / "cut"
    shutil.copytree(explored_folders[1], folder)
    assert run_app(["score", str(folder)]) == 0
    (folder / "estimates.json").write_bytes(b"")
    with pytest.raises(StoreError, match=r"estimates\.json is empty"):
        read_study([folder])


def test_runs_of_one_model_are_told_apart(explored_folders, tmp_path):
    folders = []
    for name in ("2026-11-30-x-0a1b2c", "2026-11-30-x-3d4e5f"):
        shutil.copytree(explored_folders[1], tmp_path / name)
        folders.append(tmp_path / name)
    tabs = run_tabs(read_study([*folders, explored_folders[0]]), ServerLinks())
    assert [tab.label for tab in tabs[:2]] == ["simulated/vlm · 0a1b2c", "simulated/vlm · 3d4e5f"]
    assert tabs[2].label.startswith("replay/")
    assert "·" not in tabs[2].label


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (("cold", "warm"), ("simulated/vlm · cold", "simulated/vlm · warm")),
        (("a-0a1b2c", "b-0a1b2c"), ("simulated/vlm · a-0a1b2c", "simulated/vlm · b-0a1b2c")),
        (("same", "same"), ("simulated/vlm · same (0)", "simulated/vlm · same (1)")),
    ],
)
def test_no_two_runs_share_a_label(explored_folders, folders, expected):
    run = RunStore(explored_folders[1]).run
    assert tell_apart([run, run], folders) == expected
