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


def test_questions_that_a_view_lacks_concern_its_pairs_alone():
    present = np.full((700, 3), True)
    present[0, 1] = False
    present[:8, 2] = False
    ids = [f"{index:06d}" for index in range(700)]
    few, many = check_subsets(ids, present, ["original", "crop_1_5x", "crop_3x"])
    assert (few.level, few.conditions, few.pairs) == ("warning", ("crop_1_5x",), (("crop_1_5x", "original"),))
    assert "000000" in few.message
    assert "0.14 points" in few.message
    assert many.pairs == (("crop_3x", "original"), ("crop_3x", "crop_1_5x"))


def test_views_that_lack_the_same_questions_are_no_mismatch():
    present = np.full((40, 3), True)
    present[:10, 1:] = False
    found = check_subsets([str(index) for index in range(40)], present, ["original", "crop_3x", "crop_6x"])
    assert not any(one.concerns("crop_6x", "crop_3x") for one in found)
    assert all(any(one.concerns(name, "original") for one in found) for name in ("crop_3x", "crop_6x"))
    assert check_subsets(["a", "b"], np.array([[True, True], [False, False]]), ["x", "y"]) == ()


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
