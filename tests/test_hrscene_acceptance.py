"""The acceptance checks of HRScene's specification that concern its pictures, prompts, parsers and runs, by number.

Those of metrics, averages, leaderboards and submissions stand with their modules.
"""

import json
import re
from io import BytesIO

import numpy as np
import pytest
from hrscene_made import make_rows, picture, write_parquet
from needles_made import write_needles, write_rows
from PIL import Image

import eyechart
from eyechart.benchmarks._hub_grids import parse_cell_id
from eyechart.cli._app import run_app
from eyechart.errors import BenchmarkError, RefusedInputError, StoreError, UsageError
from eyechart.images.decode import decode
from eyechart.images.grid_canvas import squeeze_to_tile
from eyechart.kinds import Reply
from eyechart.opening import open_prompt
from eyechart.releases.grid_parquet import build_grids
from eyechart.runs.gold import name_cell, right_answer
from eyechart.runs.pictures import PictureSource
from eyechart.runs.plan import plan_run
from eyechart.runs.store import RunStore
from eyechart.schema import ImageRef, ModelIdentity, Question, Response, ResponseState, Size
from eyechart.scorers.grid_cell import GridCell, parse_gold
from eyechart.scorers.hrscene_letter import HRSceneLetter
from eyechart.scorers.vqa_soft import VQASoft
from eyechart.views import parse_view
from eyechart.views.grid import grid_cells

TILE = Size(448, 448)


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def needles(tmp_path):
    folder = tmp_path / "needles"
    write_needles(folder, 4, id=str)
    return folder


class Scripted:
    """A model of the user's own that answers by a function of the pixels' size and the prompt."""

    reads, max_concurrency = "pixels", None

    def __init__(self, answer, fingerprint="1"):
        self.identity = ModelIdentity("mine", "scripted", fingerprint=fingerprint)
        self._answer, self.n_asked = answer, 0

    async def answer(self, ask):
        self.n_asked += 1
        result = self._answer(ask)
        if isinstance(result, BaseException):
            raise result
        return Reply(text=result, finish="stop")

    async def close(self):
        pass


def asked(text="a red kite", **fields):
    image = ImageRef("0", Size(1, 1), "image/png")
    return Question(id="q", benchmark="b", text=text, image=image, image_group="g", **fields)


def answered(text):
    return Response(request_id="r", state=ResponseState.ANSWERED, text=text)


# --- 1 to 3: geometry and ids ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [1, 3, 5, 7, 10])
def test_check_1_white_background_geometry(grid, needles):
    benchmark = eyechart.benchmark("whitebackground", needles=str(needles), grid=grid)
    views = benchmark.defaults.views
    assert len(views) == grid**2
    cells = [parse_view(view_id) for view_id in views]
    assert [(cell.row, cell.column) for cell in cells] == [(r, c) for r in range(grid) for c in range(grid)]
    question = next(benchmark.questions())
    ids = [f"{question.id}_{cell.row}_{cell.column}" for cell in cells]
    assert all(re.fullmatch(r"\d+_\d+_\d+", cell_id) for cell_id in ids)
    # First, last and a middle cell: between them every row and column offset is taken once.
    shown = [cells[0], cells[len(cells) // 2], cells[-1]]
    plan = plan_run(
        benchmark, dict.fromkeys(shown), open_prompt("hrscene_clean"), model=ModelIdentity("simulated", "x")
    )
    source = PictureSource(benchmark)
    tile = squeeze_to_tile(decode(benchmark.image_path(question.image)), TILE)
    for request in (request for request in plan.requests if request.question_id == question.id):
        cell = parse_view(request.view)
        pixels = source.draw(request.pictures[0]).copy()
        assert pixels.shape == (448 * grid, 448 * grid, 3)
        top, left = 448 * cell.row, 448 * cell.column
        assert np.array_equal(pixels[top : top + 448, left : left + 448], tile)
        pixels[top : top + 448, left : left + 448] = 255
        assert pixels.min() == 255


def test_check_2_complex_grid_geometry(tmp_path):
    write_needles(tmp_path / "many", 10)
    benchmark = eyechart.benchmark("complexgrid", needles=str(tmp_path / "many"), grid=3)
    question = next(benchmark.questions())
    view = parse_view("grid_captioned_3x3_r1_c2")
    plan = plan_run(benchmark, [view], open_prompt("hrscene_clean"), model=ModelIdentity("simulated", "x"))
    request = next(request for request in plan.requests if request.question_id == question.id)
    pixels = PictureSource(benchmark).draw(request.pictures[0])
    assert pixels.shape == (508 * 3, 488 * 3, 3)
    tile = squeeze_to_tile(decode(benchmark.image_path(question.image)), TILE)
    assert np.array_equal(pixels[20 + 508 : 468 + 508, 20 + 976 : 468 + 976], tile)
    first = pixels[:508, :488]
    y, x = np.nonzero((first[468:] < 100).any(axis=2))
    assert (x.min(), x.max(), y.min() + 468, y.max() + 468) == (112, 376, 476, 502)
    # Between picture and caption, and between cells, there is nothing.
    assert first[468:476].min() == first[:20].min() == first[:, :20].min() == 255


def test_check_3_answer_and_id_round_trip():
    for base in ("0", "17", "coco_val_17"):
        for cell in grid_cells("captioned", 10):
            cell_id = f"{base}_{cell.row}_{cell.column}"
            assert parse_cell_id(cell_id, 10) == (base, cell.row, cell.column)
            gold = right_answer(asked(asks_for_cell=True), f"grid_captioned_10x10_r{cell.row}_c{cell.column}", ())
            assert gold == name_cell(cell.row, cell.column) == f"row: {cell.row + 1}, col: {cell.column + 1}"
            assert (parse_gold(gold).row - 1, parse_gold(gold).column - 1) == (cell.row, cell.column)
    for malformed in ("17", "17_1", "17_10_0", "17_0_-1", "_0_0", ""):
        with pytest.raises(BenchmarkError, match="names no cell"):
            parse_cell_id(malformed, 10)


# --- 5 and 6: parsers, as published and as recommended --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "published", "expected"),
    [
        ("<row>3</row><col>2</col>", "row: 3, col: 2", "row: 3, col: 2"),
        ("row 10, column 7", "row: 10, col: 7", "row: 10, col: 7"),
        ("row 7, column 10", "row: 7, col: 0", "row: 7, col: 10"),
        ("row 10, column 10", "row: 10, col: 0", "row: 10, col: 10"),
        ("12", "row: 12, col: 22", None),
        ("3", "row: 3, col: 3", None),
        ("no digits here", None, None),
        ("Row 123, col 456", "row: 12, col: 6", None),
        ("<row>2</row>\n<col>3</col>", "row: 3, col: 3", "row: 2, col: 3"),
        ("<Row>2</Row><Col>3</Col>", "row: 2, col: 3", "row: 2, col: 3"),
        ("row 3.5 col 2", "row: 35, col: 2", None),
        ("Answer: 2, 3\nThe image shows a 4x4 grid", "row: 4, col: 4", "row: 2, col: 3"),
        ("In the 5x5 grid, it is row 2 column 4", "row: 5, col: 4", "row: 2, col: 4"),
        (None, None, None),
        ("", None, None),
        ("<col>2</col><row>3</row>", "row: 2, col: 3", "row: 3, col: 2"),
        ("row ² col ³", None, None),
        ("first row, second column", None, "row: 1, col: 2"),
    ],
)
def test_check_5_complex_grid_parser(text, published, expected):
    compat, corrected = (
        GridCell().score(answered(text), asked(), (), "row: 1, col: 1", mode) for mode in ("compat", "corrected")
    )
    assert (compat.answer, corrected.answer) == (published, expected)
    assert corrected.answer is not None or corrected.reason is not None


@pytest.mark.parametrize(
    ("text", "answers", "compat", "corrected"),
    [
        ("No", ["no"] * 10, 1.0, 1.0),
        ("unknown", ["no"] * 10, 1.0, 0.0),
        ("I do not know", ["no"] * 10, 1.0, 0.0),
        ("it is 3.5 m", ["3.5"] * 10, 0.0, 0.0),
        ("3.5", ["3.5"] * 10, 0.0, 1.0),
        ("two", ["2"] * 10, 0.0, 1.0),
        ("cat", ["a"] * 10, 1.0, 0.0),
        ("", ["no"] * 10, 0.0, 0.0),
        ("Yes and no", ["yes"] * 4 + ["no"] * 6, 1.0, 0.0),
        ("red", ["red"] * 2 + ["blue"] * 8, 2 / 3, 0.6),
        ("red", ["red"] * 3 + ["blue"] * 7, 1.0, 0.9),
        ("red", ["red"] * 4 + ["blue"] * 6, 1.0, 1.0),
        (None, ["no"] * 10, 0.0, 0.0),
    ],
)
def test_check_6_white_background_scorer(text, answers, compat, corrected):
    for mode, expected in (("compat", compat), ("corrected", corrected)):
        score = VQASoft().score(answered(text), asked(answers=tuple(answers)), (), None, mode)
        assert score.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "n_options", "expected"),
    [
        ("(B) because (A) is wrong", 4, "B"),
        ("<ans>J</ans>", 10, "J"),
        ("<ans>J</ans>", 4, None),
        ("<ans>ANSWER</ans>", 4, None),
        ("<ans>AB</ans>", 4, None),
        (None, 4, None),
    ],
)
def test_check_4_real_world_parser_never_returns_a_letter_that_is_not_offered(text, n_options, expected):
    choices = tuple(f"item {index}" for index in range(n_options))
    score = HRSceneLetter().score(answered(text), asked("Which?"), choices, "B", "corrected")
    assert score.answer == expected


# --- 13 and 14: hidden answers, incomplete runs, odd pictures -------------------------------------------------------


@pytest.mark.parametrize("hidden", ["None", None, ""])
def test_check_13_hidden_answers_give_no_accuracy(hidden, tmp_path, capsys):
    write_parquet(tmp_path / "hub" / "realworld_combined" / "test-00000-of-00001.parquet", make_rows(3, answer=hidden))
    command = ["run", "hrscene", "--data", "hub", "--option", "split=test", "--model", "simulated/oracle"]
    assert run_app([*command, "--no-report", "--out", "kept"]) == 0
    shown = capsys.readouterr()
    assert "0.0" not in shown.out
    assert "answers have no score" in shown.err
    values = [score.value for score in RunStore(tmp_path / "kept").scores("hrscene_letter.corrected@2")]
    assert values == [None] * 3
    assert run_app(["score", "kept"]) == 1
    assert "no right answer of these questions is known" in capsys.readouterr().err


def test_check_14_a_grid_of_one_cell_runs(needles, tmp_path):
    benchmark = eyechart.benchmark("whitebackground", needles=str(needles), grid=1)
    run = eyechart.run(benchmark, model=Scripted(lambda ask: "0"), out=tmp_path / "run")
    (condition,) = run.summary.conditions
    assert (condition.condition, condition.n_scored) == ("grid_white_1x1_r0_c0", 4)


def test_check_14_missing_regions_are_missing_and_not_wrong(needles, tmp_path):
    benchmark = eyechart.benchmark("whitebackground", needles=str(needles), grid=2)

    def answer(ask):
        # The needle stands in the last cell: there is nothing but white above it.
        pixels = np.asarray(ask.pictures[0].pixels())
        return RefusedInputError("too large") if pixels[:448].min() == 255 and pixels[448:, :448].min() == 255 else "0"

    run = eyechart.run(benchmark, model=Scripted(answer), out=tmp_path / "run")
    by_id = {condition.condition: condition for condition in run.summary.conditions}
    assert by_id["grid_white_2x2_r1_c1"].n_scored == 0
    assert {by_id[f"grid_white_2x2_r{r}_c{c}"].n_scored for r, c in ((0, 0), (0, 1), (1, 0))} == {4}


def test_check_14_an_empty_set_of_needles_gives_a_message(tmp_path):
    (tmp_path / "none").mkdir()
    write_rows(tmp_path / "none", [])
    with pytest.raises(BenchmarkError, match="holds no needle"):
        eyechart.benchmark("whitebackground", needles=str(tmp_path / "none"))


@pytest.mark.parametrize("mode", ["RGBA", "P", "LA", "I;16"])
def test_check_14_pictures_of_every_form_reach_an_adapter_as_valid_files(mode, tmp_path):
    rows = make_rows(1)
    rows[0]["image"]["bytes"] = picture(3, kind="PNG", mode=mode)
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", rows)
    write_needles(tmp_path / "needles", 1)
    (tmp_path / "needles" / "p0.png").write_bytes(picture(3, kind="PNG", mode=mode))
    sent = []

    def answer(ask):
        sent.append((ask.pictures[0].media_type, ask.pictures[0].encoded()))
        return "A"

    real = eyechart.benchmark("hrscene", tmp_path / "hub")
    grid = eyechart.benchmark("whitebackground", needles=str(tmp_path / "needles"), grid=1)
    for number, benchmark in enumerate((real, grid)):
        assert eyechart.run(benchmark, model=Scripted(answer), out=tmp_path / f"run{number}").n_missing == 0
    for media_type, content in sent:
        opened = Image.open(BytesIO(content))
        opened.load()
        assert (media_type, opened.format, opened.mode) == ("image/png", "PNG", "RGB")


# --- 15: resume and isolation ---------------------------------------------------------------------------------------


def test_check_15_a_torn_line_is_asked_again_and_the_result_is_the_same(needles, tmp_path):
    benchmark = eyechart.benchmark("complexgrid", needles=str(needles), grid=2)

    def answer(ask):
        return "<row>1</row><col>2</col>"

    whole = eyechart.run(benchmark, model=Scripted(answer), out=tmp_path / "whole")
    model = Scripted(answer)
    eyechart.run(benchmark, model=model, out=tmp_path / "torn")
    (file,) = (tmp_path / "torn" / "responses").iterdir()
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:5]) + lines[5][: len(lines[5]) // 2])
    (tmp_path / "torn" / "estimates.json").unlink()
    model = Scripted(answer)
    again = eyechart.run(benchmark, model=model, out=tmp_path / "torn")
    assert model.n_asked == len(lines) - 5
    assert again.summary.estimates == whole.summary.estimates
    assert again.summary.conditions == whole.summary.conditions


def test_check_15_two_runs_started_in_one_second_write_different_folders(needles):
    benchmark = eyechart.benchmark("whitebackground", needles=str(needles), grid=1)
    folders = {
        eyechart.run(benchmark, model=Scripted(lambda ask: "0", fingerprint=str(index))).folder for index in range(3)
    }
    assert len(folders) == 3


@pytest.mark.parametrize("change", ["model", "task", "grid", "prompt"])
def test_check_15_answers_of_another_model_task_grid_or_prompt_are_refused(change, needles, tmp_path):
    def open_one(name="complexgrid", grid=2):
        return eyechart.benchmark(name, needles=str(needles), grid=grid)

    eyechart.run(open_one(), model=Scripted(lambda ask: ""), out=tmp_path / "run")
    model = Scripted(lambda ask: "", fingerprint="2" if change == "model" else "1")
    other = {"task": ("whitebackground", 2), "grid": ("complexgrid", 1)}.get(change, ("complexgrid", 2))
    prompt = "letter_normalized" if change == "prompt" else None
    with pytest.raises(StoreError, match="run"):
        eyechart.run(open_one(*other), model=model, prompt=prompt, out=tmp_path / "run")


@pytest.mark.parametrize("normalise", [lambda text: text, lambda text: " ".join(text.split())])
@pytest.mark.parametrize("answer", ["<ans>C</ans>", " C", "\n(C) nothing"])
def test_check_15_an_echoing_model_is_scored_c_and_never_a(answer, normalise, tmp_path):
    write_parquet(tmp_path / "hub" / "testmini-0.parquet", make_rows(2, answer="C"))
    benchmark = eyechart.benchmark("hrscene", tmp_path / "hub")
    run = eyechart.run(benchmark, model=Scripted(lambda ask: normalise(ask.prompt) + answer), out=tmp_path / "run")
    scores = list(RunStore(run.folder).scores("hrscene_letter.corrected@2"))
    assert [(score.answer, score.value) for score in scores] == [("C", 1.0)] * 2


@pytest.mark.parametrize("normalise", [lambda text: text, lambda text: " ".join(text.split())])
def test_a_model_that_echoes_the_grid_prompt_is_scored_by_its_answer(normalise, needles, tmp_path):
    benchmark = eyechart.benchmark("complexgrid", needles=str(needles), grid=2)
    model = Scripted(lambda ask: normalise(ask.prompt) + " <row>1</row><col>1</col>")
    run = eyechart.run(benchmark, model=model, out=tmp_path / "run")
    right = {condition.condition: condition.n_correct for condition in run.summary.conditions}
    assert right["grid_captioned_2x2_r0_c0"] == 4
    assert sum(right.values()) == 4


# --- defects of the published code, each by its symptom -------------------------------------------------------------


def test_defect_9_a_limit_counts_base_samples_and_never_more_than_there_are(needles, tmp_path):
    benchmark = eyechart.benchmark("whitebackground", needles=str(needles), grid=3)
    for limit, n_bases in ((2, 2), (500, 4)):
        run = eyechart.run(benchmark, model=Scripted(lambda ask: "0"), limit=limit, out=tmp_path / str(limit))
        assert len(list(RunStore(run.folder).requests())) == n_bases * 9


def test_defect_10_each_diagnostic_is_stored_under_its_own_name(needles):
    for name in ("whitebackground", "complexgrid"):
        run = eyechart.run(
            eyechart.benchmark(name, needles=str(needles), grid=2), model=Scripted(lambda ask: "0"), limit=1
        )
        assert name in run.folder.name
        assert RunStore(run.folder).run.benchmark.name == name


def test_defect_13_an_answer_that_is_none_or_a_list_does_not_end_the_run(needles, tmp_path):
    for scorer in (HRSceneLetter(), GridCell(), VQASoft()):
        for mode in scorer.modes:
            score = scorer.score(answered(None), asked(answers=("no",)), ("yes", "no"), "A", mode)
            assert score.value in {0.0, None}


def test_defect_21_scoring_twice_leaves_one_score_per_answer(needles, tmp_path):
    benchmark = eyechart.benchmark("whitebackground", needles=str(needles), grid=2)
    run = eyechart.run(benchmark, model=Scripted(lambda ask: "0"), out=tmp_path / "run")
    file = run.folder / "scores" / "vqa_soft.corrected@2.jsonl"
    first = file.read_bytes()
    assert run_app(["score", str(run.folder)]) == 0
    assert file.read_bytes() == first
    assert len(first.splitlines()) == 16


def test_defect_23_an_unknown_scorer_is_told_before_anything_is_asked(needles, tmp_path):
    model = Scripted(lambda ask: "0")
    with pytest.raises(UsageError, match="no scorer named 'x'"):
        eyechart.run(eyechart.benchmark("whitebackground", needles=str(needles), grid=1), model=model, scorer="x")
    assert model.n_asked == 0


def test_a_grid_built_for_the_hub_gives_the_results_of_the_grid_made_on_demand(needles, tmp_path):
    made = eyechart.benchmark("complexgrid", needles=str(needles), grid=2)
    build_grids(made, tmp_path / "hub", encoding="png", n_processes=1)
    stored = eyechart.benchmark("complexgrid", tmp_path / "hub", grid=2)

    def find(ask):
        pixels = np.asarray(ask.pictures[0].pixels())
        index = int(ask.prompt.split("a picture of ")[1].split()[0])
        corners = [(20 + 508 * r, 20 + 488 * c, r, c) for r in range(2) for c in range(2)]
        return next(f"row {r + 1}, column {c + 1}" for top, left, r, c in corners if pixels[top, left, 2] == index)

    runs = [eyechart.run(one, model=Scripted(find), out=tmp_path / f"r{n}") for n, one in enumerate((made, stored))]
    right = [{one.condition: one.n_correct for one in run.summary.conditions} for run in runs]
    assert right[0] == right[1] == dict.fromkeys(made.defaults.views, 4)
    assert json.loads((tmp_path / "r1" / "run.json").read_bytes())["benchmark"]["name"] == "complexgrid"
