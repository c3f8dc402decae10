"""The long table holds every request once, keeps missing apart from wrong, and gives the accuracies back."""

import csv

import pytest
from runs_made import SCORER, make_run, right_at

from eyechart.errors import RefusedInputError, UsageError
from eyechart.runs.cells import read_table
from eyechart.runs.export import LongRow, long_rows, write_long
from eyechart.runs.plan import PlanOptions
from eyechart.runs.summarise import estimate


def refusing(ask):
    return RefusedInputError("too large") if ask.identity.question_id == "q001" else right_at({})(ask)


@pytest.fixture
def table(make, tmp_path):
    store = make_run(make, tmp_path / "run", refusing, n=40, plan=PlanOptions(rotations=2, repeats=2))
    return read_table(store, SCORER)


def test_every_request_is_one_row(table):
    rows = list(long_rows(table, SCORER))
    keys = {(row.question, row.condition, row.repeat, row.rotation) for row in rows}
    assert len(rows) == len(keys) == 40 * 2 * 2 * 2


def test_missing_has_no_score_and_wrong_has_0(table):
    rows = list(long_rows(table, SCORER))
    assert {row.score for row in rows if row.question == "q001"} == {None}
    assert {row.state for row in rows if row.question == "q001"} == {"refused_input"}
    assert {row.score for row in rows if row.question != "q001"} == {0.0, 1.0}


def test_the_letter_given_names_its_option_also_when_turned(table):
    for row in long_rows(table, SCORER):
        if row.letter is not None:
            assert row.option == (ord(row.letter) - ord("A") + row.rotation) % 4
            assert (row.option == 0) == (row.score == 1.0) == (row.letter == row.gold)


def test_the_mean_of_question_means_is_the_accuracy_of_the_report(table):
    summary = estimate(table, SCORER, ())
    for one in summary.estimates:
        scores: dict[str, list[float]] = {}
        for row in long_rows(table, SCORER):
            if row.condition == one.condition and row.score is not None:
                scores.setdefault(row.question, []).append(row.score)
        means = [sum(own) / len(own) for own in scores.values()]
        assert sum(means) / len(means) == pytest.approx(one.value)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_both_formats_hold_the_same(table, tmp_path, suffix):
    rows = list(long_rows(table, SCORER))
    path = tmp_path / f"long{suffix}"
    assert write_long(rows, path) == len(rows)
    if suffix == ".csv":
        read = list(csv.DictReader(path.open()))
        scores = [None if row["score"] == "" else float(row["score"]) for row in read]
        assert tuple(read[0]) == LongRow.__struct_fields__
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        read = parquet.read_table(path).to_pylist()
        scores = [row["score"] for row in read]
        assert read[5] == {name: getattr(rows[5], name) for name in LongRow.__struct_fields__}
    assert scores == [row.score for row in rows]


def test_another_format_is_refused(table, tmp_path):
    with pytest.raises(UsageError, match=r"long\.xlsx is neither CSV nor parquet"):
        write_long(long_rows(table, SCORER), tmp_path / "long.xlsx")


def test_an_anonymous_table_names_no_organisation_and_no_run(make, tmp_path):
    store = make_run(make, tmp_path / "secret-lab-run", right_at({}), n=3, name="secret-lab/model")
    rows = list(long_rows(read_table(store, SCORER), SCORER, is_anonymous=True))
    assert {row.model for row in rows} == {"scripted/model"}
    assert not any("secret" in str(value) for row in rows for value in (row.run, row.model))
