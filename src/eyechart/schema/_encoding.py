"""Records as JSON, and the keys that are hashes of it."""

import hashlib
from collections import Counter
from functools import cache
from typing import TypeVar

import msgspec
import msgspec.structs

from eyechart.errors import SchemaError
from eyechart.schema._answers import Request
from eyechart.schema._base import SCHEMA_VERSION, Record
from eyechart.schema._pictures import Recipe

AnyRecord = TypeVar("AnyRecord", bound=Record)


NOT_JSON = (msgspec.DecodeError, RecursionError)
"""What msgspec raises for bytes that are not the JSON that was expected, or that are nested deeper than it follows."""


class _Versioned(msgspec.Struct):
    schema_version: int = 0


def canonical_json(value: object) -> bytes:
    """Encode a value as JSON whose bytes depend on nothing but the value.

    Keys are sorted, whole floats are written as integers, and record fields that equal their default are left out,
    so that a field added later leaves every older key as it was.

    Example:
        >>> from eyechart.schema import Sampling, Size
        >>> canonical_json({"b": 1.0, "a": Size(2, 3), "c": Sampling(temperature=0, seed=7)})
        b'{"a":[2,3],"b":1,"c":{"seed":7}}'
    """
    return msgspec.json.encode(_essential(value), order="deterministic")


def _essential(value: object) -> object:
    """Return ``value`` as plain JSON values without what its record types already say."""
    if isinstance(value, msgspec.Struct):
        fields = {
            field.encode_name: _essential(getattr(value, field.name))
            for field in _fields_of(type(value))
            if not _is_default(field, getattr(value, field.name))
        }
        config = value.__struct_config__
        return fields if config.tag is None else {str(config.tag_field): config.tag, **fields}
    if isinstance(value, dict):
        return {str(key): _essential(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_essential(entry) for entry in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@cache
def _fields_of(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a record class; looking them up anew for each value would double the time of planning."""
    return msgspec.structs.fields(kind)


def _is_default(field: msgspec.structs.FieldInfo, value: object) -> bool:
    if field.default_factory is not msgspec.NODEFAULT:
        return bool(value == field.default_factory())
    return field.default is not msgspec.NODEFAULT and bool(value == field.default)


def content_sha256(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON, as lower-case hex.

    Example:
        >>> content_sha256({"a": 1})[:12]
        '015abd7f5cc5'
    """
    return hashlib.sha256(canonical_json(value)).hexdigest()


def recipe_key(file_sha256: str, recipe: Recipe) -> str:
    """Return the key of a picture: SHA-256 of the original's file hash and the canonical recipe.

    No library version, encoder setting, path or URL enters it, so planning needs no pixels and the key outlives
    an upgrade that leaves the pixels alone.
    """
    return content_sha256([file_sha256, recipe])


def request_id(request: Request) -> str:
    """Return the SHA-256 of everything in a request that decides its answer.

    ``id`` itself, sizes that follow from the recipe, and ``schema_version`` are left out.
    """
    return content_sha256(
        {
            "benchmark": request.benchmark,
            "question_id": request.question_id,
            "condition": request.condition,
            "pictures": [picture.recipe_key for picture in request.pictures],
            "prompt": request.prompt,
            "prompt_id": request.prompt_id,
            "choices": request.choices,
            "choice_order": request.choice_order,
            "model": request.model,
            "sampling": request.sampling,
            "repeat": request.repeat,
        }
    )


def encode_record(record: Record) -> bytes:
    """Encode a record as one JSON line, without the line break.

    Example:
        >>> from eyechart.schema import Score
        >>> encode_record(Score(request_id="r", scorer="option_letter.strict@1", value=1.0))[:42]
        b'{"schema_version":1,"request_id":"r","scor'
    """
    return msgspec.json.encode(record)


def decode_record(line: bytes | str, kind: type[AnyRecord], place: str) -> AnyRecord:
    """Decode one JSON line, checking its schema version first.

    Args:
        line: The JSON text.
        kind: The record class.
        place: File and line, for the error message.

    Raises:
        SchemaError: If the text is not such a record, or was written by a newer schema.

    Example:
        >>> from eyechart.schema import Score
        >>> decode_record('{"schema_version": 99}', Score, "scores.jsonl:1")
        Traceback (most recent call last):
            ...
        eyechart.errors.SchemaError: scores.jsonl:1: written with schema version 99, this eyechart reads up to 1
        hint: upgrade eyechart to read this file
    """
    try:
        version = msgspec.json.decode(line, type=_Versioned).schema_version
    except NOT_JSON as error:
        raise SchemaError(
            f"{place}: not a JSON object ({error})", hint="the line is damaged; restore the file"
        ) from error
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"{place}: written with schema version {version}, this eyechart reads up to {SCHEMA_VERSION}",
            hint="upgrade eyechart to read this file",
        )
    try:
        return msgspec.json.decode(line, type=kind)
    except NOT_JSON as error:
        raise SchemaError(
            f"{place}: no valid {kind.__name__} ({error})", hint="was the file edited by hand?"
        ) from error


class TwiceError(ValueError):
    """A key that stands twice in one object."""


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of these keys and values (``object_pairs_hook``).

    Raises:
        TwiceError: If a key stands there twice.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise TwiceError(f"key {twice!r} stands twice in one object")
    return found
