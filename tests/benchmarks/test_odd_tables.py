"""Laws of tables as spreadsheets and people write them: read as they are meant, or refused with the row and the way."""

import pytest
from PIL import Image

from eyechart.benchmarks.folder import FolderKind, FolderOptions
from eyechart.errors import BenchmarkError

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
    return (question.id, question.text.strip(), question.choices, question.answer) == ("1", "Which?", ("red", "blue"), "B")


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
    with pytest.raises(BenchmarkError, match="q.csv:2: the row has 1 cell, and the header 2") as caught:
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
    with pytest.raises(BenchmarkError, match="q.csv:3: answer 'E' is none of A–B"):
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
    with pytest.raises(BenchmarkError, match="q.csv:2: not CSV") as caught:
        opened(folder, f"{','.join(HEADER)}\n{row}\n")
    assert "quotation mark" in caught.value.hint
