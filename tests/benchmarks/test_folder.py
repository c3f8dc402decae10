import csv
import json
import sys

import msgspec
import pytest
from PIL import Image

from eyechart.benchmarks._columns import Columns
from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.errors import BenchmarkError, MissingDependencyError, UsageError
from eyechart.kinds import Benchmark, BenchmarkKind
from eyechart.registry import load
from eyechart.schema import Box

SIZE = (100, 80)
ROW = {
    "id": "q1",
    "image": "a.png",
    "question": "Which colour?",
    "choices": ["red", "blue"],
    "answer": "B",
    "box": [10, 20, 30, 40],
}


@pytest.fixture
def folder(tmp_path):
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        Image.new("RGB", SIZE, colour).save(tmp_path / name)
    return tmp_path


def write_jsonl(folder, *rows):
    text = "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "questions.jsonl").write_text(text + "\n", encoding="utf-8")


def open_folder(data, **options):
    return FolderKind().open(data, FolderOptions(**{"box_format": "xyxy", **options}))


def only_question(folder, row, **options):
    write_jsonl(folder, row)
    return next(open_folder(folder, **options).questions())


def test_folder_keeps_the_contracts_of_its_kind(folder):
    write_jsonl(folder, ROW)
    assert load("benchmark", "folder") is FolderKind
    assert isinstance(FolderKind(), BenchmarkKind)
    assert isinstance(open_folder(folder), Benchmark)


def test_question_is_read_with_letter_box_group_and_foreign_columns(folder):
    benchmark_row = {**ROW, "task": "Color", "source": "mine", "difficulty": 3}
    question = only_question(folder, benchmark_row)
    assert (question.id, question.text, question.choices, question.answer) == (
        "q1",
        "Which colour?",
        ("red", "blue"),
        "B",
    )
    assert question.targets == question.targets_clipped == (Box(10, 20, 30, 40),)
    assert question.image_group == question.image.file_sha256
    assert question.image.size == SIZE
    assert (question.task, question.source, question.extra) == ("Color", "mine", {"difficulty": 3})


def test_image_path_leads_to_the_bytes(folder):
    write_jsonl(folder, ROW, {**ROW, "id": "q2", "image": "b.png"})
    benchmark = open_folder(folder)
    assert [benchmark.image_path(question.image).name for question in benchmark.questions()] == ["a.png", "b.png"]
    assert benchmark.released_views() == ()
    assert benchmark.released_image(next(benchmark.questions()), "original") is None


def rows_as_jsonl(folder, rows):
    write_jsonl(folder, *rows)


def rows_as_json(folder, rows):
    (folder / "questions.json").write_text(json.dumps(rows), encoding="utf-8")


def rows_as_csv(folder, rows):
    with (folder / "questions.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(ROW))
        writer.writeheader()
        writer.writerows({**row, "choices": "|".join(row["choices"]), "box": json.dumps(row["box"])} for row in rows)


def rows_as_parquet(folder, rows):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "questions.parquet")


FORMATS = [rows_as_jsonl, rows_as_json, rows_as_csv, rows_as_parquet]


@pytest.mark.parametrize("write", FORMATS)
def test_every_file_format_gives_the_same_questions(folder, write):
    rows = [ROW, {**ROW, "id": "q2", "question": "Welche Größe, „groß“?", "box": [0, 0, 5, 5]}]
    rows_as_jsonl(folder, rows)
    expected = list(open_folder(folder / "questions.jsonl").questions())
    (folder / "questions.jsonl").unlink()
    write(folder, rows)
    assert list(open_folder(folder).questions()) == expected


def test_parquet_without_pyarrow_names_the_extra(folder, monkeypatch):
    rows_as_parquet(folder, [ROW])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match="pyarrow") as caught:
        open_folder(folder)
    assert caught.value.hint == "python -m pip install 'eyechart[hub]'"


@pytest.mark.parametrize(
    ("box_format", "box"),
    [
        ("xyxy", [10, 20, 30, 40]),
        ("xywh", [10, 20, 20, 20]),
        ("unit", [0.1, 0.25, 0.3, 0.5]),
        ("unit_xywh", [0.1, 0.25, 0.2, 0.25]),
    ],
)
def test_every_box_format_gives_the_same_pixels(folder, box_format, box):
    question = only_question(folder, {**ROW, "box": box}, box_format=box_format)
    assert question.targets[0] == pytest.approx((10, 20, 30, 40))


def test_several_boxes_stay_several(folder):
    question = only_question(folder, {**ROW, "box": [[0, 0, 5, 5], [50, 50, 60, 60]]}, target_policy="first")
    assert question.targets == (Box(0, 0, 5, 5), Box(50, 50, 60, 60))
    assert question.target_policy == "first"


def test_box_over_the_border_is_kept_as_given_and_clipped_beside(folder):
    question = only_question(folder, {**ROW, "box": [-5, 70, 20, 90]})
    assert question.targets == (Box(-5, 70, 20, 90),)
    assert question.targets_clipped == (Box(0, 70, 20, 80),)
    assert "target crosses the border" in question.notes


def test_revision_follows_content_and_not_place(folder, tmp_path_factory):
    write_jsonl(folder, ROW)
    before = open_folder(folder).identity
    moved = tmp_path_factory.mktemp("moved")
    for path in folder.iterdir():
        (moved / path.name).write_bytes(path.read_bytes())
    assert open_folder(moved, image_root=str(moved)).identity == before
    Image.new("RGB", SIZE, "green").save(folder / "a.png")
    assert open_folder(folder).identity.revision != before.revision


@pytest.mark.parametrize(
    ("answer", "choices", "form", "letter"),
    [
        ("A", ["red", "blue"], "either", "A"),
        ("blue", ["red", "blue"], "either", "B"),
        (3, ["2", 3], "either", "B"),
        ("A", ["B", "A"], "letter", "A"),
        ("A", ["B", "A"], "text", "B"),
        (None, ["red", "blue"], "either", None),
        ("", ["red", "blue"], "either", None),
    ],
)
def test_answer_becomes_a_letter(folder, answer, choices, form, letter):
    row = {**ROW, "answer": answer, "choices": choices}
    assert only_question(folder, row, answer_form=form, allow_hidden=letter is None).answer == letter


FREE = {key: value for key, value in ROW.items() if key not in {"choices", "answer"}}


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        ({"answers": ["B-17", "B17"]}, ("B-17", "B17")),
        ({"answers": ["17", "17", "71"]}, ("17", "17", "71")),  # what several people said keeps its weight
        ({"answers": "B-17|B17"}, ("B-17", "B17")),
        ({"answers": '["B-17", "B17"]'}, ("B-17", "B17")),
        ({"answers": [{"answer": "red"}, {"answer": "Red"}]}, ("red", "Red")),
        ({"answers": ["Red", "crimson"], "answer": "red"}, ("Red", "crimson")),
        ({"answers": [], "answer": "red"}, ("red",)),
        ({"answers": []}, ()),
    ],
)
def test_accepted_answers_are_read_as_needle_files_give_them(folder, cells, texts):
    question = only_question(folder, {**FREE, **cells}, allow_hidden=not texts)
    assert (question.answer, question.answers) == (None, texts)
    assert "answers" not in question.extra


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**FREE, "answers": ["blue", "navy"], "answer": "red"}, "answer 'red' is not among the answers"),
        ({**FREE, "answers": [{"text": "red"}]}, "hold no text"),
        ({**FREE, "choices": ["red", "blue"], "answers": ["red", "blue"]}, "only in column 'answers', beside choices"),
    ],
)
def test_answers_that_cannot_mean_what_is_accepted_are_refused_with_place_and_hint(folder, row, message):
    with pytest.raises(BenchmarkError, match=message) as caught:
        only_question(folder, row)
    assert "questions.jsonl:1" in caught.value.message
    assert caught.value.hint


def test_a_column_answers_beside_choices_and_their_answer_stays_foreign(folder):
    question = only_question(folder, {**ROW, "answers": ["blue", "navy"]})
    assert (question.answer, question.answers, question.extra["answers"]) == ("B", (), ["blue", "navy"])


def test_a_column_answers_that_holds_the_choices_is_no_list_of_accepted_answers(folder):
    row = {**FREE, "answers": ["red", "blue"], "answer": "blue"}
    assert only_question(folder, row, choices_column="answers").answer == "B"


@pytest.mark.parametrize(("answer", "texts"), [("17", ("17",)), (["17", "seventeen"], ("17", "seventeen")), (None, ())])
def test_question_without_choices_keeps_accepted_texts(folder, answer, texts):
    question = only_question(folder, {**ROW, "choices": None, "answer": answer}, allow_hidden=answer is None)
    assert (question.choices, question.answer, question.answers) == ((), None, texts)


def test_one_column_per_option_is_read(folder):
    row = {key: value for key, value in ROW.items() if key != "choices"}
    question = only_question(folder, {**row, "A": "red", "B": "blue", "C": None})
    assert (question.choices, question.extra) == (("red", "blue"), {})


def test_choices_equal_up_to_case_are_noted(folder):
    question = only_question(folder, {**ROW, "choices": ["red", "Red", "Brown"], "answer": "C"})
    assert question.notes == ("choices equal up to case: red, Red",)


def test_columns_can_be_named(folder):
    row = {"picture": "a.png", "text": "Which?", "bbox": [1, 2, 3, 4], "answer": "red"}
    question = only_question(folder, row, image_column="picture", question_column="text", box_column="bbox")
    assert (question.id, question.text, question.targets) == ("000001", "Which?", (Box(1, 2, 3, 4),))


def test_group_column_replaces_the_content_hash(folder):
    assert only_question(folder, {**ROW, "image_group": "scene 7"}).image_group == "scene 7"


# --- warnings about the declared box format ---------------------------------------------------------------------------


def test_another_format_that_fits_better_is_a_warning(folder):
    rows = [{**ROW, "id": str(number), "box": [60, 50, 80, 70 + number]} for number in range(5)]
    rows = [{**row, "box": [50, 30, 60, 55]} for row in rows]
    write_jsonl(folder, *rows)
    assert open_folder(folder, box_format="xywh").warnings == (
        "5 of 5 boxes read as xywh cross the border; read as xyxy none does",
    )
    assert open_folder(folder, box_format="xyxy").warnings == ()


def test_boxes_below_a_pixel_are_a_warning(folder):
    write_jsonl(folder, {**ROW, "box": [0.1, 0.1, 0.5, 0.5]})
    assert open_folder(folder).warnings == ("all 1 boxes read as xyxy are smaller than a pixel; unit fits too",)


def test_turned_and_transparent_pictures_are_flagged_once_each(folder):
    exif = Image.Exif()
    exif[274] = 6
    for name in ("turned.jpg", "turned2.jpg"):
        Image.new("RGB", SIZE, "red").save(folder / name, exif=exif)
    Image.new("RGBA", SIZE, (1, 2, 3, 4)).save(folder / "clear.png")
    names = ("a.png", "turned.jpg", "turned.jpg", "turned2.jpg", "clear.png")
    write_jsonl(folder, *({**ROW, "id": str(number), "image": name} for number, name in enumerate(names)))
    turned, clear = open_folder(folder).warnings
    assert turned.startswith("2 pictures have (the first is turned.jpg) an EXIF orientation")
    assert clear == "clear.png has transparency, which is laid on white"


# --- faults: (row or raw line, options, message, hint) ----------------------------------------------------------------

FAULTS = {
    "malformed line": ('{"id": "q1", "image"', {}, r"questions\.jsonl:2: not JSON", "repair"),
    "no object": ("[1, 2]", {}, r"questions\.jsonl:2: \[1, 2\] is not a JSON object", "write one"),
    "bad utf-8": ('{"id": "\udcff"}', {}, r"questions\.jsonl:2: not UTF-8 at byte", "encoding="),
    "image outside": ({"image": "../x.png"}, {}, r":2: image '\.\./x.png' lies outside", "image_root"),
    "absolute image": ({"image": "/etc/passwd"}, {}, r":2: image '/etc/passwd' lies outside", "image_root"),
    "no image column": ({"image": None}, {}, r":2: no value in column 'image' \(columns: id, ", "image_column"),
    "image no text": ({"image": 3.5}, {}, r":2: image 3.5 is not a text", "a path"),
    "two images": ({"image": ["a.png", "b.png"]}, {}, ":2: 2 pictures; eyechart shows one picture a question", "skip"),
    "no question": ({"question": ""}, {}, r":2: no value in column 'question'", "name your own column"),
    "zero area": ({"box": [5, 5, 5, 9]}, {}, r":2: box \(5, 5, 5, 9\) read as xyxy has no area", "xywh fits"),
    "inverted": ({"box": [50, 50, 40, 60]}, {}, r":2: box \(50, 50, 40, 60\) read as xyxy has no area", "half-open"),
    "outside": ({"box": [200, 0, 210, 10]}, {}, r":2: box .* lies outside the 100×80 picture", "fits every row"),
    "not unit": (
        {"box": [0, 0, 50, 40]},
        {"box_format": "unit"},
        r":2: box .* read as unit is not a fraction",
        "xyxy fits",
    ),
    "three numbers": ({"box": [1, 2, 3]}, {}, r":2: box \[1, 2, 3\] is not four finite numbers", r"\[x0, y0"),
    "text box": ({"box": "1,2,x,4"}, {}, r":2: box '1,2,x,4' is not four finite numbers", r"\[x0, y0"),
    "undeclared": ({}, {"box_format": None}, r":1: there are boxes, but the box format is not declared", "box_format="),
    "one choice": ({"choices": ["red"]}, {}, r":2: 1 choice", "2–26"),
    "27 choices": ({"choices": [str(n) for n in range(27)]}, {}, r":2: 27 choices", "2–26"),
    "empty choice": ({"choices": ["", "red"]}, {}, r":2: choices skip A: letter B would move", "empty_options=drop"),
    "one of two": ({"choices": ["red", ""]}, {}, r":2: 1 choice \('red'\)", "2–26"),
    "choices no list": ({"choices": 7}, {}, r":2: choices 7 are not a list", "red"),
    "foreign answer": ({"answer": "green"}, {}, r":2: answer 'green' is not among the choices", "A–B"),
    "letter beyond": ({"answer": "C"}, {}, r":2: answer 'C' is none of A–B", "A–B"),
    "two meanings": ({"choices": ["B", "A"], "answer": "A"}, {}, r":2: answer 'A' fits choices A, B", "answer_form"),
    "twice among": ({"choices": ["x", "x"], "answer": "x"}, {}, r":2: answer 'x' fits choices A, B", "distinct"),
    "duplicate id": ({"id": "q1"}, {}, r":2: id 'q1' is also that of .*questions\.jsonl:1", "its own id"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_names_file_line_and_value(folder, name):
    change, options, message, hint = FAULTS[name]
    row = change if isinstance(change, str) else json.dumps({**ROW, "id": "q2", **change})
    (folder / "questions.jsonl").write_bytes(f"{json.dumps(ROW)}\n{row}\n".encode(errors="surrogateescape"))
    if options == {"box_format": "unit"}:  # the first row is no fault
        (folder / "questions.jsonl").write_text(f"{json.dumps({**ROW, 'box': [0, 0, 0.5, 0.5]})}\n{row}\n")
    with pytest.raises(BenchmarkError, match=message) as caught:
        open_folder(folder, **options)
    assert hint.replace("\\", "") in caught.value.hint


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.json", '{"a": 1}', "holds no list of questions"),
        ("q.json", "[1]", "item 1: 1 is not a JSON object"),
        ("q.json", "[", "not JSON"),
        ("q.csv", "id,image\n1,2,3\n", ":2: the row has 3 cells, and the header 2"),
        ("q.csv", 'id,image\n"1,2\n', "not CSV"),
        ("q.parquet", "PAR", "not parquet"),
        ("q.jsonl", "\n", "holds no question"),
    ],
)
def test_damaged_file_is_named(folder, name, text, message):
    (folder / name).write_text(text)
    with pytest.raises(BenchmarkError, match=message):
        open_folder(folder)


def test_file_of_unknown_suffix_is_refused(folder):
    (folder / "q.txt").write_text("x")
    with pytest.raises(BenchmarkError, match="not the name of a question file"):
        open_folder(folder / "q.txt")
    with pytest.raises(BenchmarkError, match="cannot be read"):
        open_folder(folder, file="gone.jsonl")


def test_data_must_be_given_and_exist(folder):
    with pytest.raises(UsageError, match="folder needs data"):
        open_folder(None)
    with pytest.raises(UsageError, match="does not exist"):
        open_folder(folder / "gone")
    with pytest.raises(UsageError, match="holds 0 question files"):
        open_folder(folder)


def test_options_of_another_benchmark_are_refused(folder):
    write_jsonl(folder, ROW)
    with pytest.raises(UsageError, match="Columns are not the options of folder"):
        FolderKind().open(folder, Columns())


def test_picture_of_another_folder_is_unknown(folder):
    write_jsonl(folder, ROW)
    benchmark = open_folder(folder)
    image = next(benchmark.questions()).image
    with pytest.raises(BenchmarkError, match="no question shows a picture"):
        benchmark.image_path(msgspec.structs.replace(image, file_sha256="0" * 64))


def test_declared_boxes_in_another_column_are_named(folder):
    write_jsonl(folder, {**{key: value for key, value in ROW.items() if key != "box"}, "my_box": [1, 1, 5, 5]})
    with pytest.raises(BenchmarkError, match="no row has a box in column 'box'") as caught:
        open_folder(folder, box_format="xyxy")
    assert caught.value.hint == "--option box_column=my_box"


@pytest.mark.parametrize(
    ("name", "message"),
    [("cmyk.jpg", "CMYK without a usable colour profile"), ("anim.gif", "2 frames"), ("cut.png", "truncated")],
)
def test_picture_that_no_view_can_show_is_refused_before_anything_is_asked(folder, name, message):
    red, blue = (Image.new("RGB", SIZE, colour) for colour in ("red", "blue"))
    red.convert("CMYK").save(folder / "cmyk.jpg")
    red.save(folder / "anim.gif", save_all=True, append_images=[blue])
    (folder / "cut.png").write_bytes((folder / "a.png").read_bytes()[:-12])
    with pytest.raises(BenchmarkError, match=rf"questions.jsonl:1: image '{name}'.*{message}"):
        only_question(folder, {**ROW, "image": name})


def test_folder_named_as_a_picture_is_called_a_folder(folder):
    (folder / "pictures").mkdir()
    with pytest.raises(BenchmarkError, match="image 'pictures': this is a folder"):
        only_question(folder, {**ROW, "image": "pictures"})
