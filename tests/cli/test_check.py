"""Laws of ``eyechart check``: every view of every model, and an unknown model is unknown and no guess."""

import json

from PIL import Image

from eyechart.cli._app import run_app


def made_folder(folder):
    Image.new("RGB", (4000, 3000)).save(folder / "a.png")
    row = {
        "id": "1",
        "image": "a.png",
        "question": "?",
        "choices": ["x", "y"],
        "answer": "A",
        "box": [100, 100, 200, 160],
    }
    (folder / "questions.jsonl").write_text(json.dumps(row))
    return ["check", "folder", "--data", str(folder / "questions.jsonl"), "--option", "box_format=xyxy"]


def test_four_families_are_shown_with_rule_and_date(tmp_path, capsys):
    assert run_app([*made_folder(tmp_path), "--views", "original,downsample_0_5,crop_3x", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert len(table["models"]) == 4
    for model in table["models"]:
        assert [view["view"] for view in model["views"]] == ["original", "downsample_0_5", "crop_3x"]
        assert model["rule_date"]


def test_half_size_is_the_same_picture_to_a_model_that_shrinks_both(tmp_path, capsys):
    arguments = [*made_folder(tmp_path), "--views", "original,downsample_0_5", "--model", "anthropic/claude-sonnet-4-5"]
    assert run_app(arguments) == 0
    assert "one picture to this model: original = downsample_0_5" in capsys.readouterr().err


def test_unknown_model_is_unknown(tmp_path, capsys):
    assert run_app([*made_folder(tmp_path), "--views", "original", "--model", "openai/no-such-model"]) == 0
    assert "unknown" in capsys.readouterr().out


def test_model_without_name_is_refused(tmp_path, capsys):
    assert run_app([*made_folder(tmp_path), "--model", "openai"]) == 2
    assert "names no model" in capsys.readouterr().err
