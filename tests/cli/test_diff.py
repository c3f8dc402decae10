"""Laws of ``eyechart diff``: exit codes, JSON, and refusals on the command line."""

import json

import pytest
from runs_made import question_file

import eyechart
from eyechart.cli._app import run_app

VIEWS = "original,crop_3x"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Runs of three simulated models on 40 questions."""
    home = tmp_path_factory.mktemp("diff")
    questions = eyechart.benchmark("folder", question_file(home), box_format="xyxy")
    for name in ("oracle", "chance", "vlm"):
        eyechart.run(questions, model=f"simulated/{name}", views=VIEWS, out=home / name)
    return {name: str(home / name) for name in ("oracle", "chance", "vlm")}


def test_a_regression_exits_4_and_progress_exits_0(folders, capsys):
    assert run_app(["diff", folders["oracle"], folders["chance"], "--fail-below", "-0.02"]) == 4
    assert "a difference lies below -2 points" in capsys.readouterr().err
    assert run_app(["diff", folders["chance"], folders["oracle"], "--fail-below=-0.02"]) == 0


def test_json_holds_everything_that_is_printed(folders, capsys):
    assert run_app(["diff", folders["oracle"], folders["vlm"], "--margin", "0.05", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["sides"] == ["simulated/oracle", "simulated/vlm"]
    for one in shown["differences"]:
        contrast = one["contrast"]
        assert contrast["low"] <= contrast["value"] <= contrast["high"]
        assert {"p", "p_adjusted", "gained", "lost", "n_questions", "n_clusters", "family"} <= set(contrast)
        assert one["equivalence"]["margin"] == 0.05


def test_two_views_of_one_run_and_ranks_of_three_are_printed(folders, capsys):
    assert run_app(["diff", folders["vlm"], "--views", VIEWS]) == 0
    assert "crop_3x − original" in capsys.readouterr().out
    assert run_app(["diff", *folders.values()]) == 0
    shown = capsys.readouterr()
    assert "place" in shown.out
    assert "max-t step-down over 3 pairs" in shown.err


@pytest.mark.parametrize("views", [[], ["--views", "original"], ["--views", "original,crop_3x,blank"]])
def test_one_run_without_two_views_is_a_usage_error(folders, views, capsys):
    assert run_app(["diff", folders["vlm"], *views]) == 2
    said = capsys.readouterr().err
    assert "of one run are named" in said
    assert "--views original,crop_3x, or a second run" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no run was named"),
        (["{vlm}", "{vlm}"], "one run folder is named twice"),
        (["{vlm}", "{oracle}", "--allow", "NO_RULE"], "no validity rule is called NO_RULE"),
        (["{vlm}/none", "{oracle}"], "holds no run"),
    ],
)
def test_wrong_use_is_refused(folders, arguments, message, capsys):
    assert run_app(["diff", *(argument.format(**folders) for argument in arguments)]) in {1, 2}
    assert message in capsys.readouterr().err


def test_a_rule_may_be_allowed_under_its_former_name(folders, capsys):
    assert run_app(["diff", folders["vlm"], folders["oracle"], "--allow", "PROMPT_MIX", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["allowed"] == ["DIFFERENT_PROMPTS"]
