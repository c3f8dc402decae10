import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.conditions import ScoreTable
from eyechart.stats.sensitivity import bound_missing, compare_readings

PAIR = ("crop_3x", "original")


def _table(values, present=None):
    values = np.asarray(values, dtype=float)
    images = [f"i{index}" for index in range(len(values))]
    return ScoreTable(values, np.full(values.shape, True) if present is None else present, images, PAIR[::-1])


def test_effect_made_of_missing_answers_is_not_robust():
    values = np.tile([1.0, 1.0], (60, 1))
    present = np.full((60, 2), True)
    present[:12, 1] = False  # the crop was refused twelve times
    table = _table(values, present)
    found = compare_readings({"answered": table, **bound_missing(table)}, PAIR)
    assert found.contrasts["answered"].value == 0.0
    assert found.contrasts["missing wrong"].value == -0.2
    assert found.significance_changes
    assert not found.is_robust


def test_change_of_sign_is_found():
    up, down = np.tile([0.0, 1.0], (40, 1)), np.tile([1.0, 0.0], (40, 1))
    assert compare_readings({"strict": _table(up), "lenient": _table(down)}, PAIR).sign_changes


def test_same_readings_are_robust():
    table = _table(np.tile([0.0, 1.0], (40, 1)))
    assert compare_readings({"strict": table, "lenient": table}, PAIR).is_robust


def test_reading_without_a_common_question_is_left_out():
    table = _table(np.zeros((40, 2)))
    nothing = _table(np.zeros((40, 2)), np.tile([True, False], (40, 1)))
    assert list(compare_readings({"strict": table, "parsed": nothing}, PAIR).contrasts) == ["strict"]


def test_bounds_enclose_the_answered_accuracy():
    rng = np.random.default_rng(0)
    table = _table(rng.integers(0, 2, (50, 2)), rng.random((50, 2)) < 0.7)
    low, high = (reading.values.mean(axis=0) for reading in bound_missing(table).values())
    answered = np.where(table.present, table.values, 0).sum(axis=0) / table.present.sum(axis=0)
    assert (low <= answered).all()
    assert (answered <= high).all()


def test_no_reading_is_refused():
    with pytest.raises(StatisticsError, match="no reading to compare"):
        compare_readings({}, PAIR)
