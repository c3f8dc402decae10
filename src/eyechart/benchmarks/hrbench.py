"""HR-Bench at 4K or 8K, as TSV or parquet: 200 questions, each in four rotations of its options."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

import msgspec

from eyechart.benchmarks._answers import letter_of
from eyechart.benchmarks._boxes import BoxFormat
from eyechart.benchmarks._cells import text_of
from eyechart.benchmarks._options import MIN_CHOICES, OptionRules, equal_up_to_case, read_option_columns
from eyechart.benchmarks._source import SourceBenchmark, add_boxes, find_table, recorded
from eyechart.benchmarks._unpacked import UnpackedRow, unpack_table
from eyechart.errors import BenchmarkError, UsageError
from eyechart.schema import BenchmarkIdentity, Question

__all__ = ["HRBenchKind"]

N_ROTATIONS = 4
"""Rows of one base question as published (DreamMr/HR-Bench#7)."""

_SUFFIXES = (".tsv", ".parquet", ".csv")
_PICTURES = ("image", "image_path")
_OWN = frozenset({"index", "question", "answer", "category", "cycle_category", "hint", *ascii_uppercase})
_N_SHOWN = 3
_AS_WRITTEN = OptionRules(letters="keep")

Rows = Literal["all", "base"]
Category = Literal["all", "single", "cross"]


class HRBenchOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which rows are asked.

    Args:
        file: Name of the table inside the folder; needed only if there are several.
        rows: ``all`` keeps every rotation as published, ``base`` the first row of each base question.
        category: ``single`` (one object), ``cross`` (several), or all.
        boxes: File with a target box per base question, since HR-Bench publishes none.
        box_format: Convention of those boxes.
        images: Folder for the pictures unpacked from the table; ``<table>.images`` beside it if left out.
    """

    file: str | None = None
    rows: Rows = "all"
    category: Category = "all"
    boxes: str | None = None
    box_format: BoxFormat = "xyxy"
    images: str | None = None


class HRBenchKind:
    """The benchmark ``hrbench``.

    The four rotations of a question are found by its text, its set of options and its picture; ``extra.base_id`` is
    the id of the first of them.
    """

    options = HRBenchOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> SourceBenchmark:
        """Return the benchmark of a table, or of a folder that holds one.

        Raises:
            UsageError: If no data is given, or a folder holds several tables.
            BenchmarkError: If a row breaks the contract; the message names file and row.
            StoreError: If the pictures cannot be unpacked.
            MissingDependencyError: If the table is parquet and pyarrow is not installed.
        """
        if not isinstance(options, HRBenchOptions):
            raise UsageError(f"{type(options).__name__} are not the options of hrbench", hint="pass HRBenchOptions")
        table = find_table(data, "hrbench", _SUFFIXES, options.file)
        unpacked = unpack_table(table, _PICTURES, Path(options.images) if options.images else None)
        rotated = group_rotations([_question(row, number) for number, row in enumerate(unpacked.rows)])
        warnings = rotation_faults(rotated)
        chosen = tuple(question for question in rotated if _is_chosen(question, options))
        questions, more, revision = add_boxes(chosen, options.boxes, options.box_format, unpacked.revision)
        identity = BenchmarkIdentity(
            name="hrbench",
            revision=revision,
            options=recorded(msgspec.to_builtins(options), ("file", "images", "boxes")),
        )
        return SourceBenchmark(identity, questions, unpacked.path, (*warnings, *more))


def group_rotations(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Return the questions with the id of their base: the first row of the same text, options and picture."""
    bases: dict[tuple[str, frozenset[str], str], str] = {}
    named = []
    for question in questions:
        key = (question.text, frozenset(question.choices), question.image.file_sha256)
        base_id = bases.setdefault(key, question.id)
        named.append(msgspec.structs.replace(question, extra={**question.extra, "base_id": base_id}))
    return tuple(named)


def rotation_faults(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return what is odd about the rotations: too few or many of a base, or other right answers."""
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(str(question.extra["base_id"]), []).append(question)
    uneven = [base_id for base_id, rows in groups.items() if len(rows) != N_ROTATIONS]
    torn = [base_id for base_id, rows in groups.items() if len({_right_text(row) for row in rows}) > 1]
    found = []
    if uneven:
        found.append(f"{len(uneven)} of {len(groups)} base questions have not {N_ROTATIONS} rotations: {_some(uneven)}")
    if torn:
        found.append(f"the right answer is not the same in all rotations of {len(torn)} base questions: {_some(torn)}")
    return tuple(found)


def _is_chosen(question: Question, options: HRBenchOptions) -> bool:
    is_base = options.rows == "all" or question.id == question.extra["base_id"]
    return is_base and options.category in {"all", question.task}


def _question(row: UnpackedRow, number: int) -> Question:
    values, place = row.values, row.place
    image = next((ref for ref in row.pictures.values() if ref is not None), None)
    text = values.get("question")
    if image is None or not isinstance(text, str):
        what = "picture" if image is None else "question"
        raise BenchmarkError(f"{place}: no {what} (columns: {', '.join(values)})", hint="is this HR-Bench?")
    choices = _choices(values, place)
    if len(choices) < MIN_CHOICES:
        raise BenchmarkError(f"{place}: {len(choices)} options", hint="columns A, B, … hold them, without a gap")
    index = values.get("index")
    identifier = str(index) if index is not None else str(number)
    twins = equal_up_to_case(choices)
    return Question(
        id=identifier,
        benchmark="hrbench",
        text=text,
        image=image,
        image_group=image.file_sha256 or identifier,
        choices=choices,
        answer=letter_of(values.get("answer"), choices, "letter", place),
        task=str(values["category"]) if values.get("category") is not None else None,
        source="HR-Bench",
        notes=(f"choices equal up to case: {', '.join(twins)}",) if twins else (),
        extra={
            **{name: cell for name, cell in values.items() if name not in _OWN and cell is not None},
            "source_question_id": None if index is None else str(index),
            "cycle_category": values.get("cycle_category"),
        },
    )


def _choices(values: Mapping[str, object], place: str) -> tuple[str, ...]:
    """Return the options of the columns A, B, … as they stand there; empty ones at the end are none.

    Raises:
        BenchmarkError: If an empty one stands before a filled one, whose letter would move.
    """
    options = read_option_columns(values, [(letter, letter) for letter in ascii_uppercase], place, _AS_WRITTEN)
    cells = [values.get(letter) for letter in options.labels] if options else []
    return tuple(cell if isinstance(cell, str) else text_of(cell) for cell in cells)


def _right_text(question: Question) -> str | None:
    return None if question.answer is None else question.choices[ascii_uppercase.index(question.answer)]


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:_N_SHOWN])}{', …' if len(names) > _N_SHOWN else ''}"
