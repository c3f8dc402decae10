"""Views that a model cannot tell apart: they are repeats or blocked, and never an effect of resolution."""

import pytest
from runs_made import SCORER
from seen_runs import seen_table

from eyechart.runs.closeness import find_close
from eyechart.runs.summarise import estimate
from eyechart.schema import ModelIdentity, Size

GEMINI = ModelIdentity("google", "gemini-3-pro-preview", settings={"media_resolution": "high"})


@pytest.fixture
def collapsed(make, tmp_path):
    """A run on 8K at Claude's standard tier: original, half and quarter are one picture."""
    return seen_table(make, tmp_path / "run", n=80)


def test_collapsed_views_are_found_with_their_counts(collapsed):
    close = {(one.condition, one.baseline): one for one in find_close(collapsed)}
    assert set(close) == {
        ("downsample_0_5", "original"),
        ("downsample_0_25", "original"),
        ("downsample_0_25", "downsample_0_5"),
    }
    assert all(one.is_one_picture and one.n_both == 80 for one in close.values())
    assert all(one.ratio == pytest.approx(1.0, abs=0.01) for one in close.values())


def test_collapsed_views_are_repeats_whose_difference_is_noise(collapsed):
    summary = estimate(collapsed, SCORER, ())
    noise = {(one.condition, one.baseline): one for one in summary.close_views}
    one = noise["downsample_0_5", "original"]
    assert one.noise.family == "negative controls, not corrected"
    assert one.noise.p_adjusted is None
    assert 0.0 < one.churn.value < 0.5
    assert "SAME_PICTURE" in one.noise.warnings


def test_collapsed_views_are_no_effect_of_resolution_and_no_claim(collapsed):
    summary = estimate(collapsed, SCORER, ())
    gone = {"downsample_0_5", "downsample_0_25"}
    assert not any({one.condition, one.baseline} & gone for one in summary.effects)
    assert not any(set(finding.contrast or ()) & gone for finding in summary.findings)
    corrected = [one for one in summary.contrasts if one.p_adjusted is not None]
    assert {one.condition for one in corrected} == {"downsample_0_125", "downsample_0_0625", "crop_4x", "blank"}
    assert summary.movement.n_levels == 3
    rule = next(rule for rule in summary.rules if rule.code == "SAME_PICTURE")
    assert "the model's own resizing makes one picture of original and downsample_0_5" in rule.message


def test_scales_less_than_a_quarter_apart_are_blocked(make, tmp_path):
    table = seen_table(make, tmp_path / "run", n=60, identity=GEMINI, views="original,downsample_0_25,downsample_0_125")
    (close,) = find_close(table)
    assert (close.condition, close.baseline, close.n_same) == ("downsample_0_25", "original", 0)
    assert 1.03 < close.ratio < 1.25
    summary = estimate(table, SCORER, ())
    blocked = {one.condition: one.blocked_by for one in summary.contrasts}
    assert blocked["downsample_0_25"] == ("SAME_PICTURE",)
    assert blocked["downsample_0_125"] == ()
    assert summary.close_views[0].noise is None
    assert any("not compared: SAME_PICTURE" in finding.text for finding in summary.findings)


def test_views_that_the_model_sees_as_they_are_stay_apart(make, tmp_path):
    table = seen_table(make, tmp_path / "run", n=40, size=Size(1200, 800), widths=(20, 40))
    assert find_close(table) == ()
    assert estimate(table, SCORER, ()).close_views == ()
