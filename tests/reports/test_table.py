"""The table says n with every number, and never writes what is missing as 0."""

import re

import msgspec
import pytest
from summaries import (
    CASES,
    demo_summary,
    make_summary,
    matched_summary,
    single_question_summary,
    sum_summary,
    unanswered_summary,
)

from eyechart.figures import format_contrast, format_estimate
from eyechart.reports import render_table
from eyechart.reports._codes import MEANINGS
from eyechart.reports._table import render_further_contrasts
from eyechart.stats.codes import Code


def cells(table, condition) -> dict[str, str]:
    """One row by the keys of its columns."""
    row = next(row for row in table.rows if row.condition == condition)
    return dict(zip((column.key for column in table.columns), row.cells, strict=True))


def keys(summary) -> set[str]:
    return {column.key for column in render_table(summary).columns}


@pytest.mark.parametrize("name", CASES)
def test_every_condition_has_one_row_in_order_and_every_column_is_filled(name):
    summary = CASES[name]()
    table = render_table(summary)
    assert [row.condition for row in table.rows] == [condition.condition for condition in summary.conditions]
    assert all(len(row.cells) == len(table.columns) and all(row.cells) for row in table.rows)


@pytest.mark.parametrize("name", CASES)
def test_every_accuracy_stands_with_its_interval_and_n(name):
    table = render_table(CASES[name]())
    for row in table.rows:
        shown = cells(table, row.condition)
        assert shown["accuracy"] == format_estimate(row.estimate)
        assert (shown["n"] == "–") == (row.estimate is None) == (shown["accuracy"] == "not scored")


@pytest.mark.parametrize("name", CASES)
def test_caption_gives_model_benchmark_n_and_chance(name):
    summary = CASES[name]()
    caption = render_table(summary).caption
    assert summary.run.model.spec in caption
    assert re.search(r"n = \d+ questions? about \d+ pictures?", caption)
    assert ("Chance is 25.0 %." in caption) == (summary.chance is not None)


def test_condition_without_score_is_words_and_dashes_and_never_zero():
    shown = cells(render_table(sum_summary()), "downsample_0_0625")
    assert shown["accuracy"] == "not scored"
    assert shown["missing"] == "700"
    for key in ("n", "difference", "p", "cannot_tell", "unreadable", "accuracy_sum"):
        assert shown[key] == "–", key


def test_each_difference_names_its_baseline_where_there_are_several():
    summary = matched_summary()
    pairs = {"match_px_32": "match_px_8", "match_px_32_crop_3x": "match_px_32", "match_px_8_crop_3x": "match_px_8"}
    one = demo_summary().contrasts[0]
    contrasts = tuple(
        msgspec.structs.replace(one, condition=condition, baseline=baseline) for condition, baseline in pairs.items()
    )
    table = render_table(msgspec.structs.replace(summary, contrasts=contrasts))
    assert {condition: cells(table, condition)["baseline"] for condition in pairs} == pairs
    assert cells(table, "match_px_8")["difference"] == "baseline"
    assert cells(table, "match_px_8")["baseline"] == "–"
    assert "baseline" not in keys(demo_summary())


def test_no_cell_of_an_unanswered_run_is_zero():
    table = render_table(unanswered_summary())
    assert not any(re.fullmatch(r"0(\.0)?.*", cell) for row in table.rows for cell in row.cells)


def test_both_accuracies_are_shown_only_where_they_differ():
    assert "accuracy_sum" not in keys(demo_summary())
    shown = cells(render_table(sum_summary()), "whiteground_18x")
    assert (shown["accuracy"], shown["accuracy_sum"]) == ("68.0 [63.8, 72.0]", "47.4")


def test_p_is_left_out_where_no_contrast_may_be_tested():
    assert "p" in keys(demo_summary())
    assert "p" not in keys(single_question_summary())
    assert any(note.startswith("TINY_GROUP") for note in render_table(single_question_summary()).notes)


def test_difference_on_fewer_questions_than_its_accuracy_gives_its_own_n():
    summary = make_summary(missing={"original": 5, "crop_6x": 2})
    shown = cells(render_table(summary), "whiteground_6x")
    assert (shown["n"], shown["n_pairs"]) == ("40", "35")
    assert "n_pairs" not in keys(demo_summary())


def test_baseline_and_claimed_differences_are_marked():
    table = render_table(demo_summary())
    assert cells(table, "original")["difference"] == "baseline"
    starred = {row.condition for row in table.rows if cells(table, row.condition)["difference"].endswith("*")}
    assert starred == {row.condition for row in table.rows if row.is_significant} == {"downsample_0_0625"}


def test_blocked_difference_shows_its_reason_instead_of_a_number():
    summary = demo_summary()
    blocked = msgspec.structs.replace(summary.contrasts[0], blocked_by=("DIFFERENT_PROMPTS",))
    table = render_table(msgspec.structs.replace(summary, contrasts=(blocked, *summary.contrasts[1:])))
    shown = cells(table, blocked.condition)
    assert (shown["difference"], shown["p"]) == ("blocked: DIFFERENT_PROMPTS", "–")
    assert "DIFFERENT_PROMPTS: the two sides were asked with different prompts." in table.notes


def test_cannot_tell_is_counted_apart_from_unreadable():
    summary = demo_summary()
    one = msgspec.structs.replace(summary.conditions[0], reasons={"cannot_tell": 4, "empty": 2, "truncated": 1})
    shown = cells(render_table(msgspec.structs.replace(summary, conditions=(one,))), "original")
    assert (shown["cannot_tell"], shown["unreadable"]) == ("4", "3")


def test_contrast_outside_every_family_says_that_its_p_is_not_adjusted():
    summary = demo_summary()
    control = msgspec.structs.replace(summary.contrasts[0], p=0.4, p_adjusted=None)
    table = render_table(msgspec.structs.replace(summary, contrasts=(control, *summary.contrasts[1:])))
    assert cells(table, control.condition)["p"] == "0.400 (not adjusted)"


def test_contrasts_with_other_baselines_are_listed_apart():
    summary = demo_summary()
    control = msgspec.structs.replace(summary.contrasts[0], baseline="crop_6x", warnings=(Code.SAME_INPUT,))
    subset = msgspec.structs.replace(summary.contrasts[1], subset="people")
    further = render_further_contrasts(
        msgspec.structs.replace(summary, contrasts=(*summary.contrasts, control, subset))
    )
    assert [row.cells[0] for row in further.rows] == ["crop_1x − crop_6x", "crop_6x − original (people)"]
    assert further.rows[0].cells[2] == format_contrast(control)
    assert any(note.startswith("SAME_INPUT: ") for note in further.notes)
    assert render_further_contrasts(summary).rows == ()


def test_every_code_of_a_validity_rule_is_explained():
    assert set(MEANINGS) == {str(code) for code in Code}
