"""A plan's looks: whole pictures in a random order, each look taken once and recorded, and repeated until the next."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_study import HYPOTHESES, N, Study
from runs_made import SCORER, right_at

from eyechart.errors import BadRequestError, StatisticsError, UsageError
from eyechart.runs.anonymous import cleaner_of
from eyechart.runs.anonymous_items import anonymise_items
from eyechart.runs.cells import read_table
from eyechart.runs.execute import LoopSettings, utc_now
from eyechart.runs.items import pack_items, read_items, unpack_items
from eyechart.runs.kept_plan import KeptPlan
from eyechart.runs.looking import look_at
from eyechart.runs.registration import picture_order
from eyechart.runs.spending import SpendingLimits
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import summarise_items
from eyechart.schema import ResponseState
from eyechart.stats.betting import BETTING_METHOD

LARGE = right_at({"crop_3x": 0.95, "original": 0.2}, default=0.3)
MIDDLING = right_at({"crop_3x": 0.55, "original": 0.4}, default=0.4)


@pytest.fixture
def study(make, tmp_path):
    return Study(make, tmp_path)


def until(n_requests):
    return LoopSettings(concurrency=1, spending=SpendingLimits(max_requests=n_requests))


def shown(summary):
    """Everything of a table that a reader would read a claim from."""
    return [summary.contrasts, summary.findings, summary.registration.results, summary.estimates, summary.n_questions]


@pytest.mark.parametrize("seed", [0, 7])
def test_a_plan_with_looks_asks_whole_pictures_in_an_order_that_its_seed_draws(study, seed):
    asked = []

    def script(ask):
        asked.append(ask.identity.question_id)
        return LARGE(ask)

    study.run(study.plan(looks=2, seed=seed), script=script, loop=until(45))
    study.run(None, scorer=None, script=script)
    groups = {question.id: question.image_group for question in study.benchmark().questions()}
    order = picture_order(groups.values(), seed)
    assert list(dict.fromkeys(groups[name] for name in asked)) == list(order) != list(groups.values())
    assert picture_order(groups.values(), 0) != picture_order(groups.values(), 7)


def test_looks_are_taken_recorded_and_repeated_until_the_next_one_is_due(study):
    plan = study.plan(looks=5)
    early = study.run(plan, script=LARGE, loop=until(3 * 20))
    assert {one.standing for one in early.contrasts} == {"interim"}
    assert early.registration.look is None
    assert any("none is due yet" in line for line in early.warnings)
    second = study.run(plan, script=LARGE, loop=until(3 * 20 + 1))
    look = second.registration.look
    assert (look.number, look.n_looks, look.n_pictures, look.n_pictures_planned) == (2, 5, 40, N)
    assert look.alpha == pytest.approx(0.001, abs=2e-4)
    first = second.registration.results[0].contrast
    assert (first.n_questions, first.standing, first.claimed) == (40, "confirmatory", True)
    assert first.p_adjusted < 0.05 < first.low
    assert first.family == "2 hypotheses of the plan, look 2 of 5"
    assert {one.n_questions for one in second.estimates} == {40}
    assert any(line.startswith("look 2 of 5, taken ") for line in second.warnings)
    assert not any(line.startswith("interim") for line in second.warnings)
    later = study.run(None, scorer=None, script=LARGE, loop=until(3 * 6))
    assert shown(later) == shown(second)
    third = study.run(None, scorer=None, script=LARGE, loop=until(3 * 6))
    assert (third.registration.look.number, third.registration.look.n_pictures) == (3, 52)
    last = study.run(None, scorer=None, script=LARGE)
    assert (last.registration.look.number, last.registration.look.n_pictures) == (5, N)
    spent = [one.alpha for one in RunStore(study.folder).looks()]
    assert sum(spent) == pytest.approx(0.05)
    assert last.registration.results[0].contrast.claimed
    assert last.registration.is_kept, last.registration.notes


def test_a_look_needs_a_smaller_p_than_the_end(study):
    """p = 0.02 of two hypotheses is no claim at a look that spends a thousandth."""
    look = study.run(study.plan(looks=5), script=MIDDLING, loop=until(3 * 60)).registration
    for one in look.results:
        assert one.contrast.p_adjusted == pytest.approx(
            min(1.0, _holm(look, one.contrast) * 0.05 / look.look.alpha), rel=1e-6
        )
        assert one.contrast.claimed == (one.contrast.p_adjusted < 0.05 and one.contrast.excludes_0)


def _holm(registration, contrast):
    p = sorted(one.contrast.p for one in registration.results)
    return min(1.0, 2 * p[0] if contrast.p == p[0] else max(2 * p[0], p[1]))


def test_a_run_that_nobody_looked_at_before_its_end_has_the_whole_error_rate_left(study):
    summary = study.run(study.plan(looks=5), script=MIDDLING)
    assert summary.registration.look.alpha == pytest.approx(0.05)
    one = summary.registration.results[0].contrast
    assert one.p_adjusted == pytest.approx(_holm(summary.registration, one))


def test_a_look_that_cannot_be_recorded_is_interim(study):
    plan = study.plan(looks=5)
    study.run(plan, script=LARGE, loop=until(3))
    (study.folder / "looks").write_text("in the way")
    summary = study.run(plan, script=LARGE, loop=until(3 * 50))
    assert {one.standing for one in summary.contrasts} == {"interim"}
    assert not any(one.claimed for one in summary.contrasts)
    assert any("cannot be recorded, so it is not taken" in line for line in summary.warnings)
    assert study.run(plan, script=LARGE).registration.results[0].contrast.claimed  # none follows the last one


def test_a_plan_that_was_not_kept_takes_no_look(study):
    summary = study.run(study.plan(looks=5), script=LARGE, name="large", loop=until(3 * 50))
    assert {one.standing for one in summary.contrasts} == {"interim"}
    assert not (study.folder / "looks").exists()
    whole = study.run(None, scorer=None, script=LARGE, name="large")
    assert whole.registration.look.alpha == pytest.approx(0.05)
    assert {one.standing for one in whole.contrasts} == {"exploratory"}


def test_a_later_answer_to_what_was_given_up_changes_nothing_in_a_look(study):
    """Asking again what the plan allows to be asked again would have been a second look at other data."""
    plan = study.plan(looks=5, ask_again=("bad_request",))
    failing = {"q003", "q005", "q011", "q012"}

    def script(ask):
        if ask.identity.question_id in failing and ask.identity.condition == "original":
            return BadRequestError("HTTP 400: this one is odd")
        return LARGE(ask)

    before = study.run(plan, script=script, loop=until(3 * 50))
    look = before.registration.look
    assert look is not None
    (recorded,) = RunStore(study.folder).looks()
    assert {name for name, _, _ in recorded.unanswered} <= failing
    assert recorded.unanswered
    after = study.run(plan, script=LARGE, loop=until(4), ask_again=(ResponseState.BAD_REQUEST,))
    assert (after.registration.look, after.estimates) == (look, before.estimates)
    assert after.contrasts == before.contrasts


def test_questions_that_are_taken_out_after_the_last_look_make_it_exploratory_and_no_more(study):
    """The look names a question that is gone."""

    def script(ask):
        if ask.identity.question_id == "q003" and ask.identity.condition == "original":
            return BadRequestError("HTTP 400: this one is odd")
        return LARGE(ask)

    plan = study.plan(looks=5)
    assert study.run(plan, script=script).registration.is_kept
    (recorded,) = RunStore(study.folder).looks()
    assert [name for name, _, _ in recorded.unanswered] == ["q003"]
    rest = study.make.benchmark(study.make.question(index) for index in range(N) if index != 3)
    summary = study.run(plan, benchmark=rest, script=LARGE)
    assert {one.standing for one in summary.contrasts} == {"exploratory"}
    assert (summary.n_questions, summary.registration.look.n_pictures) == (N - 1, N - 1)
    assert summary.registration.look.alpha == pytest.approx(0.05)


def test_what_a_report_carries_shows_the_same_look(study):
    summary = study.run(study.plan(looks=2), script=LARGE, loop=until(3 * 50))
    items = read_items(RunStore(study.folder), SCORER)
    again = summarise_items(unpack_items(pack_items(items), "here"))
    assert shown(again) == shown(summary)
    assert again.warnings == summary.warnings
    hidden = anonymise_items(items, cleaner_of(summary, ("tiny", "sign")))
    assert [one.contrast.p_adjusted for one in summarise_items(hidden).registration.results] == [
        one.contrast.p_adjusted for one in summary.registration.results
    ]


@pytest.mark.parametrize("looks", [1, 51, 81])
def test_looks_that_cannot_be_planned_are_refused(study, looks):
    with pytest.raises(StatisticsError, match="look"):
        study.plan(looks=looks)


def test_looks_at_questions_that_may_change_are_refused(study):
    with pytest.raises(UsageError, match="looks lie at fixed parts of questions that may change"):
        study.plan(looks=5, may_grow=True)


_KNOWN = {}


def _asked_once(make, homes):
    if not _KNOWN:
        study = Study(make, homes.mktemp("looked"))
        study.run(study.plan(hypotheses=HYPOTHESES[:1]))
        _KNOWN["table"] = read_table(RunStore(study.folder), SCORER)
        _KNOWN["study"] = study
    return _KNOWN["table"], _KNOWN["study"]


@given(
    ends=st.lists(st.integers(0, N), min_size=1, max_size=6),
    n_looks=st.integers(2, 9),
    gap=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_looks_never_spend_more_than_the_plan_and_never_go_back(ends, n_looks, gap, make_once, tmp_path_factory):
    """However far the run has come whenever a table is made."""
    table, study = _asked_once(make_once, tmp_path_factory)
    plan = study.plan(looks=n_looks)
    order = picture_order(table.image_groups, 0)
    home = tmp_path_factory.mktemp("store")
    (home / "run.json").write_bytes((study.folder / "run.json").read_bytes())
    store = RunStore(home)
    numbers = []
    for end in sorted(ends):
        done = set(order[:end]) | (set(order[end + 1 :]) if gap else set())
        cells = {
            slot: cell
            if table.questions[slot[0]].image_group in done
            else msgspec.structs.replace(cell, ending=None, verdict=None)
            for slot, cell in table.cells.items()
        }
        so_far = msgspec.structs.replace(table, cells=cells)
        look = look_at(store, so_far, plan, KeptPlan(), now=utc_now()).look
        if look is None:
            continue
        assert look.n_pictures <= (N if so_far.is_finished else end)
        assert look.number * N <= n_looks * look.n_pictures
        assert look.alpha > 0.0
        numbers.append(look.number)
    assert numbers == sorted(numbers)
    assert sum(one.alpha for one in store.looks()) <= plan.alpha * (1 + 1e-9)


def test_a_plan_for_any_time_shows_and_claims_what_is_finished_so_far(study):
    plan = study.plan(anytime=True)
    summary = study.run(plan, script=LARGE, loop=until(3 * 50))
    look = summary.registration.look
    assert (look.number, look.n_looks, look.n_pictures, look.alpha) == (0, 0, 50, 0.05)
    one = summary.registration.results[0].contrast
    assert (one.standing, one.claimed, one.n_questions) == ("confirmatory", True, 50)
    assert one.method == BETTING_METHOD
    (same,) = [c for c in summary.contrasts if c.condition == "crop_3x"]
    assert (same.method, same.p_method, same.p) == (one.method, one.p_method, one.p)
    assert one.p_adjusted < 0.05 < one.low < one.value < one.high
    assert any(
        "as the plan allows at any time: everything here is of the first 50 of 80" in w for w in summary.warnings
    )
    assert not (study.folder / "looks").exists()
    later = study.run(plan, script=LARGE, loop=until(3 * 10)).registration
    assert later.look.n_pictures == 60
    assert later.results[0].contrast.p <= one.p
    assert study.run(plan, script=LARGE).registration.look.n_pictures == N


def test_a_plan_for_any_time_that_was_not_kept_is_interim_until_the_end(study):
    plan = study.plan(anytime=True)
    summary = study.run(plan, script=LARGE, name="large", loop=until(3 * 50))
    assert {one.standing for one in summary.contrasts} == {"interim"}
    whole = study.run(plan, script=LARGE, name="large")
    assert {one.standing for one in whole.contrasts} == {"exploratory"}
    assert whole.registration.results[0].contrast.method == BETTING_METHOD


def test_what_does_not_go_with_looking_at_any_time_is_refused(study):
    with pytest.raises(UsageError, match="a plan has looks, or may be looked at at any time"):
        study.plan(anytime=True, looks=2)
    with pytest.raises(UsageError, match="looks lie at fixed parts of questions that may change"):
        study.plan(anytime=True, may_grow=True)
    with pytest.raises(UsageError, match="no test of equivalence that holds at any time"):
        study.plan(anytime=True, hypotheses=[msgspec.structs.replace(HYPOTHESES[0], margin=0.1)])
