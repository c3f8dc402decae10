"""One row per answer with all that a mixed model needs, as CSV or parquet."""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypedDict

import msgspec

from eyechart.errors import MissingDependencyError, UsageError
from eyechart.runs.anonymous import cleaner_of_run
from eyechart.runs.anonymous_items import anonymise_table
from eyechart.runs.cells import AskedQuestion, Cell, RunTable
from eyechart.runs.files import write_whole
from eyechart.runs.gold import shown_cell
from eyechart.schema import Value
from eyechart.views import parse_view

FORMATS = (".csv", ".parquet")
_BATCH = 50_000


class _CellFields(TypedDict):
    """What one request adds to a row."""

    sent_width: int | None
    sent_height: int | None
    target_px_sent: float | None
    target_px_seen: float | None
    seen_evidence: str | None
    state: str | None
    score: float | None
    is_readable: bool | None
    letter: str | None
    option: int | None
    gold: str | None
    reason: str | None
    finished_at: str | None


class LongRow(Value, frozen=True, kw_only=True):
    """One answer. What is missing is None: an empty field in CSV, NA in R; a wrong answer has a score of 0.

    Args:
        run: Id of the run.
        benchmark: Its benchmark.
        model: provider/name.
        question: Question id: the random intercept within which views are compared.
        image: Cluster of the question: questions about one picture share it.
        task: Task of the question.
        source: Collection it comes from.
        n_options: Options, 0 for free form.
        chance: Guess rate, 1/n_options.
        target_share: Area of the target as a share of the picture.
        condition: Condition: the view id, or the name of a matched design.
        view: View id.
        family: Family of the view.
        area_ratio: Area of the crop divided by that of the target, nominal.
        linear_scale: Nominal scale per axis; 1 for the original.
        repeat: Repeat, from 0.
        rotation: By how many places the options were turned.
        sent_width: Width of the first picture as sent, px.
        sent_height: Its height.
        target_px_sent: Shorter side of the target as sent, px.
        target_px_seen: The same as the model saw it.
        seen_evidence: How that is known.
        state: How the request ended; empty if it was never answered.
        scorer: Who judged.
        score: 0–1; None where there is nothing to score.
        is_readable: Whether an option was read; None without an answer.
        letter: Letter given, as shown; a cell as "row: 2, col: 4".
        option: Index of the option given, in the unrotated choices.
        gold: Letter of the right option, as shown, or the right cell.
        reason: Why a score of 0 is not merely a wrong letter.
        finished_at: ISO time of the answer.
    """

    run: str
    benchmark: str
    model: str
    question: str
    image: str
    task: str | None
    source: str | None
    n_options: int
    chance: float
    target_share: float | None
    condition: str
    view: str
    family: str
    area_ratio: float | None
    linear_scale: float | None
    repeat: int
    rotation: int
    sent_width: int | None
    sent_height: int | None
    target_px_sent: float | None
    target_px_seen: float | None
    seen_evidence: str | None
    state: str | None
    scorer: str
    score: float | None
    is_readable: bool | None
    letter: str | None
    option: int | None
    gold: str | None
    reason: str | None
    finished_at: str | None


def long_rows(
    table: RunTable, scorer_id: str, *, is_anonymous: bool = False, names: Collection[str] = ()
) -> Iterator[LongRow]:
    """Yield the rows of a run: by question, condition, repeat and rotation, one per planned request.

    Args:
        table: The run.
        scorer_id: Scorer of its scores.
        is_anonymous: Whether to leave out the run's name and user, host, paths, endpoint and organisation.
        names: Words to leave out besides.
    """
    if is_anonymous:
        kept = {*table.view_of, *table.view_of.values(), scorer_id}
        table = anonymise_table(table, cleaner_of_run(table.run, kept, names))
    name = table.run.model.spec
    views = {name: parse_view(view) for name, view in table.view_of.items()}
    for (row, condition, slot), cell in sorted(table.cells.items(), key=lambda entry: entry[0]):
        question = table.questions[row]
        view = views[table.conditions[condition]]
        is_original = view.family == "original"
        yield LongRow(
            run=table.run.plan_id[:12] if is_anonymous else table.run.id,
            benchmark=table.run.benchmark.name,
            model=name,
            question=question.id,
            image=question.image_group,
            task=question.task,
            source=question.source,
            n_options=question.n_choices,
            chance=1 / question.n_choices if question.n_choices else 0.0,
            target_share=question.target_share,
            condition=table.conditions[condition],
            view=table.view_of[table.conditions[condition]],
            family=view.family,
            area_ratio=getattr(view, "area_ratio", None),
            linear_scale=1.0 if is_original else getattr(view, "linear_scale", None),
            repeat=slot // table.run.n_rotations,
            rotation=slot % table.run.n_rotations,
            scorer=scorer_id,
            **_of_cell(cell, question, table.view_of[table.conditions[condition]]),
        )


def write_long(rows: Iterable[LongRow], path: Path) -> int:
    """Write rows to a ``.csv`` or ``.parquet`` file, replacing it.

    Returns:
        Number of rows.

    Raises:
        UsageError: If the file ends in neither.
        MissingDependencyError: If it ends in ``.parquet`` and pyarrow is not installed.
        StoreError: If it cannot be written.
    """
    counted = _Counted(rows)
    if path.suffix == ".csv":
        write_whole(path, _csv(counted))
    elif path.suffix == ".parquet":
        write_whole(path, [_parquet(counted)])
    else:
        raise UsageError(f"{path.name} is neither CSV nor parquet", hint=f"end it in {' or '.join(FORMATS)}")
    return counted.n


class _Counted:
    """Rows that are counted as they pass, so that no more than a batch is held."""

    def __init__(self, rows: Iterable[LongRow]) -> None:
        self._rows = rows
        self.n = 0

    def __iter__(self) -> Iterator[LongRow]:
        for row in self._rows:
            self.n += 1
            yield row


def _of_cell(cell: Cell, question: AskedQuestion, view_id: str) -> _CellFields:
    """Return what one request adds to a row."""
    letter = cell.verdict.answer if cell.verdict is not None else None
    place = ord(letter) - ord("A") if letter and len(letter) == 1 else -1
    is_option = 0 <= place < len(cell.choice_order)
    gold = question.answer if question.answer and len(question.answer) == 1 else None
    if gold and cell.choice_order:
        gold = chr(ord("A") + cell.choice_order.index(ord(gold) - ord("A")))
    size, sight, ending = cell.sent_size, cell.sight, cell.ending
    return {
        "sent_width": None if size is None else size.width,
        "sent_height": None if size is None else size.height,
        "target_px_sent": cell.target_px_sent,
        "target_px_seen": None if sight is None else sight.target_px,
        "seen_evidence": None if sight is None else sight.evidence,
        "state": None if ending is None else ending.state.value,
        "score": cell.value,
        "is_readable": None if not cell.is_answered or cell.verdict is None else not cell.is_unparsed,
        "letter": letter,
        "option": cell.choice_order[place] if is_option else None,
        "gold": shown_cell(view_id) if question.asks_for_cell else gold,
        "reason": cell.reason,
        "finished_at": None if ending is None else ending.finished_at,
    }


def _csv(rows: Iterable[LongRow]) -> Iterator[bytes]:
    names = LongRow.__struct_fields__
    yield _csv_line(names)
    for row in rows:
        yield _csv_line([_plain(getattr(row, name)) for name in names])


def _csv_line(values: Sequence[object]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


def _plain(value: object) -> object:
    """Return a field as CSV holds it: booleans as R reads them, nothing for what is missing."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return "" if value is None else value


def _parquet(rows: Iterable[LongRow]) -> bytes:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", "hub") from error
    kinds = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}
    fields = [
        pa.field(field.name, next(kind for known, kind in kinds.items() if _holds(field.type, known)))
        for field in msgspec.structs.fields(LongRow)
    ]
    schema = pa.schema(fields)
    buffer, waiting = io.BytesIO(), iter(rows)
    with parquet.ParquetWriter(buffer, schema) as writer:
        while batch := [msgspec.structs.asdict(row) for row in islice(waiting, _BATCH)]:
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
    return buffer.getvalue()


def _holds(annotation: object, kind: type) -> bool:
    """Whether a field's type is ``kind``, or ``kind`` or None."""
    return annotation is kind or annotation == kind | None
