"""WhiteBackground and ComplexGrid from a folder of needles: questions, cells, distractors, and a whole run."""

import numpy as np
import pytest
from needles_made import write_needles, write_rows
from PIL import Image

import eyechart
from eyechart.benchmarks._cell_names import view_ids
from eyechart.benchmarks._distractors import load_embedding
from eyechart.contracts import check_benchmark
from eyechart.errors import BenchmarkError, GeometryError, UsageError
from eyechart.images.decode import decode
from eyechart.images.grid_canvas import squeeze_to_tile
from eyechart.kinds import Reply, SaysHowToAsk
from eyechart.runs.cells import read_table
from eyechart.runs.export import long_rows
from eyechart.runs.store import RunStore
from eyechart.schema import Box, ModelIdentity, Size
from eyechart.views import format_view, parse_view, plan_view
from eyechart.views.grid import grid_cells

EMBEDDING = "def embed(picture):\n    return picture.mean(axis=(0, 1))\n"


@pytest.fixture
def needles(tmp_path):
    folder = tmp_path / "my_photos"
    write_needles(folder, 10)
    return folder


def open_white(needles, **options):
    return eyechart.benchmark("whitebackground", needles=str(needles), **options)


def open_complex(needles, **options):
    return eyechart.benchmark("complexgrid", needles=str(needles), **options)


class Looking:
    """A model of the user's own: one method, answers from what it sees."""

    identity, reads, max_concurrency = ModelIdentity("mine", "looking", fingerprint="1"), "pixels", None

    def __init__(self, answer):
        self._answer = answer

    async def answer(self, ask):
        (picture,) = ask.pictures
        return Reply(text=self._answer(np.asarray(picture.pixels()), ask.prompt), finish="stop")

    async def close(self):
        pass


@pytest.mark.parametrize("open_one", [open_white, open_complex])
def test_diagnostic_keeps_the_contract_of_a_benchmark(open_one, needles):
    benchmark = open_one(needles, grid=3)
    check_benchmark(benchmark)
    assert isinstance(benchmark, SaysHowToAsk)


def test_needles_become_questions_with_their_base_ids_and_all_answers(needles):
    question = next(open_white(needles).questions())
    assert (question.id, question.text) == ("coco_0", "Which number is 0?")
    assert question.answers == ("0",) * 9 + ("none",)
    assert (question.choices, question.answer, question.asks_for_cell) == ((), None, False)


def test_caption_is_what_complex_grid_asks_for(needles):
    question = next(open_complex(needles, grid=3).questions())
    assert (question.text, question.asks_for_cell, len(question.distractors)) == ("a picture of 0", True, 8)


def test_needles_are_given_as_data_too(needles):
    by_option, by_data = open_white(needles), eyechart.benchmark("whitebackground", needles)
    assert list(by_option.questions()) == list(by_data.questions())
    assert by_option.identity.revision == by_data.identity.revision


@pytest.mark.parametrize(("grid", "n_views"), [(1, 1), (5, 25), ("1,3,10", 110), ((1, 2), 5)])
def test_a_benchmark_is_asked_in_every_cell_of_its_grids(grid, n_views, needles):
    views = open_white(needles, grid=grid).defaults.views
    assert len(set(views)) == n_views
    assert all(format_view(parse_view(view_id)) == view_id for view_id in views)


def test_a_grid_is_the_same_however_it_is_written_and_wherever_its_needles_lie(needles, tmp_path):
    first = open_complex(needles, grid=3)
    needles.rename(tmp_path / "moved")
    second = eyechart.benchmark("complexgrid", tmp_path / "moved", grid=" 3")
    assert first.identity == second.identity
    assert str(tmp_path) not in str(first.identity)


@pytest.mark.parametrize("style", ["white", "captioned"])
def test_cells_are_named_as_the_view_family_names_them(style):
    assert view_ids(style, (3,), 4) == tuple(format_view(cell) for cell in grid_cells(style, 3, 4))


@pytest.mark.parametrize("grid", ["0", "five", "5,5", "", "100", "3,-1"])
def test_a_grid_that_is_no_size_is_refused(grid, needles):
    with pytest.raises(UsageError, match="grid"):
        open_white(needles, grid=grid)


def test_answers_are_read_in_every_form(tmp_path):
    write_needles(tmp_path, 1)
    row = {"image": "p0.png", "question": "?"}
    forms = [
        {"answers": ["a", "b"]},
        {"answers": '["a", "b"]'},
        {"answer": [{"answer": "a"}, {"answer": "b"}]},
        {"answers": "a | b"},
    ]
    write_rows(tmp_path, [{**row, **form} for form in forms])
    questions = list(open_white(tmp_path).questions())
    assert [question.answers for question in questions] == [("a", "b")] * 4
    assert [question.id for question in questions] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ({"image": "p0.png", "answers": ["1"]}, "no value in column 'question'"),
        ({"image": "p0.png", "question": "?"}, "no value in column 'answers'"),
        ({"question": "?", "answers": ["1"]}, "no value in column 'image'"),
        ({"image": "p0.png", "question": 1.5, "answers": ["1"]}, "is not a text"),
        ({"id": "coco_0", "image": "p0.png", "question": "?", "answers": ["1"]}, "is also that of"),
    ],
)
def test_a_row_that_breaks_the_contract_is_named(row, match, tmp_path):
    rows = write_needles(tmp_path, 1)
    write_rows(tmp_path, [*rows, row])
    with pytest.raises(BenchmarkError, match=match) as error:
        open_white(tmp_path)
    assert "needles.jsonl:2" in error.value.message


def test_no_needles_or_needles_twice_are_refused(needles, tmp_path):
    with pytest.raises(UsageError, match="no needles"):
        eyechart.benchmark("whitebackground")
    with pytest.raises(UsageError, match="needles twice"):
        eyechart.benchmark("whitebackground", needles, needles=str(needles))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds 0 question files") as error:
        open_white(tmp_path / "empty")
    assert "needles.jsonl" in error.value.hint
    write_rows(tmp_path, [])
    with pytest.raises(BenchmarkError, match="holds no needle"):
        open_white(tmp_path)


def test_distractors_are_other_pictures_and_depend_on_the_seed(needles):
    first, again, other = (list(open_complex(needles, grid=3, seed=seed).questions()) for seed in (0, 0, 1))
    assert first == again
    assert [question.distractors for question in first] != [question.distractors for question in other]
    for question in first:
        assert question.image not in question.distractors
        assert len(set(question.distractors)) == 8


def test_pictures_of_the_needles_group_are_no_distractors(tmp_path):
    write_needles(tmp_path, 11, image_group=lambda index: "same" if index < 2 else str(index))
    first = next(open_complex(tmp_path, grid=3).questions())
    images = {question.id: question.image for question in open_complex(tmp_path, grid=3).questions()}
    assert images["coco_1"] not in first.distractors


def test_too_few_other_pictures_are_refused(needles):
    with pytest.raises(BenchmarkError, match="24 other cells, and there are 9 other pictures"):
        open_complex(needles, grid=5)


def test_distractors_come_from_a_folder_of_their_own(needles, tmp_path):
    others = tmp_path / "others"
    (others / "deep").mkdir(parents=True)
    for index in range(9):
        Image.new("RGB", (8, 8), (index, 0, 9)).save(others / "deep" / f"{index}.png")
    (others / "LICENSE").write_text("none of the pictures")
    benchmark = open_complex(needles, grid=3, distractors=str(others))
    (drawn,) = {image.size for question in benchmark.questions() for image in question.distractors}
    assert drawn == Size(8, 8)
    assert benchmark.image_path(next(benchmark.questions()).distractors[0]).parent.name == "deep"
    with pytest.raises(UsageError, match="is not a folder"):
        open_complex(needles, grid=3, distractors=str(tmp_path / "nowhere"))


def test_similar_distractors_are_the_nearest_by_the_users_embedding(tmp_path):
    folder = tmp_path / "needles"
    write_needles(folder, 12)
    (tmp_path / "mine.py").write_text(EMBEDDING)
    spec = f"{tmp_path / 'mine.py'}:embed"
    benchmark = open_complex(folder, grid=3, choice="similar", embedding=spec)
    embed = load_embedding(spec)
    vectors = {}
    for question in benchmark.questions():
        vector = embed(squeeze_to_tile(decode(benchmark.image_path(question.image)), Size(448, 448)))
        vectors[question.image.file_sha256] = vector / np.linalg.norm(vector)
    for question in benchmark.questions():
        needle = vectors[question.image.file_sha256]
        chosen = [float(vectors[image.file_sha256] @ needle) for image in question.distractors]
        left = vectors.keys() - {question.image.file_sha256, *(image.file_sha256 for image in question.distractors)}
        assert chosen == sorted(chosen, reverse=True)
        assert chosen[-1] >= max(float(vectors[sha256] @ needle) for sha256 in left) - 1e-12


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"choice": "similar"}, "need an embedding model"),
        ({"embedding": "statistics:fmean"}, "drawn at random"),
        ({"choice": "similar", "embedding": "statistics"}, "names no function"),
        ({"choice": "similar", "embedding": "no_such_module:embed"}, "cannot be loaded"),
        ({"choice": "similar", "embedding": "nowhere.py:embed"}, "cannot be loaded"),
        ({"choice": "similar", "embedding": "statistics:no_such"}, "has no function"),
        ({"choice": "similar", "embedding": "numpy:zeros_like"}, "no usable vector"),
    ],
)
def test_an_embedding_that_cannot_be_used_is_refused(options, match, needles):
    with pytest.raises(UsageError, match=match):
        open_complex(needles, grid=3, **options)


def test_embeddings_of_two_lengths_are_refused(needles, tmp_path):
    (tmp_path / "odd.py").write_text("def embed(picture):\n    return [1.0] * (1 + int(picture[0, 0, 2]) % 2)\n")
    with pytest.raises(UsageError, match="numbers for"):
        open_complex(needles, grid=3, choice="similar", embedding=f"{tmp_path / 'odd.py'}:embed")


def test_a_grid_view_squeezes_the_picture_and_its_target_to_the_tile(needles):
    question = next(open_complex(needles, grid=3).questions())
    (planned,) = plan_view(parse_view("grid_captioned_3x3_r1_c2"), question)
    assert planned.geometry.size == Size(1464, 1524)
    assert planned.target == Box(996, 528, 1444, 976)
    assert planned.source_region == Box(0, 0, 40, 30)


def test_a_captioned_grid_of_a_question_without_distractors_is_refused(needles):
    question = next(open_white(needles).questions())
    with pytest.raises(GeometryError, match="coco_0 in view grid_captioned_2x2_r0_c0: a grid needs 3 distractors"):
        plan_view(parse_view("grid_captioned_2x2_r0_c0"), question)


def find_needle(pixels, prompt):
    """The cell whose picture has the colour that the caption's number stands for."""
    index = int(prompt.split("a picture of ")[1].split()[0])
    size = pixels.shape[0] // 508
    corners = [(20 + 508 * row, 20 + 488 * column, row, column) for row in range(size) for column in range(size)]
    (found,) = [(row, column) for top, left, row, column in corners if pixels[top, left, 2] == index]
    return f"<row>{found[0] + 1}</row><col>{found[1] + 1}</col>"


def test_a_model_that_looks_finds_every_needle_in_every_cell(needles, tmp_path):
    run = eyechart.run(open_complex(needles, grid=3), model=Looking(find_needle), limit=4, out=tmp_path / "run")
    assert run.summary.scorer == "grid_cell.corrected@2"
    assert len(run.summary.conditions) == 9
    assert {condition.n_correct for condition in run.summary.conditions} == {4}
    scores = RunStore(run.folder).scores("grid_cell.corrected@2")
    assert {score.answer for score in scores} == {f"row: {r}, col: {c}" for r in (1, 2, 3) for c in (1, 2, 3)}


def test_five_lines_diagnose_a_model_on_white_background(needles, tmp_path):
    bench = eyechart.benchmark("whitebackground", grid=5, needles=str(needles))
    model = Looking(lambda pixels, prompt: str(int(pixels[pixels[:, :, 2] < 200][0, 2])))
    run = eyechart.run(bench, model=model, limit=3, out=tmp_path / "run")
    assert run.report(tmp_path / "report.html").is_file()
    assert (run.n_missing, len(run.summary.conditions)) == (0, 25)
    assert {condition.accuracy_sum for condition in run.summary.conditions} == {1.0}
    assert RunStore(run.folder).run.scorer == "vqa_soft"
    assert eyechart.load_run(run.folder).summary.scorer == "vqa_soft.corrected@2"


@pytest.mark.parametrize("open_one", [open_white, open_complex])
def test_simulated_models_answer_free_questions_and_cells_as_often_as_they_are_told(open_one, needles, tmp_path):
    benchmark = open_one(needles, grid=3)
    style = "white" if benchmark.identity.name == "whitebackground" else "captioned"
    model = eyechart.model("simulated/oracle", accuracy_by_view=f"grid_{style}_3x3_r0=1.0,grid_{style}_3x3=0.0")
    run = eyechart.run(benchmark, model=model, out=tmp_path / "run")
    top = {one.condition: one.accuracy_sum for one in run.summary.conditions if "_r0_" in one.condition}
    rest = {one.condition: one.accuracy_sum for one in run.summary.conditions if "_r0_" not in one.condition}
    assert (len(top), set(top.values())) == (3, {1.0})
    assert (len(rest), set(rest.values())) == (6, {0.0})


def test_what_the_model_saw_of_a_grid_counts_the_needle_from_its_own_pixels(needles, tmp_path):
    run = eyechart.run(open_white(needles, grid=3), model="simulated/oracle", limit=2, out=tmp_path / "run")
    (picture,) = next(iter(RunStore(run.folder).requests())).pictures
    assert picture.size == Size(1344, 1344)
    assert (picture.target.width, picture.target.height) == (448, 448)


def test_the_long_table_names_the_right_cell(needles, tmp_path):
    run = eyechart.run(open_complex(needles, grid=2), model="simulated/oracle", out=tmp_path / "run")
    store = RunStore(run.folder)
    table = read_table(store, run.summary.scorer)
    rows = list(long_rows(table, run.summary.scorer))
    assert {row.gold for row in rows} == {f"row: {row}, col: {column}" for row in (1, 2) for column in (1, 2)}
    assert all(row.letter == row.gold for row in rows)
