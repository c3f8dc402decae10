"""Target boxes that come in a file of their own, for sources that publish none."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from eyechart.benchmarks._boxes import BoxFormat, GivenBox, check_convention, crosses_border, parse_quads, to_xyxy
from eyechart.benchmarks._tables import read_rows
from eyechart.errors import BenchmarkError
from eyechart.geometry import clip
from eyechart.schema import Question

_ID_COLUMNS = ("id", "base_id", "question_id", "index", "base_sample_id")
_BOX_COLUMNS = ("box", "boxes", "bbox", "bbox_original", "targets")

ACROSS_BORDER = "target crosses the border"


def read_boxes(path: Path) -> dict[str, tuple[str, object]]:
    """Return the box cell of each question id, with the place it stands at.

    Args:
        path: JSONL, JSON, CSV, TSV or parquet with a column ``id`` (or ``base_id``) and a column ``box`` (or ``bbox``,
            or ``boxes`` for several).

    Raises:
        BenchmarkError: If the file cannot be read, lacks a column, or names an id twice.
    """
    boxes: dict[str, tuple[str, object]] = {}
    for row in read_rows(path):
        names = [_first(row.values, columns) for columns in (_ID_COLUMNS, _BOX_COLUMNS)]
        if names[0] is None or names[1] is None:
            raise BenchmarkError(
                f"{row.place}: no id or no box (columns: {', '.join(row.values) or 'none'})",
                hint=f"name the columns {_ID_COLUMNS[0]} and {_BOX_COLUMNS[0]}",
            )
        question_id = str(row.values[names[0]])
        if question_id in boxes:
            raise BenchmarkError(
                f"{row.place}: id {question_id!r} stands already at {boxes[question_id][0]}",
                hint="write several boxes of a question into one row",
            )
        boxes[question_id] = (row.place, row.values[names[1]])
    return boxes


def with_boxes(
    questions: Sequence[Question], cells: Mapping[str, tuple[str, object]], convention: BoxFormat
) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    """Return the questions with their boxes, and warnings.

    A box is looked up by the question's id, by the id of its base question, and by its source's own id. Several boxes
    stay several. Boxes that a question already has are replaced.

    Raises:
        BenchmarkError: If a box is impossible, or none belongs to any question.
    """
    found = {question.id: _cell_of(question, cells) for question in questions}
    quads = {question_id: parse_quads(cell[1], cell[0]) for question_id, cell in found.items() if cell is not None}
    if not any(quads.values()):
        shown = ", ".join(list(cells)[:3]) or "nothing"
        raise BenchmarkError(
            f"no box belongs to any of {len(questions)} questions (the file names {shown})",
            hint=f"ids look like {questions[0].id!r}" if questions else "",
        )
    given = [
        GivenBox(quad, question.image.size, (found[question.id] or ("", None))[0])
        for question in questions
        for quad in quads.get(question.id, ())
    ]
    warnings = list(check_convention(given, convention))
    n_without = sum(not quads.get(question.id) for question in questions)
    if n_without:
        warnings.append(f"{n_without} of {len(questions)} questions have no box in the file")
    return tuple(with_targets(question, quads.get(question.id, ()), convention) for question in questions), (*warnings,)


def with_targets(
    question: Question, quads: Iterable[tuple[float, float, float, float]], convention: BoxFormat
) -> Question:
    """Return a question with these boxes as its targets, as given and clipped; unchanged if there is none."""
    size = question.image.size
    if not size.n_px:  # its picture cannot be read
        return question
    targets = tuple(to_xyxy(quad, convention, size) for quad in quads)
    if not targets:
        return question
    notes = [note for note in question.notes if note != ACROSS_BORDER]
    if any(crosses_border(target, size) for target in targets):
        notes.append(ACROSS_BORDER)
    return msgspec.structs.replace(
        question,
        targets=targets,
        targets_clipped=tuple(clip(target, size) for target in targets),
        notes=tuple(notes),
    )


def _cell_of(question: Question, cells: Mapping[str, tuple[str, object]]) -> tuple[str, object] | None:
    named = (question.id, question.extra.get("base_id"), question.extra.get("source_question_id"))
    return next((cells[str(name)] for name in named if name is not None and str(name) in cells), None)


def _first(values: Mapping[str, object], columns: Sequence[str]) -> str | None:
    return next((column for column in columns if values.get(column) is not None), None)
