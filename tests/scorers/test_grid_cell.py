"""Grid cells: published fixtures with the published faults, and the corrected reading by name."""

import pytest
from growth import MAX_GROWTH, growth
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.errors import UsageError
from eyechart.scorers.grid_cell import Cell, GridCell, parse_gold, published_cell, read_cell

PROMPT = (
    "The image is a grid of smaller images; the left upper corner is row 1 column 1. Find 'a red kite'. Give it as "
    "<row>ROW_ANSWER</row><col>COL_ANSWER</col>, for example <row>3</row><col>2</col>."
)


def _pair(reading):
    return reading.cell and (reading.cell.row, reading.cell.column)


# Observed from the published parser: two-digit columns, numbers of the prose and swapped tags go wrong.
@pytest.mark.parametrize(
    ("text", "published", "corrected"),
    [
        ("<row>3</row><col>2</col>", (3, 2), (3, 2)),
        ("row 10, column 7", (10, 7), (10, 7)),
        ("row 7, column 10", (7, 0), (7, 10)),
        ("row 10, column 10", (10, 0), (10, 10)),
        ("12", (12, 22), None),
        ("3", (3, 3), None),
        ("no digits here", None, None),
        ("Row 123, col 456", (12, 6), None),
        ("<row>2</row>\n<col>3</col>", (3, 3), (2, 3)),
        ("<Row>2</Row><Col>3</Col>", (2, 3), (2, 3)),
        ("row 3.5 col 2", (35, 2), None),
        ("Answer: 2, 3\nThe image shows a 4x4 grid", (4, 4), (2, 3)),
        ("In the 5x5 grid, it is row 2 column 4", (5, 4), (2, 4)),
        ("", None, None),
        ("<col>2</col><row>3</row>", (2, 3), (3, 2)),
        ("row ² col ³", None, None),
        ("first row, second column", None, (1, 2)),
    ],
)
def test_parser_reads_fixture_as_published_and_as_corrected(text, published, corrected):
    assert _pair(published_cell(text)) == published
    assert _pair(read_cell(text)) == corrected


@pytest.mark.parametrize(
    "text",
    [
        "row: 2, col: 4",
        "Row 2, Column 4.",
        "**Row:** 2\n**Column:** 4",
        "column 4, row 2",
        "the 2nd row and the 4th column",
        "second row, fourth column",
        "row two, column four",
        "row number 2, column number 4",
        "(2, 4)",
        "2,4",
        "The answer is (2, 4).",
        "(row, column) = (2, 4)",
        "r2c4",
        "R2, C4",
        '{"row": 2, "col": 4}',
        "第2行第4列",
        "<think>row 1, column 1?</think>row 2, column 4",
        "As the upper left corner is row 1, column 1, the kite is in row 2, column 4.",
        "Maybe row 3, column 3. <row>2</row><col>4</col>",
        "< row > 2 < / row > <column>4</column>",
        "row 2, column 4, again: row 2, column 4",
        "row-2 column-4",
        "row2col4",
        "row_id: 2, col_id: 4",
        "Row ID: 2, Column ID: 4",
        "r=2, c=4",
        "row 2.0, column 4.0",
        "<row>2.</row><col>4.</col>",
        "<row>02</row><col>04</col></s>",
        "<answer>(2, 4)</answer>",
        "(2, 4)<|im_end|>",
        "10 rows, 10 columns; it's at (2,4).",
        "The upper left is row 1 column 1. It is in row 2, column 4.",
    ],
)
def test_every_way_to_name_a_cell_is_read(text):
    assert read_cell(text).cell == Cell(2, 4)


@pytest.mark.parametrize(
    "text",
    [
        "row 2, column 4 or row 3, column 4",
        "<row>1</row><col>1</col><row>2</row><col>1</col>",
        "row 2, column 4 or 5",
        "rows 2–3, column 4",
        "row 2/3, column 4",
    ],
)
def test_two_cells_are_ambiguous(text):
    assert read_cell(text).reason == "conflict"


@pytest.mark.parametrize(
    "text", ["row 2", "column 4", "<row>2</row>", "2 4", "it is 2, 4 and 6", "a 5x5 grid", "row 0, column"]
)
def test_an_incomplete_cell_is_not_completed(text):
    assert read_cell(text).reason == "no_cell"


@pytest.mark.parametrize(
    "text",
    [
        "in the upper left corner: row 1, column 1",
        "It is the top-left one (row 1, column 1).",
        "The kite in the top left is in row 1, column 1",
    ],
)
def test_an_answer_in_the_upper_left_corner_is_an_answer(text):
    assert read_cell(text).cell == Cell(1, 1)


def test_what_the_prompt_says_of_the_corner_is_no_answer():
    assert read_cell("The left upper corner is row 1 column 1.").reason == "no_cell"


def test_cells_are_counted_from_one():
    assert read_cell("row 0, column 4").reason == "beyond_range"


@pytest.mark.parametrize("prompt", [PROMPT, " ".join(PROMPT.split()), PROMPT.replace(" ", "   ")])
def test_example_of_an_echoed_prompt_is_never_the_answer(prompt):
    assert _pair(read_cell(prompt + " <row>1</row><col>1</col>")) == (1, 1)
    assert read_cell(prompt).reason == "prompt_echo"


def test_span_covers_row_and_column():
    text = "I see it in row 2, column 4 there."
    assert text[slice(*read_cell(text).span)] == "row 2, column 4"


@given(st.integers(1, 99), st.integers(1, 99))
def test_cell_survives_its_text_form(row, column):
    cell = Cell(row, column)
    assert parse_gold(str(cell)) == cell
    assert read_cell(str(cell)).cell == cell


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters()) | st.text("row col<>/0123456789²,. \n"))
def test_no_text_raises(text):
    published_cell(text)
    read_cell(text, text[:5])


def _score(text, ask, answered, gold="row: 2, col: 4", mode="corrected", **fields):
    return GridCell().score(answered(text), ask(**fields), (), gold, mode)


def test_score_is_exact_match_of_row_and_column(ask, answered):
    assert _score("row 2 column 4", ask, answered).value == 1.0
    assert _score("row 2 column 3", ask, answered).value == 0.0
    assert _score("row 2 column 4", ask, answered).answer == "row: 2, col: 4"
    assert _score("row 2 column 4", ask, answered, gold=None, answers=("row: 2, col: 4",)).value == 1.0


def test_published_code_scores_a_right_two_digit_column_wrong(ask, answered):
    assert _score("row 10, column 10", ask, answered, "row: 10, col: 10", "compat").value == 0.0
    assert _score("row 10, column 10", ask, answered, "row: 10, col: 10").value == 1.0


def test_superscript_digits_are_unparsed_where_the_published_code_fails(ask, answered):
    score = _score("row ² col ³", ask, answered, mode="compat")
    assert (score.value, score.reason) == (0.0, "published_code_fails")


def test_hidden_cell_is_not_scored(ask, answered):
    assert _score("row 2 column 4", ask, answered, gold="None").reason == "hidden_answer"


def test_unknown_mode_is_a_usage_error(ask, answered):
    with pytest.raises(UsageError, match="no mode 'strict'"):
        _score("2, 4", ask, answered, mode="strict")


@pytest.mark.parametrize("token", ["<row>1</row>", "\n", "row ", "1, 2\n", "<", "corner ", "row 1 "])
@pytest.mark.parametrize("read", [read_cell, published_cell])
def test_looping_response_is_read_in_time_that_grows_with_its_length_and_not_with_the_square(read, token):
    assert growth(read, token) < MAX_GROWTH
