from collections import Counter

import pytest
from releases.sum_like import N_ACROSS_BORDER, OMITTED, TWINS_ID, VIEW_IDS, make_sum_like

from eyechart.benchmarks.sum import SumKind, SumOptions
from eyechart.opening import open_model, open_prompt
from eyechart.releases.verify import verify_release
from eyechart.runs.folders import Destination
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.views import parse_view


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    return make_sum_like(tmp_path_factory.mktemp("mirror"), is_mirror=True)


def test_declared_defects_of_sum_are_all_known_and_none_blocks(mirror):
    report = verify_release(mirror, n_processes=1)
    assert Counter((finding.level, finding.code) for finding in report.findings) == {
        ("known", "box_crosses_border"): N_ACROSS_BORDER,
        ("known", "duplicate_choices"): 1,
        ("known", "missing_image"): 2,
    }
    assert {finding.path for finding in report.findings if finding.code == "missing_image"} == set(OMITTED)
    assert {finding.id for finding in report.findings if finding.code == "duplicate_choices"} == {TWINS_ID}


def test_mirror_has_699_questions_in_the_two_views_and_names_the_missing(mirror):
    benchmark = SumKind().open(mirror, SumOptions())
    questions = list(benchmark.questions())
    shown = {view_id: sum(benchmark.released_image(q, view_id) is not None for q in questions) for view_id in VIEW_IDS}
    assert shown == {"original": 700, "crop_1_5x": 699, "whiteground_1_5x": 700, "downsample_0_75": 699}
    assert tuple(name for names in benchmark.missing.values() for name in names) == OMITTED
    for warning, name in zip(benchmark.warnings, OMITTED, strict=True):
        assert f"1 of 700 images missing: {name} (ModelScope took it out; Hugging Face has it)" in warning


def test_counts_are_those_of_the_card(mirror):
    questions = list(SumKind().open(mirror, SumOptions()).questions())
    assert Counter(len(question.choices) for question in questions) == {4: 679, 2: 21}
    assert len({question.image_group for question in questions}) == 664
    assert Counter(question.source for question in questions) == {"ZoomBench": 485, "VStarBench": 115, "HR-Bench": 100}
    assert sum(question.targets != question.targets_clipped for question in questions) == N_ACROSS_BORDER


def test_mirror_is_asked_without_a_flag_and_pairs_have_the_same_699_questions_on_both_sides(mirror, tmp_path):
    outcome = run_benchmark(
        SumKind().open(mirror, SumOptions()),
        open_model("simulated/chance"),
        [parse_view(view_id) for view_id in VIEW_IDS],
        open_prompt(),
        options=RunOptions(where=Destination(out=tmp_path / "run")),
    )
    summary = outcome.summary
    assert (outcome.n_missing, outcome.n_missing_pictures, summary.run.allowed_faults) == (0, 2, ())
    assert {one.condition: one.n_questions for one in summary.estimates} == {
        "original": 700,
        "crop_1_5x": 699,
        "whiteground_1_5x": 700,
        "downsample_0_75": 699,
    }
    assert {(one.condition, one.baseline): one.n_questions for one in summary.contrasts if one.subset is None} == {
        ("crop_1_5x", "original"): 699,
        ("whiteground_1_5x", "original"): 700,
        ("downsample_0_75", "original"): 699,
    }
