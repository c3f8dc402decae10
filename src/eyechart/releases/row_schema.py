"""The columns of a release's rows and their types: one table for every config, used by all that writes or checks rows.

``datasets`` takes the type of a column from the JSON of each config. So every row of every config has every key, in
this order; what is missing is null; box edges and factors are always written with a point.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, cast

from eyechart.schema import JsonObject

Kind = Literal["string", "int64", "float64", "bool"]
SCHEMA_VERSION = 1
"""Recorded in ``metadata/validation_summary.json`` as ``row_schema``; releases of earlier builds have none."""
FEATURES_FILE = "metadata/features.json"

_N_EDGES = 4
_INT64 = range(-(1 << 63), 1 << 63)
# Above it a float64 no longer holds every whole number.
_EXACT_FLOAT = 1 << 53
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# datasets takes columns of these names for pictures.
# Texts that Arrow's reader of JSON takes for a time if no other text stands in their column.
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d(?::?\d\d(?::?\d\d)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII)
_PICTURE_NAME = re.compile(r"(?:.*_)?file_names?")
_CROISSANT = {"string": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float", "bool": "sc:Boolean"}


class Field(NamedTuple):
    """One column.

    Args:
        name: Its key in a row.
        kind: Type of its values, or of the values in its lists.
        depth: 0 for a value, 1 for a list, 2 for a list of lists.
        length: Number of values in the innermost list, None where it may be any.
    """

    name: str
    kind: Kind
    depth: int = 0
    length: int | None = None


FIELDS = (
    Field("file_name", "string"),
    Field("id", "string"),
    Field("base_sample_id", "string"),
    Field("image_group_id", "string"),
    Field("source_dataset", "string"),
    Field("source_question_id", "string"),
    Field("source_image_id", "string"),
    Field("question", "string"),
    Field("question_raw", "string"),
    Field("choices", "string", 1),
    Field("answer", "string"),
    Field("answer_text", "string"),
    Field("answers", "string", 1),
    Field("task_type", "string"),
    Field("quality_notes", "string", 1),
    Field("bbox_original", "float64", 1, _N_EDGES),
    Field("bbox_clipped", "float64", 1, _N_EDGES),
    Field("bbox_view", "float64", 1, _N_EDGES),
    Field("targets", "float64", 2, _N_EDGES),
    Field("target_policy", "string"),
    Field("view_id", "string"),
    Field("view_family", "string"),
    Field("width", "int64"),
    Field("height", "int64"),
    Field("crop_box_original", "float64", 1, _N_EDGES),
    Field("crop_area_multiplier", "float64"),
    Field("crop_area_effective", "float64"),
    Field("downsample_linear_scale", "float64"),
)
"""The columns that every release has, in the order of the keys; foreign fields of the sources follow them."""


def typed_row(schema: Iterable[Field], values: Mapping[str, object]) -> JsonObject:
    """Return a row with every key of the schema in its order, each value in its type, None where it is missing.

    NaN is how tables of numbers write a missing value.

    Example:
        >>> typed_row([Field("id", "string"), Field("box", "float64", 1), Field("x", "bool")], {"id": 7, "box": [1]})
        {'id': '7', 'box': [1.0], 'x': None}
    """
    return {field.name: _typed(field, field.depth, values.get(field.name)) for field in schema}


def misfit(field: Field, value: object) -> str | None:
    """Return what a value of a row is instead of the declared type, None if it fits; a missing value fits.

    Example:
        >>> misfit(Field("bbox_view", "float64", 1), [1.5, 2]), misfit(Field("id", "string"), 7)
        ('a whole number without a point', 'a number')
    """
    return None if value is None else _misfit(field, field.depth, value)


def foreign_schema(rows: Iterable[Mapping[str, object]]) -> tuple[tuple[Field, ...], tuple[str, ...]]:
    """Return the columns of the foreign fields of a whole collection, each of one type, and what must be told of them.

    Numbers with and without a fraction become float64, other mixed values text. A field that holds anything else, or
    whose name a reader would take for a picture, is not a column; nor are texts that are all dates, which readers of
    JSON take for times.

    Args:
        rows: The foreign fields of every question.

    Example:
        >>> foreign_schema([{"n": 1, "tag": "a"}, {"n": 2, "tag": 3, "more": [1]}])[0]
        (Field(name='n', kind='int64', depth=0, length=None), Field(name='tag', kind='string', depth=0, length=None))
    """
    found: dict[str, list[object]] = {}
    for row in rows:
        for name, entry in row.items():
            if not _is_missing(entry):
                found.setdefault(name, []).append(entry)
    fields, told = [], []
    for name, entries in found.items():
        if _PICTURE_NAME.fullmatch(name):
            told.append(f"the field {name} stands in dataset.json only: datasets would take it for a picture")
        elif not all(isinstance(entry, str | bool | int | float) for entry in entries):
            told.append(
                f"the field {name} stands in dataset.json only: it holds more than texts, numbers and truth values"
            )
        elif all(isinstance(entry, str) and _TIME.fullmatch(entry) for entry in entries):
            told.append(f"the field {name} stands in dataset.json only: datasets would read its dates as times")
        else:
            kind = _common_kind(entries)
            fields.append(Field(name, kind))
            if kind == "string" and not all(isinstance(entry, str) for entry in entries):
                told.append(f"the field {name} is text in every row, because its sources give values of several types")
    return tuple(fields), tuple(told)


def features(schema: Iterable[Field]) -> JsonObject:
    """Return the columns in the form of ``datasets.Features.to_dict``, with the picture in the place of its name."""
    return {
        "image" if field.name == "file_name" else field.name: {"_type": "Image"}
        if field.name == "file_name"
        else _feature(field, field.depth)
        for field in schema
    }


def read_features(content: object) -> tuple[Field, ...] | None:
    """Return the columns that ``metadata/features.json`` declares, None if it is not such a document."""
    if not isinstance(content, Mapping):
        return None
    found = []
    for name, declared in content.items():
        if name == "image" and isinstance(declared, Mapping) and declared.get("_type") == "Image":
            found.append(FIELDS[0])
            continue
        depth, feature = 0, declared
        while isinstance(feature, Mapping) and feature.get("_type") == "List":
            depth, feature = depth + 1, feature.get("feature")
        kind = feature.get("dtype") if isinstance(feature, Mapping) and feature.get("_type") == "Value" else None
        if kind not in _CROISSANT:
            return None
        own = next((field for field in FIELDS if field[:3] == (name, kind, depth)), None)
        found.append(own or Field(str(name), cast("Kind", kind), depth))
    return tuple(found)


def yaml_features(schema: Iterable[Field], indent: str) -> list[str]:
    """Return the lines of ``features`` in the header of a dataset card."""
    lines = []
    for field in schema:
        if field.name == "file_name":
            lines += [f"{indent}- name: image", f"{indent}  dtype: image"]
            continue
        name = field.name if _PLAIN_NAME.fullmatch(field.name) else json.dumps(field.name, ensure_ascii=False)
        kind = f"dtype: {field.kind}" if field.depth == 0 else f"list: {field.kind}"
        nested = [f"{indent}  {'  ' * level}list:" for level in range(field.depth - 1)]
        lines += [f"{indent}- name: {name}", *nested, f"{indent}  {'  ' * len(nested)}{kind}"]
    return lines


def croissant_type(field: Field) -> JsonObject:
    """Return ``dataType`` and, for lists, the shape of a column in the Croissant format; -1 is any length."""
    declared: JsonObject = {"dataType": _CROISSANT[field.kind]}
    if field.depth:
        lengths = [-1] * (field.depth - 1) + [-1 if field.length is None else field.length]
        declared |= {"isArray": True, "arrayShape": ",".join(map(str, lengths))}
    return declared


def as_text(value: object) -> str:
    """Return a value as the text of a text column: numbers as JSON spells them, whole ones without a point.

    Example:
        >>> as_text(669), as_text(669.0), as_text("000669"), as_text(True), as_text([1, "a"])
        ('669', '669', '000669', 'true', '[1, "a"]')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _typed(field: Field, depth: int, value: object) -> object:
    if _is_missing(value):
        return None
    if depth:
        entries = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        return [_typed(field, depth - 1, entry) for entry in entries]
    if field.kind == "string":
        return as_text(value)
    if isinstance(value, bool | int | float):
        return {"int64": int, "float64": float, "bool": bool}[field.kind](value)
    raise TypeError(f"{field.name} {value!r} is no {field.kind}")


def _misfit(field: Field, depth: int, value: object) -> str | None:
    if depth:
        if not isinstance(value, list):
            return f"{_kind_name(value)} instead of a list"
        return next((found for entry in value if (found := _misfit(field, depth - 1, entry)) is not None), None)
    if field.kind == "float64" and type(value) is int:
        return "a whole number without a point"
    kinds = {"string": str, "int64": int, "float64": float, "bool": bool}
    return None if type(value) is kinds[field.kind] else _kind_name(value)


def _kind_name(value: object) -> str:
    for kind, name in ((str, "text"), (bool, "true or false"), (int | float, "a number"), (list, "a list")):
        if isinstance(value, kind):
            return name
    return "nothing" if value is None else "an object"


def _common_kind(entries: Sequence[object]) -> Kind:
    types = {type(entry) for entry in entries}
    numbers = [entry for entry in entries if isinstance(entry, int | float)]
    if types == {bool}:
        return "bool"
    if types == {int} and all(entry in _INT64 for entry in entries):
        return "int64"
    if types and types <= {int, float} and all(_is_exact(number) for number in numbers):
        return "float64"
    return "string"


def _is_exact(number: float) -> bool:
    return abs(number) <= _EXACT_FLOAT if isinstance(number, int) else math.isfinite(number)


def _feature(field: Field, depth: int) -> JsonObject:
    if depth:
        return {"_type": "List", "feature": _feature(field, depth - 1)}
    return {"_type": "Value", "dtype": field.kind}
