"""Acuity of a run: the truth is found, and what the answers do not tell is said."""

import pytest
from runs_made import SCORER
from seen_runs import seen_table

from eyechart.runs.acuity import estimate_acuities
from eyechart.runs.effects import named_views
from eyechart.runs.summarise import estimate


def acuities(table):
    return {one.task: one for one in estimate_acuities(table, named_views(table))}


@pytest.mark.parametrize("truth", [8.0, 16.0])
def test_the_acuity_of_a_model_is_found_within_its_interval(make, tmp_path, truth):
    found = acuities(seen_table(make, tmp_path / "run", acuity_px=truth))
    assert found[None].status == "estimated"
    assert found[None].low_px <= truth * 1.1
    assert found[None].high_px >= truth / 1.1
    assert found[None].px == pytest.approx(truth, rel=0.25)
    assert found[None].evidence == "documented"
    assert (found[None].n_questions, found[None].n_clusters) == (200, 200)
    assert [band.px for band in found[None].bands] == sorted((band.px for band in found[None].bands), reverse=True)
    assert found[None].smooth is not None


def test_every_task_has_its_own_acuity_or_says_why_not(make, tmp_path):
    found = acuities(seen_table(make, tmp_path / "run", n=60, tasks=("OCR", "OCR", "Count")))
    assert set(found) == {None, "OCR", "Count"}
    assert found["OCR"].n_questions == 40
    assert found["Count"].status == "not identified"
    assert found["Count"].reason == "20 questions on 20 pictures are too few"


def test_a_model_that_reads_the_smallest_targets_reaches_no_limit(make, tmp_path):
    found = acuities(seen_table(make, tmp_path / "run", acuity_px=0.1))[None]
    assert (found.status, found.px) == ("not reached", None)
    assert "more than half of the plateau is left at the smallest targets" in found.reason
    assert found.bands


def test_a_model_that_reads_nothing_has_no_acuity(make, tmp_path):
    found = acuities(seen_table(make, tmp_path / "run", plateau=0.0))[None]
    assert (found.status, found.px) == ("not identified", None)
    assert "not read above chance" in found.reason


def test_targets_of_one_size_give_no_curve(make, tmp_path):
    found = acuities(seen_table(make, tmp_path / "run", n=60, views="original,crop_4x", widths=(60, 61)))[None]
    assert found.status == "not identified"
    assert "too few for a curve" in found.reason


def test_without_known_sizes_nothing_is_said(make, tmp_path):
    table = seen_table(make, tmp_path / "run", n=20, views="blank")
    assert estimate_acuities(table, named_views(table)) == ()


def test_summary_of_a_run_holds_its_acuities(make, tmp_path):
    table = seen_table(make, tmp_path / "run", n=60)
    assert [one.task for one in estimate(table, SCORER, ()).acuities] == [None, "Color", "OCR"]
