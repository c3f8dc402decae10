"""What ``check`` says of models that tell by themselves what they see, and of their settings."""

import json

import pytest
from servers.chat_server import ChatServer
from servers.vllm_server import capped, vllm

from eyechart.cli._app import run_app
from eyechart.images.blank import BlankPicture
from eyechart.schema import Size

SPEC = "vllm/Qwen/Qwen3-VL-8B-Instruct"


@pytest.fixture
def benchmark_of_4k(tmp_path):
    """A question about a picture of 4K, as in HR-Bench, where one model scored 47 under a silent cap, else 78."""
    (tmp_path / "sign.png").write_bytes(BlankPicture(Size(3840, 2160)).encoded())
    row = {"id": "q1", "image": "sign.png", "question": "Which letter?", "choices": ["A", "B"], "answer": "A"}
    (tmp_path / "questions.jsonl").write_text(json.dumps({**row, "box": [100, 100, 164, 124]}))
    return ["check", "folder", "--data", str(tmp_path / "questions.jsonl"), "--option", "box_format=xyxy"]


def test_cap_of_a_server_below_the_picture_is_named(benchmark_of_4k, capsys):
    with ChatServer(say=vllm(capped(1_605_632))) as server:
        model = ["--model", SPEC, "--base-url", server.base_url]
        assert run_app([*benchmark_of_4k, "--views", "original,downsample_0_5,crop_9x", *model]) == 0
    shown, told = capsys.readouterr()
    assert "rule server-Qwen-Qwen3-VL-8B-Instruct@1" in shown
    assert "reported" in shown
    assert "1664×928" in shown
    assert "pictures of more than 1,605,632 px are shrunk to that (1664×928 of 3840×2160)" in " ".join(told.split())
    assert "one picture to this model: original = downsample_0_5" in told


def test_server_with_the_models_own_cap_keeps_the_views_apart(benchmark_of_4k, capsys):
    with ChatServer(say=vllm(capped(16_777_216))) as server:
        model = ["--model", SPEC, "--base-url", server.base_url]
        assert run_app([*benchmark_of_4k, "--views", "original,downsample_0_5", *model, "--json"]) == 0
    (checked,) = json.loads(capsys.readouterr().out)["models"]
    assert checked["groups"] == []
    assert [view["seen_size"] for view in checked["views"]] == [[3840, 2176], [1920, 1088]]
    assert checked["warnings"] == ["by the server's own word, pictures of more than 16,777,216 px are shrunk to that"]


def test_server_that_is_away_leaves_its_model_unknown(benchmark_of_4k, capsys):
    model = ["--model", "vllm/any", "--base-url", "http://127.0.0.1:9/v1"]
    assert run_app([*benchmark_of_4k, "--views", "original", *model]) == 0
    shown, told = capsys.readouterr()
    assert "no rule" in shown
    assert "warning: vllm/any cannot be asked what it sees: no server answered at http://127.0.0.1:9/v1" in told


def test_settings_are_those_that_a_run_would_send(benchmark_of_4k, capsys):
    assert run_app([*benchmark_of_4k, "--views", "original", "--model", "openai/gpt-5.5", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["settings"] == {"detail": "high"}
    assert model["rule_id"] == "openai-gpt5.5-high@1"


def test_setting_that_no_named_model_knows_is_refused_with_the_nearest(benchmark_of_4k, capsys):
    models = ["--model", "openai/gpt-4o", "--model", "google/gemini-2.5-pro"]
    assert run_app([*benchmark_of_4k, "--views", "original", *models, "--set", "detial=low"]) == 2
    assert "did you mean detail?" in capsys.readouterr().err
    assert run_app([*benchmark_of_4k, "--views", "original", *models, "--set", "detail=low"]) == 0
