import json

import pytest
from runs_made import question_file

from eyechart.cli._app import run_app


@pytest.fixture
def answers(tmp_path):
    """A question file and replayed answers to it, one of them unreadable."""
    data = question_file(tmp_path, n=8)
    rows = [{"id": f"q{index}", "view": "original", "response": "A" if index else "no idea"} for index in range(8)]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    arguments = ["run", "folder", "--data", str(data), "--option", "box_format=xyxy", "--views", "original"]
    arguments += ["--model", f"replay/{tmp_path}/answers.jsonl", "--out", str(tmp_path / "run"), "--no-report"]
    assert run_app(arguments) == 0
    return tmp_path


def test_submission_is_written_once_unreadable_answers_are_decided(answers, capsys):
    out = answers / "submission.json"
    assert run_app(["export", "evalai", str(answers / "run"), "--out", str(out)]) == 2
    assert "--unparsed" in capsys.readouterr().err
    assert run_app(["export", "evalai", str(answers / "run"), "--out", str(out), "--unparsed", "none"]) == 0
    assert json.loads(out.read_text()) == {"q0": "none"} | {f"q{index}": "A" for index in range(1, 8)}


def test_long_table_is_still_what_export_writes_by_itself(answers):
    assert run_app(["export", str(answers / "run"), "--out", str(answers / "long.csv")]) == 0
    assert len((answers / "long.csv").read_text().splitlines()) == 9


def test_challenge_is_written_from_a_benchmark_with_private_phases(answers, capsys):
    out = answers / "challenge"
    arguments = ["export", "evalai-challenge", "folder", "--data", str(answers / "questions.jsonl"), "--out", str(out)]
    arguments += ["--option", "box_format=xyxy", "--title", "Tiny", "--phase", "dev", "--phase", "test"]
    assert run_app([*arguments, "--private", "test", "--start", "2026-12-01", "--end", "2027-01-01"]) == 0
    config = (out / "challenge_config.yaml").read_text()
    assert config.count("leaderboard_public: True") == config.count("leaderboard_public: False") == 1
    assert run_app([*arguments, "--private", "exam"]) == 2
    assert "no phase is called exam" in capsys.readouterr().err
