"""Figures of benchmarks: any data given, any size of picture, every limit with its rule and date."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from runs_made import question_file

from eyechart.cli._app import run_app
from eyechart.errors import UsageError
from eyechart.figures._board_radar import MOST_ROWS, choose_rows, describe_board_radar, draw_board_radar
from eyechart.figures._examples import choose_examples, load_example
from eyechart.figures._gallery import Example, draw_gallery
from eyechart.figures._resolutions import ModelLimit, draw_resolutions
from eyechart.opening import open_benchmark
from eyechart.runs.board import Board, BoardCell, BoardColumn, BoardRow
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


def test_limits_close_to_each_other_share_one_label_that_covers_no_other():
    group = PictureGroup("b", None, 3, 3, (1e6, 2e6, 3e6, 4e6, 5e6), 3e6)
    sizes = (1_000_000, 1_150_000, 1_200_000, 1_210_000, 12_000_000)
    axes = draw_resolutions([group], [ModelLimit(f"x/m{size}", size, "r@1", "2026") for size in sizes])
    axes.figure.canvas.draw()
    labels = [text for text in axes.texts if re.fullmatch("[a-z](–[a-z])?", text.get_text())]
    assert [text.get_text() for text in labels] == ["a–d", "e"]
    frame = axes.get_window_extent()
    first, second = (text.get_window_extent() for text in labels)
    assert first.x1 < second.x0
    assert frame.y0 <= first.y0 <= first.y1 <= frame.y1
    assert len([line for line in axes.get_lines() if len(set(line.get_xdata())) == 1 and line.get_zorder() == 1.5]) == 5


def test_names_of_models_leave_the_boxes_their_height():
    group = PictureGroup("b", None, 3, 3, (1e6, 2e6, 3e6, 4e6, 5e6), 3e6)
    limits = [ModelLimit(f"x/m{index}", 10**6 * (index + 1), "r@1", "2026") for index in range(12)]
    heights = []
    for shown in ([], limits):
        axes = draw_resolutions([group, group], shown)
        axes.figure.canvas.draw()
        heights.append(axes.get_window_extent().height)
    assert heights[1] > 0.8 * heights[0]


def test_pictures_of_the_gallery_stand_on_one_line_over_their_words():
    shapes = [(30, 20), (10, 40), (80, 16), (20, 20)]
    examples = [
        Example(f"c{index}", "q", "word " * (3 + 9 * index), ("x", "y"), shape, np.zeros((*shape[::-1], 3), np.uint8))
        for index, shape in enumerate(shapes)
    ]
    figure = draw_gallery(examples, "Title")
    figure.canvas.draw()
    pictures = [axes for axes in figure.axes if axes.images]
    words = [axes for axes in figure.axes if axes.texts]
    assert len({round(axes.get_window_extent().y0) for axes in pictures[:3]}) == 1
    for picture, word in zip(pictures, words, strict=True):
        box = word.texts[0].get_window_extent()
        assert abs(box.x0 - picture.get_window_extent().x0) < 3
        assert 0 < picture.get_window_extent().y0 - box.y1 < 12
    texts = [[text.get_window_extent() for text in word.texts] for word in words]
    assert all(heading.y0 > body.y1 - 1 for heading, body in texts)
    assert texts[0][1].y0 > pictures[3].get_window_extent().y1


def test_an_option_goes_to_the_benchmarks_that_have_it(data, tmp_path, capsys):
    assert draw("resolutions", f"folder={data}", "demo", "--option", "box_format=xyxy", "--out", tmp_path / "out") == 0
    assert (tmp_path / "out" / "resolutions.png").is_file()
    assert draw("resolutions", f"folder={data}", "demo", "--option", "box_frmat=xyxy", "--out", tmp_path / "out") == 2
    assert "did you mean box_format?" in capsys.readouterr().err


def test_radar_draws_people_guessing_and_the_best_published_models(tmp_path, capsys):
    assert draw("radar", "hrscene", "--out", tmp_path) == 0
    words = (tmp_path / "radar.html").read_text(encoding="utf-8")
    assert "Human: Daily 77.8" in words
    assert "Qwen2-VL-72B-Instruct: Daily 66.2" in words
    assert "Unreliable: of a draft table" in words
    assert "eyechart-made" not in words


def test_radar_draws_the_named_models_and_refuses_unknown_ones(tmp_path, capsys):
    assert draw("radar", "hrscene", "--model", "GPT-4o", "--out", tmp_path) == 0
    words = (tmp_path / "radar.html").read_text(encoding="utf-8")
    assert "GPT-4o: Daily 55.9" in words
    assert "Qwen2-VL-72B-Instruct" not in words
    assert draw("radar", "hrscene", "--model", "GPT-4-o", "--out", tmp_path) == 2
    said = capsys.readouterr().err
    assert "row of the board" in said
    assert "GPT-4o" in said


def board_of(*rows):
    columns = tuple(BoardColumn(key, key.title()) for key in ("all", "art", "daily", "urban"))
    return Board("hrscene, split testmini", "hrscene", "testmini", "micro", "plain mean", columns, rows, ())


def own_row(name, **cells):
    return BoardRow(name, "own", "own runs", {"art": BoardCell(50.0, 40.0, 60.0, 96), **cells})


def test_radar_has_the_interval_of_an_own_run_as_a_spoke_and_a_gap_where_a_score_is_missing():
    board = board_of(own_row("mine", urban=BoardCell(20.0)))
    axes = draw_board_radar(board, choose_rows(board))
    (outline,) = [line for line in axes.get_lines() if line.get_label() == "mine"]
    assert np.isnan(outline.get_xdata()).tolist() == [False, True, False, False]
    spokes = [line for line in axes.get_lines() if len(line.get_xdata()) == 2]
    assert [(line.get_ydata()[0], line.get_ydata()[1]) for line in spokes] == [pytest.approx((0.4, 0.6))]
    assert "Art 50.0 [40.0, 60.0, n = 96], Daily not scored, Urban 20.0" in describe_board_radar(board, board.rows)


def test_lines_of_a_radar_differ_by_colour_marker_and_dashes_and_are_not_too_many():
    rows = [own_row(f"model {index}") for index in range(MOST_ROWS)]
    board = board_of(*rows)
    axes = draw_board_radar(board, choose_rows(board))
    lines = [line for line in axes.get_lines() if line.get_label().startswith("model")]
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == MOST_ROWS
    more = board_of(*rows, own_row("one more"))
    with pytest.raises(UsageError, match="8 models are too many for one wheel"):
        choose_rows(more)


def test_board_without_categories_has_no_radar():
    board = Board("whitebackground", "whitebackground", "test", "", "", (BoardColumn("3x3", "3x3"),), (), (), True)
    with pytest.raises(UsageError, match="whitebackground has no categories to draw"):
        draw_board_radar(board, ())


@pytest.mark.parametrize(
    ("name", "first_bytes"), [("x.svg", b"<?xml"), ("x.PNG", b"\x89PNG"), ("x.pdf", b"%PDF"), ("x.html", b"<!doctype")]
)
def test_out_with_the_suffix_of_a_picture_is_that_one_file(tmp_path, capsys, name, first_bytes):
    out = tmp_path / "new" / name
    assert draw("radar", "hrscene", "--model", "GPT-4o", "--out", out) == 0
    assert [path.name for path in out.parent.iterdir()] == [name]
    assert out.read_bytes().lower().startswith(first_bytes.lower())
    assert f"wrote {out}" in capsys.readouterr().err


@pytest.mark.parametrize("what", [("resolutions", "demo"), ("gallery", "demo"), ("radar", "hrscene")])
def test_out_that_looks_like_another_file_is_refused_with_the_known_ones(tmp_path, capsys, what):
    assert draw(*what, "--out", tmp_path / "x.nope") == 2
    said = capsys.readouterr().err
    assert "no figure is written as .nope" in said
    assert ".pdf, .svg, .png, .html" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "is_there"), [("figures-0.5", False), ("old.figures", True), ("old.svg", True)])
def test_folder_with_a_version_or_one_that_is_there_may_have_a_dot(tmp_path, name, is_there):
    out = tmp_path / name
    if is_there:
        out.mkdir()
    assert draw("radar", "hrscene", "--model", "GPT-4o", "--out", out) == 0
    assert sorted(path.suffix[1:] for path in out.iterdir()) == sorted(SUFFIXES)
