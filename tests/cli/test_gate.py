"""Laws of ``eyechart gate``: exit codes, outputs for machines, and agreement with ``diff``."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from runs_made import question_file

import eyechart
from eyechart.cli._app import run_app
from eyechart.runs.store import RunStore

VIEWS = "original,crop_3x"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Runs of three simulated models on 40 questions; ``cut`` lacks the last answers of ``oracle``."""
    home = tmp_path_factory.mktemp("gate")
    questions = eyechart.benchmark("folder", question_file(home), box_format="xyxy")
    for name in ("oracle", "chance", "vlm"):
        eyechart.run(questions, model=f"simulated/{name}", views=VIEWS, out=home / name)
    eyechart.run(questions, model="simulated/oracle", views=VIEWS, out=home / "again")
    eyechart.run(questions, model="simulated/oracle", views=VIEWS, out=home / "cut")
    (answers,) = (home / "cut" / "responses").glob("*.jsonl")
    answers.write_text("".join(answers.read_text().splitlines(keepends=True)[:-20]))
    return {name: str(home / name) for name in ("oracle", "chance", "vlm", "again", "cut")}


@pytest.mark.parametrize(
    ("new", "margin", "code", "word"),
    [
        ("again", "0.2", 0, "PASS"),
        ("chance", "0.02", 4, "FAIL"),
        ("again", "0.02", 5, "CANNOT TELL"),
        ("again", "0", 5, "CANNOT TELL"),
        ("cut", "0.2", 3, "UNFINISHED"),
    ],
)
def test_each_verdict_has_its_exit_code(folders, new, margin, code, word, capsys):
    found = run_app(["gate", folders[new], "--against", folders["oracle"], "--margin", margin, "--view-margin", "0.3"])
    assert found == code
    shown = capsys.readouterr()
    assert f"gate: {word}" in shown.err
    assert "mean over views" in shown.out
    assert "A candidate without loss passes at n = 40" in shown.err


def test_json_holds_the_verdict_and_the_contrasts_of_diff_with_the_same_p(folders, capsys):
    sides = [folders["oracle"], folders["vlm"]]
    run_app(["gate", sides[1], "--against", sides[0], "--margin", "0.05", "--json"])
    gate = json.loads(capsys.readouterr().out)
    run_app(["diff", *sides, "--json"])
    diff = json.loads(capsys.readouterr().out)
    by_view = {one["view"]: one["contrast"] for one in diff["differences"]}
    assert [row["view"] for row in gate["rows"]] == ["mean over views", "original", "crop_3x"]
    for row in gate["rows"]:
        assert row["contrast"]["p_adjusted"] == by_view[row["view"]]["p_adjusted"]
        assert row["p_fail"] >= row["contrast"]["p_adjusted"] - 1e-12 or row["contrast"]["value"] > 0
    assert gate["exit_code"] in {0, 4, 5}


def test_markdown_is_a_comment_and_junit_a_file_for_a_server(folders, tmp_path, capsys):
    file = tmp_path / "gate.xml"
    arguments = ["gate", folders["chance"], "--against", folders["oracle"], "--margin", "0.02"]
    assert run_app([*arguments, "--markdown", "--junit", str(file)]) == 4
    text = capsys.readouterr().out
    assert text.startswith("### eyechart gate: fail\n")
    assert "| original |" in text
    suite = ET.fromstring(file.read_text())  # noqa: S314 -- our own file
    assert int(suite.get("failures")) == len(suite.findall("./testcase/failure")) >= 1
    assert int(suite.get("tests")) == len(suite.findall("testcase")) == 4


@pytest.mark.parametrize("margin", ["-0.02", "1", "2"])
def test_a_margin_that_is_no_loss_is_a_usage_error(folders, margin, capsys):
    arguments = ["gate", folders["again"], "--against", folders["oracle"], f"--margin={margin}"]
    assert run_app(arguments) == 2
    assert "does not lie between 0 and 1" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["0.02", "-1.5"])
def test_a_positive_limit_of_diff_is_a_usage_error(folders, limit, capsys):
    assert run_app(["diff", folders["oracle"], folders["again"], f"--fail-below={limit}"]) == 2
    assert "--fail-below" in capsys.readouterr().err


def test_diff_says_the_verdict_and_fails_only_where_the_gate_fails(folders, capsys):
    assert run_app(["diff", folders["oracle"], folders["again"], "--fail-below", "0"]) == 0
    assert "gate: CANNOT TELL" in capsys.readouterr().err
    assert run_app(["diff", folders["oracle"], folders["cut"], "--fail-below=-0.02"]) == 0
    assert "gate: UNFINISHED" in capsys.readouterr().err


def test_an_unfinished_run_makes_no_claim_anywhere(folders, capsys):
    assert run_app(["diff", folders["cut"], folders["chance"], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(not one["contrast"]["claimed"] for one in found["differences"])
    assert {one["contrast"]["standing"] for one in found["differences"]} == {"interim"}
    assert run_app(["report", folders["cut"]]) in {0, 3}
    summary = RunStore(Path(folders["cut"])).summary()
    assert summary.contrasts
    assert {one.standing for one in (*summary.contrasts, *summary.effects)} == {"interim"}
    assert not any(one.claimed for one in (*summary.contrasts, *summary.effects))
    assert summary.findings == ()
    assert any(warning.startswith("interim:") for warning in summary.warnings)


def test_a_rule_may_be_allowed_under_its_former_name_and_none_that_never_was(folders, capsys):
    sides = ["gate", folders["again"], "--against", folders["oracle"], "--margin", "0.2", "--view-margin", "0.3"]
    assert run_app([*sides, "--allow", "PROMPT_MIX"]) == 0
    assert run_app([*sides, "--allow", "NO_RULE"]) == 2
    assert "no validity rule is called NO_RULE" in capsys.readouterr().err
