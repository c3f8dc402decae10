"""Markdown and LaTeX: golden files for the layout, laws for what text from outside may do."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from summaries import CASES, HOSTILE

from eyechart.errors import StoreError
from eyechart.reports import _markup, latex, markdown
from eyechart.reports._printable import printable
from eyechart.reports._table import Column, Row, Table, render_table
from eyechart.reports.latex import LatexReport
from eyechart.reports.markdown import MarkdownReport

GOLDEN = Path(__file__).parent / "golden"
WRITERS = {"md": MarkdownReport, "tex": LatexReport}


def table_of(text: str) -> Table:
    """A table in which a text stands wherever text can stand."""
    columns = (Column("view", text, is_number=False), Column("n", text))
    return Table(f"Caption {text}", columns, (Row(text, "", (text, "3")),), (text,))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", ["demo", "sum", "single_question"])
def test_table_looks_like_the_golden_file(name, suffix, tmp_path):
    written = WRITERS[suffix]().write(CASES[name](), tmp_path)
    assert written == tmp_path / f"table.{suffix}"
    assert written.read_text(encoding="utf-8") == (GOLDEN / f"{name}.{suffix}").read_text(encoding="utf-8")


@pytest.mark.parametrize("writer", WRITERS.values())
def test_folder_that_cannot_be_written_is_an_error_with_a_hint(writer, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="table") as caught:
        writer().write(CASES["demo"](), tmp_path / "file")
    assert caught.value.hint


@given(st.text())
def test_any_text_stays_in_its_markdown_cell(text):
    lines = markdown.render_markdown(table_of(text)).split("\n")
    unescaped = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines[2:5]]
    assert unescaped == [3, 3, 3]


@given(st.text())
def test_no_text_starts_html_or_a_link_in_markdown(text):
    rendered = re.sub(r"`[^`\n]*`", "", markdown.render_markdown(table_of(text)))
    assert not re.search(r"(?<!\\)<", rendered)
    assert not re.search(r"\]\(", rendered)


@given(st.text())
def test_no_text_is_a_command_in_latex(text):
    escaped = _markup.escape_latex(text)
    for command in _markup._LATEX_ESCAPES.values():
        escaped = escaped.replace(command, "")
    assert not re.search(r"[\\{}$&%#_~^\n]", escaped)


@given(st.text())
@example("000000000\r[")  # a heading on two lines, the second of which begins with a bracket
def test_latex_braces_balance_and_every_row_has_every_column(text):
    rendered = latex.render_latex(table_of(text))
    bare = re.sub(r"\\.", "", rendered)  # a line break is two backslashes; a brace after it is no escaped one
    assert bare.count("{") == bare.count("}")
    rows = [line for line in rendered.split("\n") if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [1, 1]


@pytest.mark.parametrize("text", ["* marked", " *", "\t* marked", "000000000 *"])
def test_star_after_a_line_break_in_latex_is_shown(text):
    rendered = latex.render_latex(table_of(text))
    assert "{*}" in rendered
    assert not re.search(r"\\\\\s*\*", rendered)


@given(st.text())
def test_printable_text_is_one_line_without_control_or_reordering_characters(text):
    shown = printable(text)
    assert len(shown) == len(text)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", shown)


def test_planted_text_is_shown_as_it_is_but_harmless():
    assert r"\<script\>" in markdown.render_markdown(table_of(HOSTILE))
    assert r"\textbackslash{}input\{y\}" in latex.render_latex(table_of(HOSTILE))


def test_templates_are_part_of_the_wheel():
    root = Path(__file__).parents[2]
    build = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["packages"] == ["src/eyechart"]
    assert (root / "src/eyechart/reports/templates/report.html.jinja").is_file()


def test_wide_table_stands_over_both_columns_and_a_narrow_one_in_one():
    narrow = table_of("view")
    assert "\\begin{table}\n" in latex.render_latex(narrow)
    wide = latex.render_latex(render_table(CASES["sum"]()))
    assert "\\begin{table*}\n" in wide
    assert wide.endswith("\\end{table*}\n")


def test_table_of_many_columns_is_set_in_blocks_that_begin_with_the_first():
    columns = (Column("row", "row", is_number=False), *(Column(f"c{at}", f"column {at}") for at in range(10)))
    rows = tuple(Row(f"row {row}", "", (f"row {row}", *["74.4 [64.4, 84.4] *"] * 10)) for row in range(10))
    rendered = latex.render_latex(Table("Scores", columns, rows, ()))
    blocks = rendered.split("\\begin{tabular}")[1:]
    assert len(blocks) == 2
    assert all(block.count("row 7 &") == 1 and "\n    row & column" in block for block in blocks)
    assert re.findall(r"column \d", rendered) == [f"column {at}" for at in range(10)]


def test_caption_is_made_of_sentences_and_inset_rows_stay_inset():
    columns = (Column("what", "what", is_number=False), Column("n", "n"))
    rows = (Row("samples", "", ("samples", "5")), Row("test", "", ("  test", "3")))
    rendered = latex.render_latex(Table("Key numbers", columns, rows, ("counted by hand", "Two are twins.")))
    assert "\\caption{Key numbers. counted by hand. Two are twins.}" in rendered
    assert "    \\quad test & 3 \\\\\n" in rendered


def test_long_texts_have_several_lines_and_their_addresses_break():
    columns = (Column("set", "set", is_number=False), Column("from", "from", is_number=False))
    rows = (Row("a", "", ("a", "huggingface.co/datasets/Organisation/Name of a set with many words")),)
    rendered = latex.render_latex(Table("Sets", columns, rows, ()))
    assert "\\begin{tabular}{lp{14em}}" in rendered
    assert "huggingface.co/\\allowbreak{}datasets/\\allowbreak{}" in rendered


def test_long_headings_are_stacked_over_short_cells():
    columns = (Column("view", "view", is_number=False), Column("d", "difference from original, points"))
    rendered = latex.render_latex(Table("Views", columns, (Row("a", "", ("a", "+2.5")),), ()))
    assert "\\shortstack[r]{difference\\\\from\\\\original,\\\\points}" in rendered
