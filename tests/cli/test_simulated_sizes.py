"""A simulated model whose answers depend on the size of the target is asked from the command line, and found out."""

import json

import numpy as np
import pytest
from PIL import Image

from eyechart.cli import run_app

SIZES = (8, 14, 25, 45, 80)
VIEWS = "original,downsample_0_5,downsample_0_25,downsample_0_125,blank"


@pytest.fixture
def questions(tmp_path):
    """Questions with targets of five sizes, each on a picture of its own."""
    rows = []
    for index in range(100):
        side = SIZES[index % len(SIZES)]
        pixels = np.full((120, 160, 3), index, dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{index}.png")
        row = {"id": f"q{index}", "image": f"{index}.png", "question": "Which?", "choices": ["x", "y", "z", "w"]}
        rows.append({**row, "answer": "ABCD"[index % 4], "box": [20, 20, 20 + side, 20 + side]})
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "questions.jsonl"


def ask(questions, out, *flags, boxes="xyxy"):
    arguments = ["run", "folder", "--data", str(questions), "--option", f"box_format={boxes}", "--out", str(out)]
    return run_app([*arguments, "--model", "simulated/oracle", "--views", VIEWS, "--no-report", "--json", *flags])


@pytest.mark.parametrize("threshold_px", [6, 20])
def test_half_accuracy_size_of_a_model_with_a_threshold_is_found(questions, tmp_path, capfd, threshold_px):
    assert ask(questions, tmp_path / "run", "--set", f"threshold_px={threshold_px}", "--set", "slope=4") == 0
    summary = json.loads(capfd.readouterr().out)
    found = next(one for one in summary["half_accuracy_sizes"] if one["task"] is None)
    assert (found["status"], found["evidence"]) == ("estimated", "executed")
    assert found["low"] <= threshold_px * 1.1
    assert found["high"] >= threshold_px / 1.1
    before = next(one for one in summary["acuities"] if one["task"] is None)
    assert (before["px"], before["low_px"], before["high_px"]) == (found["px"], found["low"], found["high"])
    rates = {one["condition"]: one["accuracy_sum"] for one in summary["conditions"]}
    assert rates["original"] > rates["downsample_0_25"] > rates["downsample_0_125"]
    assert rates["blank"] == pytest.approx(0.25, abs=0.13)  # it shows no target, so the model guesses


def test_a_question_without_box_has_no_size_and_no_answer(questions, tmp_path, capfd):
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    del rows[0]["box"]
    questions.write_text("\n".join(map(json.dumps, rows)))
    assert ask(questions, tmp_path / "run", "--set", "threshold_px=20") == 3
    errors = [json.loads(line)["error"] for path in (tmp_path / "run/responses").iterdir() for line in path.open()]
    assert sum("needs the target's size" in (error or "") for error in errors) == 4


def test_questions_on_one_picture_are_told_to_the_model(questions, tmp_path, capfd):
    """With all questions on one picture and a correlation of 1, all are right or all are wrong."""
    rows = [{**json.loads(line), "image": "0.png"} for line in questions.read_text().splitlines()]
    questions.write_text("\n".join(map(json.dumps, rows)))
    settings = ("--set", "accuracy=0.5", "--set", "image_correlation=1")
    assert ask(questions, tmp_path / "run", *settings) == 0
    summary = json.loads(capfd.readouterr().out)
    assert {one["accuracy_sum"] for one in summary["conditions"]} <= {0.0, 1.0}
