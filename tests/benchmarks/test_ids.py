"""Which question an id means, and in which order options were shown: exact steps, never a guess."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.benchmarks._ids import QuestionIds, whole_number
from eyechart.benchmarks._shown_options import options_in_row, order_shown, read_orders, shown_as
from eyechart.errors import BenchmarkError


@pytest.mark.parametrize("spelled", [669, "669", "000669", 669.0, "669.0", " 669 "])
def test_one_number_in_every_spelling_is_one_question(spelled):
    assert QuestionIds(["000669", "000670", "v1"]).find(spelled, "row 1") == "000669"


@pytest.mark.parametrize("spelled", ["v2", True, None, 0.5, "1e3", "-669", "669a", "", float("nan"), float("inf")])
def test_other_values_name_no_question(spelled):
    assert QuestionIds(["000669", "1"]).find(spelled, "row 1") is None


def test_two_ids_of_one_number_are_told_apart_by_their_text_alone():
    ids = QuestionIds(["1", "01", "7"])
    assert (ids.find("1", "r"), ids.find("01", "r"), ids.find("7", "r")) == ("1", "01", "7")
    with pytest.raises(BenchmarkError, match="'01' and '1', which are one number"):
        ids.find("001", "row 3")


def test_numbers_are_padded_for_no_benchmark():
    """Padding belonged to SUM: a benchmark with ids 101 was told that 000101 is no question."""
    assert QuestionIds(["101", "102"]).find(101, "row 1") == "101"
    assert QuestionIds(["101", "102"]).find("000102", "row 1") == "102"


@given(st.lists(st.integers(0, 99), unique=True, max_size=8), st.integers(0, 99), st.integers(0, 4))
@settings(max_examples=40)
def test_number_is_found_exactly_where_the_benchmark_has_it(numbers, wanted, n_zeros):
    ids = QuestionIds([f"{number:03d}" for number in numbers])
    found = ids.find(f"{'0' * n_zeros}{wanted}", "here")
    assert found == (f"{wanted:03d}" if wanted in numbers else None)


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12))
@settings(max_examples=60)
def test_no_value_as_an_id_ends_in_a_traceback(value):
    number = whole_number(value)
    assert number is None or number >= 0
    assert QuestionIds(["1", "b"]).find(value, "here") in {None, "1", "b"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"choices": ["blue", "red"]}, ("blue", "red")),
        ({"options": '["blue", "red"]'}, ("blue", "red")),
        ({"options": {"B": "red", "A": "blue"}}, ("blue", "red")),
        ({"A": "blue", "B": "red", "C": None, "D": ""}, ("blue", "red")),
        ({"A": "blue", "B": None, "C": "red"}, ("blue", "", "red")),
        ({"A": None, "B": "blue", "C": "red"}, ("", "blue", "red")),
        ({"choices": ["(A) blue", "(B) red"]}, ("blue", "red")),
        ({"choices": ["(B) blue", "(A) red"]}, ("(B) blue", "(A) red")),
        ({"choices": [1, 2.5]}, ("1", "2.5")),
        ({"choices": "['blue', 'red']"}, ("blue", "red")),
        ({"choices": "blue|red"}, ("blue", "red")),
        ({"choices": {"2": "red", "1": "blue"}}, ("blue", "red")),
        ({"choices": [{"label": "B", "text": "red"}, {"label": "A", "text": "blue"}]}, ("red", "blue")),
        ({"choices": "A. blue\nB. red"}, ("blue", "red")),
        ({"choices": ["A、blue", "B、red"]}, ("blue", "red")),
        ({"choices": float("nan"), "A": "blue", "B": "red"}, ("blue", "red")),
        ({"choices": {"colour": "red"}}, None),
        ({"choices": []}, None),
        ({"choices": "blue or red"}, None),
        ({"choices": [["blue"], "red"]}, None),
        ({"choices": "[" * 100_000}, None),
        ({"id": 1}, None),
    ],
)
def test_options_of_a_row_are_those_it_tells_in_its_order(row, expected):
    assert options_in_row(row) == expected


def test_equal_texts_that_differ_in_case_keep_their_places():
    assert order_shown(("Red", "red"), ("red", "Red")) == (1, 0)
    assert order_shown(("RED", "blue"), ("red", "blue")) == (0, 1)
    assert order_shown(("red", "red"), ("red", "blue")) is None
    assert order_shown(("Blue.", "red"), ("red", "blue")) == (1, 0)
    assert order_shown(("2.5", "1"), ("1.0", "2.50")) == (1, 0)
    assert shown_as(("red", "", "blue"), ("blue", "red")) == ("red", "", "blue")


@given(st.permutations(["red", "Red", "blue", "", "x"]))
@settings(max_examples=30)
def test_order_shown_puts_every_option_back(shown):
    choices = ("red", "Red", "blue", "", "x")
    order = order_shown(shown, choices)
    assert [choices[index] for index in order] == list(shown)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("o.jsonl", '{"id": "q000", "choices": ["no", "yes"]}\n'),
        ("o.json", '[{"question_id": "q000", "options": ["no", "yes"]}]'),
        ("o.json", '{"q000": ["no", "yes"]}'),
        ("o.csv", "id,A,B\nq000,no,yes\n"),
        ("o.tsv", "index\tA\tB\nq000\tno\tyes\n"),
    ],
)
def test_file_of_orders_is_read_in_every_form(tmp_path, name, content):
    from strategies import question_about

    from eyechart.schema import Size

    question = question_about(Size(9, 9), id="q000", choices=("yes", "no"), answer="A")
    (tmp_path / name).write_text(content)
    assert read_orders(tmp_path / name, [question]) == {"q000": (1, 0)}
    assert json.dumps(read_orders(tmp_path / name, [question]))
