"""Suites: one file, a run per cell that resumes, a matrix of states, a job array, and no cell that ends another."""

import json
import subprocess

import pytest
from runs_made import question_file

from eyechart.cli import run_app
from eyechart.errors import UsageError
from eyechart.runs.suite import read_suite
from eyechart.views import PRESET_NOTES, resolve_views

SUITE = """
out = "runs"
view_store = "views"
[[models]]
model = "simulated/vlm"
[[models]]
label = "guessing"
model = "simulated/chance"
[[benchmarks]]
name = "folder"
data = "questions.jsonl"
options = {box_format = "xyxy"}
[[views]]
label = "two"
views = "original,crop_3x"
[[views]]
label = "one"
views = "blank"
[[settings]]
limit = 10
"""


@pytest.fixture
def suite(tmp_path):
    question_file(tmp_path)
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


def states(suite, capsys, *flags):
    code = run_app(["run", "--suite", str(suite), "--json", "--no-report", *flags])
    return code, json.loads(capsys.readouterr().out)


def test_every_cell_is_a_run_and_the_matrix_says_so(suite, capsys):
    code, told = states(suite, capsys)
    assert code == 0
    assert [(one["row"], one["column"], one["state"], one["n_planned"]) for one in told] == [
        ("simulated/vlm", "folder two", "done", 20),
        ("simulated/vlm", "folder one", "done", 10),
        ("guessing", "folder two", "done", 20),
        ("guessing", "folder one", "done", 10),
    ]
    assert run_app(["run", "--suite", str(suite), "--no-report"]) == 0
    out = capsys.readouterr().out
    assert "4 of 4 runs done" in out
    assert "done, 20" in out


def test_one_cell_is_run_alone_and_the_others_are_not_started(suite, capsys):
    code, told = states(suite, capsys, "--cell", "2")
    assert (code, [one["state"] for one in told]) == (0, ["not started", "done", "not started", "not started"])


def test_a_cell_that_was_stopped_goes_on(suite, capsys):
    code, told = states(suite, capsys, "--cell", "1", "--max-requests", "7")
    assert (code, told[0]["state"], told[0]["n_answered"]) == (3, "missing", 7)
    code, told = states(suite, capsys, "--cell", "1")
    assert (code, told[0]["state"], told[0]["n_answered"]) == (0, "done", 20)


def test_a_cell_that_fails_ends_no_other(suite, capsys):
    suite.write_text(SUITE.replace('"simulated/chance"', '"ollama/m"\nbase_url = ["http://127.0.0.1:9/v1"]'))
    code, told = states(suite, capsys)
    assert (code, [one["state"] for one in told]) == (1, ["done", "done", "failed", "failed"])
    assert "no server answered" in told[2]["reason"]


def test_the_job_array_has_a_task_per_cell_and_is_a_shell_script(suite, tmp_path):
    script = tmp_path / "suite.sbatch"
    assert run_app(["run", "--suite", str(suite), "--slurm", str(script)]) == 0
    assert "#SBATCH --array=1-4" in script.read_text()
    subprocess.run(["/bin/bash", "-n", str(script)], check=True)
    assert not (tmp_path / "runs").exists()


def test_two_suites_are_compared_cell_by_cell_and_can_gate(suite, tmp_path, capsys):
    question_file(tmp_path, n=80)
    better = SUITE.replace("limit = 10", "limit = 80")
    suite.write_text(better)
    states(suite, capsys, "--cell", "1")
    (tmp_path / "runs").rename(tmp_path / "base")
    suite.write_text(better.replace('simulated/vlm"', 'simulated/chance"\nlabel = "simulated/vlm"', 1))
    states(suite, capsys, "--cell", "1")
    folders = [str(tmp_path / "base"), str(tmp_path / "runs")]
    assert run_app(["diff", *folders, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1
    assert run_app(["diff", *folders, "--fail-below=-0.02"]) == 4
    assert run_app(["diff", *folders[::-1], "--fail-below=-0.02"]) == 0
    capsys.readouterr()
    assert run_app(["diff", *folders, "--fail-below", "1"]) == 2
    assert "is not a difference between -1 and 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("limit = 10", "limits = 10"), "unknown field `limits`"),
        (('model = "simulated/vlm"', ""), "missing required field `model`"),
        (('label = "one"', 'label = "two"'), "two entries are named 'two'"),
        (("[[models]]", "[models]"), "is not a TOML file|Expected `array`"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(suite, change, message):
    suite.write_text(SUITE.replace(*change))
    with pytest.raises(UsageError, match=message):
        read_suite(suite)


@pytest.mark.parametrize("arguments", [["run"], ["run", "folder"], ["run", "--model", "simulated/vlm"]])
def test_a_run_without_benchmark_or_model_is_a_usage_error(arguments, capsys):
    assert run_app(arguments) == 2
    assert "a run needs a benchmark and a model" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [["--shard", "1/2"], ["--out", "x"], ["--engine", "ray"]])
def test_what_a_suite_decides_itself_is_refused(suite, flags, capsys):
    assert run_app(["run", "--suite", str(suite), *flags]) == 2
    assert "and --suite do not go together" in capsys.readouterr().err


def test_core8_detects_what_it_says():
    from eyechart.stats.power import Design, detectable_difference

    views, preset = resolve_views("core8")
    assert (len(views), preset) == (8, "core8")
    # SUM: 700 questions on 664 pictures, so the worst inflation of a paired variance is Σm² ÷ Σm, about 1.10.
    design = Design(alpha=0.05, power=0.8, n_comparisons=7, variance_inflation=1.10)
    shown = [f"{100 * detectable_difference(n, 0.15, design):.1f}" for n in (700, 100)]
    assert PRESET_NOTES["core8"] == f"detects {shown[0]} points on SUM's 700 questions, {shown[1]} on 100"
