"""Two runs about the same small pictures, with planted markup in questions and answers, as the explorer reads them."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from eyechart.cli._app import run_app
from eyechart.explorer.study import read_study

VIEWS = "original,crop_3x,whiteground_3x,downsample_0_5"
SCRIPT = "<script>document.title='planted'</script>"
ESCAPE = "\x1b[31mred\u202e"
N = 6


def paint(index):
    """A picture whose every pixel tells where it is."""
    across, down = np.meshgrid(np.arange(700, dtype=np.uint16), np.arange(420, dtype=np.uint16))
    return np.stack([across % 256, down % 256, np.full_like(across, 40 * index)], axis=2).astype(np.uint8)


@pytest.fixture(scope="session")
def explored_folders(tmp_path_factory):
    """Folders of two runs: given answers, some with markup, and a simulated model."""
    home = tmp_path_factory.mktemp("explored")
    rows, answers = [], []
    for index in range(N):
        Image.fromarray(paint(index)).save(home / f"{index}.png")
        text = f"Which letter is it? {SCRIPT}" if index == 0 else f"Which letter stands at place {index}?"
        rows.append(
            {
                "id": f"q/{index} é",
                "image": f"{index}.png",
                "question": text,
                "choices": ["x", "y<b>", "z", "w"],
                "answer": "ABCD"[index % 4],
                "box": [300, 200, 340 + 4 * index, 210 + 6 * index],
                "task": ("OCR", "colour")[index % 2],
            }
        )
        for view in VIEWS.split(","):
            is_right = view == "crop_3x" or index % 3 == 0
            letter = "ABCD"[index % 4] if is_right else "ABCD"[(index + 1) % 4]
            response = f"{SCRIPT}{ESCAPE} The answer is {letter}."
            if index == 5 and view == "original":
                continue
            answers.append({"id": f"q/{index} é", "view": view, "response": response})
    (home / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (home / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    common = ["run", "folder", "--data", str(home / "questions.jsonl"), "--option", "box_format=xyxy", "--no-report"]
    run_app([*common, "--views", VIEWS, "--model", f"replay/{home / 'answers.jsonl'}", "--out", str(home / "given")])
    run_app([*common, "--views", VIEWS, "--model", "simulated/vlm", "--out", str(home / "simulated")])
    return home / "given", home / "simulated"


@pytest.fixture(scope="session")
def study(explored_folders):
    """Both runs."""
    return read_study(explored_folders)


@pytest.fixture(scope="session")
def data(explored_folders):
    """The questions and pictures of both runs."""
    return explored_folders[0].parent / "questions.jsonl"


@pytest.fixture(scope="session")
def own_words(tmp_path_factory):
    """Run folders of an answers file of HRScene's explorer, in our own words."""
    home = tmp_path_factory.mktemp("own-words")
    file = Path(__file__).parents[1] / "runs" / "explorer_own_words.json"
    assert run_app(["import", "hrscene-explorer", str(file), "--out", str(home)]) == 0
    return sorted(home.iterdir())
