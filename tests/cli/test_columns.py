"""Tables on narrow terminals: nothing is lost, nothing wider than the terminal, no word or interval cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from summaries import CASES

from eyechart.cli._columns import fit_columns, split_columns, wrap_cell
from eyechart.reports import render_table

WORDS = st.text(st.sampled_from("abé字1−.%"), min_size=1, max_size=12)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map("_".join)
CELLS = st.one_of(NAMES, st.lists(NAMES, max_size=5).map(" ".join), st.just("54.2 [33.8, 73.3]"))


@st.composite
def tables(draw):
    n = draw(st.integers(1, 6))
    return draw(st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=5))


@given(CELLS, st.integers(2, 30))
def test_wrapped_cell_keeps_every_character_and_its_width(cell, width):
    lines = wrap_cell(cell, width).split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == cell.replace(" ", "")


@given(tables(), st.integers(20, 120))
def test_no_line_of_a_table_is_wider_than_the_terminal(table, width):
    for block in split_columns(table, width, 0):
        lines = [[line[at] for at in block] for line in table]
        widths, gap = fit_columns(lines, width)
        assert sum(widths) + gap * (len(widths) - 1) <= width
        assert min(widths) >= 0


@given(tables(), st.integers(20, 120))
def test_every_column_is_shown_once_and_every_block_begins_with_the_key(table, width):
    blocks = split_columns(table, width, 0)
    assert all(block[0] == 0 for block in blocks)
    assert sorted(at for block in blocks for at in block[1:]) == list(range(1, len(table[0])))


@pytest.mark.parametrize("name", ["demo", "sum", "unanimous", "unanswered"])
@pytest.mark.parametrize("width", [80, 100, 120])
def test_results_on_a_narrow_terminal_have_whole_words_and_intervals(name, width):
    table = render_table(CASES[name]())
    lines = [[column.heading for column in table.columns], *(list(row.cells) for row in table.rows)]
    for block in split_columns(lines, width, 0):
        shown = [[line[at] for at in block] for line in lines]
        widths, _ = fit_columns(shown, width)
        for line in shown:
            for cell, own in zip(line, widths, strict=True):
                pieces = wrap_cell(cell, own).split("\n")
                assert " ".join(pieces).replace("_ ", "_") == cell
                assert all(piece.count("[") == piece.count("]") for piece in pieces)
                assert not any(re.search(r"[^\W_]$", piece) and cell.startswith(piece + "_") for piece in pieces)


def test_table_with_room_stands_on_one_line_a_row():
    lines = [["view", "accuracy, % [95 %]"], ["target_only_original", "54.2 [33.8, 73.3]"]]
    widths, gap = fit_columns(lines, 80)
    assert (widths, gap) == ([20, 18], 2)
    assert not any("\n" in wrap_cell(cell, own) for line in lines for cell, own in zip(line, widths, strict=True))
