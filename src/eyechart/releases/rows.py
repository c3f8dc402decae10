"""The rows of a release: ``dataset.json`` and ``data/<view>/test/metadata.jsonl``."""

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

import msgspec

from eyechart.geometry import target_of, union
from eyechart.releases.layout import PlannedImage
from eyechart.schema import Box, Crop, Downsample, JsonObject, Number, Question, Size, TargetOnly, View, Whiteground
from eyechart.views import kind_of

BOX_FIELDS = ("bbox_original", "bbox_clipped", "bbox_view", "crop_box_original")

_SCALARS = (str, bool, int, float)


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
        "source_dataset": question.source,
        "source_question_id": question.extra.get("source_question_id"),
        "source_image_id": question.extra.get("source_image_id"),
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


def view_row(fields: Mapping[str, object], view: View, image: PlannedImage) -> JsonObject:
    """Return one row of a view; ``fields`` are those of its question.

    ``crop_area_effective`` is the real area of the crop divided by the area of the target (clipping lowers it).
    """
    area_ratio = view.area_ratio if isinstance(view, Crop | Whiteground | TargetOnly) else None
    is_cropped = area_ratio is not None
    return {
        **fields,
        "file_name": image.file_name,
        "view_id": image.view_id,
        "view_family": kind_of(view).view.family,
        **_sides(image.picture.geometry.size),
        "bbox_view": _edges(image.picture.target),
        "crop_box_original": _edges(image.picture.source_region) if is_cropped else None,
        "crop_area_multiplier": None if area_ratio is None else float(area_ratio),
        "crop_area_effective": image.picture.area_multiplier if is_cropped else None,
        "downsample_linear_scale": view.linear_scale if isinstance(view, Downsample) else None,
    }


def canonical_row(question: Question, original: PlannedImage) -> JsonObject:
    """Return the entry of ``dataset.json``, with every foreign field of the question."""
    fields = question_fields(question)
    row = {**fields, "image": original.name, **_sides(question.image.size)}
    return {**{name: entry for name, entry in row.items() if entry is not None}, **foreign_fields(question)}


def foreign_fields(question: Question) -> JsonObject:
    """Return the foreign fields of a question that do not stand under a name of ours."""
    own = {*question_fields(question), *BOX_FIELDS, "image", "file_name", "view_id", "view_family", "width", "height"}
    own |= {"crop_area_multiplier", "crop_area_effective", "downsample_linear_scale"}
    return {name: entry for name, entry in question.extra.items() if name not in own}


def plain_foreign_names(questions: Sequence[Question]) -> tuple[str, ...]:
    """Return the foreign fields that can be columns: scalars of one type throughout, missing ones aside.

    The others stay in ``dataset.json``: a column of mixed types cannot be loaded as a table.
    """
    types: dict[str, set[type]] = {}
    for question in questions:
        for name, entry in foreign_fields(question).items():
            if entry is not None:
                types.setdefault(name, set()).add(type(entry))
    return tuple(name for name, found in types.items() if len(found) == 1 and found <= set(_SCALARS))


def encode_rows(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Return the rows of one view as JSON lines.

    Columns that are null in every row are left out, because a table reader gives them no type. A box column with one
    fraction in it holds floats throughout.
    """
    return b"".join(msgspec.json.encode(line) + b"\n" for line in used_columns(rows))


def used_columns(rows: Sequence[Mapping[str, object]]) -> list[JsonObject]:
    """Return the rows as they are written: used columns only, box columns of one type."""
    used = [name for name in dict.fromkeys(name for row in rows for name in row) if _is_used(rows, name)]
    floats = {name for name in BOX_FIELDS if any(_has_fraction(row.get(name)) for row in rows)}
    return [{name: _as_floats(row.get(name)) if name in floats else row.get(name) for name in used} for row in rows]


def encode_document(content: object) -> bytes:
    """Return a value as indented JSON, keys in their own order."""
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _is_used(rows: Iterable[Mapping[str, object]], name: str) -> bool:
    return any(row.get(name) is not None for row in rows)


def _has_fraction(box: object) -> bool:
    return isinstance(box, list) and any(isinstance(edge, float) for edge in box)


def _as_floats(box: object) -> object:
    return [float(edge) for edge in box] if isinstance(box, list) else box


def _edges(box: Box | None) -> list[Number] | None:
    return None if box is None else [_shortest(edge) for edge in box]


def _shortest(edge: Number) -> Number:
    return int(edge) if float(edge).is_integer() else edge


def _sides(size: Size) -> JsonObject:
    return {"width": size.width, "height": size.height}
