"""Suspect labels, questions solvable without the picture, near-duplicates: found, counted, and no more claimed."""

import json

import numpy as np
import pytest
from PIL import Image
from releases.made import CLEAN_QUESTIONS, IMAGES, make_release, open_source, write_source

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.cli._app import run_app
from eyechart.opening import open_model, open_prompt
from eyechart.releases.content import check_content
from eyechart.releases.near_duplicates import find_near_duplicates
from eyechart.runs.folders import Destination
from eyechart.runs.plan import PlanOptions
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.views import parse_view

VIEWS = ("original", "crop_3x", "no_image", "blank")
# Right letters: B, A, C, A. What each model says, by question: with the picture, and without.
STUBBORN = {"000000": ("A", "B"), "000001": ("B", "A"), "000002": ("C", "A"), "000003": ("B", "C")}
OTHER = {"000000": ("A", "B"), "000001": ("C", "A"), "000002": ("C", "C"), "000003": ("B", "A")}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return SumKind().open(make_release(tmp_path_factory.mktemp("content"), CLEAN_QUESTIONS), SumOptions())


def asked(release, folder, name, letters, **plan):
    """A run in which a replayed model says these letters."""
    folder.mkdir(exist_ok=True)
    rows = [
        {"id": question_id, "view": view, "response": said[view in ("no_image", "blank")]}
        for question_id, said in letters.items()
        for view in VIEWS
    ]
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run_benchmark(
        release,
        open_model(f"replay/{folder / name}.jsonl"),
        [parse_view(view) for view in VIEWS],
        open_prompt(),
        options=RunOptions(where=Destination(out=folder / name), plan=PlanOptions(**plan)),
    )
    return folder / name


@pytest.fixture
def runs(release, tmp_path):
    return [asked(release, tmp_path / "runs", name, said) for name, said in (("one", STUBBORN), ("two", OTHER))]


def test_label_that_all_models_contradict_alike_is_suspect(release, runs):
    report = check_content(release, runs, n_processes=1)
    suspects = {one.question_id: (one.recorded, one.agreed) for one in report.suspect_labels}
    # The two models contradict 000001 too, but not alike.
    assert suspects == {"000000": ("B. b", "A. a"), "000003": ("A. a", "B. c")}
    assert {one.n_models for one in report.suspect_labels} == {2}
    assert {one.share for one in report.suspect_labels} == {1.0}


def test_one_model_makes_no_label_suspect(release, runs):
    report = check_content(release, runs[:1], n_processes=1)
    assert (len(report.models), report.suspect_labels) == (1, ())


def test_question_answered_right_without_the_picture_by_all_is_listed_with_its_chance(release, runs):
    report = check_content(release, runs, n_processes=1)
    assert [(one.question_id, one.n_answers, one.by_guessing) for one in report.solved_blind] == [
        ("000001", 4, 1 / 16),
        ("000000", 4, 1 / 4),
    ]
    assert report.n_blind == 4
    assert report.blind_expected == pytest.approx(1 / 4 + 1 / 16 + 1 / 9 + 1 / 4)


def test_turned_choices_are_turned_back(release, tmp_path):
    """An oracle that sees the choices in every order names the recorded answer, whatever its letter is then."""
    folders = []
    for name in ("chance", "oracle"):
        run_benchmark(
            release,
            open_model(f"simulated/{name}"),
            [parse_view("original")],
            open_prompt(),
            options=RunOptions(where=Destination(out=tmp_path / name), plan=PlanOptions(rotations=4)),
        )
        folders.append(tmp_path / name)
    assert check_content(release, folders, n_processes=1).suspect_labels == ()


def test_near_duplicates_across_groups_are_found_whatever_their_form(tmp_path):
    write_source(tmp_path, CLEAN_QUESTIONS)
    rng = np.random.default_rng(1)
    smooth = Image.fromarray(rng.integers(0, 255, (6, 8, 3), np.uint8)).resize((320, 240), Image.Resampling.BICUBIC)
    smooth.save(tmp_path / IMAGES[0])
    smooth.resize((64, 48)).save(tmp_path / IMAGES[1], quality=80)
    smooth.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(tmp_path / IMAGES[2])
    (pair,) = find_near_duplicates(open_source(tmp_path), n_processes=1)
    assert (pair.first, pair.second, pair.sources) == ("000000", "000001", ("mine",))
    assert pair.correlation > 0.98


def test_noise_and_flat_pictures_are_no_duplicates(tmp_path, release):
    assert find_near_duplicates(release, n_processes=2) == ()
    write_source(tmp_path, CLEAN_QUESTIONS)
    for number, name in enumerate(IMAGES):
        Image.new("RGB", (64, 48), (number, 9, 9)).save(tmp_path / name)
    assert find_near_duplicates(open_source(tmp_path), n_processes=1) == ()


def test_lists_are_printed_and_their_limits_said(release, runs, capsys):
    flags = [flag for run in runs for flag in ("--run", str(run))]
    assert run_app(["verify", str(release.root), "--content", *flags, "--jobs", "1"]) == 0
    shown = capsys.readouterr()
    for text in (
        "2 of 4 labels that all of 2 models contradict alike",
        "A. a",
        "2 of 4 questions answered right without",
    ):
        assert text in shown.out
    assert "near-duplicates: none" in shown.err
    assert run_app(["verify", str(release.root), "--content", "--jobs", "1"]) == 0
    said = capsys.readouterr().err
    assert "suspect labels need runs of 2 models or more" in said
    assert "need a run with --blind" in said
    assert run_app(["verify", str(release.root), "--content", "--jobs", "1", "--json", *flags]) == 0
    assert len(json.loads(capsys.readouterr().out)["content"]["suspect_labels"]) == 2
    assert run_app(["verify", str(release.root), "--run", str(runs[0])]) == 2
