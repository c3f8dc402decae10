"""A plan is confirmatory only as it was written, before the first answer."""

import re
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from runs_made import SCORER, make_run, right_at

from eyechart.errors import UsageError
from eyechart.runs.cells import read_table
from eyechart.runs.folders import Destination
from eyechart.runs.items import Items
from eyechart.runs.kept_plan import judge_plan
from eyechart.runs.registered import register
from eyechart.runs.registration import (
    Hypothesis,
    PlanTerms,
    kept_copy,
    make_plan,
    primary_hypotheses,
    read_plan,
    write_plan,
)
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.runs.summarise import estimate, score_table, summarise
from eyechart.views import PRESETS, format_view, resolve_views

VIEWS = ("original", "crop_3x", "whiteground_3x")
HYPOTHESES = (Hypothesis(condition="crop_3x", baseline="original", margin=0.3),)
TERMS = PlanTerms(prompt="plain@1", scorer=SCORER)


@pytest.fixture
def planned(make):
    """A plan for 60 questions, written an hour ago."""

    def build(hypotheses=HYPOTHESES, *, ago=timedelta(hours=1), n=60, **terms):
        benchmark = make.benchmark(make.question(index) for index in range(n))
        now = datetime.now(tz=UTC) - ago
        return make_plan(
            benchmark.identity, tuple(benchmark.questions()), VIEWS, hypotheses,
            terms=msgspec.structs.replace(TERMS, **terms), now=now,
        )  # fmt: skip

    return build


@pytest.fixture
def store(make, tmp_path):
    return make_run(make, tmp_path / "run", right_at({"crop_3x": 0.95}, default=0.4), views=",".join(VIEWS))


def registered(store, plan, begun_with=None):
    """The summary of a run that was begun with this plan, or another one, as read with this plan."""
    table = begin_with(read_table(store, SCORER), begun_with or plan)
    summary = estimate(table, SCORER, tuple(store.views()))
    keeping = judge_plan(plan, begun_with, table, SCORER)
    return read_with(plan, keeping, table, summary)


def read_with(plan, keeping, table, summary):
    items = Items(table=table, scorer=SCORER, views=(), lenient={}, keeping=keeping)
    return register(summary, items, plan, score_table(table, SCORER))


def begin_with(table, plan):
    sha256 = None if plan is None else plan.content_sha256
    return msgspec.structs.replace(table, run=msgspec.structs.replace(table.run, plan_sha256=sha256))


def test_what_is_planned_is_confirmatory_and_the_rest_exploratory(store, planned):
    summary = registered(store, planned())
    roles = {(one.condition, one.baseline): one.role for one in summary.contrasts}
    assert roles == {("crop_3x", "original"): "confirmatory", ("whiteground_3x", "original"): "exploratory"}
    assert not summary.registration.is_changed
    assert summary.registration.notes == ()
    (result,) = summary.registration.results
    assert result.contrast.p_adjusted == pytest.approx(result.contrast.p)
    assert result.contrast.family == "1 hypotheses of the plan"
    assert result.is_equivalent is False


def test_the_family_of_the_plan_decides_the_correction(store, planned):
    both = (*HYPOTHESES, Hypothesis(condition="whiteground_3x", baseline="original"))
    first, _ = registered(store, planned(both, correction="bonferroni")).registration.results
    assert first.contrast.p_adjusted == pytest.approx(min(1.0, 2 * first.contrast.p))


def test_a_plan_survives_the_disk_and_any_change_shows(store, planned, tmp_path):
    plan = planned()
    write_plan(plan, tmp_path / "plan.toml")
    assert read_plan(tmp_path / "plan.toml") == plan
    text = (tmp_path / "plan.toml").read_text()
    (tmp_path / "changed.toml").write_text(text.replace("margin = 0.3", "margin = 0.9"))
    changed = read_plan(tmp_path / "changed.toml")
    assert changed.is_changed
    summary = registered(store, changed)
    assert summary.registration.is_changed
    assert "its hash does not fit" in summary.registration.notes[0]
    assert not summary.registration.is_kept
    assert {one.role for one in summary.contrasts} == {"exploratory"}
    with pytest.raises(UsageError, match=re.escape("plan.toml exists")):
        write_plan(plan, tmp_path / "plan.toml")


def test_a_plan_written_after_the_first_answer_is_exploratory(store, planned):
    summary = registered(store, planned(ago=-timedelta(hours=1)))
    assert summary.registration.is_changed
    assert "after the first answer" in summary.registration.notes[0]


def test_a_rehashed_plan_differs_from_the_copy_of_the_run(store, planned):
    summary = registered(store, planned(alpha=0.1), begun_with=planned())
    assert summary.registration.is_changed
    assert summary.registration.notes == ("the run was started with another plan",)


def test_departures_from_the_plan_are_said(store, planned):
    notes = registered(store, planned(n=50, prompt="other@1")).registration.notes
    assert [note.partition(":")[0] for note in notes] == ["prompt", "number of questions", "question ids"]


def test_a_run_started_with_a_plan_keeps_it_and_every_summary_reads_it(make, tmp_path, planned):
    plan = planned()
    outcome = run_benchmark(
        make.benchmark(make.question(index) for index in range(60)),
        make.model(right_at({})),
        resolve_views(",".join(VIEWS))[0],
        make.prompt(),
        options=RunOptions(scorer="tiny_letter", where=Destination(out=tmp_path / "run"), registration=plan),
    )
    assert kept_copy(tmp_path / "run") == plan
    assert outcome.summary.registration.sha256 == plan.sha256
    assert summarise(outcome.store, SCORER) == outcome.summary
    assert any(finding.text.endswith("(confirmatory).") for finding in outcome.summary.findings)


def test_a_blocked_hypothesis_is_not_equivalent(store, planned):
    table = read_table(store, SCORER)
    index = table.conditions.index("crop_3x")
    cells = {
        key: msgspec.structs.replace(cell, prompt_sha256="x") if key[1] == index else cell
        for key, cell in table.cells.items()
    }
    plan = planned()
    table = begin_with(msgspec.structs.replace(table, cells=cells), plan)
    keeping = judge_plan(plan, plan, table, SCORER)
    summary = read_with(plan, keeping, table, estimate(table, SCORER, ()))
    (result,) = summary.registration.results
    assert result.contrast.blocked_by == ("DIFFERENT_PROMPTS",)
    assert result.is_equivalent is False


def test_a_view_that_was_not_asked_leaves_its_hypothesis_untested(make, tmp_path, planned):
    store = make_run(make, tmp_path / "run", right_at({}), views="original,whiteground_3x")
    summary = registered(store, planned())
    assert summary.registration.results[0].contrast is None
    assert summary.registration.notes == ("planned views that were not asked: crop_3x",)


def test_the_primary_family_of_sum_has_at_most_eight_and_no_negative_control():
    views = [format_view(view) for view in PRESETS["sum29-candidate-a"]]
    names = [one.name for one in primary_hypotheses(views)]
    assert names == [
        "distraction effect",
        "canvas effect",
        "in-crop context at original canvas",
        "resolution loss",
        "resolution loss",
    ]
    controls = primary_hypotheses(["crop_1x", "target_only_1x", "downsample_0_75"])
    assert [(one.condition, one.baseline) for one in controls] == [("downsample_0_75", "crop_1x")]


def test_no_asked_view_is_left_out_of_the_primary_family_of_a_small_study():
    found = primary_hypotheses(["original", "crop_3x", "downsample_0_5"])
    assert [(one.condition, one.baseline) for one in found] == [
        ("downsample_0_5", "original"),
        ("crop_3x", "original"),
    ]


@pytest.mark.parametrize(
    ("hypotheses", "message"),
    [
        ((), "a plan needs hypotheses"),
        (HYPOTHESES * 2, "a plan needs hypotheses, each once"),
        ((Hypothesis(condition="crop_6x", baseline="original"),), "not among the views to ask: crop_6x"),
    ],
)
def test_a_plan_that_cannot_be_tested_is_refused(planned, hypotheses, message):
    with pytest.raises(UsageError, match=message):
        planned(hypotheses)


@pytest.mark.parametrize(("n_absent", "is_equivalent"), [(0, True), (10, False)])
def test_views_with_other_questions_are_not_equivalent(store, planned, n_absent, is_equivalent):
    """What one side alone was asked could be different, so nothing is shown of the whole."""
    plan = planned((Hypothesis(condition="whiteground_3x", baseline="original", margin=0.6),))
    whole = begin_with(read_table(store, SCORER), plan)
    keeping, index = judge_plan(plan, plan, whole, SCORER), whole.conditions.index("whiteground_3x")
    cells = {key: cell for key, cell in whole.cells.items() if key[1] != index or key[0] >= n_absent}
    table = msgspec.structs.replace(whole, cells=cells)
    summary = read_with(plan, keeping, table, estimate(table, SCORER, ()))
    (result,) = summary.registration.results
    assert result.is_equivalent is is_equivalent
    assert ("SUBSET_MISMATCH" in result.contrast.warnings) == (n_absent > 0)
