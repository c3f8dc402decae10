"""Laws of tables as spreadsheets and people write them: read as they are meant, or refused with the row and the way."""

import datetime
import re
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
    assert "the first row of a table names its columns" in caught.value.hint


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
