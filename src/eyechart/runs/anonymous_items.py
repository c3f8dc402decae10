"""The answers of a run without names of people, machines, folders, servers and organisations."""

from collections.abc import Iterable, Mapping

import msgspec

from eyechart.runs.anonymous import Cleaner
from eyechart.runs.cells import AskedQuestion, Cell, RunTable
from eyechart.runs.items import Items
from eyechart.runs.kept_plan import KeptPlan
from eyechart.runs.registration import StudyPlan
from eyechart.schema import ViewImage


class Renamed(msgspec.Struct, frozen=True):
    """How the texts of a run's questions and answers are shown: what differs stays different."""

    ids: Mapping[str, str]
    groups: Mapping[str, str]
    bases: Mapping[str, str]
    tasks: Mapping[str, str]
    sources: Mapping[str, str]
    answers: Mapping[str, str]


def rename(table: RunTable, cleaner: Cleaner) -> Renamed:
    """Return how to show the texts of a table; ids and groups are numbered as soon as one of them is private."""
    asked = table.questions
    verdicts = (cell.verdict for cell in table.cells.values())
    return Renamed(
        ids=cleaner.numbered((one.id for one in asked), "question"),
        groups=cleaner.numbered((one.image_group for one in asked), "picture"),
        bases=cleaner.numbered(_given(one.base_id for one in asked), "question"),
        tasks=cleaner.distinct(sorted(set(_given(one.task for one in asked)))),
        sources=cleaner.distinct(sorted(set(_given(one.source for one in asked)))),
        answers=cleaner.distinct(sorted(set(_given(one.answer for one in verdicts if one is not None)))),
    )


def anonymise_table(table: RunTable, cleaner: Cleaner, names: Renamed | None = None) -> RunTable:
    """Return a table without private parts; every number follows from it as before.

    Args:
        table: The run.
        cleaner: What cleans its texts.
        names: How questions are called; see ``rename``.
    """
    shown = names or rename(table, cleaner)
    return msgspec.structs.replace(
        table,
        run=cleaner.run(table.run),
        questions=tuple(_question(one, cleaner, shown) for one in table.questions),
        cells={slot: _cell(cell, cleaner, shown) for slot, cell in table.cells.items()},
    )


def anonymise_items(items: Items, cleaner: Cleaner) -> Items:
    """Return what a report carries without private parts."""
    shown = rename(items.table, cleaner)
    return msgspec.structs.replace(
        items,
        table=anonymise_table(items.table, cleaner, shown),
        views=tuple(_view(one, cleaner, shown) for one in items.views),
        plan=_plan(items.plan, cleaner),
        kept=_plan(items.kept, cleaner),
        keeping=msgspec.convert(cleaner.built_in(items.keeping), KeptPlan),
    )


def _given(texts: Iterable[str | None]) -> list[str]:
    return [text for text in texts if text is not None]


def _question(one: AskedQuestion, cleaner: Cleaner, shown: Renamed) -> AskedQuestion:
    return msgspec.structs.replace(
        one,
        id=shown.ids[one.id],
        image_group=shown.groups[one.image_group],
        base_id=None if one.base_id is None else shown.bases[one.base_id],
        task=None if one.task is None else shown.tasks[one.task],
        source=None if one.source is None else shown.sources[one.source],
        notes=tuple(map(cleaner.clean, one.notes)),
    )


def _cell(cell: Cell, cleaner: Cleaner, shown: Renamed) -> Cell:
    """Return a cell with clean texts: the very same one if they were."""
    ending, verdict = cell.ending, cell.verdict
    if ending is not None and (ending.error or ending.provider_fingerprint):
        error = None if ending.error is None else cleaner.clean(ending.error)
        server = None if ending.provider_fingerprint is None else cleaner.clean(ending.provider_fingerprint)
        ending = msgspec.structs.replace(ending, error=error, provider_fingerprint=server)
    if verdict is not None and verdict.answer is not None and shown.answers[verdict.answer] != verdict.answer:
        verdict = msgspec.structs.replace(verdict, answer=shown.answers[verdict.answer])
    if ending is cell.ending and verdict is cell.verdict:
        return cell
    return msgspec.structs.replace(cell, ending=ending, verdict=verdict)


def _view(view: ViewImage, cleaner: Cleaner, shown: Renamed) -> ViewImage:
    return msgspec.structs.replace(
        view,
        question_id=shown.ids.get(view.question_id) or cleaner.clean(view.question_id),
        notes=tuple(map(cleaner.clean, view.notes)),
    )


def _plan(plan: StudyPlan | None, cleaner: Cleaner) -> StudyPlan | None:
    """Return a plan without private parts, changed by nobody if it was."""
    if plan is None:
        return None
    clean = msgspec.convert(cleaner.built_in(plan), StudyPlan)
    return clean if plan.is_changed else msgspec.structs.replace(clean, sha256=clean.content_sha256)
