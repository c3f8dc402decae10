import numpy as np
import pytest

from eyechart.stats.codes import Code
from eyechart.stats.design_rules import check_constant, check_repeats, check_same_input, check_subsets


@pytest.mark.parametrize(
    ("code", "level"),
    [
        (Code.DIFFERENT_PROMPTS, "error"),
        (Code.HETEROGENEOUS_SETTINGS, "error"),
        (Code.JUDGE_DRIFT, "warning"),
        (Code.DRIFT, "warning"),
    ],
)
def test_what_must_be_constant_is_found_where_it_changes(code, level):
    found = check_constant(code, "versions", {"a": ["1"], "b": ["1", "2"], "c": ["1"]})
    assert (found.code, found.level, found.conditions) == (code, level, ("b",))
    assert "2 versions differ: 1, 2" in found.message
    assert check_constant(code, "versions", {"a": ["1", "2"], "b": ["2", "1", "1"]}) is None


def test_one_absent_question_of_700_warns_and_eight_are_an_error():
    present = np.full((700, 3), True)
    present[0, 1] = False
    present[:8, 2] = False
    ids = [f"{index:06d}" for index in range(700)]
    few, many = check_subsets(ids, present, ["original", "crop_1_5x", "crop_3x"])
    assert (few.level, few.conditions) == ("warning", ("crop_1_5x",))
    assert "000000" in few.message
    assert "0.14 points" in few.message
    assert (many.level, many.conditions) == ("error", ("crop_3x",))


def test_complete_release_has_no_finding():
    assert check_subsets(["a"], np.full((1, 2), True), ["x", "y"]) == ()


def test_contradicting_rows_and_repeats_are_errors():
    rows = [("1", "a", 0), ("1", "a", 0), ("2", "a", 0), ("2", "a", 1)]
    duplicates, repeats = check_repeats(rows, ["A", "B", "A", "B"])
    assert (duplicates.code, duplicates.conditions) == (Code.DUP_ROWS, ("a",))
    assert (repeats.code, repeats.level) == (Code.EPOCHS, "error")


def test_row_written_twice_alike_is_no_fault():
    assert check_repeats([("1", "a", 0), ("1", "a", 0)], ["A", "A"]) == ()


def test_views_that_are_one_picture_to_the_model_are_found():
    keys = [["448", "448", "224"], ["448", "448", "224"], ["448", "320", "224"]]
    (found,) = check_same_input(keys, ["original", "downsample_0_75", "downsample_0_25"])
    assert found.conditions == ("original", "downsample_0_75")
    assert "67 %" in found.message


def test_no_questions_have_no_same_input():
    assert check_same_input([], ["a", "b"]) == ()
