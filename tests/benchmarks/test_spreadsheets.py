"""Sheets written by the libraries that write them in the wild are read cell for cell."""

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from eyechart.benchmarks._spreadsheets import read_sheet
from eyechart.errors import BenchmarkError

# What XML cannot hold is escaped by the writers; surrogates are no characters.
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\ufffe\uffff"), min_size=1, max_size=40)
HEADER = ["index", "question", "prediction"]


def write_with_xlsxwriter(path, rows, **options):
    with xlsxwriter.Workbook(path, options) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([HEADER, *rows]):
            for column, cell in enumerate(row):
                if isinstance(cell, str):
                    sheet.write_string(number, column, cell)
                elif cell is not None:
                    sheet.write(number, column, cell)


def write_with_openpyxl(path, rows):
    book = openpyxl.Workbook()
    for row in [HEADER, *rows]:
        book.active.append(row)
    book.save(path)


def read(path):
    return [[row.values[name] for name in HEADER] for row in read_sheet(path)]


@given(st.lists(st.tuples(st.integers(0, 9**9), TEXTS, TEXTS), min_size=1, max_size=5))
def test_any_text_comes_back_as_it_was_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("sheet") / "p.xlsx"
    write_with_xlsxwriter(path, rows)
    assert read(path) == [list(row) for row in rows]


@pytest.mark.parametrize("write", [write_with_xlsxwriter, write_with_openpyxl])
def test_missing_cells_numbers_and_truth_values(tmp_path, write):
    rows = [[0, "a", None], [1, None, 2.5], [2, "c", True], [3, "", "_x0041_"]]
    write(tmp_path / "p.xlsx", rows)
    first, second, third, fourth = read(tmp_path / "p.xlsx")
    assert (first, second, third) == ([0, "a", None], [1, None, 2.5], [2, "c", True])
    assert fourth[0] == 3


def test_strings_inside_the_sheet_are_read(tmp_path):
    write_with_xlsxwriter(tmp_path / "p.xlsx", [[0, "in\nline", "A & B"]], constant_memory=True)
    assert read(tmp_path / "p.xlsx") == [[0, "in\nline", "A & B"]]


def test_place_is_the_row_of_the_sheet(tmp_path):
    write_with_xlsxwriter(tmp_path / "p.xlsx", [[0, "a", "A"]])
    assert next(read_sheet(tmp_path / "p.xlsx")).place.endswith("p.xlsx:2")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"index,prediction\n1,A\n"])
def test_what_is_no_sheet_is_refused(tmp_path, content):
    (tmp_path / "p.xlsx").write_bytes(content)
    with pytest.raises(BenchmarkError, match="not an xlsx file"):
        list(read_sheet(tmp_path / "p.xlsx"))
    with pytest.raises(BenchmarkError, match="cannot be read"):
        list(read_sheet(tmp_path / "other.xlsx"))


def test_sheet_without_header_is_refused(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "p.xlsx") as book:
        book.add_worksheet()
    with pytest.raises(BenchmarkError, match="has no header"):
        list(read_sheet(tmp_path / "p.xlsx"))


def test_document_type_is_refused(tmp_path):
    import zipfile

    write_with_xlsxwriter(tmp_path / "p.xlsx", [[0, "a", "A"]])
    with zipfile.ZipFile(tmp_path / "p.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/workbook.xml"] = b'<!DOCTYPE x [<!ENTITY a "b">]>' + parts["xl/workbook.xml"]
    with zipfile.ZipFile(tmp_path / "q.xlsx", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(BenchmarkError, match="declares a document type"):
        list(read_sheet(tmp_path / "q.xlsx"))
