"""Small releases made in the tests: four questions on three pictures, with SUM's own kinds of defects."""

import json
import re

import numpy as np
from PIL import Image

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.releases.build import build_release
from eyechart.releases.layout import BuildSettings
from eyechart.views import parse_view

SIZE = (64, 48)
VIEW_IDS = (
    "original",
    "crop_1x",
    "crop_3x",
    "whiteground_1x",
    "whiteground_3x",
    "downsample_0_5",
    "target_only_1x",
    "target_only_3x",
    "target_only_original",
)
TASKS = ("OCR", "Color")
IMAGES = ("p0.png", "p1.jpg", "p2.png")
# Question 2 crosses the border and has twin choices; question 3 shares its picture with 0, and its box is everything.
QUESTIONS = (
    {"image": "p0.png", "box": [5, 10, 20, 25], "choices": ["a", "b"], "answer": "B", "n_signs": 3},
    {"image": "p1.jpg", "box": [30.5, 5, 45, 15], "choices": ["a", "b", "c", "d"], "answer": "A", "n_signs": 1},
    {"image": "p2.png", "box": [-3, 40, 10, 50], "choices": ["red", "Red", "Brown", "Black"], "answer": "C"},
    {"image": "p0.png", "box": [0, 0, 64, 48], "choices": ["a", "c"], "answer": "A"},
)


# The same without defects.
CLEAN_QUESTIONS = (
    *QUESTIONS[:2],
    {**QUESTIONS[2], "box": [3, 30, 10, 40], "choices": ["red", "blue", "Brown"]},
    QUESTIONS[3],
)


def picture(seed):
    """A noisy picture; no two pixels of it are likely equal, so a shifted copy is never taken for the right one."""
    width, height = SIZE
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (height, width, 3), np.uint8))


def write_source(folder, questions=QUESTIONS):
    """Write pictures and questions.jsonl."""
    for seed, name in enumerate(IMAGES):
        picture(seed).save(folder / name, **({"quality": 90} if name.endswith("jpg") else {}))
    rows = [
        {
            "id": f"{number:06d}",
            "question": "What is it?",
            "task": ("OCR", "Color")[number % 2],
            "source": "mine",
            **row,
        }
        for number, row in enumerate(questions)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def open_source(folder):
    """Return the folder benchmark of ``write_source``."""
    return FolderKind().open(folder, FolderOptions(box_format="xyxy", listed="column"))


def settings(*view_ids, **changes):
    """Return build settings with these views, by default the nine of VIEW_IDS."""
    views = tuple(parse_view(view_id) for view_id in view_ids or VIEW_IDS)
    return BuildSettings(views=views, preset=None, **changes)


def make_release(folder, questions=QUESTIONS, views=(), **changes):
    """Build a release under ``folder`` and return its path."""
    source, out = folder / "source", folder / "release"
    source.mkdir()
    write_source(source, questions)
    build_release(open_source(source), out, settings(*views, **changes), n_processes=1)
    return out


def respell(root, names, **fields):
    """Give views of a release other ids, everywhere but in the rows' family and scale; then change these fields."""
    for path in (root / "README.md", root / "dataset.json", *(root / "metadata").glob("*.json")):
        if path.is_file():
            path.write_text(_respelled(path.read_text(encoding="utf-8"), names), encoding="utf-8")
    for view_id, other in names.items():
        rows = root / "data" / view_id / "test" / "metadata.jsonl"
        changed = [
            json.dumps({**json.loads(_respelled(line, names)), **fields})
            for line in rows.read_text(encoding="utf-8").splitlines()
        ]
        rows.write_text("\n".join(changed) + "\n", encoding="utf-8")
        (root / "data" / view_id).rename(root / "data" / other)


def _respelled(text, names):
    for view_id, other in names.items():
        text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(view_id)}(?![A-Za-z0-9_])", other, text)
    return text


def as_built_before(root, *, number_ids=False):
    """Turn a release into what builds before the declared columns wrote: absent keys, whole numbers, no features.json.

    With ``number_ids`` ``source_question_id`` is a number where it looks like one, as HR-Bench's once was.
    """
    (root / "metadata/features.json").unlink()
    summary = root / "metadata/validation_summary.json"
    content = json.loads(summary.read_text(encoding="utf-8"))
    del content["row_schema"]
    summary.write_text(json.dumps(content), encoding="utf-8")
    card = root / "README.md"
    head, _, rest = card.read_text(encoding="utf-8").partition("dataset_info:")
    card.write_text(f"{head}---{rest.partition(chr(10) + '---')[2]}", encoding="utf-8")
    for path in root.glob("data/*/test/metadata.jsonl"):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        used = [name for name in rows[0] if any(row[name] is not None for row in rows)]
        names = [*(name for name in used if name != "file_name"), "file_name"]
        fractions = {name for name in names if any(_has_fraction(row[name]) for row in rows)}
        old = [{name: _as_before(name, row[name], name in fractions, number_ids) for name in names} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in old), encoding="utf-8")


def _has_fraction(value):
    return isinstance(value, list) and any(isinstance(edge, float) and not edge.is_integer() for edge in value)


def _as_before(name, value, keeps_floats, number_ids):
    if number_ids and name == "source_question_id" and str(value).isdecimal():
        return int(value)
    if isinstance(value, list) and not keeps_floats:
        return [int(edge) if isinstance(edge, float) else edge for edge in value]
    return value
