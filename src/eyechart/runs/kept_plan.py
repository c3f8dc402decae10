"""Whether a plan counts for a run, and in what the run departs from it: what makes its results confirmatory or not."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import inf

import msgspec

from eyechart.runs.cells import RunTable, hash_contents
from eyechart.runs.registration import StudyPlan, hash_ids
from eyechart.schema import Run

_SHOWN_LETTERS = 12
# Models whose answers were given before the run, at times that nobody recorded.
_GIVEN_BEFORE = frozenset({"replay", "imported"})


class KeptPlan(msgspec.Struct, frozen=True):
    """How a run stands to a plan.

    Args:
        against: Why the plan does not count at all, in words; empty where it does.
        departures: In what the run departs from it, in words.
    """

    against: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether the plan was fixed before the first answer, so that its family is the headline."""
        return not self.against

    @property
    def is_kept(self) -> bool:
        """Whether the plan counts and the run departs from it in nothing."""
        return not self.against and not self.departures

    @property
    def notes(self) -> tuple[str, ...]:
        """Everything against calling the results confirmatory."""
        return (*self.against, *self.departures)


def judge_plan(plan: StudyPlan, copy: StudyPlan | None, table: RunTable, scorer: str) -> KeptPlan:
    """Return whether a plan counts for a run, and in what the run departs from it.

    It counts if its hash fits, ``run.json`` holds that hash, and it is older than the first answer. Everything that it
    names must then be what was asked and scored: one departure makes every result exploratory.

    Args:
        plan: The plan that the run is read with.
        copy: The plan that the run folder keeps, if any.
        table: The run, with its own names.
        scorer: Scorer of the results.
    """
    return KeptPlan(
        tuple(_against(plan, copy, table)), (*_setting_departures(plan, table.run), *_departures(plan, table, scorer))
    )


def foresee_departures(plan: StudyPlan, run: Run) -> tuple[str, ...]:
    """Return what can be said of a run before anything is asked: why its results will not be confirmatory."""
    against = [_CHANGED] if plan.is_changed else []
    return (*against, *_begun_with(plan, run), *_setting_departures(plan, run))


_CHANGED = "a value of the plan was changed after it was written: its hash does not fit"


def _against(plan: StudyPlan, copy: StudyPlan | None, table: RunTable) -> Iterable[str]:
    if plan.is_changed:
        yield _CHANGED
    begun = list(_begun_with(plan, table.run))
    yield from begun
    if copy is not None and copy.sha256 != plan.sha256 and not begun and not plan.is_changed:
        yield "the run folder keeps another plan"
    if table.run.model.provider in _GIVEN_BEFORE:
        yield "the answers were read from a file, so nothing tells whether the plan is older than they are"
    elif (first := _first_answer(table)) is not None:
        if (is_older := _is_older(plan.written_at, first)) is None:
            yield f"nothing tells whether the plan is older than the first answer: {plan.written_at!r}, {first!r}"
        elif not is_older:
            yield f"the plan was written at {plan.written_at}, after the first answer ({first})"


def _begun_with(plan: StudyPlan, run: Run) -> Iterable[str]:
    """Say that the run was begun without this plan; an edited plan is told apart by its own hash."""
    if run.plan_sha256 is None:
        yield "the run was started without a plan: run.json holds the hash of none"
    elif run.plan_sha256 != plan.content_sha256 and not plan.is_changed:
        yield "the run was started with another plan"


def _setting_departures(plan: StudyPlan, run: Run) -> tuple[str, ...]:
    """Say in which settings a run is not the one that was planned; an older plan names fewer of them."""
    found: dict[str, tuple[object, object]] = {
        "benchmark": (
            f"{plan.benchmark} {plan.revision[:_SHOWN_LETTERS]}",
            f"{run.benchmark.name} {run.benchmark.revision[:_SHOWN_LETTERS]}",
        ),
        "prompt": (plan.prompt, run.prompt_id),
    }
    if plan.may_grow and plan.benchmark == run.benchmark.name:
        del found["benchmark"]  # the content hash of the questions is expected to change
    if plan.seed is not None:
        found["limit"] = (_whole(plan.limit), _whole(run.limit))
        found["seed"] = (plan.seed, run.seeds.get("limit", plan.seed))
    if plan.repeats:
        found["repeats"] = (plan.repeats, run.n_repeats)
    if plan.transport:
        found["transport"] = (plan.transport, run.transport)
    notes = [_differ(name, *pair) for name, pair in found.items() if pair[0] != pair[1]]
    if plan.models and run.model.spec not in plan.models:
        notes.append(_differ("model", " or ".join(plan.models), run.model.spec))
    return tuple(notes)


def _whole(limit: int | None) -> str:
    return "all questions" if limit is None else f"{limit} questions"


def _differ(name: str, planned: object, found: object) -> str:
    return f"{name}: planned {planned}, found {found}"


def _departures(plan: StudyPlan, table: RunTable, scorer: str) -> Iterable[str]:
    """Say in what the questions, views, scores and history of a run are not what was planned."""
    if plan.scorer != scorer:
        yield _differ("scorer", plan.scorer, scorer)
    yield from _question_departures(plan, table)
    lacking = [view for view in plan.views if view not in table.conditions]
    beyond = [view for view in table.conditions if view not in plan.views]
    if lacking:
        yield f"planned views that were not asked: {', '.join(lacking)}"
    if beyond:
        yield f"views that were asked and not planned: {', '.join(beyond)}"
    if table.run.n_plans > 1 and not plan.may_grow:
        yield "the questions were changed after the run had begun"
    if again := _asked_again(table, plan.ask_again):
        states = ", ".join(f"{n} {state}" for state, n in sorted(again.items()))
        yield f"final errors were asked again, which the plan does not allow: {states}"


def _question_departures(plan: StudyPlan, table: RunTable) -> Iterable[str]:
    if plan.may_grow and table.run.n_plans > 1:
        return
    unmatched = [one.question_id for one in table.run.matching.unmatched] if table.run.matching else []
    ids = [*(question.id for question in table.questions), *dict.fromkeys(unmatched)]
    if plan.n_questions != len(ids):
        yield _differ("number of questions", plan.n_questions, len(ids))
    if plan.questions_sha256 != (found := hash_ids(ids)):
        yield _differ("question ids", plan.questions_sha256[:_SHOWN_LETTERS], found[:_SHOWN_LETTERS])
    elif plan.contents_sha256 and not unmatched and plan.contents_sha256 != (found := hash_contents(table.questions)):
        yield _differ("what the questions ask", plan.contents_sha256[:_SHOWN_LETTERS], found[:_SHOWN_LETTERS])


def _asked_again(table: RunTable, allowed: Iterable[str]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for cell in table.cells.values():
        state = "" if cell.ending is None else cell.ending.asked_again
        if state and state not in allowed:
            counts[state] = counts.get(state, 0) + 1
    return counts


def _first_answer(table: RunTable) -> str | None:
    """Return when the first answer came; a time that cannot be read, or has no zone, comes before all others."""
    endings = (cell.ending for cell in table.cells.values())
    told = [ending.finished_at for ending in endings if ending is not None and ending.finished_at]
    return min(told, key=_seconds, default=None)


def _seconds(text: str) -> float:
    found = _time(text)
    return -inf if found is None else found.timestamp()


def _is_older(written: str, answered: str) -> bool | None:
    """Whether a plan is older than an answer, None where one of the times cannot be read or has no zone."""
    times = _time(written), _time(answered)
    return None if times[0] is None or times[1] is None else times[0] <= times[1]


def _time(text: str) -> datetime | None:
    """Return an ISO time with a zone, None for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if found.tzinfo is None else found
