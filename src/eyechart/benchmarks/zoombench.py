"""ZoomBench, one parquet file in either generation of its columns: multiple choice alone, or open questions too."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

import msgspec

from eyechart.benchmarks._answers import accepted_texts
from eyechart.benchmarks._boxes import BoxFormat, GivenBox, check_convention, parse_quads
from eyechart.benchmarks._cells import shown
from eyechart.benchmarks._given_boxes import with_targets
from eyechart.benchmarks._listed_options import take_apart
from eyechart.benchmarks._options import equal_up_to_case
from eyechart.benchmarks._source import SourceBenchmark, add_boxes, find_table, recorded
from eyechart.benchmarks._unpacked import UnpackedRow, unpack_table
from eyechart.errors import BenchmarkError, UsageError
from eyechart.schema import BenchmarkIdentity, Question, TargetPolicy

__all__ = ["ZoomBenchKind"]

Questions = Literal["multiple_choice", "all"]

_SUFFIXES = (".parquet", ".jsonl", ".json", ".tsv")
_PICTURES = ("image", "crop_image")
# Both generations: the frozen revision has query and response, the authors' own converter reads prompt and answer.
_QUERY = ("query", "prompt", "question")
_RESPONSE = ("response", "answer")
_DIMENSION = ("sub_task", "dimension", "category")
_BOX = ("bbox", "box")
_OWN = frozenset({"id", "question_type", *_QUERY, *_RESPONSE, *_DIMENSION, *_BOX})
_MULTIPLE_CHOICE = "mcq"


class ZoomBenchOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which questions are asked.

    Args:
        file: Name of the table inside the folder; needed only if there are several.
        questions: ``multiple_choice`` alone (621 as published), or ``all`` (845) with the open ones.
        target_policy: Where a question has several boxes, views are built on their union or on the first.
        boxes: File with a target box per question id, where the table has no column of boxes.
        box_format: Convention of the boxes, the table's own included.
        images: Folder for the pictures unpacked from the table; ``<table>.images`` beside it if left out.
    """

    file: str | None = None
    questions: Questions = "multiple_choice"
    target_policy: TargetPolicy = "union"
    boxes: str | None = None
    box_format: BoxFormat = "xyxy"
    images: str | None = None


class ZoomBenchKind:
    """The benchmark ``zoombench``.

    The source writes the options into the question; they are taken apart, and ``text_raw`` keeps the source's text.
    """

    options = ZoomBenchOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> SourceBenchmark:
        """Return the benchmark of a table, or of a folder that holds one.

        Raises:
            UsageError: If no data is given, or a folder holds several tables.
            BenchmarkError: If a row breaks the contract; the message names file and row.
            StoreError: If the pictures cannot be unpacked.
            MissingDependencyError: If the table is parquet and pyarrow is not installed.
        """
        if not isinstance(options, ZoomBenchOptions):
            raise UsageError(f"{type(options).__name__} are not the options of zoombench", hint="pass ZoomBenchOptions")
        table = find_table(data, "zoombench", _SUFFIXES, options.file)
        unpacked = unpack_table(table, _PICTURES, Path(options.images) if options.images else None)
        rows = [row for row in unpacked.rows if options.questions == "all" or _is_multiple_choice(row)]
        warnings = _check_boxes(rows, options)
        own = [_question(row, number, options) for number, row in enumerate(rows, start=1)]
        questions, more, revision = add_boxes(tuple(own), options.boxes, options.box_format, unpacked.revision)
        identity = BenchmarkIdentity(
            name="zoombench",
            revision=revision,
            options=recorded(msgspec.to_builtins(options), ("file", "images", "boxes")),
        )
        return SourceBenchmark(identity, questions, unpacked.path, (*warnings, *more))


def _is_multiple_choice(row: UnpackedRow) -> bool:
    """Return whether a row asks for a letter: by its type, or by its text where the table has no type."""
    kind = row.values.get("question_type")
    if isinstance(kind, str):
        return kind.strip().casefold() == _MULTIPLE_CHOICE
    return bool(take_apart(_text(row, _QUERY)).options)


def _question(row: UnpackedRow, number: int, options: ZoomBenchOptions) -> Question:
    image = row.pictures.get("image")
    if image is None:
        raise BenchmarkError(f"{row.place}: no picture", hint="is this ZoomBench?")
    raw = _text(row, _QUERY)
    response = _cell(row.values, _RESPONSE)
    taken = take_apart(raw) if _is_multiple_choice(row) else None
    choices = taken.options if taken else ()
    if taken and not choices:
        raise BenchmarkError(f"{row.place}: no options (A), (B), … in {raw[:60]!r}", hint="--option questions=all")
    twins = equal_up_to_case(choices)
    index = row.values.get("id")
    identifier = str(index) if index is not None else str(number)
    dimension = _cell(row.values, _DIMENSION)
    crop = row.pictures.get("crop_image")
    question = Question(
        id=identifier,
        benchmark="zoombench",
        text=taken.stem if taken else raw,
        text_raw=raw,
        image=image,
        image_group=image.file_sha256 or identifier,
        choices=choices,
        answer=_letter(response, choices, row.place) if choices else None,
        answers=() if choices else accepted_texts(response),
        target_policy=options.target_policy,
        task=str(dimension) if dimension is not None else None,
        source="ZoomBench",
        notes=(f"choices equal up to case: {', '.join(twins)}",) if twins else (),
        extra={
            **{name: cell for name, cell in row.values.items() if name not in _OWN and cell is not None},
            "source_question_id": identifier,
            "question_type": row.values.get("question_type"),
            "source_crop_sha256": crop.file_sha256 if crop else None,
        },
    )
    quads = parse_quads(_cell(row.values, _BOX), row.place)
    return with_targets(question, quads, options.box_format)


def _check_boxes(rows: Sequence[UnpackedRow], options: ZoomBenchOptions) -> tuple[str, ...]:
    """Refuse boxes that are impossible under the declared convention."""
    given = [
        GivenBox(quad, image.size, row.place)
        for row in rows
        if (image := row.pictures.get("image")) is not None
        for quad in parse_quads(_cell(row.values, _BOX), row.place)
    ]
    return check_convention(given, options.box_format)


def _letter(response: object, choices: Sequence[str], place: str) -> str:
    """Return the right letter of a response such as ``C``, ``(C)`` or ``C. three``."""
    text = response.strip() if isinstance(response, str) else ""
    letters = ascii_uppercase[: len(choices)]
    bare = text.strip("(). ")
    if bare in set(letters):
        return bare
    head = text.lstrip("(")[:2]
    if len(head) > 1 and head[0] in letters and head[1] in ".):":
        return head[0]
    if text in choices:
        return letters[list(choices).index(text)]
    raise BenchmarkError(
        f"{place}: answer {shown(response)} is not among {len(choices)} options", hint="is the row whole?"
    )


def _cell(values: Mapping[str, object], names: Sequence[str]) -> object:
    return next((values[name] for name in names if values.get(name) is not None), None)


def _text(row: UnpackedRow, names: Sequence[str]) -> str:
    cell = _cell(row.values, names)
    if not isinstance(cell, str) or not cell.strip():
        raise BenchmarkError(
            f"{row.place}: no {' or '.join(names)} (columns: {', '.join(row.values) or 'none'})",
            hint="is this ZoomBench?",
        )
    return cell
