"""Looks at a run that is not finished: each shows whole pictures in the order of the plan, and is taken once."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile

import msgspec

from eyechart.errors import StatisticsError, StoreError
from eyechart.runs.cells import Ending, RunTable, Slot
from eyechart.runs.kept_plan import KeptPlan
from eyechart.runs.registration import StudyPlan, looks_of, picture_order
from eyechart.runs.store import RunStore
from eyechart.schema import LookTaken, Request, ResponseState


class Looking(msgspec.Struct, frozen=True):
    """The look that a table shows, if any, and why there is none although the plan has looks."""

    look: LookTaken | None = None
    note: str = ""


def in_order(plan: StudyPlan | None, pictures: Sequence[str], requests: Sequence[Request]) -> tuple[Request, ...]:
    """Return requests in the order in which they are asked: that of the plan's pictures where it has looks.

    Args:
        plan: The plan that the run was started with, if any.
        pictures: (n_requests,) the picture, or group of pictures, that each request is about.
        requests: The requests, those of one picture together.
    """
    if plan is None or not plan.allows_looking:
        return tuple(requests)
    place = {name: at for at, name in enumerate(picture_order(pictures, plan.seed or 0))}
    return tuple(one for _, one in sorted(zip(pictures, requests, strict=True), key=lambda pair: place[pair[0]]))


def look_at(store: RunStore, table: RunTable, plan: StudyPlan, keeping: KeptPlan, *, now: datetime) -> Looking:
    """Return the look that a table shows; take the one that is due.

    The first table after a fraction of the information takes its look, at the longest beginning of finished pictures,
    and records it in the run folder; later tables repeat it until the next one is due. A look that was never taken
    leaves its part of the error rate to the next. Where a look cannot be recorded, or the plan was not kept, the table
    of an unfinished run is interim. The last look is at the whole run; since none follows, it needs no record. Where
    the plan allows looking at any time, the longest beginning of finished pictures is shown and nothing is recorded.

    Args:
        store: The run folder.
        table: The run, with its own names.
        plan: The plan that the run is read with.
        keeping: Whether it counts and was kept.
        now: The present, with a time zone.
    """
    if not plan.allows_looking or not keeping.counts or not (keeping.is_kept or table.is_finished):
        return Looking()
    if plan.anytime:
        look = _look(table, plan, 0, plan.alpha, now)
        return Looking(look if look.n_pictures else None)
    try:
        return _take(store, table, plan, keeping, now)
    except StatisticsError as error:  # a matched design left questions out
        return Looking(note=f"no look can be taken: {error}")


def _take(store: RunStore, table: RunTable, plan: StudyPlan, keeping: KeptPlan, now: datetime) -> Looking:
    """Return the look that is due, recorded, or the one before where none is."""
    taken = store.looks()
    if not keeping.is_kept:  # its pictures may be others than those of the looks before
        left = plan.alpha - sum(one.alpha for one in taken if one.number < plan.looks)
        return Looking(_look(table, plan, plan.looks, left, now))
    newest, due = taken[-1] if taken else None, _due_look(table, plan, taken, now)
    if due is None or (newest is not None and due.number <= newest.number):
        return Looking(newest, "the plan has looks, and none is due yet" if newest is None else "")
    try:
        return Looking(store.keep_look(due))
    except StoreError as error:
        note = "" if due.number == plan.looks else f"look {due.number} cannot be recorded, so it is not taken: {error}"
        return Looking(None if note else due, note)


def _due_look(table: RunTable, plan: StudyPlan, taken: Sequence[LookTaken], now: datetime) -> LookTaken | None:
    """Return the latest look whose pictures are finished, with what the looks before it have left to spend."""
    number, allowed = plan.looks, plan.alpha
    if not table.is_finished:
        looks, n_done = looks_of(plan, table.image_groups), len(_finished(table, plan))
        number = max((at for at, look in enumerate(looks, 1) if look.alpha and look.n_pictures <= n_done), default=0)
        allowed = sum(look.alpha for look in looks[:number])
    return _look(table, plan, number, allowed - sum(one.alpha for one in taken), now) if number else None


def _look(table: RunTable, plan: StudyPlan, number: int, alpha: float, now: datetime) -> LookTaken:
    """Return a look at the longest beginning of finished pictures."""
    shown, sizes = _finished(table, plan), Counter(table.image_groups)
    return LookTaken(
        number=number,
        n_looks=plan.looks,
        n_pictures=len(shown),
        n_pictures_planned=len(sizes),
        alpha=alpha,
        taken_at=now.isoformat(timespec="seconds"),
        plan_sha256=plan.sha256,
        most_questions=max(sizes.values()),
        unanswered=tuple(
            (table.questions[slot[0]].id, table.conditions[slot[1]], slot[2])
            for slot, cell in table.cells.items()
            if not cell.is_answered and table.questions[slot[0]].image_group in shown
        ),
    )


def _finished(table: RunTable, plan: StudyPlan) -> frozenset[str]:
    """Return the longest beginning of pictures, in the order of the plan, whose requests are all finished."""
    waits = {table.questions[slot[0]].image_group for slot, cell in table.cells.items() if cell.is_open}
    order = picture_order(table.image_groups, plan.seed or 0)
    return frozenset(takewhile(lambda name: table.is_finished or name not in waits, order))


def as_it_was(table: RunTable, plan: StudyPlan, look: LookTaken) -> tuple[tuple[int, ...], RunTable]:
    """Return which questions a look shows, by index, and the table of these as it was when the look was taken."""
    shown = frozenset(picture_order(table.image_groups, plan.seed or 0)[: look.n_pictures])
    kept = tuple(at for at, question in enumerate(table.questions) if question.image_group in shown)
    table = table.only_questions(kept)
    question_at = {question.id: at for at, question in enumerate(table.questions)}
    condition_at = {name: at for at, name in enumerate(table.conditions)}
    cells = dict(table.cells)
    for question, condition, number in look.unanswered:
        slot: Slot = (question_at[question], condition_at[condition], number)
        if cells[slot].is_answered or cells[slot].is_open:
            cells[slot] = msgspec.structs.replace(cells[slot], ending=Ending(ResponseState.TRANSIENT), verdict=None)
    return kept, msgspec.structs.replace(table, cells=cells)
