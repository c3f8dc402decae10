"""Half-accuracy target size of a run: the truth is found, and what the answers do not tell is said."""

import json

import msgspec
import pytest
from runs_made import SCORER
from seen_runs import seen_table

from eyechart.runs.acuity import as_acuities, estimate_half_sizes
from eyechart.runs.effects import named_views
from eyechart.runs.summarise import estimate
from eyechart.schema import Summary


def half_sizes(table):
    return {one.task: one for one in estimate_half_sizes(table, named_views(table))}


@pytest.mark.parametrize("truth", [8.0, 16.0])
def test_the_half_size_of_a_model_is_found_within_its_interval(make, tmp_path, truth):
    found = half_sizes(seen_table(make, tmp_path / "run", acuity_px=truth))
    assert found[None].status == "estimated"
    assert found[None].low <= truth * 1.1
    assert found[None].high >= truth / 1.1
    assert found[None].px == pytest.approx(truth, rel=0.25)
    assert found[None].evidence == "documented"
    assert (found[None].n_questions, found[None].n_clusters) == (200, 200)
    assert [band.px for band in found[None].bands] == sorted((band.px for band in found[None].bands), reverse=True)
    assert found[None].has_curve


def test_every_task_has_its_own_size_or_says_why_not(make, tmp_path):
    found = half_sizes(seen_table(make, tmp_path / "run", n=60, tasks=("OCR", "OCR", "Count")))
    assert set(found) == {None, "OCR", "Count"}
    assert found["OCR"].n_questions == 40
    assert found["Count"].status == "not identified"
    assert found["Count"].reason == "20 questions on 20 effective pictures are too few"


def test_a_model_that_reads_all_sizes_alike_has_no_half_size(make, tmp_path):
    found = half_sizes(seen_table(make, tmp_path / "run", acuity_px=0.1))[None]
    assert (found.status, found.px) == ("not identified", None)
    assert "so it reads all sizes alike or does not look" in found.reason


def test_a_model_that_still_reads_most_of_the_smallest_targets_reaches_no_limit(make, tmp_path):
    found = half_sizes(seen_table(make, tmp_path / "run", acuity_px=2.2, slope=1.0))[None]
    assert (found.status, found.px) == ("not reached", None)
    assert "more than half of the plateau is left at the smallest targets" in found.reason
    assert found.bands


def test_a_model_that_reads_nothing_has_no_half_size(make, tmp_path):
    found = half_sizes(seen_table(make, tmp_path / "run", plateau=0.0))[None]
    assert (found.status, found.px) == ("not identified", None)
    assert "does not clearly rise with the size of the target" in found.reason


def test_targets_of_one_size_give_no_curve(make, tmp_path):
    found = half_sizes(seen_table(make, tmp_path / "run", n=60, views="original,crop_4x", widths=(60, 61)))[None]
    assert found.status == "not identified"
    assert found.reason == "no question was asked at two sizes of its target, by views that only resize"


def test_without_known_sizes_nothing_is_said(make, tmp_path):
    table = seen_table(make, tmp_path / "run", n=20, views="blank")
    assert estimate_half_sizes(table, named_views(table)) == ()


def test_summary_of_a_run_holds_its_sizes_under_the_new_key_and_the_old(make, tmp_path):
    table = seen_table(make, tmp_path / "run", n=60)
    summary = estimate(table, SCORER, ())
    assert [one.task for one in summary.half_accuracy_sizes] == [None, "Color", "OCR"]
    assert summary.acuities == as_acuities(summary.half_accuracy_sizes)
    whole = summary.half_accuracy_sizes[0]
    assert [one.px for one in summary.acuities] == [one.px for one in summary.half_accuracy_sizes]
    assert [one.value for one in summary.thresholds if one.unit == "px of target seen"] == [whole.px]


def test_estimates_of_before_are_still_read(make, tmp_path):
    """A stored file holds ``acuities`` with a smooth curve, bounds in every band, and no ``half_accuracy_sizes``."""
    summary = estimate(seen_table(make, tmp_path / "run", n=60), SCORER, ())
    stored = json.loads(msgspec.json.encode(summary))
    del stored["half_accuracy_sizes"]
    stored["acuities"] = [
        {
            "task": None, "status": "estimated", "px": 9.0, "low_px": None, "high_px": 12.0, "n_questions": 60,
            "bands": [{"px": 9.0, "corrected": 0.5, "low": 0.4, "high": 0.6, "fitted": 0.5, "n_questions": 60}],
            "smooth": {"reference_px": 9.0, "intercept": 0.0, "slope": 2.0, "ceiling": 0.9}, "misfit_p": 0.4,
        }
    ]  # fmt: skip
    read = msgspec.json.decode(json.dumps(stored).encode(), type=Summary)
    assert read.acuities[0].smooth.ceiling == 0.9
    assert read.half_accuracy_sizes == ()


def test_crops_tell_nothing_about_size_beside_views_that_resize(make, tmp_path):
    """A crop shows something else: it is no second size of the whole picture, and alone it gives no number."""
    plain = half_sizes(seen_table(make, tmp_path / "plain", views="original,downsample_0_25,downsample_0_0625"))[None]
    crops = half_sizes(
        seen_table(make, tmp_path / "crops", views="original,downsample_0_25,downsample_0_0625,crop_2x,crop_8x")
    )[None]
    assert (crops.px, crops.low, crops.high) == (plain.px, plain.low, plain.high)
    alone = half_sizes(seen_table(make, tmp_path / "alone", views="crop_2x,crop_8x,whiteground_4x"))[None]
    assert alone.px is None
    assert "by views that only resize" in alone.reason


def test_a_model_that_ignores_pixels_has_no_half_size_though_its_easy_questions_have_large_targets(make, tmp_path):
    table = seen_table(make, tmp_path / "run", ignores_pixels=True)
    for one in half_sizes(table).values():
        assert one.px is None
        assert "does not clearly rise with the size of the target" in one.reason
        assert not one.has_curve
