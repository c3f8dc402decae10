"""Laws of question files: what is read means what is written, and what cannot be scored is refused before asking."""

import base64
import json
import random
import stat
from pathlib import Path
from string import ascii_uppercase

import pytest
from fuzz_cases import n_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from question_rewrites import write

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.errors import BenchmarkError

FIXTURES = Path(__file__).parents[1] / "interop" / "questions"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))
COLOURS = ["teal", "amber", "violet", "ivory"]
ROW = {"id": "q1", "image": "a.png", "question": "Which colour?", "choices": COLOURS, "answer": "B"}
BARE = {name: cell for name, cell in ROW.items() if name not in {"choices", "answer"}}


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path_factory):
    """A home folder of its own, which pictures held in files go to."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path):
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        Image.new("RGB", (100, 80), colour).save(tmp_path / name)
    return tmp_path


def opened(data, **options):
    return FolderKind().open(data, FolderOptions(**options))


def written(folder, *rows):
    path = folder / "questions.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def questions(folder, *rows, **options):
    return list(opened(written(folder, *rows), **options).questions())


def right_text(question):
    return question.choices[ascii_uppercase.index(question.answer)]


# --- the files of the exchange specification --------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPECTED)
def test_each_file_of_the_ecosystem_is_read_as_meant_or_refused_for_its_fault(name):
    expected = EXPECTED[name]
    if expected["expect"] == "refuse":
        with pytest.raises(BenchmarkError) as caught:
            opened(FIXTURES / name)
        assert expected["error"] in caught.value.message
        assert caught.value.hint
        return
    benchmark = opened(FIXTURES / name)
    found = list(benchmark.questions())
    assert (list(found[0].choices), found[0].text) == (expected["choices"], expected["text"])
    if "gold" in expected:
        assert {question.answer for question in found} == {expected["gold"]}
    if "golds" in expected:
        assert [question.answer for question in found] == expected["golds"]
    if "answers" in expected:
        assert list(found[0].answers) == expected["answers"]
        assert benchmark.defaults.scorer == "vqa_soft"
    if "box" in expected:
        assert list(found[0].targets[0]) == expected["box"]


# --- files that mean the same -----------------------------------------------------------------------------------------


def differences(file, meant):
    """Return what a file that was read says otherwise than it means; None where it was refused."""
    try:
        found = list(opened(file).questions())
    except BenchmarkError:
        return None
    wrong = []
    for question, one in zip(found, meant.rows, strict=True):
        means = (one["id"], one["question"], one["choices"][one["gold"]])
        if (question.id, question.text, right_text(question)) != means or set(question.choices) - set(one["choices"]):
            wrong.append((means, question))
    return wrong


@pytest.mark.fuzz
@settings(max_examples=n_cases())
@given(st.integers(0, 2**32))
def test_the_right_text_as_read_is_the_right_text_as_written_or_the_file_is_refused(tmp_path_factory, seed):
    assert not differences(*write(random.Random(seed), tmp_path_factory.mktemp("rewritten")))  # noqa: S311


def test_files_in_which_nothing_has_two_meanings_are_all_read(tmp_path_factory):
    for seed in range(60):
        file, meant = write(random.Random(seed), tmp_path_factory.mktemp("clear"), is_clear=True)  # noqa: S311
        assert differences(file, meant) == [], seed


# --- gaps keep the right answer with its text -------------------------------------------------------------------------

GAPS = {
    "an object with null": {"choices": {"A": "x", "B": None, "C": "y", "D": "z"}, "answer": "C"},
    "an object without A": {"choices": {"B": "x", "C": "y"}, "answer": "C"},
    "a list with null": {"choices": ["x", None, "y", "z"], "answer": "C"},
    "a list with NaN": '{"image": "a.png", "question": "?", "choices": ["x", NaN, "y", "z"], "answer": "C"}',
    "columns with an empty one": {"A": "x", "B": "", "C": "y", "D": "z", "answer": "C"},
    "columns B to D": {"B": "x", "C": "y", "D": "z", "answer": "C"},
    "labels of their own": {"choices": {"label": ["A", "C"], "text": ["x", "y"]}, "answer": "C"},
    "a text in a cell": {"choices": "x||y", "answer": "C"},
}


@pytest.mark.parametrize("name", GAPS)
def test_an_empty_option_before_a_filled_one_moves_no_right_answer(folder, name):
    row = GAPS[name] if isinstance(GAPS[name], str) else {**BARE, **GAPS[name]}
    with pytest.raises(BenchmarkError, match="would move") as caught:
        questions(folder, row)
    assert "empty_options=drop" in caught.value.hint
    (question,) = questions(folder, row, empty_options="drop")
    assert right_text(question) == "y"
    assert "C" in question.extra["source_letters"]


def test_the_answer_to_an_empty_option_is_refused(folder):
    with pytest.raises(BenchmarkError, match="answer 'B' is none of"):
        questions(folder, {**BARE, "choices": ["x", None, "y"], "answer": "B"}, empty_options="drop")


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        ("[1234567.0, 1234568.0]", ("1234567.0", "1234568.0")),
        ("[12345.678, 12345.612]", ("12345.678", "12345.612")),
        ("[1e-7, 2.50, 123456789012345678901234567890]", ("1e-7", "2.50", "123456789012345678901234567890")),
        ("[true, false]", ("true", "false")),
    ],
)
def test_numbers_of_json_are_shown_as_the_file_spells_them(folder, cells, texts):
    (question,) = questions(folder, f'{{"image": "a.png", "question": "?", "choices": {cells}, "answer": "B"}}')
    assert (question.choices, question.answer) == (texts, "B")


def test_numbers_of_typed_columns_are_whole_where_they_are_whole(folder):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(
        {
            "image": ["a.png"],
            "question": ["?"],
            "choices": pyarrow.array([[1234567.0, 0.1, float("nan")]], pyarrow.list_(pyarrow.float32())),
            "answer": pyarrow.array([1.0]),
        }
    )
    pyarrow.parquet.write_table(table, folder / "q.parquet")
    (question,) = opened(folder / "q.parquet", answer_form="index0").questions()
    assert (question.choices, question.answer) == (("1234567", "0.1"), "B")


@pytest.mark.parametrize(
    ("cell", "style", "message"),
    [("=5", {}, "a formula whose result is not stored"), (0.5, {"num_format": "0%"}, "shown as a percentage")],
)
def test_a_spreadsheet_cell_that_says_something_else_than_it_shows_is_refused(folder, cell, style, message):
    import xlsxwriter

    with xlsxwriter.Workbook(folder / "q.xlsx") as book:
        sheet = book.add_worksheet()
        for column, (name, value) in enumerate(
            {"image": "a.png", "question": "?", "A": cell, "B": "x", "answer": "B"}.items()
        ):
            sheet.write(0, column, name)
            sheet.write(1, column, value, book.add_format(style) if name == "A" else None)
    with pytest.raises(BenchmarkError, match=message):
        opened(folder / "q.xlsx")


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", ["B", "b", "(B)", "B.", "[B]", "B. amber", "(B) amber", "amber", "Amber.", ["B"], "['B']"]
)
def test_every_usual_spelling_of_an_answer_names_its_option(folder, answer):
    assert questions(folder, {**ROW, "answer": answer})[0].answer == "B"


@pytest.mark.parametrize(
    ("answers", "golds", "reading"),
    [
        ([0, 1, 3], "ABD", "answers count from 0"),
        ([1, 4, 2], "ADB", "answers count from 1"),
        (["0", "1.0", "3"], "ABD", "answers count from 0"),
    ],
)
def test_whole_numbers_count_as_one_row_of_the_file_shows(folder, answers, golds, reading):
    rows = [{**ROW, "id": str(number), "answer": answer} for number, answer in enumerate(answers)]
    benchmark = opened(written(folder, *rows))
    assert "".join(question.answer for question in benchmark.questions()) == golds
    assert reading in benchmark.readings


@pytest.mark.parametrize(
    ("rows", "message", "hint"),
    [
        ([{"answer": 1}, {"answer": 3}], "whole numbers 1–3 fit counting from 0 and from 1", "index0 or index1"),
        ([{"answer": 0}, {"answer": 4}], "counts from 0, but .* counts from 1", "answer_form"),
        ([{"answer": ["A", "B"]}], "two right answers", "leave such rows out"),
        ([{"answer": "B. teal"}], "has letter B and the text of A", "letter alone"),
        ([{"answer": "B", "label": "A"}], "'label' names another option", "answer_column"),
        ([{"answer": "B", "solution": "because"}], "'answer' and 'solution' hold different things", "answer_column"),
        ([{"choices": ["B. x", "A. y"]}], "option 1 carries letter B", "option_letters=keep"),
        ([{"choices": {"red": 1, "blue": 2}}], "an object with keys", "by the letters"),
        ([{"choices": ["teal", "a.png"]}], "option B is a picture", "one picture"),
        ([{"question": "Which?\n(A) x\n(B) y", "choices": ["y", "x"]}], "in another order", "listed="),
        ([{"question": "Which?\n(A) x\n(B) y\nIn the sun.", "choices": None}], "follows the options", "column choices"),
        ([{"question": "Is <image 1> or <image 2> red?"}], "2 pictures", "pictures=skip"),
        ([{"image_1": "a.png", "image_2": "b.png", "image": None}], "2 pictures", "pictures=skip"),
        ([{"image": "b.png", "image_path": "a.png"}], "'image' and 'image_path' hold different", "image_column"),
        ([{"image": "7"}], "no file and no row of that id", "base64"),
        ([{"image": "x" * 300}], "a file name may have 255 bytes", "paths count"),
        ([{"image": {"bytes": "AAAA", "path": ""}}], "holds no picture in its bytes", "path"),
        (
            [{"choices": None, "answer": "B", "ways": ["x", "y"]}],
            "column 'ways' looks like them",
            "choices_column=ways",
        ),
        ([{"choices": None, "answer": "B"}], "every answer is a letter", "choices_column"),
        ([{"choices": None, "first": "x", "other": "teal", "answer": "x"}], "in another column too", "keep=free"),
        ([{"choices": None, "answer": True}], "every answer is true or false", "yes"),
        ([{"choices": None, "question": "Which?\n(A) x\n(C) y"}], "from A on without a gap", "keep=free"),
        ([{"choices": None, "question": "Which?\na) teal\nb) amber", "answer": "amber"}], "lists options", "keep=free"),
        ([{"choices": None, "question": "Which? 1. teal 2. amber", "answer": "amber"}], "lists options", "keep=free"),
        (
            [{}, {"choices": None, "answer": "teal"}],
            "a question without options among rows|with options",
            "keep=choices",
        ),
        ([{}, {"answer": None}], "no right answer", "--allow-hidden"),
    ],
)
def test_what_could_mean_two_things_is_refused_with_the_option_that_helps(folder, rows, message, hint):
    with pytest.raises(BenchmarkError, match=message) as caught:
        questions(folder, *({**ROW, "id": f"q{number}", **row} for number, row in enumerate(rows)))
    assert hint in caught.value.hint
    assert "questions.jsonl" in caught.value.message


def test_options_that_settle_it_are_followed(folder):
    mixed = (
        {**ROW, "id": "1"},
        {**BARE, "id": "2", "answer": "EXIT"},
        {**BARE, "id": "3", "image": ["a.png", "b.png"]},
    )
    kept = opened(written(folder, *mixed), keep="choices", pictures="skip")
    assert [question.id for question in kept.questions()] == ["1"]
    assert any("several pictures" in reading for reading in kept.readings)
    assert [one.id for one in questions(folder, *mixed, keep="free", pictures="skip")] == ["2"]
    both = {**ROW, "question": "Which?\n(A) x\n(B) y", "choices": ["y", "x"]}
    assert right_text(questions(folder, both, listed="text")[0]) == "y"
    assert right_text(questions(folder, both, listed="column")[0]) == "x"
    assert questions(folder, {**ROW, "answer": None}, allow_hidden=True)[0].answer is None
    assert questions(folder, {**BARE, "answer": "B"}, keep="free")[0].answers == ("B",)


def test_every_kind_of_fault_is_told_with_three_places_and_a_count(folder):
    rows = [{**ROW, "id": str(number), "answer": "E"} for number in range(5)]
    with pytest.raises(BenchmarkError) as caught:
        questions(folder, *rows, {**ROW, "image": "../gone.png"}, ROW)
    lines = caught.value.message.splitlines()
    assert "6 of 7 rows cannot be asked and scored" in lines[0]
    assert [line.rpartition(":")[2] for line in lines[1:4]] == [" answer 'E' is none of A–D"] * 3
    assert lines[4] == "  and 2 more like these"
    assert "image '../gone.png' lies outside" in lines[5]


# --- columns, containers, encodings -----------------------------------------------------------------------------------


def test_what_was_chosen_is_told_once(folder):
    row = {"qid": "1", "img": "a.png", "query": "Which?\n(A) x\n(B) y", "label": "B"}
    assert opened(written(folder, row)).readings == (
        "options from the question text (1 row)",
        "question from column 'query'",
        "image from column 'img'",
        "answer from column 'label'",
        "id from column 'qid'",
    )
    assert opened(written(folder, ROW)).readings == ()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.csv", "id,answer,answer\n1,A,B\n", "column 'answer' stands there twice"),
        ("q.jsonl", '{"answer": "A", "answer": "B"}\n', "key 'answer' stands twice"),
        ("q.jsonl", '{"question": "\\ud83d"}\n', "lone surrogate"),
        ("q.json", '{"images": [], "annotations": [], "categories": []}', "COCO file .* no questions"),
        ("q.json", '{"data": [], "questions": []}', "2 lists"),
        ("q.csv", "id,question\n1,?\n".encode("utf-16-le").decode("latin-1"), "UTF-16 without a mark"),
    ],
)
def test_a_container_that_would_hide_something_is_refused(folder, name, text, message):
    (folder / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(BenchmarkError, match=message):
        opened(folder / name)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "gb18030"])
def test_a_named_encoding_is_read(folder, encoding):
    text = "id,image,question,A,B,answer\n1,a.png,Größe?,x,y,B\n"
    (folder / "q.csv").write_bytes(text.encode(encoding))
    with pytest.raises(BenchmarkError, match=r"q\.csv:\d: not UTF-8 at byte \d+") as caught:
        opened(folder / "q.csv")
    assert "encoding=" in caught.value.hint
    assert next(opened(folder / "q.csv", encoding=encoding).questions()).text == "Größe?"


def test_tsv_with_bare_quotes_is_read_by_its_tabs(folder):
    lines = ["id\timage\tquestion\tA\tB\tanswer", '1\ta.png\t"Stop" is where?\tleft\tright\tB']
    (folder / "q.tsv").write_text("\n".join(lines))
    benchmark = opened(folder / "q.tsv")
    assert next(benchmark.questions()).text == '"Stop" is where?'
    assert "quotes mean nothing in this TSV file" in benchmark.readings


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_a_picture_held_in_the_file_is_kept_once_and_for_its_owner_alone(folder, home):
    encoded = base64.b64encode((folder / "a.png").read_bytes()).decode()
    rows = [
        {**ROW, "id": str(number), "image": image} for number, image in enumerate((encoded, {"bytes": encoded}, "0"))
    ]
    before = set(folder.iterdir())
    benchmark = opened(written(folder, *rows))
    images = {question.image for question in benchmark.questions()}
    kept = benchmark.image_path(images.pop())
    assert not images
    assert kept.read_bytes() == (folder / "a.png").read_bytes()
    assert kept.is_relative_to(home)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert set(folder.iterdir()) - before == {folder / "questions.jsonl"}


def test_rows_that_name_each_other_for_a_picture_are_refused(folder):
    with pytest.raises(BenchmarkError, match="name each other in a circle"):
        questions(folder, {**ROW, "id": "0", "image": "1"}, {**ROW, "id": "1", "image": "0"})


def test_no_message_repeats_a_picture(folder):
    encoded = base64.b64encode(b"no picture " * 5000).decode()
    for cell in (encoded, {"bytes": encoded}, f"data:image/png;base64,{encoded}", [encoded, encoded]):
        with pytest.raises(BenchmarkError) as caught:
            questions(folder, {**ROW, "image": cell, "choices": [encoded, {"a": encoded}]})
        assert len(caught.value.message) < 600


@pytest.mark.parametrize("mark", ["<image>\n{}", "<image 1> {}", "{}\n<|image_1|>", "<ImageHere>{}", "<|image_pad|>{}"])
def test_the_mark_of_the_only_picture_does_not_go_out(folder, mark):
    text = mark.format("Which colour?")
    (question,) = questions(folder, {**ROW, "question": text})
    assert (question.text, question.text_raw) == ("Which colour?", text)


# --- boxes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ({"box": {"x1": 10, "y1": 20, "x2": 30, "y2": 40}}, {}),
        ({"bbox": {"left": 10, "top": 20, "right": 30, "bottom": 40}}, {}),
        ({"box": [[10, 20], [30, 25], [12, 40]]}, {}),
        ({"box_xywh": [10, 20, 20, 20]}, {}),
        ({"box": [100, 250, 300, 500]}, {"box_format": "thousandths"}),
        ({"box": [250, 100, 500, 300]}, {"box_format": "yxyx_thousandths"}),
        ({"box": [20, 30, 20, 20]}, {"box_format": "cxcywh"}),
        ({"box": "<box>(10,20),(30,40)</box>"}, {"box_format": "xyxy"}),
        ({"box": "(10, 20, 30, 40)"}, {"box_format": "xyxy"}),
        ({"box": {"x": 0.1, "y": 0.25, "w": 0.2, "h": 0.25}}, {"box_format": "unit"}),
    ],
)
def test_every_way_to_write_a_box_gives_the_same_pixels(folder, cells, options):
    (question,) = questions(folder, {**ROW, **cells}, **options)
    assert question.targets[0] == pytest.approx((10, 20, 30, 40))
