"""The rows of a release: ``dataset.json`` and ``data/<view>/test/metadata.jsonl``."""

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

import msgspec

from eyechart.geometry import target_of, union
from eyechart.releases.layout import PlannedImage
from eyechart.releases.row_schema import FIELDS, Field, as_text, foreign_schema, typed_row
from eyechart.releases.source_terms import source_name
from eyechart.schema import Box, Crop, Downsample, JsonObject, Number, Question, Size, TargetOnly, View, Whiteground
from eyechart.views import kind_of


def question_fields(question: Question) -> JsonObject:
    """Return the fields of a question that no view changes, in the order of the card; None where there is no value."""
    source = target_of(question.targets, question.target_policy) if question.targets else None
    clipped = union(question.targets_clipped) if question.targets_clipped else None
    if question.targets_clipped and question.target_policy == "first":
        clipped = question.targets_clipped[0]
    letter = question.answer
    return {
        "id": question.id,
        "base_sample_id": question.id,
        "image_group_id": question.image_group,
        "source_dataset": source_name(question),
        "source_question_id": _text_of(question, "source_question_id"),
        "source_image_id": _text_of(question, "source_image_id"),
        "question": question.text,
        "question_raw": question.text if question.text_raw is None else question.text_raw,
        "choices": list(question.choices) or None,
        "answer": letter,
        "answer_text": question.choices[ascii_uppercase.index(letter)] if letter else None,
        "answers": list(question.answers) or None,
        "task_type": question.task,
        "quality_notes": list(question.notes) or None,
        "bbox_original": _edges(source),
        "bbox_clipped": _edges(clipped),
        "targets": [_edges(box) for box in question.targets] if len(question.targets) > 1 else None,
        "target_policy": question.target_policy if len(question.targets) > 1 else None,
    }


def view_row(
    fields: Mapping[str, object], view: View, image: PlannedImage, schema: Iterable[Field] = FIELDS
) -> JsonObject:
    """Return one row of a view with every column of the schema; ``fields`` are those of its question.

    ``crop_area_effective`` is the real area of the crop divided by the area of the target (clipping lowers it).
    """
    area_ratio = view.area_ratio if isinstance(view, Crop | Whiteground | TargetOnly) else None
    is_cropped = area_ratio is not None
    row = {
        **fields,
        "file_name": image.file_name,
        "view_id": image.view_id,
        "view_family": kind_of(view).view.family,
        **_sides(image.picture.geometry.size),
        "bbox_view": _edges(image.picture.target),
        "crop_box_original": _edges(image.picture.source_region) if is_cropped else None,
        "crop_area_multiplier": area_ratio,
        "crop_area_effective": image.picture.area_multiplier if is_cropped else None,
        "downsample_linear_scale": view.linear_scale if isinstance(view, Downsample) else None,
    }
    return typed_row(schema, row)


def canonical_row(question: Question, original: PlannedImage) -> JsonObject:
    """Return the entry of ``dataset.json``, with every foreign field of the question."""
    fields = question_fields(question)
    row = {**fields, "image": original.name, **_sides(question.image.size)}
    return {**{name: entry for name, entry in row.items() if entry is not None}, **foreign_fields(question)}


_OWN_NAMES = frozenset({"image", *(field.name for field in FIELDS)})
_TAKEN_OVER = frozenset({"source_question_id", "source_image_id"})


def foreign_fields(question: Question) -> JsonObject:
    """Return the foreign fields of a question that do not stand under a name of ours."""
    return {name: entry for name, entry in question.extra.items() if name not in _OWN_NAMES}


def tell_fields(questions: Sequence[Question]) -> tuple[str, ...]:
    """Return one sentence for each foreign field that is not a column, or not written as its source gave it."""
    given = {name: None for question in questions for name, entry in question.extra.items() if entry is not None}
    ours = [name for name in given if name in _OWN_NAMES - _TAKEN_OVER]
    dropped = tuple(f"the field {name} of a source is left out: a release has its own column {name}" for name in ours)
    return (*dropped, *foreign_schema(map(foreign_fields, questions))[1])


def encode_rows(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return the rows of one view as JSON lines."""
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def encode_document(content: object) -> bytes:
    """Return a value as indented JSON, keys in their own order."""
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _text_of(question: Question, name: str) -> str | None:
    value = question.extra.get(name)
    return None if value is None else as_text(value)


def _edges(box: Box | None) -> list[Number] | None:
    return None if box is None else [_shortest(edge) for edge in box]


def _shortest(edge: Number) -> Number:
    return int(edge) if float(edge).is_integer() else edge


def _sides(size: Size) -> JsonObject:
    return {"width": size.width, "height": size.height}
