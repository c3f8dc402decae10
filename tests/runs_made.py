"""Runs with known answers, written by the real loop: for laws of comparisons, validity rules and exports."""

import hashlib
import json

from PIL import Image

from eyechart.runs.cells import read_table
from eyechart.runs.folders import Destination
from eyechart.runs.pairing import Side
from eyechart.runs.plan import PlanOptions
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.schema import ModelIdentity, Sampling
from eyechart.views import resolve_views

SCORER = "tiny_letter.strict@1"


def draw(*parts) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "big") / 2**48


def right_at(rates, seed=0, default=0.8):
    """A script whose answer is right with the rate of its view, independently; gold is A."""

    def script(ask):
        asked = ask.identity
        rate = rates.get(asked.condition, default)
        is_right = draw(seed, asked.question_id, asked.condition, asked.repeat) < rate
        return "A" if is_right else "BCD"[int(3 * draw("wrong", seed, asked.question_id, asked.condition))]

    return script


def make_run(make, folder, script, *, n=60, views="original,crop_3x", name="tiny", benchmark=None, **changes):
    """The store of a run of ``n`` questions on as many pictures."""
    plan = changes.pop("plan", PlanOptions())
    questions = changes.pop("questions", None) or [make.question(index) for index in range(n)]
    outcome = run_benchmark(
        benchmark or make.benchmark(questions),
        make.model(script, identity=ModelIdentity("scripted", name, fingerprint=name)),
        resolve_views(views)[0],
        changes.pop("prompt", None) or make.prompt(),
        options=RunOptions(
            scorer="tiny_letter",
            plan=plan,
            where=Destination(out=folder),
            sampling=changes.pop("sampling", Sampling()),
        ),
    )
    return outcome.store


def make_side(make, folder, script, **changes) -> Side:
    """One side of a comparison."""
    name = changes.get("name", "tiny")
    return Side(name, read_table(make_run(make, folder, script, **changes), SCORER))


def question_file(home, n=40, size=(64, 48)):
    """A benchmark of ``n`` small pictures on the disk, opened."""
    rows = []
    for index in range(n):
        Image.new("RGB", size, (index, 0, 0)).save(home / f"{index}.png")
        row = {"id": f"q{index}", "image": f"{index}.png", "question": "Which?", "choices": ["x", "y", "z", "w"]}
        rows.append({**row, "answer": "ABCD"[index % 4], "box": [8, 8, 24, 20], "task": ("OCR", "Color")[index % 2]})
    (home / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return home / "questions.jsonl"
