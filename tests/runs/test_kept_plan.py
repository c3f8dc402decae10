"""One departure from a plan makes every result exploratory, with the reason; the family keeps the planned size."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_study import HYPOTHESES, VIEWS, N, Study
from runs_made import SCORER, right_at

from eyechart.errors import UsageError
from eyechart.opening import open_scorer
from eyechart.registry import load_plugin
from eyechart.runs.anonymous import cleaner_of
from eyechart.runs.anonymous_items import anonymise_items
from eyechart.runs.cells import read_table
from eyechart.runs.execute import LoopSettings
from eyechart.runs.items import pack_items, read_items, unpack_items
from eyechart.runs.kept_plan import judge_plan
from eyechart.runs.plan import PlanOptions
from eyechart.runs.registration import Hypothesis, StudyPlan, read_plan, write_plan
from eyechart.runs.score import score_run
from eyechart.runs.spending import SpendingLimits
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import summarise, summarise_items
from eyechart.schema import ModelIdentity


@pytest.fixture
def study(make, tmp_path):
    return Study(make, tmp_path)


def standings(summary):
    return {one.standing for one in (*summary.contrasts, *summary.effects)} - {"conditional"}


def is_exploratory(summary, reason):
    """Nothing is called confirmatory, and the reason stands in the warnings, the notes and nowhere else in doubt."""
    assert "confirmatory" not in standings(summary), reason
    assert {one.role for one in summary.contrasts} == {"exploratory"}
    assert all("(confirmatory)" not in finding.text for finding in summary.findings)
    assert summary.registration.is_kept is False
    assert any(reason in note for note in summary.registration.notes), summary.registration.notes
    assert sum(reason in line for line in summary.warnings) == 1
    return True


def test_a_kept_plan_is_confirmatory_and_gives_no_warning(study):
    summary = study.run(study.plan())
    assert summary.registration.is_kept
    assert summary.registration.notes == ()
    assert not any("plan" in line for line in summary.warnings)
    assert [one.contrast.standing for one in summary.registration.results] == ["confirmatory"] * 2
    assert summary.registration.results[0].contrast.claimed


def test_a_scorer_chosen_afterwards_is_exploratory(study, tmp_path):
    study.run(study.plan())
    other = tmp_path / "other.py"
    other.write_text(
        "from eyechart.schema import Score\n"
        "class Kind:\n"
        "    name, version, modes = 'kind_letter', 1, ('strict',)\n"
        "    def score(self, response, question, choices, gold, mode):\n"
        "        return Score(request_id=response.request_id, scorer='kind_letter.strict@1', value=1.0)\n"
        "EYECHART = {'scorer': {'kind_letter': Kind}}\n"
    )
    load_plugin(other)
    store = RunStore(study.folder)
    summary = summarise(store, score_run(store, *open_scorer("kind_letter")))
    assert is_exploratory(summary, f"scorer: planned {SCORER}, found kind_letter.strict@1")


def test_a_run_started_without_a_plan_cannot_be_read_with_one_that_lay_ready(study):
    """Of two plans that lie ready, the better one would be chosen; and a plan of one hypothesis shrinks no family."""
    without = study.run(None)
    one = study.plan(hypotheses=HYPOTHESES[:1])
    store = RunStore(study.folder)
    for plan in (one, study.plan(hypotheses=HYPOTHESES[1:])):
        summary = summarise(store, SCORER, plan)
        assert is_exploratory(summary, "the run was started without a plan")
        for contrast in without.contrasts:
            (same,) = [c for c in summary.contrasts if (c.condition, c.baseline) == (contrast.condition, "original")]
            assert (same.p_adjusted, same.claimed) == (contrast.p_adjusted, contrast.claimed)
        for result in summary.registration.results:
            (same,) = [c for c in without.contrasts if c.condition == result.condition]
            assert result.contrast.p_adjusted == same.p_adjusted
    assert is_exploratory(summarise(store, SCORER, one), "the run was started without a plan")


def test_a_plan_that_comes_with_a_later_start_does_not_count(study):
    study.run(None)
    assert is_exploratory(study.run(study.plan()), "the run was started without a plan")


def test_another_plan_than_the_one_begun_with_does_not_count(study):
    study.run(study.plan())
    summary = study.run(study.plan(alpha=0.1))
    assert is_exploratory(summary, "the run was started with another plan")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"benchmark": (40,)}, "number of questions: planned 80, found 40"),
        ({"views": "original,crop_3x"}, "planned views that were not asked: whiteground_3x"),
        ({"views": f"{VIEWS},blank"}, "views that were asked and not planned: blank"),
        ({"asked": PlanOptions(limit=35, seed=3)}, "limit: planned all questions, found 35 questions"),
        ({"asked": PlanOptions(seed=3)}, "seed: planned 0, found 3"),
        ({"asked": PlanOptions(repeats=2)}, "repeats: planned 1, found 2"),
        ({"name": "large"}, "model: planned scripted/tiny, found scripted/large"),
        ({"benchmark": (N, 1)}, "question ids: planned"),
    ],
)
def test_every_departure_is_exploratory_with_its_reason(study, changes, reason):
    if "benchmark" in changes:
        changes = {"benchmark": study.benchmark(*changes["benchmark"])}
    assert is_exploratory(study.run(study.plan(), **changes), reason)


def test_the_same_ids_with_other_texts_or_answers_are_other_questions(study):
    plan = study.plan()
    asked = [study.make.question(index) for index in range(N)]
    asked[7] = msgspec.structs.replace(asked[7], answer="B")
    summary = study.run(plan, benchmark=study.make.benchmark(asked))
    assert is_exploratory(summary, "what the questions ask: planned")


def test_a_limit_and_seed_of_the_plan_that_are_kept_are_confirmatory(study):
    summary = study.run(study.plan(limit=60, seed=3), asked=PlanOptions(limit=60, seed=3))
    assert summary.registration.is_kept, summary.registration.notes


def test_the_family_keeps_the_planned_size_where_fewer_contrasts_are_computed(study):
    """With two of three views asked, the Holm family shrank to what was left."""
    raw = study.run(study.plan(), views="original,crop_3x").registration.results
    assert raw[1].contrast is None
    assert raw[0].contrast.p_adjusted == pytest.approx(2 * raw[0].contrast.p)
    assert raw[0].contrast.family == "2 hypotheses of the plan"


def test_an_unfinished_run_with_a_plan_is_interim_and_claims_nothing(study):
    bound = LoopSettings(spending=SpendingLimits(max_requests=43 * 3))
    summary = study.run(study.plan(), script=right_at({"crop_3x": 1.0}, default=0.1), loop=bound)
    assert standings(summary) == {"interim"}
    assert not any(one.claimed for one in summary.contrasts)
    assert summary.findings == ()
    whole = study.run(study.plan(ago=timedelta(hours=2)), script=right_at({"crop_3x": 1.0}, default=0.1))
    assert is_exploratory(whole, "the run was started with another plan")


def test_a_resumed_run_keeps_its_plan_without_naming_it_again(study):
    bound = LoopSettings(spending=SpendingLimits(max_requests=30))
    plan = study.plan()
    assert standings(study.run(plan, loop=bound)) == {"interim"}
    summary = study.run(None, scorer=None)
    assert summary.registration.is_kept, summary.registration.notes


def test_answers_of_a_file_may_be_older_than_any_plan(study):
    study.run(study.plan())
    plan = study.plan()
    table = read_table(RunStore(study.folder), SCORER)
    replayed = msgspec.structs.replace(
        table.run, model=ModelIdentity("replay", "answers.jsonl", fingerprint="f"), plan_sha256=plan.content_sha256
    )
    keeping = judge_plan(plan, plan, msgspec.structs.replace(table, run=replayed), SCORER)
    assert keeping.against == (
        "the answers were read from a file, so nothing tells whether the plan is older than they are",
    )


def test_an_answer_whose_time_cannot_be_read_proves_no_plan_older(study):
    plan = study.plan()
    study.run(plan)
    table = read_table(RunStore(study.folder), SCORER)
    key, cell = next(iter(table.cells.items()))
    for time in ("2999-01-01 at noon", "2999-01-01T12:00:00"):
        ending = msgspec.structs.replace(cell.ending, finished_at=time)
        table.cells[key] = msgspec.structs.replace(cell, ending=ending)
        (reason,) = judge_plan(plan, plan, table, SCORER).against
        assert reason.startswith("nothing tells whether the plan is older")


def test_what_a_report_carries_says_the_same_of_the_plan(study):
    summary = study.run(study.plan())
    items = read_items(RunStore(study.folder), SCORER)
    again = summarise_items(unpack_items(pack_items(items), "here"))
    assert again.registration == summary.registration
    hidden = anonymise_items(items, cleaner_of(summary, ("tiny", "sign")))
    assert summarise_items(hidden).registration.is_kept


def test_a_plan_written_by_an_earlier_version_keeps_its_hash_and_is_read():
    """Fields that came later leave the hash of older plans as it was."""
    plan = StudyPlan(
        written_at="2026-12-01T00:00:00+00:00", benchmark="b", revision="r", questions_sha256="q", n_questions=3,
        n_pictures=2, views=("original", "crop_3x"), prompt="p@1", scorer="s@1",
        hypothesis=(Hypothesis(condition="crop_3x", baseline="original", margin=0.1),),
    )  # fmt: skip
    assert plan.content_sha256 == "6cbedc7476c773271aa3a0173e771464fee1124a358e7e7f184b4f14a966c225"


def test_a_plan_without_hypotheses_is_refused_in_words(tmp_path, study):
    path = tmp_path / "plan.toml"
    write_plan(study.plan(), path)
    path.write_text(path.read_text().partition("[[hypothesis]]")[0])
    with pytest.raises(UsageError, match="names no hypothesis"):
        read_plan(path)


FIELDS = st.sampled_from(
    [
        ("prompt", "other@1"), ("scorer", "other@1"), ("n_questions", 79), ("questions_sha256", "0" * 64),
        ("contents_sha256", "0" * 64), ("views", ("original", "crop_3x")), ("models", ("scripted/large",)),
        ("limit", 80), ("seed", 1), ("repeats", 2), ("transport", "jpeg95@1"), ("benchmark", "other"),
        ("revision", "r2"), ("alpha", 0.01), ("written_at", "2999-01-01T00:00:00+00:00"),
    ]
)  # fmt: skip


@given(changes=st.lists(FIELDS, max_size=3, unique_by=lambda pair: pair[0]))
@settings(max_examples=40, deadline=None)
def test_a_plan_is_kept_exactly_where_nothing_differs(changes, make_once, tmp_path_factory):
    table, plan = _asked_once(make_once, tmp_path_factory)
    other = msgspec.structs.replace(plan, **dict(changes))
    if changes:
        other = msgspec.structs.replace(other, sha256=other.content_sha256)
    begun = msgspec.structs.replace(table.run, plan_sha256=other.sha256)  # the run was begun with this very plan
    keeping = judge_plan(other, other, msgspec.structs.replace(table, run=begun), SCORER)
    differing = [name for name, _ in changes if name != "alpha"]  # any level may be planned
    assert keeping.is_kept == (not differing)
    assert len(keeping.notes) >= len({"ids" if "sha256" in name else name for name in differing} - {"revision"})


_KNOWN = {}


def _asked_once(make, homes):
    if not _KNOWN:
        study = Study(make, homes.mktemp("kept"))
        plan = study.plan()
        study.run(plan)
        _KNOWN["table"], _KNOWN["plan"] = read_table(RunStore(study.folder), SCORER), plan
    return _KNOWN["table"], _KNOWN["plan"]
