"""A release with SUM's counts and exactly its declared defects, on pictures of a few pixels."""

import json

import numpy as np
from PIL import Image

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.releases.build import build_release
from eyechart.releases.layout import BuildSettings
from eyechart.views import parse_view

N_QUESTIONS, N_PICTURES, N_ACROSS_BORDER, N_TWO_OPTIONS = 700, 664, 30, 21
SIZE = (48, 32)
TWINS_ID = "000669"
# The mirror lacks these two files.
OMITTED = ("data/crop_1_5x/test/images/000602.png", "data/downsample_0_75/test/images/000075.jpg")
VIEW_IDS = ("original", "crop_1_5x", "whiteground_1_5x", "downsample_0_75")
SOURCES = (("VStarBench", 115), ("ZoomBench", 485), ("HR-Bench", 100))
TASKS = (
    ("Color Attributes", 347),
    ("OCR", 118),
    ("Structural Attributes", 94),
    ("Object Identification", 84),
    ("Material Attributes", 57),
)


def _repeated(counts):
    return [name for name, n in counts for _ in range(n)]


def _suffix(number):
    return "jpg" if number < 115 else "png"


def question(number):
    """The row of one question; the last 36 share pictures with the questions 36 before them."""
    picture = number if number < N_PICTURES else number - 36
    left = -2 if number % 7 == 0 and number // 7 < N_ACROSS_BORDER else 4 + number % 20
    choices = ["red", "green", "blue", "white"] if not 200 <= number < 200 + N_TWO_OPTIONS else ["yes", "no"]
    answer = "AB"[number % 2]
    if f"{number:06d}" == TWINS_ID:
        choices, answer = ["red", "Red", "Brown", "Black"], "C"
    return {
        "id": f"{number:06d}",
        "image": f"{picture:06d}.{_suffix(picture)}",
        "question": f"What is thing {number}?",
        "choices": choices,
        "answer": answer,
        "box": [left, 5, left + 9, 14],
        "task": _repeated(TASKS)[number * 13 % N_QUESTIONS],
        "source": _repeated(SOURCES)[number],
    }


def make_sum_like(folder, *, is_mirror):
    """Build the release under ``folder`` and return its path; a mirror lacks the two images."""
    source, out = folder / "source", folder / "release"
    source.mkdir()
    width, height = SIZE
    for number in range(N_PICTURES):
        pixels = np.random.default_rng(number).integers(0, 255, (height // 8, width // 8, 3), np.uint8)
        image = Image.fromarray(pixels).resize(SIZE, Image.Resampling.BICUBIC)
        image.save(source / f"{number:06d}.{_suffix(number)}")
    rows = [question(number) for number in range(N_QUESTIONS)]
    (source / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    settings = BuildSettings(views=tuple(map(parse_view, VIEW_IDS)), preset=None, encoding="like-original")
    build_release(FolderKind().open(source, FolderOptions(box_format="xyxy")), out, settings, n_processes=1)
    if is_mirror:
        for name in OMITTED:
            (out / name).unlink()
    return out
