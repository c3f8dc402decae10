"""Planted scripts and terminal escapes in questions, options, tasks, sources and answers, for each command that prints
them.
"""

import json
import shutil

import pytest
from PIL import Image
from starlette.testclient import TestClient

from eyechart.cli import run_app
from eyechart.explorer.annotate_server import build_annotator
from eyechart.explorer.annotating import Annotation
from eyechart.kinds import ModelOptions
from eyechart.opening import open_benchmark, open_model, open_prompt
from eyechart.runs.folders import Destination
from eyechart.runs.plan import plan_run
from eyechart.views import resolve_views

SCRIPT = "<script>window.planted=1</script><img src=x onerror=planted()>"
ESCAPE = "\x1b]0;planted\x07\x1b[31m\x9b2J\u202e"
MARKUP = r"\[/red] [bold] {{ 7*7 }}"
PLANT = f"{SCRIPT} {ESCAPE} {MARKUP}"
DRIVERS = ("\x1b", "\x07", "\x9b", "\u202e")
OPTION = ("--option", "box_format=xyxy")
VIEWS = "original,crop_3x"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A question file whose every text is planted, and two files of planted answers."""
    home = tmp_path_factory.mktemp("planted")
    rows, answers = [], {"one": [], "two": []}
    for index in range(8):
        Image.new("RGB", (64, 48), (index * 20, 0, 0)).save(home / f"{index}.png")
        row = {"id": f"q{index}", "image": f"{index}.png", "question": f"Which {PLANT}?"}
        row |= {"choices": [f"{letter} {PLANT}" for letter in "xyzw"], "answer": "ABCD"[index % 4]}
        rows.append({**row, "box": [8, 8, 24, 20], "task": f"OCR {PLANT}", "source": f"web {PLANT}"})
        for name, planted in answers.items():
            letter = "ABCD"[(index + (name == "two")) % 4]
            for view in VIEWS.split(","):
                text = f"{letter} {PLANT}" if index else PLANT
                planted.append({"id": f"q{index}", "view": view, "response": text})
    (home / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name, planted in answers.items():
        (home / f"{name}.jsonl").write_text("\n".join(map(json.dumps, planted)))
        arguments = ["run", "folder", "--data", str(home / "questions.jsonl"), *OPTION, "--views", VIEWS]
        arguments += ["--model", f"replay/{home / name}.jsonl", "--out", str(home / f"run-{name}"), "--no-report"]
        assert run_app(arguments) == 0
    assert (
        run_app(["build", "folder", "--data", str(home / "questions.jsonl"), *OPTION, "--out", str(home / "release")])
        == 0
    )
    return home


ASK = ("folder", "--data", "questions.jsonl", *OPTION, "--views", VIEWS, "--model")
COMMANDS = {
    "run": ("run", *ASK, "replay/one.jsonl"),
    "run json": ("run", *ASK, "replay/two.jsonl", "--json"),
    "score": ("score", "run-one"),
    "score json": ("score", "run-one", "--json"),
    "score predictions": ("score", "--predictions", "one.jsonl", "--data", "release"),
    "report": ("report", "run-one"),
    "diff": ("diff", "run-one", "run-two"),
    "diff json": ("diff", "run-one", "run-two", "--json"),
    "diff views": ("diff", "run-one", "--views", VIEWS),
    "show": ("show", "q1", "--data", "release", "--out", "page.html"),
    "show json": ("show", "q1", "--data", "release", "--json"),
    "verify": ("verify", "release", "--jobs", "1", "--no-open"),
    "verify damaged": ("verify", "damaged", "--jobs", "1", "--no-open"),
    "verify damaged json": ("verify", "damaged", "--jobs", "1", "--no-open", "--json"),
    "verify content": ("verify", "release", "--content", "--jobs", "1", "--no-open"),
    "check": ("check", *ASK, "openai/gpt-4o"),
    "export": ("export", "run-one", "run-two", "--out", "long.csv"),
    "export site": ("export", "site", "run-one", "--out", "site"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_lets_planted_data_act(name, home, tmp_path, monkeypatch, capfdbinary):
    shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    damage(tmp_path)
    for page in tmp_path.rglob("*.html"):
        page.unlink()
    monkeypatch.chdir(tmp_path)
    capfdbinary.readouterr()
    code = run_app(list(COMMANDS[name]))
    shown = b"".join(capfdbinary.readouterr()).decode()
    assert code in ({0, 1} if "damaged" in name else {0, 3}), shown[-600:]
    assert shown.strip()
    assert not [driver for driver in DRIVERS if driver in shown]
    assert "Traceback" not in shown
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script>window" not in text
        assert "<img src=x" not in text
        assert "\x1b" not in text
        assert "49" not in text.partition("[bold] ")[2][:8]  # a template mark is text


def damage(home):
    """A release in which a row tells another answer than its question, in planted words."""
    shutil.copytree(home / "release", home / "damaged")
    for table in sorted((home / "damaged").rglob("*.jsonl")):
        lines = table.read_text().splitlines()
        row = json.loads(lines[0])
        for key in ("file_name", "answer"):
            if key in row:
                row[key] = PLANT
        table.write_text("\n".join([json.dumps(row), *lines[1:]]))


def test_the_page_for_people_takes_planted_data_as_text(home, tmp_path):
    benchmark = open_benchmark("folder", home / "questions.jsonl", {"box_format": "xyxy"})
    model = open_model("human/ann", ModelOptions())
    plan = plan_run(benchmark, resolve_views(VIEWS)[0], open_prompt(), model=model.identity)
    annotation = Annotation(plan, benchmark, Destination(out=tmp_path / "ann"))
    client = TestClient(build_annotator(annotation, zoom=False), base_url="http://127.0.0.1")
    page, state = client.get("/"), client.get("/state")
    assert "planted" not in page.text  # questions come as data, and annotate.js writes them as textContent
    assert state.headers["content-type"] == "application/json"
    assert SCRIPT in state.json()["question"]
