"""Laws of ``check --write-plan`` and ``--plan``: written once, read by run and report, changes said."""

import json
import tomllib

import pytest
from runs_made import question_file
from servers.chat_server import ChatServer

from eyechart.cli._app import run_app


@pytest.fixture
def data(tmp_path):
    return ["folder", "--data", str(question_file(tmp_path)), "--option", "box_format=xyxy", "--views"]


def test_a_plan_goes_from_check_through_run_to_the_report(data, tmp_path, capsys):
    plan, out = str(tmp_path / "plan.toml"), str(tmp_path / "run")
    views = "original,crop_3x,whiteground_3x"
    assert (
        run_app(["check", *data, views, "--hypothesis", "crop_3x,original", "--margin", "0.1", "--write-plan", plan])
        == 0
    )
    assert "1 hypothesis," in capsys.readouterr().err
    assert run_app(["check", *data, views, "--write-plan", plan]) == 2
    assert "a plan is written once" in capsys.readouterr().err
    assert (
        run_app(
            ["run", *data, views, "--model", "simulated/vlm", "--plan", plan, "--out", out, "--json", "--no-report"]
        )
        == 0
    )
    summary = json.loads(capsys.readouterr().out)
    assert {one["role"] for one in summary["contrasts"]} == {"confirmatory", "exploratory"}
    assert not summary["registration"]["is_changed"]
    assert any(finding["text"].endswith("(confirmatory).") for finding in summary["findings"])
    (tmp_path / "plan.toml").write_text((tmp_path / "plan.toml").read_text().replace("margin = 0.1", "margin = 0.5"))
    assert run_app(["report", out, "--plan", plan]) == 0
    assert "warning: plan: a value of the plan was changed after it was written" in capsys.readouterr().err
    assert "The plan was CHANGED" in (tmp_path / "run" / "report.html").read_text()


def test_a_run_takes_from_its_plan_what_the_command_line_leaves_open(data, tmp_path, capsys):
    plan, out = str(tmp_path / "plan.toml"), str(tmp_path / "run")
    asked = ["--limit", "24", "--seed", "5", "--model", "simulated/vlm"]
    assert run_app(["check", *data, "original,crop_3x", *asked, "--write-plan", plan]) == 0
    assert "names no model" not in capsys.readouterr().err
    run = ["run", *data[:-1], "--plan", plan, "--json", "--no-report"]
    assert run_app([*run, "--model", "simulated/vlm", "--out", out]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["registration"]["is_kept"] is True
    assert (summary["run"]["limit"], summary["run"]["seeds"], len(summary["conditions"])) == (24, {"limit": 5}, 2)
    assert run_app([*run, "--model", "simulated/chance", "--limit", "20", "--out", f"{out}2"]) == 0
    captured = capsys.readouterr()
    assert "results will be exploratory, since this run does not keep its plan: limit: planned 24" in captured.err
    summary = json.loads(captured.out)
    assert summary["registration"]["is_kept"] is False
    assert {one["standing"] for one in summary["contrasts"]} == {"exploratory"}
    assert "model: planned simulated/vlm, found simulated/chance" in summary["registration"]["notes"]
    assert run_app(["report", f"{out}2"]) == 0
    assert "The plan was NOT KEPT" in (tmp_path / "run2" / "report.html").read_text()


def test_a_plan_without_a_model_says_so(data, tmp_path, capsys):
    assert run_app(["check", *data, "original,crop_3x", "--write-plan", str(tmp_path / "plan.toml")]) == 0
    assert "the plan names no model, so it holds for whichever is asked" in capsys.readouterr().err


def test_looks_are_planned_and_taken_from_the_command_line(data, tmp_path, capsys):
    plan, out = str(tmp_path / "plan.toml"), str(tmp_path / "run")
    study = ["check", *data, "original,crop_3x", "--model", "simulated/vlm", "--write-plan", plan, "--looks", "4"]
    assert run_app(study) == 0
    told = capsys.readouterr().err
    assert (
        "looks: as soon as 10, 20, 30, 40 pictures are finished, in a random order; the last one may spend 3.5 %"
        in told
    )
    assert "nothing can be claimed at 10, 20 pictures, so there is no look there" in told
    run = ["run", *data[:-1], "--plan", plan, "--model", "simulated/vlm", "--out", out, "--json"]
    assert run_app([*run, "--max-requests", "68", "--concurrency", "1"]) == 3
    captured = capsys.readouterr()
    summary = json.loads(captured.out)
    look = summary["registration"]["look"]
    assert (look["number"], look["n_pictures"], summary["n_questions"]) == (3, 34, 34)
    assert {one["standing"] for one in summary["contrasts"]} == {"confirmatory"}
    page = (tmp_path / "run" / "report.html").read_text()
    assert "adjusted for looks alone, excludes 0, and the run is looked at as its plan allows" in page
    assert "Bonett-Price, CR2 with Bell-McCaffrey t, over 4 looks." in page
    assert "Look 3 of 4, at 34 of 40 pictures: p and intervals of the hypotheses hold over all looks together." in page
    assert run_app(["report", out]) == 0
    again = json.loads((tmp_path / "run" / "estimates.json").read_text())
    assert again["contrasts"] == summary["contrasts"]
    assert run_app([*run, "--no-report"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["registration"]["look"]["number"], summary["n_questions"]) == (4, 40)
    assert summary["registration"]["is_kept"] is True


def test_power_is_shown_per_task_without_asking(data, capsys):
    assert run_app(["check", *data, "original,crop_3x", "--effect", "0.1", "--grid", "5", "--json"]) == 0
    study = json.loads(capsys.readouterr().out)
    assert [group["group"] for group in study["pairs"][0]["groups"]] == ["Color", "OCR"]
    assert study["bases_needed"] == 758
    assert run_app(["check", *data, "original,crop_3x", "--effect", "0.1"]) == 0
    assert "n needed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--hypothesis", "crop_3x"], "names no two views"),
        (["--pilot", "nowhere"], "holds no run"),
        (["--effect", "5"], "--effect 5 does not lie between 0 and 1"),
        (["--effect", "0.1", "--alpha", "0"], "--alpha 0 does not lie between 0 and 1"),
        (["--effect", "0.1", "--power", "1.2"], "--power 1.2 does not lie between 0 and 1"),
        (["--discordance", "3"], "--discordance 3 does not lie between 0 and 1"),
        (["--grid", "0"], "--grid 0 is below 1"),
        (["--looks", "5"], "looks belong to a plan"),
        (["--looks", "1", "--write-plan", "plan.toml"], "1 looks cannot be planned"),
        (["--looks", "-3", "--write-plan", "plan.toml"], "-3 looks cannot be planned"),
        (["--looks", "5", "--may-grow", "--write-plan", "plan.toml"], "looks lie at fixed parts of questions that may"),
        (["--margin", "2", "--write-plan", "plan.toml"], "margin 2 of crop_3x − original does not lie between 0 and 1"),
    ],
)
def test_wrong_studies_are_refused(data, flags, message, capsys):
    assert run_app(["check", *data, "original,crop_3x", *flags]) in {1, 2}
    assert message in capsys.readouterr().err


def test_a_plan_of_a_matched_design_names_its_conditions_and_is_found_in_the_run(data, tmp_path, capsys, monkeypatch):
    plan, out, match = str(tmp_path / "plan.toml"), str(tmp_path / "run"), ["--match", "target-px=6,12"]
    rules = tmp_path / "rules.toml"
    rules.write_text(
        'provider = "openai"\n[[rules]]\nid = "own@1"\nmodels = ["local-vlm"]\nsource = "own"\ndate = 2026-11-01\n'
        'confidence = "A"\nalgorithm = { kind = "fit", max_side_px = 800, tokens = 99 }\n'
    )
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    views = "original,crop_3x,no_image"
    assert run_app(["check", *data, views, *match, "--write-plan", plan]) == 0
    assert "--match target-px=6,12: questions that cannot be matched are not asked" in capsys.readouterr().err
    written = tomllib.loads((tmp_path / "plan.toml").read_text())
    pairs = [(one["condition"], one["baseline"]) for one in written["hypothesis"]]
    assert pairs == [("match_px_6_crop_3x", "match_px_6"), ("match_px_12_crop_3x", "match_px_12")]
    asked = ["run", *data, views, *match, "--rules", str(rules), "--model", "openai/local-vlm", "--plan", plan]
    with ChatServer(answer="B") as server:
        assert run_app([*asked, "--base-url", server.base_url, "--out", out, "--json", "--no-report"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["registration"]["notes"] == []
    confirmed = [(one["condition"], one["baseline"]) for one in summary["contrasts"] if one["role"] == "confirmatory"]
    assert confirmed == pairs


def test_a_plan_of_views_that_cannot_be_matched_is_refused_before_it_is_written(data, tmp_path, capsys):
    plan = tmp_path / "plan.toml"
    matched = ["--match", "target-px=8", "--write-plan", str(plan)]
    assert run_app(["check", *data, "original,downsample_0_5", *matched]) == 2
    assert "view downsample_0_5 cannot be matched" in capsys.readouterr().err
    assert run_app(["check", *data, "blank,no_image", *matched]) == 2
    assert "no view shows a target to match" in capsys.readouterr().err
    assert not plan.exists()
