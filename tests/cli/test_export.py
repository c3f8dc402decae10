"""Laws of ``eyechart export``: several runs in one table, and the documented GEE runs on it."""

import csv
import json

import pytest
from runs_made import question_file

import eyechart
from eyechart.cli._app import run_app


@pytest.fixture
def folders(tmp_path):
    questions = eyechart.benchmark("folder", question_file(tmp_path), box_format="xyxy")
    for name in ("vlm", "chance"):
        eyechart.run(questions, model=f"simulated/{name}", views="original,crop_3x", out=tmp_path / name)
    return [str(tmp_path / name) for name in ("vlm", "chance")]


def test_several_runs_are_one_table_and_the_documented_model_fits(folders, tmp_path, capsys):
    out = tmp_path / "long.csv"
    assert run_app(["export", *folders, "--out", str(out)]) == 0
    assert "160 rows" in capsys.readouterr().err
    assert run_app(["export", *folders, "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": str(out), "n_rows": 160}
    rows = list(csv.DictReader(out.open()))
    assert {row["model"] for row in rows} == {"simulated/vlm", "simulated/chance"}
    pandas = pytest.importorskip("pandas")
    api = pytest.importorskip("statsmodels.api")
    formula = pytest.importorskip("statsmodels.formula.api")
    frame = pandas.read_csv(out).dropna(subset=["score"])
    fit = formula.gee("score ~ condition", "image", frame, family=api.families.Binomial()).fit()
    assert "condition[T.original]" in fit.params


def test_no_run_is_refused(capsys):
    assert run_app(["export"]) == 2
    assert "no run was named" in capsys.readouterr().err
