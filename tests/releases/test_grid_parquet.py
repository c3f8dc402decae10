"""Grids written in the schema of HRScene's hub, and read back: same questions, same pixels, same answers."""

import json
import shutil

import numpy as np
import pyarrow.parquet
import pytest
from needles_made import write_needles

import eyechart
from eyechart.benchmarks import _hub_grids
from eyechart.benchmarks._hub_grids import parse_cell_id
from eyechart.contracts import check_benchmark
from eyechart.errors import BenchmarkError, ImageError, UsageError
from eyechart.images.decode import decode
from eyechart.images.probe import describe_form
from eyechart.kinds import Reply
from eyechart.opening import open_prompt
from eyechart.releases.grid_parquet import build_grids
from eyechart.runs.pictures import PictureSource
from eyechart.runs.plan import PlanOptions, plan_run
from eyechart.schema import Box, ModelIdentity, Size
from eyechart.seen.transport import parse_transport
from eyechart.views import grid as grid_view
from eyechart.views import parse_view, plan_view


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def needles(tmp_path):
    folder = tmp_path / "needles"
    write_needles(folder, 9)
    return folder


@pytest.fixture(scope="module")
def built_once(tmp_path_factory):
    """Grids of nine needles that tests only read."""
    folder = tmp_path_factory.mktemp("built")
    write_needles(folder / "needles", 9)
    for name, grid in (("whitebackground", "1,2"), ("complexgrid", "2,3")):
        build_grids(open_needles(folder / "needles", name, grid), folder / name, n_processes=1)
    return folder


@pytest.fixture
def stored(built_once, tmp_path):
    """A copy of them for each test."""
    shutil.copytree(built_once, tmp_path / "stored")
    return tmp_path / "stored"


def open_needles(needles, name, grid):
    return eyechart.benchmark(name, needles=str(needles), grid=grid)


def build(needles, out, name="whitebackground", grid="1,2", **settings):
    return build_grids(open_needles(needles, name, grid), out, n_processes=1, **settings)


def rows_of(out, config):
    (file,) = (out / config).glob("test-*.parquet")
    return pyarrow.parquet.read_table(file)


def test_white_background_has_the_columns_and_ids_of_the_hub(needles, tmp_path):
    (one, two) = build(needles, tmp_path / "out")
    assert (one.config, one.n_rows, two.config, two.n_rows) == ("whitebackground_1x1", 9, "whitebackground_2x2", 36)
    table = rows_of(tmp_path / "out", "whitebackground_2x2")
    assert table.column_names == ["image", "id", "question", "answer"]
    assert table["id"].to_pylist()[:5] == ["coco_0_0_0", "coco_0_0_1", "coco_0_1_0", "coco_0_1_1", "coco_1_0_0"]
    assert table["answer"][0].as_py() == ["0"] * 9 + ["none"]


def test_complex_grid_has_captions_and_answers_counted_from_one(stored):
    table = rows_of(stored / "complexgrid", "complexgrid_3x3")
    assert table.column_names == ["image", "id", "caption", "answer"]
    assert table["id"][5].as_py() == "coco_0_1_2"
    assert (table["caption"][5].as_py(), table["answer"][5].as_py()) == ("a picture of 0", "row: 2, col: 3")


def test_pictures_are_jpeg_75_at_the_published_size(stored, tmp_path):
    content = rows_of(stored / "complexgrid", "complexgrid_3x3")["image"][0].as_py()["bytes"]
    (tmp_path / "cell.jpg").write_bytes(content)
    form = describe_form(tmp_path / "cell.jpg")
    assert (form.media_type, form.size) == ("image/jpeg", Size(1464, 1524))


def test_the_hugging_face_library_reads_pictures_and_answers(stored, tmp_path):
    datasets = pytest.importorskip("datasets")
    read = datasets.load_dataset(
        str(stored / "whitebackground"), "whitebackground_2x2", split="test", cache_dir=str(tmp_path / "cache")
    )
    assert (len(read), read[3]["image"].size, read[3]["id"]) == (36, (896, 896), "coco_0_1_1")
    assert read[3]["answer"] == ["0"] * 9 + ["none"]


@pytest.mark.parametrize(("name", "grid"), [("whitebackground", "1,3"), ("complexgrid", "3")])
def test_what_was_written_is_read_back_with_the_same_questions(name, grid, needles, tmp_path):
    made = open_needles(needles, name, grid)
    build_grids(made, tmp_path / "out", encoding="png", n_processes=1)
    stored = eyechart.benchmark(name, tmp_path / "out", grid=grid)
    check_benchmark(stored)
    for ours, theirs in zip(made.questions(), stored.questions(), strict=True):
        assert (theirs.id, theirs.text, theirs.answers) == (ours.id, ours.text, ours.answers)
        assert theirs.asks_for_cell == ours.asks_for_cell
    assert stored.released_views() == made.defaults.views == stored.defaults.views


@pytest.mark.parametrize(("name", "grid"), [("whitebackground", "2"), ("complexgrid", "3")])
def test_lossless_rows_have_the_pixels_that_a_run_would_draw(name, grid, needles, tmp_path):
    made = open_needles(needles, name, grid)
    build_grids(made, tmp_path / "out", encoding="png", n_processes=1)
    stored = eyechart.benchmark(name, tmp_path / "out", grid=grid)
    question, last = next(made.questions()), made.defaults.views[-1]
    plan = plan_run(made, [parse_view(last)], open_prompt("hrscene_clean"), model=ModelIdentity("simulated", "x"))
    picture = next(request for request in plan.requests if request.question_id == question.id).pictures[0]
    drawn = PictureSource(made).draw(picture)
    released = stored.released_image(question, last)
    assert np.array_equal(decode(stored.image_path(released.image)).pixels, drawn)
    assert released.target_in_view == plan_view(parse_view(last), question)[0].target


@pytest.mark.parametrize(("name", "grid"), [("whitebackground", "2"), ("complexgrid", "3")])
def test_pictures_made_on_demand_leave_as_the_jpeg_that_a_build_stores(name, grid, built_once, tmp_path):
    made = open_needles(built_once / "needles", name, grid)
    views = [parse_view(view) for view in made.defaults.views]
    options = PlanOptions(transport=parse_transport("jpeg75").id)
    asked = ModelIdentity("scripted", "m")
    plan = plan_run(made, views, open_prompt("hrscene_clean"), model=asked, options=options)
    source = PictureSource(made)
    sent = {source.send(request.pictures[0]).encoded() for request in plan.requests}
    stored = rows_of(built_once / name, f"{name}_{grid}x{grid}")["image"].to_pylist()
    assert sent == {image["bytes"] for image in stored}


def test_a_run_on_stored_grids_scores_cells(stored, tmp_path):

    class First:
        identity, reads, max_concurrency = ModelIdentity("mine", "first", fingerprint="1"), "pixels", None

        async def answer(self, ask):
            assert ask.pictures[0].media_type == "image/jpeg"
            return Reply(text="<row>1</row><col>2</col>" if ask.pictures[0].encoded() else "", finish="stop")

        async def close(self):
            pass

    read = eyechart.benchmark("complexgrid", stored / "complexgrid", grid=2)
    run = eyechart.run(read, model=First(), limit=3, out=tmp_path / "run")
    right = {condition.condition: condition.n_correct for condition in run.summary.conditions}
    assert right == {f"grid_captioned_2x2_r{r}_c{c}": 3.0 * (r == 0 and c == 1) for r in (0, 1) for c in (0, 1)}


def test_a_second_build_keeps_what_is_there_and_gives_the_same_bytes(needles, tmp_path):
    build(needles, tmp_path / "out", grid=2)
    (file,) = (tmp_path / "out" / "whitebackground_2x2").iterdir()
    first, written = file.read_bytes(), file.stat().st_mtime_ns
    (again,) = build(needles, tmp_path / "out", grid=2)
    assert (again.n_kept, file.stat().st_mtime_ns) == (1, written)
    file.write_bytes(first[:1000])
    (anew,) = build(needles, tmp_path / "out", grid=2)
    assert (anew.n_kept, file.read_bytes()) == (0, first)


def test_another_encoding_or_needle_is_written_anew(needles, tmp_path):
    build(needles, tmp_path / "out", grid=2)
    assert build(needles, tmp_path / "out", grid=2, encoding="png")[0].n_kept == 0
    write_needles(needles, 8)
    assert build(needles, tmp_path / "out", grid=2, encoding="png")[0].n_kept == 0
    assert rows_of(tmp_path / "out", "whitebackground_2x2").num_rows == 32


def test_files_of_another_division_do_not_stay(needles, tmp_path):
    build(needles, tmp_path / "out", grid=2)
    (file,) = (tmp_path / "out" / "whitebackground_2x2").iterdir()
    file.rename(file.with_name("test-00001-of-00002.parquet"))
    file.with_name("test-00000-of-00002.unfinished").write_bytes(b"killed")
    build(needles, tmp_path / "out", grid=2)
    assert [path.name for path in file.parent.iterdir()] == ["test-00000-of-00001.parquet"]
    assert rows_of(tmp_path / "out", "whitebackground_2x2").num_rows == 36


def test_two_processes_write_the_same_files(needles, tmp_path, monkeypatch):
    # A made-up limit, so that nine base samples become several files.
    monkeypatch.setattr("eyechart.releases.grid_parquet._SHARD_BYTES", 100_000)
    made = open_needles(needles, "whitebackground", 2)
    (one,) = build_grids(made, tmp_path / "one", n_processes=1)
    (two,) = build_grids(made, tmp_path / "two", n_processes=2)
    assert one.n_files == two.n_files > 1
    for file in (tmp_path / "one" / one.config).iterdir():
        assert file.read_bytes() == (tmp_path / "two" / two.config / file.name).read_bytes()


def test_a_damaged_needle_leaves_no_half_file(needles, tmp_path):
    made = open_needles(needles, "whitebackground", 2)
    content = (needles / "p5.png").read_bytes()
    (needles / "p5.png").write_bytes(content[: len(content) // 2])
    with pytest.raises(ImageError, match=r"p5\.png"):
        build_grids(made, tmp_path / "out", n_processes=1)
    assert list((tmp_path / "out").rglob("*.parquet")) == list((tmp_path / "out").rglob("*.unfinished")) == []


def test_a_benchmark_without_grids_is_refused(tmp_path):
    with pytest.raises(UsageError, match="demo is asked under no grid"):
        build_grids(eyechart.benchmark("demo", tmp_path / "demo"), tmp_path / "out")


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["white", "captioned"])
def test_readers_and_views_share_one_geometry(style):
    assert _hub_grids._TILE == grid_view.TILE
    assert _hub_grids._PITCHES == {"white": grid_view.WHITE_PITCH, "captioned": grid_view.CAPTIONED_PITCH}


@pytest.mark.parametrize("base", ["0", "499", "a_b", "coco_val_17", "_", "1_2_3"])
def test_ids_go_to_cells_and_back_also_where_the_base_has_underscores(base):
    for row in range(10):
        for column in range(10):
            assert parse_cell_id(f"{base}_{row}_{column}", 10) == (base, row, column)


@pytest.mark.parametrize("text", ["", "7", "7_1", "_1_2", "7_10_0", "7_0_10", "7_-1_0", "7_01_2", "7_1_2_", "7 1 2"])
def test_malformed_ids_are_refused(text):
    with pytest.raises(BenchmarkError, match="names no cell of a 10×10 grid"):
        parse_cell_id(text, 10)


def test_in_a_grid_of_one_cell_the_base_may_stand_alone():
    assert parse_cell_id("17", 1) == ("17", 0, 0)
    assert parse_cell_id("17_0_0", 1) == ("17", 0, 0)


def change_rows(out, config, change):
    """Rewrite the rows of a config after a change of the list of rows."""
    (file,) = (out / config).glob("test-*.parquet")
    rows = pyarrow.parquet.read_table(file).to_pylist()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(change(rows)), file)


def test_integer_ids_of_a_grid_of_one_cell_are_read(stored):
    change_rows(
        stored / "whitebackground",
        "whitebackground_1x1",
        lambda rows: [{**row, "id": index} for index, row in enumerate(rows)],
    )
    read = eyechart.benchmark("whitebackground", stored / "whitebackground", grid=1)
    assert [question.id for question in read.questions()] == [str(index) for index in range(9)]


def test_base_samples_without_all_their_cells_are_left_out_and_named(stored):
    change_rows(stored / "whitebackground", "whitebackground_2x2", lambda rows: rows[1:])
    read = eyechart.benchmark("whitebackground", stored / "whitebackground", grid=2)
    assert len(list(read.questions())) == 8
    assert read.warnings == ("1 of 9 base samples lack cells and are left out: coco_0",)


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("whitebackground", lambda rows: [{**rows[0], "id": "coco_0"}, *rows[1:]], "names no cell of a 2×2 grid"),
        ("whitebackground", lambda rows: [*rows, rows[0]], "is also that of"),
        ("whitebackground", lambda rows: [{**rows[0], "question": "Another?"}, *rows[1:]], "has another question"),
        ("complexgrid", lambda rows: [{**rows[0], "answer": "row: 2, col: 1"}, *rows[1:]], "contradicts the id"),
        ("complexgrid", lambda rows: [{**row, "caption": ""} for row in rows], "no value in column 'caption'"),
        ("whitebackground", lambda rows: rows[:1], "no base sample of whitebackground has all its cells"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(name, change, match, stored):
    change_rows(stored / name, f"{name}_2x2", change)
    with pytest.raises(BenchmarkError, match=match):
        eyechart.benchmark(name, stored / name, grid=2)


def test_pictures_of_another_grid_are_refused(stored):
    (stored / "whitebackground" / "whitebackground_2x2").rename(stored / "whitebackground" / "whitebackground_3x3")
    with pytest.raises(BenchmarkError, match="896×896 px, a 3×3 grid 1344×1344"):
        eyechart.benchmark("whitebackground", stored / "whitebackground", grid=3)


def test_the_grid_of_one_cell_serves_as_needles_of_every_other_grid(stored, tmp_path):
    made = eyechart.benchmark("whitebackground", needles=str(stored / "whitebackground"), grid="1,7")
    first = next(made.questions())
    assert (first.id, first.answers) == ("coco_0", ("0",) * 9 + ("none",))
    assert first.image.size == Size(448, 448)
    check_benchmark(made)
    again = eyechart.benchmark("whitebackground", needles=str(stored / "whitebackground"), grid="1,7")
    assert again.identity == made.identity
    (file,) = (stored / "whitebackground" / "whitebackground_1x1").iterdir()
    assert next(eyechart.benchmark("whitebackground", needles=str(file), grid=3).questions()).id == "coco_0"


def test_a_grid_that_a_copy_lacks_is_named(stored):
    with pytest.raises(UsageError, match="holds no whitebackground_5x5") as error:
        eyechart.benchmark("whitebackground", stored / "whitebackground", grid=5)
    assert "whitebackground_2x2" in error.value.hint


def test_the_target_of_a_stored_cell_is_its_tile(stored):
    read = eyechart.benchmark("complexgrid", stored / "complexgrid", grid=2)
    released = read.released_image(next(read.questions()), "grid_captioned_2x2_r1_c0")
    assert released.target_in_view == Box(20, 528, 468, 976)
    assert read.released_image(next(read.questions()), "grid_captioned_3x3_r1_c0") is None
    assert json.loads(json.dumps(read.identity.options)) == {"grid": "2"}
