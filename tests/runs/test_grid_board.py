"""Published levels, sizes and regions of WhiteBackground beside own runs, grid by grid."""

import re

import pytest
from grid_summaries import make_grid

from eyechart.benchmarks._published import read_published
from eyechart.cli._app import run_app
from eyechart.errors import UsageError
from eyechart.reports import html_board, latex_board, text_board
from eyechart.reports._board import board_lines
from eyechart.runs.grid_board import OwnGrids, build_grid_board

PUBLISHED = read_published("hrscene")


@pytest.fixture(scope="module")
def board():
    own = OwnGrids("mine", "whitebackground", (make_grid(1), make_grid(3)), "run x", "2026-11-30")
    return build_grid_board(PUBLISHED, "whitebackground", [own])


def test_every_published_number_is_on_the_board(board):
    rows = {row.name: row for row in board.rows}
    for one in PUBLISHED.grids:
        cells = rows[one.model].cells
        assert cells[f"{one.grid} perf"].percent == one.perf
        if one.region is not None:
            assert (cells[f"{one.grid} size"].percent, cells[f"{one.grid} region"].percent) == (one.size, one.region)


def test_own_run_has_intervals_and_no_cell_for_grids_it_did_not_ask(board):
    mine = next(row for row in board.rows if row.name == "mine")
    assert mine.cells["3x3 size"].percent == pytest.approx(-28.0)
    assert mine.cells["3x3 size"].n_questions == 40
    assert "5x5 perf" not in mine.cells
    assert any("left out: b7" in note for note in board.notes)


def test_there_is_no_rank_over_grids_and_a_lower_region_is_better(board):
    assert all(row.rank is None for row in board.rows)
    index = next(place for place, column in enumerate(board.columns) if column.key == "10x10 region")
    best = [line.row.name for line in board_lines(board) if line.marks[index].is_best]
    assert best == ["Llama-3.2-11B-Vision-Instruct"]


def test_cells_of_the_page_are_shaded_from_worst_to_best(board):
    page = html_board(board)
    heats = [float(value) for value in re.findall(r"--heat: ([\d.]+)", page)]
    assert min(heats) == 0.0
    assert max(heats) == 1.0
    assert "darker is better in its column" in page


@pytest.mark.parametrize("render", [text_board, latex_board, html_board])
def test_unit_and_source_stand_on_the_board(render, board):
    text = render(board)
    assert "Size and Region in points" in text
    assert "2025-04-29" in text


def test_run_of_the_other_diagnostic_is_refused():
    own = OwnGrids("mine", "complexgrid", (make_grid(3),), "run x", "")
    with pytest.raises(UsageError, match="asked complexgrid, the board is of whitebackground"):
        build_grid_board(PUBLISHED, "whitebackground", [own])
    assert [row.name for row in build_grid_board(PUBLISHED, "complexgrid", [own]).rows] == ["mine"]


def test_complexgrid_alone_has_nothing_to_show():
    with pytest.raises(UsageError, match="nothing is published about complexgrid by model"):
        build_grid_board(PUBLISHED, "complexgrid")


def test_board_is_printed_by_the_command(capsys):
    assert run_app(["leaderboard", "whitebackground"]) == 0
    assert "10x10 Region" in capsys.readouterr().out
