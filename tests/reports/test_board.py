"""A board in four formats: the same numbers, best in bold, group best underlined, and a page that only sorts."""

import base64
import hashlib
import re

import msgspec
import pytest

from eyechart.benchmarks._published import read_published
from eyechart.reports import html_board, latex_board, markdown_board, text_board
from eyechart.reports._board import board_lines, format_score
from eyechart.runs.board import BoardCell, BoardRow
from eyechart.runs.grid_board import build_grid_board
from eyechart.runs.leaderboard import build_board

HOSTILE = "<script>alert(1)</script> & $x$ \\input{y} `a|b` 字"


@pytest.fixture(scope="module")
def board():
    """The published test board with one run beside it."""
    made = build_board(read_published("hrscene"), "test")
    cells = {"all": BoardCell(50.0, 45.0, 55.0, 812), "art": BoardCell(99.0, 90.0, 99.9, 80)}
    own = BoardRow(
        name=HOSTILE, kind="own", group="own runs", cells=cells, rank=15, best=1, worst=3, source="run x", date="d"
    )
    return msgspec.structs.replace(made, rows=(own, *made.rows))


@pytest.mark.parametrize("render", [text_board, markdown_board, latex_board, html_board])
def test_every_published_score_is_in_every_format(render, board):
    text = render(board)
    for row in read_published("hrscene").boards["test"]:
        assert row.model in text.replace("\\", "")
        for score in (*row.scores.values(), row.all):
            assert format_score(score) in text


@pytest.mark.parametrize("render", [text_board, markdown_board, latex_board, html_board])
def test_rule_interval_n_place_and_notes_are_in_every_format(render, board):
    text = render(board).replace("\\", "").replace("{[}", "[").replace("{]}", "]")
    assert "size_weighted" in text
    assert re.search(r"45(\.0)?,? (to )?55|45\.0", text)
    assert "812" in text
    assert re.search(r"1(–|--)3", text)
    assert "2025-04-25" in text


def test_best_of_a_column_is_one_model_and_never_people(board):
    lines = board_lines(board)
    for index, column in enumerate(board.columns):
        best = [line.row for line in lines if line.marks[index].is_best]
        assert len(best) == 1
        assert best[0].kind in {"published", "own"}
        assert best[0].cells[column.key].percent == max(
            row.cells[column.key].percent
            for row in board.rows
            if row.kind in {"published", "own"} and column.key in row.cells
        )


def test_paper_table_has_groups_with_best_bold_and_group_best_underlined(board):
    tex = latex_board(board)
    groups = re.findall(r"\\emph\{([^}]*)\}", tex)
    assert groups == [
        "closed", "open, 50B and more", "open, 10B to 50B", "open, under 10B", "own runs", "references",
    ]  # fmt: skip
    assert "\\textbf{\\underline{61.85}}" in tex
    assert "\\underline{59.82}" in tex
    assert "\\textbf{\\underline{59.82}}" not in tex


def test_flat_order_follows_the_rank(board):
    names = [line.row.rank for line in board_lines(board)[1:29]]
    assert names == sorted(names)


def test_page_runs_one_script_known_by_its_hash_and_loads_nothing(board):
    page = html_board(board)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page
    assert not re.search(r"src=|url\(|@import|<link", page)
    assert page.count("&lt;script&gt;alert(1)") >= 1


def test_hostile_names_are_text_in_paper_and_markdown(board):
    assert "\\input{y}" not in latex_board(board)
    assert "| `a|b`" not in markdown_board(board)


def test_sort_values_are_plain_numbers(board):
    page = html_board(board)
    assert 'data-value="61.850000"' in page
    assert 'data-value="8.29"' in page


def test_halves_are_rounded_away_from_zero_as_published_tables_do():
    assert [format_score(score) for score in (36.635, 64.715, 2.5e-9, -1.005)] == ["36.64", "64.72", "0.00", "−1.01"]


def test_same_board_gives_the_same_bytes(board):
    assert html_board(board) == html_board(board)


def test_latex_shades_cells_from_the_worst_to_the_best_and_falls_back_to_plain_text(board):
    heated = build_grid_board(read_published("hrscene"), "whitebackground", ())
    tex = latex_board(heated)
    assert tex.count("\\providecommand{\\eyechartheat}") == 1
    assert "\\ifcsname cellcolor\\endcsname" in tex
    column = heated.columns[0].key
    for line in board_lines(heated):
        cell = line.row.cells.get(column)
        if cell is not None and line.marks[0].is_best:
            assert f"\\eyechartheat{{38}}{{\\textbf{{\\underline{{{format_score(cell.percent)}}}}}}}" in tex
    worst = min(row.cells[column].percent for row in heated.rows if column in row.cells)
    assert f"\\eyechartheat{{0}}{{{format_score(worst)}}}" in tex
    assert "eyechartheat" not in latex_board(board)
