"""Figures take the estimates on all questions, and mark what the findings claim."""

import msgspec
import pytest
from summaries import CASES, demo_summary, make_summary, matched_summary, sum_summary

from eyechart import registry
from eyechart.figures import accuracies, main_contrasts, name_baseline, name_difference
from eyechart.figures._series import context_levels, list_note, resolution_points, unscored
from eyechart.runs.baselines import baselines
from eyechart.schema import Contrast, Estimate


def test_estimates_of_subsets_and_other_names_are_not_the_accuracy():
    summary = demo_summary()
    subset = msgspec.structs.replace(summary.estimates[0], value=0.01, subset="people")
    other = msgspec.structs.replace(summary.estimates[0], value=0.02, name="accuracy by target size seen")
    changed = msgspec.structs.replace(summary, estimates=(subset, other, *summary.estimates))
    assert accuracies(changed) == accuracies(summary)


def test_baseline_is_the_one_most_contrasts_share_and_subsets_do_not_count():
    summary = demo_summary()
    control = msgspec.structs.replace(summary.contrasts[0], baseline="crop_1x")
    subsets = tuple(msgspec.structs.replace(control, subset=str(index)) for index in range(9))
    changed = msgspec.structs.replace(summary, contrasts=(control, *subsets, *summary.contrasts))
    assert name_baseline(changed) == "original"
    assert main_contrasts(changed) == main_contrasts(summary)


@pytest.mark.parametrize("name", CASES)
def test_resolution_points_rise_in_scale_and_end_at_the_original(name):
    points = resolution_points(CASES[name]())
    scales = [point.x for point in points]
    assert scales == sorted(scales)
    assert not points or (scales[-1] == 1.0 and points[-1].condition.family == "original")


def test_only_an_original_makes_no_curve():
    assert resolution_points(make_summary(("original", "crop_3x"))) == ()


def test_curve_without_original_is_kept():
    summary = make_summary(("downsample_0_5", "downsample_0_25"))
    assert [point.x for point in resolution_points(summary)] == [0.25, 0.5]
    assert context_levels(summary) == ()


def test_whole_canvas_comes_after_every_area_ratio():
    (level,) = context_levels(sum_summary())
    points = level.families["target_only"]
    assert [point.x for point in points] == [1.0, 3.0, 6.0, 18.0, None]


def test_every_level_of_a_matched_design_has_its_own_original_and_points():
    summary = matched_summary()
    levels = context_levels(summary)
    assert [level.name for level in levels] == ["match_px_8", "match_px_32"]
    assert [level.original.condition for level in levels] == ["match_px_8", "match_px_32"]
    shown = [point.condition.condition for level in levels for own in level.families.values() for point in own]
    assert shown == [
        "match_px_8_crop_3x", "match_px_8_whiteground_3x", "match_px_32_crop_3x", "match_px_32_whiteground_3x",
    ]  # fmt: skip


def test_level_names_what_it_asked_and_could_not_score():
    summary = matched_summary()
    kept = tuple(one for one in summary.estimates if one.condition != "match_px_32_crop_3x")
    first, second = context_levels(msgspec.structs.replace(summary, estimates=kept))
    assert (first.unscored, second.unscored) == ((), ("match_px_32_crop_3x",))


def test_condition_without_score_is_named_and_not_drawn():
    summary = sum_summary()
    assert unscored(summary, ["downsample"]) == ("downsample_0_0625",)
    assert "downsample_0_0625" not in {point.condition.condition for point in resolution_points(summary)}


def test_long_lists_say_how_many_they_leave_out():
    assert list_note("blocked", ["a", "b", "c", "d", "e"]) == "blocked: a, b, c and 2 more"


def test_first_of_two_accuracies_of_one_condition_counts():
    estimate = Estimate(
        name="accuracy", condition="original", value=0.4, low=0.3, high=0.5, n_questions=9, n_clusters=9, method=""
    )
    summary = demo_summary()
    assert (
        accuracies(msgspec.structs.replace(summary, estimates=(estimate, *summary.estimates)))["original"] is estimate
    )


def with_contrasts(summary):
    """Return a matched design with a paired difference of every condition from its baseline."""
    view_of = {one.condition: one.view for one in summary.conditions}
    pairs = baselines(tuple(view_of), view_of).items()
    found = tuple(
        Contrast(name="paired difference", condition=condition, baseline=baseline, value=0.1, low=-0.1, high=0.3,
                 n_questions=40, n_clusters=20, gained=8, lost=4, method="x", confidence=0.95)
        for condition, baseline in pairs if condition != baseline
    )  # fmt: skip
    return msgspec.structs.replace(summary, contrasts=found)


def test_levels_of_a_matched_design_have_baselines_of_their_own_and_every_text_says_which():
    summary = with_contrasts(matched_summary())
    found = main_contrasts(summary)
    assert list(found.values()) == list(summary.contrasts)
    assert name_baseline(summary) == "the original of the level"
    assert name_difference(found["match_px_32_crop_3x"], summary) == "match_px_32_crop_3x"
    assert name_difference(found["match_px_32"], summary) == "match_px_32 − match_px_8"
    said = registry.load("figure", "view_forest")().describe(summary)
    assert "from the original of the level" in said
    assert "match_px_32 − match_px_8: +10" in said
    of_one_level = msgspec.structs.replace(
        summary, conditions=tuple(one for one in summary.conditions if one.condition.startswith("match_px_8"))
    )
    assert name_baseline(of_one_level) == "match_px_8"


def test_a_needle_grid_that_stands_as_one_row_keeps_its_difference_from_one_cell():
    whole = demo_summary()
    grids = {"grid_white_1x1": "grid_white_1x1_r0_c0", "grid_white_3x3": "grid_white_3x3_r0_c0"}
    conditions = tuple(
        msgspec.structs.replace(whole.conditions[0], condition=name, view=view, family="grid")
        for name, view in grids.items()
    )
    size = msgspec.structs.replace(whole.contrasts[0], condition="grid_white_3x3", baseline="grid_white_1x1")
    for first in ((), whole.conditions[:1]):
        summary = msgspec.structs.replace(whole, conditions=(*first, *conditions), contrasts=(size,))
        assert main_contrasts(summary) == {"grid_white_3x3": size}
        assert name_baseline(summary) == "grid_white_1x1"
