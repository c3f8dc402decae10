"""Laws of ``eyechart check``: every view of every model, and an unknown model is unknown and no guess."""

import json

import pytest
from needles_made import write_needles
from PIL import Image, ImageCms
from releases.made import make_release

from eyechart.cli._app import run_app


def made_folder(folder, size=(4000, 3000)):
    Image.new("RGB", size).save(folder / "a.png")
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


def test_misspelt_provider_is_suggested(tmp_path, capsys):
    assert run_app([*made_folder(tmp_path), "--views", "original", "--model", "opnai/gpt-4o"]) == 2
    shown = capsys.readouterr().err
    assert shown == "error: there is no model provider named 'opnai'\nhint: did you mean openai?\n"


def test_model_without_name_is_refused(tmp_path, capsys):
    assert run_app([*made_folder(tmp_path), "--model", "openai"]) == 2
    assert "names no model" in capsys.readouterr().err


PLAIN = ("--model", "simulated/chance")
HOSTED = ("--model", "openai/gpt-4o")
# What is wrong → what stands after ``check folder --data …`` and ``run folder --data …``.
BAD_LINES = {
    "no such provider": ("--model", "gemini/gemini-2.5-pro"),
    "misspelt provider": ("--model", "antropic/claude-sonnet-4-5"),
    "no provider": ("--model", "/gpt-4o"),
    "no name": ("--model", "openai/"),
    "no model at all": ("--model", ""),
    "no such simulation": ("--model", "simulated/nobody"),
    "no such answers": ("--model", "replay/gone.jsonl"),
    "misspelt setting": (*HOSTED, "--set", "detial=low"),
    "impossible setting": (*HOSTED, "--set", "detail=most"),
    "setting without value": (*HOSTED, "--set", "detail"),
    "setting of another model": (*PLAIN, "--set", "detail=low"),
    "setting that is a flag": (*HOSTED, "--set", "temperature=1"),
    "no address": (*HOSTED, "--base-url", "nonsense"),
    "no such view": (*PLAIN, "--views", "crop_zz"),
    "no view": (*PLAIN, "--views", ""),
    "no question": (*PLAIN, "--limit", "0"),
    "no such option": (*PLAIN, "--option", "nonsense=1"),
    "no such box form": (*PLAIN, "--option", "box_format=zz"),
    "no boxes": (*PLAIN, "--boxes", "gone.jsonl"),
    "no plug-in": (*PLAIN, "--plugin", "gone.py"),
    "no such transport": (*PLAIN, "--transport", "zz"),
    "no grid to fit": (*PLAIN, "--transport", "fit"),
    "no such resampler": (*PLAIN, "--resampler", "zz"),
    "no such border": (*PLAIN, "--border", "zz"),
    "no such match": (*PLAIN, "--match", "zz"),
    "nothing to match": (*PLAIN, "--match", "target-px"),
    "no rules": (*PLAIN, "--rules", "gone.toml"),
}


def outcome(arguments, capsys):
    code = run_app(arguments)
    lines = capsys.readouterr().err.splitlines()
    return code, [line for line in lines if line.startswith(("error: ", "hint: "))]


@pytest.mark.parametrize("name", BAD_LINES)
def test_check_refuses_what_run_refuses_in_the_same_words(name, tmp_path, capsys, monkeypatch):
    """``check`` of gemini/… and antropic/… ended well, with a line that ``run`` refused."""
    monkeypatch.chdir(tmp_path)
    line = [*made_folder(tmp_path, size=(40, 30))[1:], "--views", "original,crop_3x", *BAD_LINES[name]]
    if name in {"no such view", "no view"}:
        line[line.index("--views") : line.index("--views") + 2] = []
    checked = outcome(["check", *line], capsys)
    asked = outcome(["run", *line, "--out", str(tmp_path / "out"), "--no-report"], capsys)
    assert checked == asked
    assert checked[0] in {1, 2}
    assert len(checked[1]) >= 1


def test_check_refuses_a_collection_with_errors_as_run_does(tmp_path, capsys):
    root = make_release(tmp_path)
    (root / "data/crop_3x/test/images/000001.png").write_bytes(b"x")
    line = ["sum", "--data", str(root), "--views", "original,crop_3x", *PLAIN]
    checked = outcome(["check", *line], capsys)
    assert checked == outcome(["run", *line, "--out", str(tmp_path / "out"), "--no-report"], capsys)
    assert checked[0] == 1
    assert "wrong_bytes" in checked[1][0]
    assert run_app(["check", *line, "--allow-faults"]) == 0
    assert "--allow-faults" in capsys.readouterr().err


def test_refused_views_are_shown_with_the_line_that_gets_every_view_through(tmp_path, capsys):
    arguments = made_folder(tmp_path, size=(7680, 4320))
    views = "original,downsample_0_5"
    assert run_app([*arguments, "--views", views, "--model", "openai/gpt-6-astra", "--set", "detail=original"]) == 0
    shown = capsys.readouterr()
    assert "refused (patches, more than 30000): 1" in shown.out
    assert "native@1              1" in shown.out
    line = next(line for line in shown.err.splitlines() if line.startswith("to ask: "))
    assert line.endswith("--model openai/gpt-6-astra --set detail=original --transport fit")
    assert "--option box_format=xyxy" in line
    assert "list price of" in shown.err


def test_the_proposed_line_carries_every_flag_that_decides_the_pictures(tmp_path, capsys):
    rules = tmp_path / "mine.toml"
    rules.write_text(
        'provider = "openai"\n[[rules]]\nid = "acme@1"\nmodels = ["eye"]\nsource = "own"\ndate = 2026-11-01\n'
        'confidence = "A"\nalgorithm = { kind = "fit", max_side_px = 800, tokens = 99 }\n'
    )
    flags = ["--rules", str(rules), "--border", "shift", "--limit", "1", "--set", "reasoning_effort=low"]
    arguments = [*made_folder(tmp_path), "--views", "original,crop_4x", "--model", "openai/eye", *flags]
    assert run_app(arguments) == 0
    line = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("to ask: "))
    for flag in (f"--rules {rules}", "--border shift", "--limit 1", "--set reasoning_effort=low", "--transport fit"):
        assert flag in line


def test_a_setting_is_proposed_only_to_the_models_that_know_it(tmp_path, capsys):
    models = ["--model", "openai/gpt-4o", "--model", "google/gemini-3-pro", "--set", "detail=low"]
    assert run_app([*made_folder(tmp_path), "--views", "original", *models]) == 0
    first, second = [line for line in capsys.readouterr().err.splitlines() if line.startswith("to ask: ")]
    assert first.count("--set detail=low") == 1
    assert "detail" not in second


def test_a_file_with_a_profile_or_transparency_is_not_counted_as_leaving_as_itself(tmp_path, capsys):
    arguments = [*made_folder(tmp_path, size=(400, 300)), "--views", "original", "--model", "openai/gpt-4o", "--json"]

    def upload():
        assert run_app(arguments) == 0
        (model,) = json.loads(capsys.readouterr().out)["models"]
        return model["views"][0]["most_bytes"]

    plain = (tmp_path / "a.png").stat().st_size
    assert upload() == plain
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.new("RGB", (400, 300)).save(tmp_path / "a.png", icc_profile=profile)
    assert upload() > 400 * 300 * 3
    Image.new("RGBA", (400, 300)).save(tmp_path / "a.png")
    assert upload() > 400 * 300 * 3


def test_check_fails_only_on_what_it_is_told_to_fail_on(tmp_path, capsys):
    arguments = [*made_folder(tmp_path), "--views", "original,downsample_0_5", "--model", "anthropic/claude-sonnet-4-5"]
    assert run_app([*arguments, "--fail-on", "refused,unknown"]) == 0
    assert run_app([*arguments, "--fail-on", "collapse,refused"]) == 1
    assert "fails: anthropic/claude-sonnet-4-5: one picture with another view: original" in capsys.readouterr().err
    assert run_app([*arguments[:-1], "vllm/mine", "--fail-on", "unknown"]) == 1
    assert run_app([*arguments, "--fail-on", "colapse"]) == 2
    assert "--fail-on 'colapse' is unknown" in capsys.readouterr().err


def test_table_of_a_transport_policy_shows_what_it_sends(tmp_path, capsys):
    arguments = [*made_folder(tmp_path), "--views", "original,downsample_0_5", "--model", "anthropic/claude-sonnet-4-5"]
    assert run_app([*arguments, "--transport", "fit", "--price", "1,10", "--repeats", "2", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert [view["sent_size"] for view in model["views"]] == [view["seen_size"] for view in model["views"]]
    assert model["cost"]["n_calls"] == 4
    assert model["cost"]["price"]["source"] == "given"
    assert run_app([*arguments[:-1], "vllm/mine", "--transport", "fit"]) == 2
    assert "no rule is known for vllm/mine" in capsys.readouterr().err


def test_a_budget_is_compared_with_the_other_policies(tmp_path, capsys):
    arguments = [*made_folder(tmp_path, size=(7680, 4320)), "--views", "original", "--model", "openai/gpt-6-astra"]
    assert run_app([*arguments, "--set", "detail=original", "--transport", "budget(1000,4000000)", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    refused = {policy["transport"]: policy["n_refused"] for policy in model["policies"]}
    assert refused == {"native@1": 1, "fit@1": 0, "fit@1+jpeg95@1": 0, "budget@1(1000,4000000)": 0}


def test_numbers_that_mean_nothing_are_refused(tmp_path, capsys):
    arguments = made_folder(tmp_path)
    for flag, value in (("--seconds-per-call", "-1"), ("--answer-tokens", "-1")):
        assert run_app([*arguments, flag, value]) == 2
        assert f"{flag} {value} is below" in capsys.readouterr().err


def test_a_matched_design_is_proved_and_what_cannot_be_matched_is_listed(tmp_path, capsys):
    arguments = [*made_folder(tmp_path), "--views", "original,crop_4x", "--model", "anthropic/claude-sonnet-4-5"]
    assert run_app([*arguments, "--match", "target-px=12"]) == 0
    shown, told = capsys.readouterr()
    assert "2 calls" in told
    assert "to ask: eyechart run folder" in told
    assert "--match target-px=12 --model anthropic/claude-sonnet-4-5 --transport native" in told
    assert "match_px_12 " in shown
    assert "match_px_12_crop_4x" in shown
    assert "off by at most" in shown
    assert run_app([*arguments, "--match", "target-px=99", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert [one["question_id"] for one in model["matching"]["unmatched"]] == ["1"]
    assert run_app([*arguments, "--match", "pixels"]) == 2
    assert "is not a matched design" in capsys.readouterr().err


def test_regions_of_a_grid_that_look_alike_to_a_model_are_one_row(tmp_path, capsys):
    write_needles(tmp_path / "needles", 4)
    options = ["--option", f"needles={tmp_path / 'needles'}", "--option", "grid=1,3", "--model", "openai/gpt-4o"]
    assert run_app(["check", "whitebackground", *options]) == 0
    rows = [line.split()[:4] for line in capsys.readouterr().out.splitlines() if line.startswith("grid_")]
    assert rows == [["grid_white_1x1_r0_c0", "4", "448×448", "448×448"], ["grid_white_3x3,", "9", "regions", "36"]]
    assert run_app(["check", "whitebackground", *options, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["models"][0]["views"]) == 10
