"""In which version of a scorer runs are read: stored scores keep theirs, and what a newer version changes is told."""

import json

import pytest

from eyechart.api import load_run
from eyechart.cli._app import run_app
from eyechart.explorer.study import read_study
from eyechart.runs.choosing import choose_scorer, newest_scorer, stored_version
from eyechart.runs.folders import Destination
from eyechart.runs.score import compare_versions, score_run
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.scorers.option_letter import OptionLetter
from eyechart.views import resolve_views

BEHIND_THE_END = "B</s> Answer: A"
"""Version 1 reads A, the right letter of every question here; version 2 reads B."""


def _run(make, folder, scorer=None):
    questions = [make.question(index) for index in range(8)]

    def script(ask):
        return BEHIND_THE_END if ask.identity.question_id in {questions[0].id, questions[1].id} else "A"

    return run_benchmark(
        make.benchmark(questions),
        make.model(script),
        resolve_views("original")[0],
        make.prompt(),
        options=RunOptions(scorer=scorer, where=Destination(out=folder), has_preflight=False),
    ).store


@pytest.fixture
def old_run(make, tmp_path):
    """A run of before there was a second version: asked with a bare name, scored by version 1."""
    store = _run(make, tmp_path / "old", "option_letter")
    store.score_file("option_letter.strict@2").unlink()
    score_run(store, OptionLetter(1), "strict")
    return store


def _version(chosen):
    return chosen[0].version


def test_a_stored_run_is_read_by_the_version_that_scored_it(old_run):
    assert _version(choose_scorer(old_run, None)) == 1
    assert load_run(old_run.folder).summary.scorer == "option_letter.strict@1"
    assert run_app(["report", str(old_run.folder), "--json"]) == 0
    assert old_run.scorer_ids() == ("option_letter.strict@1",)


def test_a_named_scorer_and_a_new_run_are_of_the_newest_version(old_run, make, tmp_path):
    assert _version(choose_scorer(old_run, "option_letter")) == 2
    assert _version(newest_scorer(old_run, None)) == 2
    assert _run(make, tmp_path / "new").scorer_ids() == ("option_letter.strict@2",)
    pinned = _run(make, tmp_path / "pinned", "option_letter.strict@1")
    assert pinned.scorer_ids() == ("option_letter.strict@1",)
    assert _version(newest_scorer(pinned, None)) == 1


def test_runs_scored_by_different_versions_are_read_by_one(old_run, make, tmp_path):
    new = _run(make, tmp_path / "new", "option_letter")
    assert _version(choose_scorer([old_run, new], None)) == _version(choose_scorer([new, old_run], None)) == 2
    assert _version(choose_scorer([old_run, old_run], None)) == 1
    study = read_study([old_run.folder, new.folder])
    assert {run.scorer_id for run in study.runs} == {"option_letter.strict@2"}


def test_score_says_what_the_newest_version_reads_otherwise_and_keeps_the_earlier_scores(old_run, capsys):
    before = old_run.score_file("option_letter.strict@1").read_bytes()
    assert run_app(["score", str(old_run.folder)]) == 0
    said = capsys.readouterr().err
    assert "option_letter.strict@2 reads 2 of 8 answers otherwise than option_letter.strict@1" in said
    assert "2 scores change, 0 up and 2 down" in said
    assert "in original: A → B" in said
    assert old_run.score_file("option_letter.strict@1").read_bytes() == before
    assert stored_version(old_run, OptionLetter(), "strict") == 2


def test_score_tells_the_same_as_json_beside_the_keys_of_the_summary(old_run, capsys):
    assert run_app(["score", str(old_run.folder), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["scorer"] == "option_letter.strict@2"
    change = content["changed_reading"]
    assert (change["earlier"], change["later"]) == ("option_letter.strict@1", "option_letter.strict@2")
    assert [(one["before"], one["after"], one["score_before"], one["score_after"]) for one in change["changed"]] == [
        ("A", "B", 1.0, 0.0)
    ] * 2
    assert run_app(["score", str(old_run.folder), "--scorer", "option_letter.strict@1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scorer"] == "option_letter.strict@1"


def test_answers_that_both_versions_read_alike_are_not_told(make, tmp_path):
    store = _run(make, tmp_path / "run", "option_letter")
    score_run(store, OptionLetter(1), "strict")
    change = compare_versions(store, "option_letter.strict@1", "option_letter.strict@2")
    assert (change.n_answers, change.n_rising, change.n_falling, len(change.changed)) == (8, 0, 2, 2)
    same = compare_versions(store, "option_letter.strict@2", "option_letter.strict@2")
    assert same.changed == ()


def test_of_two_stored_versions_the_one_that_scored_last_counts(old_run):
    assert run_app(["score", str(old_run.folder)]) == 0
    assert _version(choose_scorer(old_run, None)) == 2
    assert run_app(["score", str(old_run.folder), "--scorer", "option_letter.strict@1"]) == 0
    assert _version(choose_scorer(old_run, None)) == 1
