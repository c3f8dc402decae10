"""Laws of ``eyechart run`` with ``--blind``, ``--rotate-choices`` and ``--repeat``: questions stay the unit."""

import json

import pytest
from runs_made import question_file

from eyechart.cli._app import run_app


@pytest.fixture
def command(tmp_path):
    data = ["--data", str(question_file(tmp_path)), "--option", "box_format=xyxy"]
    return ["run", "folder", *data, "--model", "simulated/vlm", "--views", "original", "--out", str(tmp_path / "run")]


def test_every_design_counts_questions_and_not_answers(command, tmp_path, capsys):
    assert run_app([*command, "--blind", "--rotate-choices", "all", "--repeat", "2", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert [one["condition"] for one in summary["estimates"]] == ["original", "no_image", "blank"]
    assert [one["n_questions"] for one in summary["estimates"]] == [40, 40, 40]
    assert [one["n_asked"] for one in summary["conditions"]] == [320, 320, 320]
    assert [one["n_missing"] for one in summary["conditions"]] == [0, 0, 0]
    assert {rule["code"] for rule in summary["rules"]} >= {"SHUFFLE", "EPOCHS"}
    assert [one["name"] for one in summary["effects"]] == ["visual gain", "visual gain"]
    page = (tmp_path / "run" / "report.html").read_text()
    for heading in ("Validity rules", "Named effects", "Flips", "By task, source and target size"):
        assert f">{heading}</h2>" in page


@pytest.mark.parametrize("text", ["0", "some", "-1"])
def test_a_wrong_number_of_orders_is_refused(command, text, capsys):
    assert run_app([*command, f"--rotate-choices={text}"]) == 2
    assert "is not a number of orders" in capsys.readouterr().err
