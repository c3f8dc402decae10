"""Figures of benchmarks: any data given, any size of picture, every limit with its rule and date."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from runs_made import question_file

from eyechart.cli._app import run_app
from eyechart.errors import UsageError
from eyechart.figures._examples import choose_examples, load_example
from eyechart.figures._gallery import Example, draw_gallery
from eyechart.figures._resolutions import ModelLimit, draw_resolutions
from eyechart.opening import open_benchmark
from eyechart.schema import PictureGroup

SUFFIXES = ("pdf", "svg", "png", "html")


@pytest.fixture
def data(tmp_path):
    return question_file(tmp_path, n=8)


def draw(*arguments):
    return run_app(["draw", *map(str, arguments)])


def test_gallery_shows_one_question_per_category_without_the_right_answer(data, tmp_path):
    out = tmp_path / "out"
    assert draw("gallery", "folder", "--data", data, "--option", "box_format=xyxy", "--out", out) == 0
    assert sorted(path.suffix[1:] for path in out.iterdir()) == sorted(SUFFIXES)
    page = (out / "gallery.html").read_text(encoding="utf-8")
    assert "OCR (q" in page
    assert "Color (q" in page
    assert "64×48 pixels" in page
    assert not re.search(r"https?://|<script", page)
    assert "default-src 'none'; img-src data:" in page


def test_same_seed_shows_the_same_questions(data):
    questions = list(open_benchmark("folder", data, {"box_format": "xyxy"}).questions())
    assert choose_examples(questions, 3) == choose_examples(questions, 3)
    assert len({tuple(one.id for one in choose_examples(questions, seed)) for seed in range(8)}) > 1
    assert [question.task for question in choose_examples(questions)] == ["Color", "OCR"]


def test_picture_of_many_megapixels_becomes_a_small_copy(tmp_path):
    Image.new("RGB", (8000, 6000), (0, 90, 200)).save(tmp_path / "large.jpg", quality=30)
    row = {"id": "q", "image": "large.jpg", "question": "Which?", "choices": ["x", "y"], "answer": "A"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(row))
    benchmark = open_benchmark("folder", tmp_path / "questions.jsonl", {})
    example = load_example(benchmark, next(benchmark.questions()))
    assert example.size == (8000, 6000)
    assert example.thumbnail.shape == (360, 480, 3)
    assert abs(int(example.thumbnail[5, 5, 2]) - 200) < 5


def test_long_questions_are_cut_and_stay_inside_the_figure():
    thumbnail = np.zeros((20, 30, 3), dtype=np.uint8)
    example = Example("category", "q", "word " * 200, ("option " * 30, "$x_1$"), (30, 20), thumbnail)
    figure = draw_gallery([example] * 4, "Title")
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    for axes in figure.axes:
        for text in axes.texts:
            box = text.get_window_extent()
            assert 0 <= box.x0 <= box.x1 <= width
            assert 0 <= box.y0 <= box.y1 <= height
    with pytest.raises(UsageError, match="there is no question to show"):
        draw_gallery([], "Title")


def test_resolutions_of_benchmarks_stand_beside_the_limits_of_models(data, tmp_path):
    out = tmp_path / "out"
    arguments = ["resolutions", f"folder={data}", "--option", "box_format=xyxy", "--model", "openai/gpt-4o"]
    assert draw(*arguments, "--out", out) == 0
    words = (out / "resolutions.html").read_text(encoding="utf-8")
    assert "folder: n = 8 pictures, median 0.00307 megapixels" in words
    assert re.search(r"At most [\d.]+ megapixels of a picture reach openai/gpt-4o \(rule [\w@-]+, \d{4}-", words)


def test_limit_of_a_model_without_a_rule_is_an_error(data, capsys):
    arguments = ["resolutions", f"folder={data}", "--option", "box_format=xyxy", "--model", "simulated/chance"]
    assert draw(*arguments) == 2
    assert "no input limit of simulated/chance is known" in capsys.readouterr().err


def test_no_benchmark_is_a_usage_error(capsys):
    assert draw("resolutions") == 2
    assert "no benchmark was named" in capsys.readouterr().err


def test_every_limit_is_a_lettered_line_named_above():
    group = PictureGroup("b", None, 3, 3, (1e6, 2e6, 3e6, 4e6, 5e6), 3e6)
    limits = [
        ModelLimit("openai/large", 12_000_000, "r@1", "2026-01-01"),
        ModelLimit("x/small", 500_000, "r@2", "2026"),
    ]
    axes = draw_resolutions([group], limits)
    assert "a x/small 0.5 MP" in axes.get_title(loc="right")
    assert "b openai/large 12 MP" in axes.get_title(loc="right")
    assert axes.get_xlim()[0] < 500_000
    assert {text.get_text() for text in axes.texts} >= {"a", "b"}


def test_an_option_goes_to_the_benchmarks_that_have_it(data, tmp_path, capsys):
    assert draw("resolutions", f"folder={data}", "demo", "--option", "box_format=xyxy", "--out", tmp_path / "out") == 0
    assert (tmp_path / "out" / "resolutions.png").is_file()
    assert draw("resolutions", f"folder={data}", "demo", "--option", "box_frmat=xyxy", "--out", tmp_path / "out") == 2
    assert "did you mean box_format?" in capsys.readouterr().err
