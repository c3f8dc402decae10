"""Everything that the numbers of a report follow from, as one value that a report can carry and be checked by."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from eyechart.errors import SchemaError
from eyechart.runs.cells import Cell, RunTable, Slot, read_table
from eyechart.runs.execute import utc_now
from eyechart.runs.kept_plan import KeptPlan, judge_plan
from eyechart.runs.looking import Looking, as_it_was, look_at
from eyechart.runs.readings import judge_unread
from eyechart.runs.registration import StudyPlan, kept_copy
from eyechart.runs.store import RunStore
from eyechart.schema import ImageRef, JsonObject, LookTaken, Size, ViewImage

FORMAT = "eyechart-items@1"
# Named in the readable part of the table; everything else of a cell follows under its own dotted name.
_NAMES = {
    "ending.state": "state",
    "verdict.answer": "answer",
    "verdict.value": "score",
    "sight.target_px": "target_px_seen",
}
_FIELDS = {name: field for field, name in _NAMES.items()}
_ABSENT = -1
# Of a report by an earlier version.
_UNKNOWN_KEEPING = {"against": ["the report does not say whether the plan was kept"]}
_HASH_LETTERS = 16


class Items(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A run as far as its estimates need it.

    Args:
        table: Every request with what became of it.
        scorer: Id of the scorer of its scores.
        views: What each view shows of each question; pictures themselves are not named.
        lenient: Score of each answer that only a more lenient reading reads.
        plan: The plan that the run is read with.
        kept: The plan that the run was started with.
        keeping: Whether the plan counts, and in what the run departs from it; judged before names are removed.
        looking: The look at an unfinished run that the items are of; they hold nothing else then.
    """

    table: RunTable
    scorer: str
    views: tuple[ViewImage, ...]
    lenient: Mapping[Slot, float]
    plan: StudyPlan | None = None
    kept: StudyPlan | None = None
    keeping: KeptPlan = KeptPlan()
    looking: Looking = Looking()


def read_items(store: RunStore, scorer_id: str, plan: StudyPlan | None = None) -> Items:
    """Gather a run from its store.

    Args:
        store: The run.
        scorer_id: Whose scores to take.
        plan: The plan to read the run with; the one it was started with if left out.

    Raises:
        StoreError: If this scorer did not judge the run.
        SchemaError: If a file of the run is damaged.
    """
    table = read_table(store, scorer_id)
    return gather_items(store, table, scorer_id, judge_unread(store, table, scorer_id), plan)


def gather_items(
    store: RunStore, table: RunTable, scorer_id: str, lenient: Mapping[Slot, float], plan: StudyPlan | None = None
) -> Items:
    """Return a run that is read already, with the plan that it is read with; a look that is due is taken.

    Args:
        store: Its folder.
        table: The run, with its own names.
        scorer_id: Scorer of its scores.
        lenient: See ``Items``.
        plan: The plan to read the run with; the one it was started with if left out.

    Raises:
        UsageError: If the folder's copy of a plan is damaged.
    """
    kept = kept_copy(store.folder)
    plan = plan or kept
    items = Items(table=table, scorer=scorer_id, views=tuple(store.views()), lenient=lenient, plan=plan, kept=kept)
    if plan is None:
        return items
    keeping = judge_plan(plan, kept, table, scorer_id)
    looking = look_at(store, table, plan, keeping, now=utc_now())
    items = msgspec.structs.replace(items, keeping=keeping, looking=looking)
    return items if looking.look is None else _looked_at(items, plan, looking.look)


def _looked_at(items: Items, plan: StudyPlan, look: LookTaken) -> Items:
    """Return what a look shows of a run, and nothing else."""
    kept, table = as_it_was(items.table, plan, look)
    place, ids = {one: at for at, one in enumerate(kept)}, {question.id for question in table.questions}
    return msgspec.structs.replace(
        items,
        table=table,
        views=tuple(view for view in items.views if view.question_id in ids),
        lenient={(place[slot[0]], *slot[1:]): value for slot, value in items.lenient.items() if slot[0] in place},
        looking=Looking(msgspec.structs.replace(look, unanswered=())),
    )


def pack_items(items: Items) -> JsonObject:
    """Return items as JSON values: columns of distinct values, and for each row which of them it has.

    Args:
        items: The items.
    """
    table = items.table
    whole = msgspec.to_builtins(msgspec.structs.replace(table, cells={}))
    rows = [_row(table, slot, cell) for slot, cell in table.cells.items()]
    return {
        "format": FORMAT,
        "scorer": items.scorer,
        "items": _columns(rows),
        "table": {name: value for name, value in whole.items() if name != "cells"},
        "views": _columns([_view_row(view) for view in items.views]),
        "lenient": [[*slot, value] for slot, value in items.lenient.items()],
        "plan": msgspec.to_builtins(items.plan),
        "kept": msgspec.to_builtins(items.kept),
        "keeping": msgspec.to_builtins(items.keeping),
        "looking": msgspec.to_builtins(items.looking),
    }


def unpack_items(content: object, place: str) -> Items:
    """Return items from JSON values.

    Args:
        content: What ``pack_items`` returned.
        place: Names the file in errors.

    Raises:
        SchemaError: If it is something else, or of another format.
    """
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise SchemaError(
            f"{place}: no items of the format {FORMAT}", hint="write the report again: eyechart report RUN"
        )
    try:
        table = msgspec.convert({**content["table"], "cells": {}}, RunTable)
        question_at = {question.id: at for at, question in enumerate(table.questions)}
        condition_at = {name: at for at, name in enumerate(table.conditions)}
        cells = {}
        for row in _rows(content["items"]):
            slot = (question_at[str(row.pop("id"))], condition_at[str(row.pop("condition"))], int(str(row.pop("slot"))))
            cells[slot] = msgspec.convert(_nested(row), Cell)
        return Items(
            table=msgspec.structs.replace(table, cells=cells),
            scorer=content["scorer"],
            views=tuple(_view(row) for row in _rows(content["views"])),
            lenient={(question, condition, slot): value for question, condition, slot, value in content["lenient"]},
            plan=msgspec.convert(content["plan"], StudyPlan | None),
            kept=msgspec.convert(content["kept"], StudyPlan | None),
            keeping=msgspec.convert(content.get("keeping", _UNKNOWN_KEEPING), KeptPlan),
            looking=msgspec.convert(content.get("looking", {}), Looking),
        )
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:  # msgspec's are ValueErrors
        raise SchemaError(f"{place}: the items are damaged ({error})", hint="write the report again") from error


def _row(table: RunTable, slot: Slot, cell: Cell) -> JsonObject:
    """Return one cell with its place, nested fields under dotted names."""
    question, condition, number = slot
    # Hashes are only compared with each other, and whole ones would be most of a large report.
    cell = msgspec.structs.replace(cell, recipes=tuple(map(_shorten, cell.recipes)), cut=_shorten(cell.cut))
    flat: JsonObject = {"id": table.questions[question].id, "condition": table.conditions[condition], "slot": number}
    _flatten(msgspec.to_builtins(cell), "", flat)
    return flat


def _shorten(hashes: str) -> str:
    """Return the beginning of every hash of a text, of which a cut has two: of the picture, and of what it shows."""
    return " ".join(one[:_HASH_LETTERS] for one in hashes.split(" "))


def _flatten(value: Mapping[str, object], prefix: str, flat: JsonObject) -> None:
    for name, inner in value.items():
        dotted = f"{prefix}{name}"
        if isinstance(inner, dict) and inner:
            _flatten(inner, f"{dotted}.", flat)
        else:
            flat[_NAMES.get(dotted, dotted)] = inner


def _nested(flat: Mapping[str, object]) -> JsonObject:
    """Undo ``_flatten``."""
    whole: JsonObject = {}
    for name, value in flat.items():
        *path, last = _FIELDS.get(name, name).split(".")
        room = whole
        for part in path:
            room = room.setdefault(part, {})  # type: ignore[assignment]  # each level is an object of its own
        room[last] = value
    return whole


def _columns(rows: Sequence[JsonObject]) -> JsonObject:
    """Return rows as columns; a field that a row lacks has index −1."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns: JsonObject = {}
    for name in names:
        known: dict[bytes, int] = {}
        values: list[object] = []
        indices = []
        for row in rows:
            if name not in row:
                indices.append(_ABSENT)
                continue
            key = msgspec.json.encode(row[name])
            if key not in known:
                known[key] = len(values)
                values.append(row[name])
            indices.append(known[key])
        columns[name] = {"values": values, "rows": indices}
    return columns


def _rows(columns: Mapping[str, Mapping[str, list[object]]]) -> Iterable[JsonObject]:
    """Undo ``_columns``."""
    n_rows = max((len(column["rows"]) for column in columns.values()), default=0)
    for at in range(n_rows):
        row: JsonObject = {}
        for name, column in columns.items():
            index = column["rows"][at]
            if not isinstance(index, int) or index >= len(column["values"]):
                raise ValueError(f"row {at} of {name} has no value")
            if index != _ABSENT:
                row[name] = column["values"][index]
        yield row


def _view_row(view: ViewImage) -> JsonObject:
    row: JsonObject = {"question_id": view.question_id, "view": view.view, "notes": list(view.notes)}
    if "area_multiplier" in view.extra:
        row["area_multiplier"] = view.extra["area_multiplier"]
    return row


def _view(row: JsonObject) -> ViewImage:
    extra = {"area_multiplier": row["area_multiplier"]} if "area_multiplier" in row else {}
    fields = {**row, "extra": extra}
    fields.pop("area_multiplier", None)
    return msgspec.convert({**fields, "image": msgspec.to_builtins(ImageRef("", Size(0, 0), ""))}, ViewImage)
