"""Laws of ``score --predictions``: both accuracies, what another kit made of the same answers, and no run touched."""

import json

import pytest
from releases.kit_files import kit_table, write_xlsx
from releases.made import CLEAN_QUESTIONS, make_release

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.cli._app import run_app


@pytest.fixture
def release(tmp_path):
    return make_release(tmp_path, CLEAN_QUESTIONS)


def test_predictions_of_two_views_are_scored_by_view_family_source_and_task(release, tmp_path, capsys):
    rows = [
        {"id": f"{number:06d}", "view_id": view, "response": "A"}
        for view in ("crop_1x", "crop_3x")
        for number in range(3)
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run_app(["score", "--predictions", str(tmp_path / "p.jsonl"), "--data", str(release)]) == 0
    shown = capsys.readouterr().out
    for text in ("family:crop", "4 questions, scored by option_letter.strict@2", "By source.", "By task.", "Macro"):
        assert text in shown
    assert shown.count("25.0 [") >= 2


def test_table_of_a_kit_is_compared_without_any_data(tmp_path, capsys):
    questions = [SumKind().open(make_release(tmp_path), SumOptions()).questions()]
    rows = kit_table(list(questions[0]), ["B", "It is red.", "C", "A"], hit=[1, 1, 1, 0])
    path = write_xlsx(tmp_path / "m_D_gpt_result.xlsx", rows)
    assert run_app(["score", "--predictions", str(path)]) == 0
    shown = capsys.readouterr()
    assert "theirs, % [95 %]" in shown.out
    assert "2 items changed:" in shown.out
    assert "It is red." in shown.out
    assert run_app(["score", "--predictions", str(path), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [item["question_id"] for item in content["compared"][0]["changed"]] == ["1", "3"]


@pytest.mark.parametrize("arguments", [[], ["run", "--predictions", "p.jsonl"]])
def test_run_and_predictions_exclude_each_other(arguments, capsys):
    assert run_app(["score", *arguments]) == 2
    assert "score needs a run folder or --predictions" in capsys.readouterr().err


def test_folder_with_one_file_per_view_is_read(release, tmp_path, capsys):
    (tmp_path / "answers").mkdir()
    for view in ("original", "crop_3x"):
        (tmp_path / "answers" / f"{view}.csv").write_text("id,response\n0,B\n1,A\n2,C\n3,A\n")
    assert run_app(["score", "--predictions", str(tmp_path / "answers"), "--data", str(release)]) == 0
    shown = capsys.readouterr()
    assert "original.csv: 4 predictions" in shown.err
    assert "difference from original" in shown.out
    (tmp_path / "empty").mkdir()
    assert run_app(["score", "--predictions", str(tmp_path / "empty"), "--data", str(release)]) == 2
    assert "holds no prediction file" in capsys.readouterr().err


def test_predictions_that_do_not_exist_are_named(tmp_path, capsys):
    assert run_app(["score", "--predictions", str(tmp_path / "gone.jsonl")]) == 2
    assert "gone.jsonl does not exist" in capsys.readouterr().err
