"""Markdown and LaTeX: golden files for the layout, laws for what text from outside may do."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from summaries import CASES, HOSTILE

from eyechart.errors import StoreError
from eyechart.reports import _markup, latex, markdown
from eyechart.reports._printable import printable
from eyechart.reports._table import Column, Row, Table
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
def test_latex_braces_balance_and_every_row_has_every_column(text):
    rendered = latex.render_latex(table_of(text))
    bare = rendered.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    rows = [line for line in rendered.split("\n") if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [1, 1]


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
