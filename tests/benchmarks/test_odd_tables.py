"""Laws of tables as spreadsheets and people write them: read as they are meant, or refused with the row and the way."""

import datetime
import json
import re
import unicodedata
from zipfile import ZipFile

import openpyxl
import pytest
import xlsxwriter
from PIL import Image

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.errors import BenchmarkError, UsageError

HEADER = ("id", "image", "question", "A", "B", "answer")
ROW = ("1", "p.png", "Which?", "red", "blue", "B")


@pytest.fixture
def folder(tmp_path):
    Image.new("RGB", (100, 80), "red").save(tmp_path / "p.png")
    return tmp_path


def opened(folder, content, name="q.csv", **options):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return FolderKind().open(folder / name, FolderOptions(**options))


def table(sign, *rows):
    return "".join(f"{sign.join(row)}\n" for row in (HEADER, *rows))


def read_as_meant(benchmark):
    (question,) = benchmark.questions()
    return (question.id, question.text.strip(), question.choices, question.answer) == (
        "1",
        "Which?",
        ("red", "blue"),
        "B",
    )


# --- text tables ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs"), (",", "commas"), ("|", "bars")])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_table_is_read_by_the_only_sign_that_divides_its_header_and_says_so(folder, sign, name, suffix):
    benchmark = opened(folder, table(sign, ROW), f"q.{suffix}")
    assert read_as_meant(benchmark)
    is_own = sign == {"csv": ",", "tsv": "\t"}[suffix]
    assert benchmark.readings == (() if is_own else (f"cells divided by {name}",))


def test_first_line_that_names_the_sign_as_excel_writes_it_is_followed(folder):
    header = ";".join((*HEADER[:2], "question, or text", *HEADER[3:]))
    row = ";".join(ROW)
    assert read_as_meant(opened(folder, f"sep=;\r\n{header}\r\n{row}\r\n", question_column="question, or text"))
    with pytest.raises(BenchmarkError, match=r"q.csv:2: the row has 1 cell, and the header 2") as caught:
        opened(folder, f"{header}\n{row}\n")
    assert "sep=;" in caught.value.hint


def test_sign_inside_a_quoted_heading_divides_nothing(folder):
    header = ",".join((*HEADER[:2], '"question; or text"', *HEADER[3:]))
    benchmark = opened(folder, f"{header}\n{','.join(ROW)}\n", question_column="question; or text")
    assert read_as_meant(benchmark)
    assert not any("divided" in reading for reading in benchmark.readings)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_mark_of_the_encoding_and_ends_of_lines_change_nothing(folder, encoding, sign, end):
    assert read_as_meant(opened(folder, table(sign, ROW).replace("\n", end).encode(encoding)))


def test_row_after_the_line_that_names_the_sign_is_told_by_its_line(folder):
    with pytest.raises(BenchmarkError, match=r"q.csv:3: answer 'E' is none of A–B"):
        opened(folder, "sep=;\n" + table(";", (*ROW[:5], "E")))


def test_rows_of_nothing_but_commas_hold_no_question(folder):
    assert read_as_meant(opened(folder, "\n" + table(",", ROW) + ",,,,,\n\n,,,,,\n"))


def test_blanks_around_the_letters_of_a_header_do_not_count(folder):
    assert read_as_meant(opened(folder, table(", ", ROW)))


def test_table_without_a_header_is_told_what_its_first_row_is_for(folder):
    with pytest.raises(BenchmarkError, match="no column is called 'question'") as caught:
        opened(folder, f"{','.join(ROW)}\n{','.join(ROW)}\n")
    assert "in a table the first row names the columns" in caught.value.hint


@pytest.mark.parametrize("row", ['1,p.png,"Which" one?,red,blue,B', '1,p.png,"Which one?,red,blue,B'])
def test_quotation_mark_that_is_not_closed_is_told_with_what_to_write(folder, row):
    with pytest.raises(BenchmarkError, match=r"q.csv:2: not CSV") as caught:
        opened(folder, f"{','.join(HEADER)}\n{row}\n")
    assert "quotation mark" in caught.value.hint


# --- spreadsheets -----------------------------------------------------------------------------------------------------

SHEET = ("id", "image", "question", "A", "B", "C", "answer", "task", "box")
FIRST = (1, "p.png", "Which?", "red", "blue", None, "B", "shade", "10,10,20,20")
SECOND = (2, "p.png", "Where?", "left", "right", "above", "C", "place", "30,30,40,40")


def book(folder, *rows, change=lambda book, sheet: None, **options):
    made = openpyxl.Workbook()
    for row in (SHEET, *rows):
        made.active.append(row)
    change(made, made.active)
    made.save(folder / "q.xlsx")
    return FolderKind().open(folder / "q.xlsx", FolderOptions(box_format="xyxy", **options))


def merging(*ranges):
    return lambda _, sheet: [sheet.merge_cells(one) for one in ranges]


MERGED = "cells merged over several rows stand in each of them"


@pytest.mark.parametrize("column", "BCDEGHI")
def test_cell_merged_over_rows_stands_in_each_of_them(folder, column):
    at = "ABCDEFGHI".index(column)
    rows = [(number, *FIRST[1:5], "green", *FIRST[6:]) for number in (1, 2, 3)]
    apart = [tuple(rows[0][at] if column == at else cell for column, cell in enumerate(row)) for row in rows]
    plain = list(book(folder, *apart).questions())
    merged = book(folder, *rows, change=merging(f"{column}2:{column}4"))
    assert list(merged.questions()) == plain
    assert MERGED in merged.readings


def test_rows_that_hold_nothing_else_are_none_of_merged_cells(folder):
    merged = book(folder, FIRST, (), SECOND, change=merging("B2:B3"))
    assert [question.id for question in merged.questions()] == ["1", "2"]


@pytest.mark.parametrize("cells", ["E2:F2", "D2:E2", "A2:B3", "A1:B1", "F2:G2"])
def test_cells_merged_over_columns_that_are_read_are_refused_by_name(folder, cells):
    with pytest.raises(BenchmarkError, match=f"cells {cells} are merged") as caught:
        book(folder, FIRST, SECOND, change=merging(cells))
    assert "take the cells apart" in caught.value.hint


def test_cells_merged_where_nothing_is_read_do_not_matter(folder):
    def remarks(_, sheet):
        sheet["K1"], sheet["K2"] = "seen by", "A. N. Other"
        sheet.merge_cells("K2:L3")

    assert len(list(book(folder, FIRST, SECOND, change=remarks).questions())) == 2


def test_hidden_rows_and_columns_are_read_and_told(folder):
    def hide(_, sheet):
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["F"].hidden = True

    benchmark = book(folder, FIRST, SECOND, change=hide)
    assert len(list(benchmark.questions())) == 2
    assert {"hidden rows are read too", "hidden columns are read too: C"} <= set(benchmark.readings)


def test_first_sheet_that_is_shown_is_read_and_the_others_are_told(folder):
    def add(made, _):
        made.create_sheet("kept back", 0).sheet_state = "hidden"
        made["kept back"].append(SHEET)
        made["kept back"].append(SECOND)
        made.create_sheet("more").append(SHEET)
        made["more"].append(SECOND)

    benchmark = book(folder, FIRST, change=add)
    assert [question.id for question in benchmark.questions()] == ["1"]
    assert "sheet 'Sheet', and not 'kept back', 'more'" in benchmark.readings
    named = book(folder, FIRST, change=add, sheet="more")
    assert [question.id for question in named.questions()] == ["2"]
    with pytest.raises(UsageError, match="there is no sheet 'other'") as caught:
        book(folder, FIRST, change=add, sheet="other")
    assert "kept back, Sheet, more" in caught.value.hint


def test_file_that_is_refused_for_its_first_sheet_names_the_others(folder):
    def add(made, _):
        made.create_sheet("about", 0).append(["These are my questions"])

    with pytest.raises(BenchmarkError, match="holds no question") as caught:
        book(folder, FIRST, change=add)
    assert "sheet 'about', and not 'Sheet'" in caught.value.hint


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ('=UPPER("b")', "a formula whose result is not stored"),
        ("#N/A", "the error #N/A"),
        (datetime.date(2020, 1, 2), "a number shown as a date or time"),
        (datetime.time(10, 30), "a number shown as a date or time"),
    ],
)
@pytest.mark.parametrize(("column", "letter"), [(3, "D"), (5, "F"), (6, "G")])
def test_cell_that_holds_something_else_than_is_shown_is_refused_where_it_is_read(folder, cell, told, column, letter):
    row = tuple(cell if at == column else own for at, own in enumerate(FIRST))
    with pytest.raises(BenchmarkError, match=f"cell {letter}2 holds {told}"):
        book(folder, row)


def test_date_in_a_column_that_is_only_kept_is_left_out_and_told(folder):
    def remark(_, sheet):
        sheet["K1"], sheet["K2"], sheet["L1"], sheet["L2"] = "when", datetime.date(2020, 1, 2), "who", "A. N. Other"

    benchmark = book(folder, FIRST, change=remark)
    (question,) = benchmark.questions()
    assert question.extra == {"who": "A. N. Other"}
    assert "column 'when' is not kept where it holds a number shown as a date or time" in benchmark.readings


def test_whole_numbers_keep_all_their_digits(folder):
    path = folder / "q.xlsx"
    with xlsxwriter.Workbook(path, {"in_memory": True}) as made:
        sheet = made.add_worksheet()
        sheet.write_row(0, 0, SHEET[:8])
        sheet.write_row(1, 0, (1, "p.png", "Which?", "X", "Y", None, "B"))
    with ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    part = "xl/worksheets/sheet1.xml"
    parts[part] = re.sub(rb'<c r="A2"><v>1</v>', b'<c r="A2"><v>12345678901234567</v>', parts[part])
    with ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    (question,) = FolderKind().open(path, FolderOptions()).questions()
    assert question.id == "12345678901234567"


# --- boxes of annotation tools ----------------------------------------------------------------------------------------

ASKED = {"id": "q1", "image": "p.png", "question": "Which?", "choices": ["red", "blue"], "answer": "B"}


def target(folder, box, column="box", **options):
    (folder / "q.json").write_text(json.dumps([{**ASKED, column: box}]))
    (question,) = FolderKind().open(folder / "q.json", FolderOptions(**options)).questions()
    (one,) = question.targets
    return (one.x0, one.y0, one.x1, one.y1)


EDGES = {
    "label_studio": {"x": 10, "y": 20, "width": 20, "height": 30, "rectanglelabels": ["bag"]},
    "label_studio_result": {"x": 10, "y": 20, "width": 20, "height": 30, "rotation": 0, "original_width": 100},
    "cvat": {"xtl": 10, "ytl": 16, "xbr": 30, "ybr": 40},
    "pascal_voc": {"xmin": 10, "ymin": 16, "xmax": 30, "ymax": 40},
}


@pytest.mark.parametrize("name", EDGES)
def test_box_of_an_annotation_tool_is_read_by_its_names(folder, name):
    assert target(folder, EDGES[name]) == target(folder, [EDGES[name]]) == (10, 16, 30, 40)


@pytest.mark.parametrize(("turn", "is_read"), [(0, True), (None, True), (0.5, False), (-90, False)])
@pytest.mark.parametrize("name", EDGES)
def test_box_that_is_turned_is_refused(folder, name, turn, is_read):
    if is_read:
        assert target(folder, {**EDGES[name], "rotation": turn}) == (10, 16, 30, 40)
        return
    with pytest.raises(BenchmarkError, match=r"item 1: box .* is turned by"):
        target(folder, {**EDGES[name], "rotation": turn})


@pytest.mark.parametrize(
    ("box_format", "edges"),
    [
        ("unit", {"x1": 0.1, "y1": 0.2, "x2": 0.3, "y2": 0.5}),
        ("percent", {"x1": 10, "y1": 20, "x2": 30, "y2": 50}),
        ("thousandths", {"x1": 100, "y1": 200, "x2": 300, "y2": 500}),
        ("yxyx_thousandths", {"x1": 100, "y1": 200, "x2": 300, "y2": 500}),
        ("unit", {"x": 0.1, "y": 0.2, "w": 0.2, "h": 0.3}),
        ("percent_xywh", {"x": 10, "y": 20, "w": 20, "h": 30}),
        ("percent", {"x": 10, "y": 20, "w": 20, "h": 30}),
        ("unit", [[0.1, 0.2], [0.3, 0.2], [0.3, 0.5]]),
        ("percent", [[10, 20], [30, 20], [30, 50]]),
    ],
)
def test_names_say_which_edges_and_the_declared_format_what_they_count(folder, box_format, edges):
    assert target(folder, edges, box_format=box_format) == pytest.approx((10, 16, 30, 40))


def test_sides_in_thousandths_are_refused_and_not_read_as_pixels(folder):
    with pytest.raises(BenchmarkError, match="item 1: no format counts x, y and sides in thousandths"):
        target(folder, {"x": 100, "y": 200, "w": 200, "h": 300}, box_format="thousandths")


def test_fractions_under_names_of_edges_are_not_read_as_pixels(folder):
    with pytest.raises(BenchmarkError, match="smaller than a pixel; unit fits too") as caught:
        target(folder, {"xmin": 0.1, "ymin": 0.2, "xmax": 0.3, "ymax": 0.5})
    assert "box_format=unit" in caught.value.hint


@pytest.mark.parametrize("column", ["box_xywh", "bbox_xywh", "Box XYWH", "bboxes-xywh"])
def test_format_in_the_name_of_a_column_is_read_however_it_is_spelled(folder, column):
    assert target(folder, [10, 16, 20, 24], column) == (10, 16, 30, 40)
    with pytest.raises(BenchmarkError, match="the column's name says xywh, and box_format=xyxy is declared"):
        target(folder, [10, 16, 20, 24], column, box_format="xyxy")


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"x": 1, "y": 2, "w": 3, "h": 4}, "columns x, y, w, h look like a box and are not read"),
        ({"x_min": 1, "y_min": 2, "x_max": 3, "y_max": 4}, "columns x_min, y_min, x_max, y_max look like a box"),
        ({"my_box": [1, 2, 3, 4]}, "column 'my_box' is not read as a box"),
    ],
)
def test_columns_that_look_like_a_box_and_are_none_are_told(folder, cells, told):
    (folder / "q.json").write_text(json.dumps([{**ASKED, **cells}]))
    (warning,) = FolderKind().open(folder / "q.json", FolderOptions()).warnings
    assert warning.startswith(told)


# --- JSON files with several lists ------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("train", "test"), ("data", "dev"), ("questions", "more"), ("rows", "examples")])
def test_several_lists_of_questions_in_one_file_are_refused_by_name(folder, names):
    (folder / "q.json").write_text(json.dumps({name: [ASKED] for name in names}))
    with pytest.raises(BenchmarkError, match=f"holds 2 lists of questions .*{names[0]}.*{names[1]}") as caught:
        FolderKind().open(folder / "q.json", FolderOptions())
    assert "one list" in caught.value.hint


def test_questions_whose_answers_stand_in_another_list_are_refused(folder):
    question, answer = {"question_id": 1, "question": "Which?"}, {"question_id": 1, "answer": "red"}
    (folder / "q.json").write_text(json.dumps({"questions": [question], "annotations": [answer]}))
    with pytest.raises(BenchmarkError, match=r"holds 2 lists .'questions', 'annotations'."):
        FolderKind().open(folder / "q.json", FolderOptions())


@pytest.mark.parametrize("name", ["train", "validation", "my questions", "test", "data"])
@pytest.mark.parametrize("beside", [{}, {"info": {"by": "A. N. Other"}, "licenses": [{"id": 1}], "tags": ["a"]}])
def test_the_only_list_of_questions_is_read_whatever_it_is_called(folder, name, beside):
    (folder / "q.json").write_text(json.dumps({**beside, name: [ASKED]}))
    (question,) = FolderKind().open(folder / "q.json", FolderOptions()).questions()
    assert question.answer == "B"


# --- labels in other scripts ------------------------------------------------------------------------------------------


def wide(text):
    """A text in the full-width forms of its characters."""
    return "".join(chr(ord(character) + 0xFEE0) for character in text)


def asked(folder, choices, answer):
    (folder / "q.json").write_text(json.dumps([{**ASKED, "choices": choices, "answer": answer}]))
    (question,) = FolderKind().open(folder / "q.json", FolderOptions()).questions()
    return question.choices, question.answer


@pytest.mark.parametrize("answer", [wide("B"), wide("b"), wide("B."), wide("(B)"), f"({wide('B')})"])
def test_letters_of_full_width_name_options_as_ascii_does(folder, answer):
    assert asked(folder, ["red", "blue"], answer) == (("red", "blue"), "B")
    assert asked(folder, {wide("B"): "blue", wide("A"): "red"}, answer) == (("red", "blue"), "B")


@pytest.mark.parametrize(
    "name",
    [
        *("CYRILLIC CAPITAL LETTER A", "CYRILLIC CAPITAL LETTER VE", "ARABIC LETTER BEH", "CJK UNIFIED IDEOGRAPH-4E59"),
        *("CIRCLED DIGIT TWO", "ROMAN NUMERAL TWO", "ROMAN NUMERAL ONE", "MATHEMATICAL BOLD CAPITAL B"),
        *("MODIFIER LETTER CAPITAL B", "GREEK SMALL LETTER BETA"),
    ],
)
def test_letter_of_another_script_is_refused_by_its_name_and_never_taken_for_one_it_looks_like(folder, name):
    answer = unicodedata.lookup(name)
    with pytest.raises(BenchmarkError, match="is not among the choices") as caught:
        asked(folder, [f"shade {number}" for number in range(10)], answer)
    assert name.lower() in caught.value.message


@pytest.mark.parametrize("choices", [["\u0410. red", "\u0411. blue"], ["甲. red", "乙. blue"], ["i. red", "ii. blue"]])
def test_labels_of_another_script_stay_with_their_options(folder, choices):
    assert asked(folder, choices, choices[1]) == (tuple(choices), "B")


@pytest.mark.parametrize(
    "form", ["{}、{}", "{}\uff0e{}", "\uff08{}\uff09{}", "{}\uff1a{}", "{}.{}", "({}){}", "{}:{}", "{}){}"]
)
@pytest.mark.parametrize("letters", ["ABC", "abc", wide("ABC")])
def test_letters_close_to_their_texts_are_shown_once(folder, form, letters):
    choices = [form.format(letter, text) for letter, text in zip(letters, ("red", "blue", "4 cm"), strict=True)]
    assert asked(folder, choices, "B") == (("red", "blue", "4 cm"), "B")
    assert asked(folder, choices, choices[1]) == (("red", "blue", "4 cm"), "B")


@pytest.mark.parametrize(
    "choices",
    [
        ["A.D. 10", "B.C. 10", "C.E. 10"],  # a second letter
        ["A.1", "B.1", "C.1"],  # nothing would tell them apart
        ["A.red", "B.blue"],  # two only
        ["B.red", "A.blue", "C.grey"],  # not in order
        ["A.red", "B.blue", "grey"],
        ["1.5", "2.5", "3.5"],
        ["a:b", "b:c", "x:y"],
    ],
)
def test_letters_close_to_their_texts_stay_where_they_may_belong_to_them(folder, choices):
    assert asked(folder, choices, choices[1]) == (tuple(choices), "B")


@pytest.mark.parametrize(("answer", "is_read"), [("A", False), ("B", False), ("C", True)])
def test_right_option_that_stands_twice_is_refused(folder, answer, is_read):
    if is_read:
        assert asked(folder, ["red", "red ", "blue"], answer)[1] == "C"
        return
    with pytest.raises(BenchmarkError, match="the right option 'red' stands under A and B"):
        asked(folder, ["red", "red ", "blue"], answer)
