"""Collections of several sources: chosen ids in their order, numbered anew, each picture found where it came from."""

import json
import re

import pytest
from benchmarks.sources import write_vstar
from releases.made import QUESTIONS, open_source, write_source

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.cli._app import run_app
from eyechart.errors import BenchmarkError, UsageError
from eyechart.releases.collection import (
    CollectionBenchmark,
    CollectionRecipe,
    Part,
    SourceRecipe,
    open_collection,
    read_ids,
    read_notices,
    read_recipe,
)
from eyechart.releases.verify import verify_release

RECIPE = """
title = "Two sources"
repository = "ME/TWO"
first_id = 10
tasks = { OCR = "Text" }

[[sources]]
name = "VStarBench"
benchmark = "folder"
data = "one"
options = { box_format = "xyxy" }
select = "chosen.txt"
notice = "terms.md"

[[sources]]
name = "Mine"
benchmark = "folder"
data = "two"
options = { box_format = "xyxy" }
task = "Anything"
"""


OTHER = {**QUESTIONS[1], "task": None, "question": "Which?"}


@pytest.fixture
def recipe(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_source(
            tmp_path / name, QUESTIONS if name == "one" else [{**QUESTIONS[1], "task": None, "question": "Which?"}]
        )
    (tmp_path / "chosen.txt").write_text("3  # the whole picture\n\n000001\n")
    (tmp_path / "terms.md").write_text("Asked, and allowed.")
    (tmp_path / "two.toml").write_text(RECIPE)
    return tmp_path / "two.toml"


def test_chosen_questions_are_numbered_and_keep_where_they_came_from(recipe):
    collection = open_collection(read_recipe(recipe), recipe.parent)
    questions = list(collection.questions())
    assert [question.id for question in questions] == ["000010", "000011", "000012"]
    assert [question.source for question in questions] == ["VStarBench", "VStarBench", "Mine"]
    assert [question.extra["source_question_id"] for question in questions] == ["000003", "000001", "000000"]
    assert [question.extra["source_image_id"] for question in questions] == ["p0.png", "p1.jpg", "p1.jpg"]
    assert [question.task for question in questions] == ["Color", "Color", "Anything"]
    for question in questions:
        assert collection.image_path(question.image).is_file()
    assert collection.released_views() == ()
    assert collection.released_image(questions[0], "crop_1x") is None


def test_recipe_builds_a_clean_release_and_the_same_one_twice(recipe, tmp_path, capsys):
    views = "original,crop_1x,crop_3x,whiteground_3x,downsample_0_5,target_only_1x"
    for name in ("a", "b"):
        assert run_app(["build", str(recipe), "--out", str(tmp_path / name), "--views", views, "--jobs", "1"]) == 0
    said = capsys.readouterr().err
    assert "hf upload ME/TWO" in said
    assert "terms of Mine" in said
    assert "terms of VStarBench" not in said
    assert verify_release(tmp_path / "a", n_processes=1).findings == ()
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert len(files) > 30
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file
    assert "Asked, and allowed." in (tmp_path / "a" / "THIRD_PARTY_NOTICES.md").read_text()
    questions = list(SumKind().open(tmp_path / "a", SumOptions()).questions())
    assert [question.id for question in questions] == ["000010", "000011", "000012"]


def test_selection_of_one_benchmark_keeps_its_ids(tmp_path, capsys):
    (tmp_path / "s").mkdir()
    write_source(tmp_path / "s")
    (tmp_path / "ids.json").write_text("[2, 0]")
    arguments = ["build", "folder", "--data", str(tmp_path / "s"), "--option", "box_format=xyxy", "--jobs", "1"]
    arguments += ["--select", str(tmp_path / "ids.json"), "--out", str(tmp_path / "out"), "--views", "original,crop_1x"]
    assert run_app([*arguments, "--task", "OCR=Text", "--title", "Mine"]) == 0
    rows = json.loads((tmp_path / "out" / "dataset.json").read_text())
    assert [(row["id"], row["task_type"]) for row in rows] == [("000002", "Text"), ("000000", "Text")]
    assert (tmp_path / "out" / "README.md").read_text().count("# Mine") == 1


def test_seed_of_a_single_source_is_recorded_in_its_release(tmp_path):
    write_vstar(tmp_path / "v")
    command = ["build", "vstar", "--data", str(tmp_path / "v"), "--option", "seed=7", "--views", "original,crop_1x"]
    assert run_app([*command, "--jobs", "1", "--out", str(tmp_path / "out")]) == 0
    summary = json.loads((tmp_path / "out/metadata/validation_summary.json").read_text())
    assert summary["built_from"]["options"]["seed"] == 7


def test_collection_changes_its_revision_with_its_selection(tmp_path):
    write_source(tmp_path)
    opened = open_source(tmp_path)
    revisions = {
        CollectionBenchmark([Part(opened, ids)], first).identity.revision
        for ids in (None, ("000000",), ("000001", "000000"))
        for first in (None, 0)
    }
    assert len(revisions) == 6


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("select", "chose"), UsageError, "setting of source 1"),
        (('benchmark = "folder"\ndata = "one"', 'benchmark = "nothing"'), UsageError, "benchmark 'nothing'|'nothing'"),
        (("chosen.txt", "other.txt"), UsageError, "other.txt cannot be read"),
        (("terms.md", "no.md"), UsageError, "no.md cannot be read"),
        (("title", "titel"), UsageError, "titel"),
        (('task = "Anything"', 'boxes = "b.jsonl"'), UsageError, "boxes"),
        (('select = "chosen.txt"', 'task = "OCR"'), UsageError, r"VStarBench: task = 'OCR' names the task of no quest"),
        (('task = "Anything"', 'task_field = "kind"'), UsageError, "Mine: no question has a field 'kind'"),
        (('task = "Anything"', 'task_map = { 9 = "OCR" }'), UsageError, "Mine: task_map names no question '9' of it"),
        (('task = "Anything"', "task_map = {}"), UsageError, "Mine: task_map names no question"),
        (('task = "Anything"', 'task_map = "gone.csv"'), UsageError, "gone.csv cannot be read"),
        (("first_id = 10", "first_id = -1"), UsageError, "first_id -1 is below 0"),
        (("first_id", "first_Id"), UsageError, "first_Id"),
    ],
)
def test_fault_in_a_recipe_is_named(recipe, tmp_path, capsys, change, error, message):
    recipe.write_text(recipe.read_text().replace(*change))
    assert run_app(["build", str(recipe), "--out", str(tmp_path / "x")]) == error.exit_code
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "1\n2\n1\n", "id '1' stands twice"),
        ("a.txt", "# nothing\n", "names no id"),
        ("a.json", "{", "is not JSON"),
        ("a.json", "{}", "names no id"),
    ],
)
def test_fault_in_a_selection_is_named(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        read_ids(tmp_path / name)


def test_selected_id_that_does_not_exist_is_named(tmp_path):
    write_source(tmp_path)
    with pytest.raises(BenchmarkError, match="1 selected ids are not questions of folder: 000009"):
        CollectionBenchmark([Part(open_source(tmp_path), ("000001", "000009"))], None)


def test_two_sources_with_the_same_id_need_numbers(tmp_path):
    write_source(tmp_path)
    part = Part(open_source(tmp_path))
    with pytest.raises(BenchmarkError, match="two sources have a question '000000'"):
        CollectionBenchmark([part, part], None)


def test_recipe_without_sources_and_with_flags_of_a_single_one_is_refused(recipe, tmp_path, capsys):
    assert run_app(["build", str(recipe), "--out", str(tmp_path / "x"), "--data", "y"]) == 2
    assert "is a recipe" in capsys.readouterr().err
    recipe.write_text('title = "x"\n')
    assert run_app(["build", str(recipe), "--out", str(tmp_path / "x")]) == 2
    assert "names no source" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("map.json", '{"000000": "Text", "000002": "Shape"}'),
        ("map.csv", "000000,Text\n\n000002, Shape\n"),
        ("map.tsv", "000000\tText\n000002\tShape\n"),
    ],
)
def test_map_says_the_task_of_single_questions_over_the_source(tmp_path, name, text):
    (tmp_path / "s").mkdir()
    write_source(tmp_path / "s")
    (tmp_path / name).write_text(text)
    (tmp_path / "r.toml").write_text(
        f'[[sources]]\nbenchmark = "folder"\ndata = "s"\noptions = {{box_format = "xyxy"}}\ntask_map = "{name}"\n'
    )
    collection = open_collection(read_recipe(tmp_path / "r.toml"), tmp_path)
    assert [question.task for question in collection.questions()] == ["Text", "Color", "Shape", "Color"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("map.json", "[1]", "map.json is not a table of tasks"),
        ("map.csv", "000000", "line 1: '000000' is not an id and a task"),
        ("map.csv", "000000,a\n000000,b", "line 2: '000000,b' names this id a second time"),
    ],
)
def test_fault_in_a_map_of_tasks_is_named(tmp_path, name, text, message):
    (tmp_path / "s").mkdir()
    write_source(tmp_path / "s")
    (tmp_path / name).write_text(text)
    source = SourceRecipe("folder", data="s", options={"box_format": "xyxy"}, task_map=name)
    with pytest.raises(UsageError, match=re.escape(message)):
        open_collection(CollectionRecipe([source]), tmp_path)


def test_terms_of_a_source_that_the_recipe_does_not_name_are_printed(recipe):
    """The source's own name is what notices go by."""
    recipe.write_text(recipe.read_text().replace('name = "VStarBench"\n', ""))
    opened = open_collection(read_recipe(recipe), recipe.parent)
    assert read_notices(read_recipe(recipe), recipe.parent, opened) == {"mine": "Asked, and allowed."}


def test_boxes_named_twice_are_refused(tmp_path):
    source = SourceRecipe("hrbench", options={"boxes": "a.jsonl"}, boxes="b.jsonl")
    with pytest.raises(UsageError, match="source hrbench names boxes twice"):
        source.all_options(tmp_path)


def test_field_can_say_the_task_better_than_the_source(tmp_path):
    rows = [{**QUESTIONS[0], "attribute": "material"}, {**QUESTIONS[1], "attribute": "color"}, QUESTIONS[2]]
    write_source(tmp_path, rows)
    part = Part(open_source(tmp_path), task_field="attribute")
    assert [question.task for question in CollectionBenchmark([part], 0).questions()] == ["material", "color", "OCR"]
