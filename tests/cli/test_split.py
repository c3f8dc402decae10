"""Laws of ``split``: pictures stay whole, the seed decides, and each part can be built by itself."""

import json

import pytest
from releases.made import CLEAN_QUESTIONS, make_release

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.cli._app import run_app
from eyechart.releases.collection import read_ids


@pytest.fixture
def release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_release(tmp_path, CLEAN_QUESTIONS)


def test_split_is_written_and_shown_by_task_and_source(release, tmp_path, capsys):
    arguments = ["split", "sum", "--data", str(release), "--share", "a=0.5", "--share", "b=0.5", "--ids", "lists"]
    assert run_app(arguments) == 0
    shown = capsys.readouterr().out
    for text in ("a (wanted 50 %)", "task OCR", "source mine", "pictures"):
        assert text in shown
    content = json.loads((tmp_path / "split.json").read_text())
    questions = {question.id: question for question in SumKind().open(release, SumOptions()).questions()}
    sides = {(questions[name].image_group, part) for name, part in content["parts"].items()}
    assert len(sides) == len({question.image_group for question in questions.values()})
    listed = {part: read_ids(tmp_path / "lists" / f"{part}.txt") for part in ("a", "b")}
    assert sorted(listed["a"] + listed["b"]) == sorted(questions)


def test_seed_decides_and_json_is_the_file(release, tmp_path, capsys):
    first = ["split", "sum", "--data", str(release), "--json", "--share", "x=0.34", "--share", "y=0.66"]
    printed = []
    for seed in ("1", "1", "2", "3", "4"):
        assert run_app([*first, "--seed", seed]) == 0
        printed.append(json.loads(capsys.readouterr().out))
        assert printed[-1] == json.loads((tmp_path / "split.json").read_text())
    assert printed[0] == printed[1]
    assert len({entry["id"] for entry in printed}) == 4


@pytest.mark.parametrize(
    ("shares", "message"), [(("a=half", "b=0.5"), "is not a number"), (("a=0.2", "b=0.2"), "with sum 1")]
)
def test_shares_must_be_numbers_with_sum_one(release, capsys, shares, message):
    flags = [flag for share in shares for flag in ("--share", share)]
    assert run_app(["split", "sum", "--data", str(release), *flags]) == 2
    assert message in capsys.readouterr().err
