"""A release's own program is never executed unless the user trusts it."""

import json

import pytest
from releases.made import make_release
from strategies import question_about

from eyechart.cli._app import run_app
from eyechart.errors import UsageError
from eyechart.releases.own_prompts import open_release_prompt
from eyechart.schema import Size

QUESTION = question_about(Size(9, 9), text="Which?", text_raw="Which one?")


@pytest.fixture
def release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_release(tmp_path)


def write_script(root, text):
    (root / "scripts").mkdir(exist_ok=True)
    (root / "scripts" / "prompts.py").write_text(text, encoding="utf-8")


def test_script_is_not_executed_without_trust(release, tmp_path, capsys):
    write_script(release, f"open({str(tmp_path / 'executed')!r}, 'w')\ndef normalized(sample): return 'x'\n")
    arguments = ["run", "sum", "--data", str(release), "--model", "simulated/oracle", "--views", "original"]
    for more in (["--prompt", "release:normalized"], []):
        run_app([*arguments, *more, "--out", f"kept{len(more)}", "--no-report"])
        assert not (tmp_path / "executed").exists()
    run_app(["show", "0", "--data", str(release), "--no-page"])
    run_app(["verify", str(release), "--jobs", "1", "--explain"])
    assert not (tmp_path / "executed").exists()
    shown = capsys.readouterr().err
    assert "is a program of the release and was not executed" in shown
    assert "add --trust" in shown


def test_trusted_script_makes_the_prompts_and_its_hash_is_recorded(release, tmp_path):
    arguments = ["run", "sum", "--data", str(release), "--model", "simulated/oracle", "--views", "original"]
    arguments += ["--prompt", "release:legacy", "--trust", "--out", "kept", "--no-report"]
    assert run_app(arguments) == 0
    requests = [json.loads(line) for line in (tmp_path / "kept" / "requests.jsonl").read_text().splitlines()]
    assert {request["prompt_id"].partition("-")[0] for request in requests} == {"release_legacy"}
    assert len({request["prompt_id"] for request in requests}) == 1
    assert all(request["prompt"].startswith("What is it?") for request in requests)
    assert all(len(request["prompt_sha256"]) == 64 for request in requests)


def test_sample_has_the_choices_as_shown_and_no_answer(tmp_path):
    write_script(
        tmp_path, "def build_normalized_prompt(sample):\n    return '|'.join([*sorted(sample), *sample['choices']])\n"
    )
    prompt = open_release_prompt(tmp_path, "release:normalized", is_trusted=True)
    text = prompt.render(QUESTION, ("b", "a"))
    assert text.endswith("|b|a")
    assert "answer" not in text


@pytest.mark.parametrize(
    ("script", "name", "message"),
    [
        ("def f(sample): return 1\n", "f", "returns int, not a text"),
        ("def f(sample): raise KeyError('x')\n", "f", "fails on question 000001: KeyError"),
        ("raise RuntimeError('no')\n", "f", "fails: RuntimeError: no"),
        ("def f(sample): return ''\n", "g", "named 'g'|'g'"),
    ],
)
def test_fault_of_the_script_is_named(tmp_path, script, name, message):
    write_script(tmp_path, script)
    with pytest.raises(UsageError, match=message):
        open_release_prompt(tmp_path, f"release:{name}", is_trusted=True).render(QUESTION, ("a", "b"))


def test_benchmark_without_scripts_has_no_prompts_of_its_own(tmp_path, capsys):
    with pytest.raises(UsageError, match=r"has no scripts/prompts\.py"):
        open_release_prompt(tmp_path, "release:normalized", is_trusted=True)
    arguments = ["run", "demo", "--model", "simulated/oracle", "--views", "original", "--limit", "1", "--no-report"]
    assert run_app([*arguments, "--prompt", "release:legacy", "--trust"]) == 2
    assert "demo is not a release" in capsys.readouterr().err
