"""Read a file of answers that exist already: JSONL or CSV, whatever its columns are called."""

import csv
import hashlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

import msgspec

from eyechart.errors import SchemaError, UsageError
from eyechart.schema import NOT_JSON, JsonObject, TwiceError, once

# First match wins; sum.md 1.9, then the words of common exports.
ID_COLUMNS = ("id", "base_sample_id", "question_id")
VIEW_COLUMNS = ("view", "view_id")
RESPONSE_COLUMNS = ("response", "prediction", "text", "answer")
REASONING_COLUMNS = ("reasoning", "reasoning_content")
FINISH_COLUMNS = ("finish", "finish_reason")
_PICTURES = frozenset({"image", "image_path", "img"})
_OPTION_COLUMNS = frozenset({"choices", "options", *ascii_uppercase})

# What other harnesses write into the answer column when there was none.
_FAILURE_TEXTS = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED", "Failed to obtain answer via API")
# Either value of a key that stands twice may be the answer.
_SINGLE = json.JSONDecoder(object_pairs_hook=once)
_ERROR_STATES = frozenset({"error", "transient", "bad_request", "refused_input", "empty_reply", "unreadable_image"})


class AnswerKey(NamedTuple):
    """What an answer belongs to. ``repeat`` is None where the file does not count repeats."""

    question_id: str
    view: str
    repeat: int | None = None


class StoredAnswer(NamedTuple):
    """One row of the file.

    Args:
        line: Line it stands on, from 1.
        text: The response; None if the row holds an error.
        error: Why there is no response.
        state: State the row declares, if any.
        reasoning: Thoughts, if the row holds them apart.
        finish: Why the model stopped, if known.
        log: What another harness noted about its judgement, if it did.
        told: The row's columns of options as they were shown, if it has any.
    """

    line: int
    text: str | None
    error: str | None = None
    state: str | None = None
    reasoning: str | None = None
    finish: str | None = None
    log: str | None = None
    told: JsonObject | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """Everything but the place."""
        return self[1:]


class AnswerFile(NamedTuple):
    """The answers of a file, and the SHA-256 of its bytes."""

    answers: dict[AnswerKey, StoredAnswer]
    sha256: str


def read_answer_file(path: Path, default_view: str | None = None) -> AnswerFile:
    """Read all answers of a JSONL, CSV or TSV file.

    Rows of one question, view and repeat must be identical. A row whose ``error`` is filled, whose ``state`` is an
    error, or whose response is missing stays an error; an empty response is an empty answer.

    Args:
        path: The file; what does not end in ``.csv`` or ``.tsv`` is read as JSONL.
        default_view: View of the rows that name none.

    Raises:
        UsageError: If the file cannot be read.
        SchemaError: If a row is malformed, names no id, view or response, or contradicts an earlier one.
    """
    try:
        payload = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint="give replay/ the path of a file") from error
    answers: dict[AnswerKey, StoredAnswer] = {}
    for line, row in _rows(path, payload):
        key = _key(row, default_view, f"{path}:{line}")
        answer = _answer(row, line, f"{path}:{line}")
        earlier = answers.setdefault(key, answer)
        if earlier.content != answer.content:
            raise SchemaError(
                f"{path}:{line}: question {key.question_id} in view {key.view} was already answered otherwise in line "
                f"{earlier.line}",
                hint="keep one of the two rows, or number them in a column 'repeat'",
            )
    if not answers:
        raise SchemaError(f"{path} holds no answers", hint='write lines such as {"id": …, "view": …, "response": …}')
    return AnswerFile(answers, hashlib.sha256(payload).hexdigest())


def _rows(path: Path, payload: bytes) -> Iterator[tuple[int, JsonObject]]:
    try:
        text = payload.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = payload[: error.start].count(b"\n") + 1
        raise SchemaError(f"{path}:{line}: not UTF-8 ({error.reason})", hint="save the file as UTF-8") from error
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    return _json_rows(path, text) if delimiter is None else _csv_rows(path, text, delimiter)


def _json_rows(path: Path, text: str) -> Iterator[tuple[int, JsonObject]]:
    # Not splitlines: a JSON string may hold U+2028, which is not a line break of the file.
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            row = msgspec.json.decode(content, type=dict[str, object])
            _SINGLE.decode(content)
            yield line, row
        except TwiceError as error:
            raise SchemaError(f"{path}:{line}: {error}", hint="keep one of the two") from error
        except NOT_JSON as error:
            raise SchemaError(f"{path}:{line}: no JSON object ({error})", hint="one JSON object a line") from error


def _csv_rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, JsonObject]]:
    earlier_limit = csv.field_size_limit(sys.maxsize)  # 131,072 by default: a long chain of thought is longer
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        line = 1
        for row in reader:
            if None in row or None in row.values():
                n = len(reader.fieldnames or ())
                raise SchemaError(f"{path}:{line + 1}: the row has not {n} columns", hint="quote texts with commas")
            yield line + 1, {key: value for key, value in row.items() if value != "" or key in RESPONSE_COLUMNS}
            line = reader.line_num
    except csv.Error as error:
        raise SchemaError(f"{path}:{line + 1}: {error}", hint="is a quotation mark missing?") from error
    finally:
        csv.field_size_limit(earlier_limit)


def _key(row: JsonObject, default_view: str | None, place: str) -> AnswerKey:
    question_id = _first(row, ID_COLUMNS)
    if question_id is None or isinstance(question_id, bool) or not isinstance(question_id, str | int):
        raise SchemaError(f"{place}: no id", hint=f"name the question in a column {' or '.join(ID_COLUMNS)}")
    view = _first(row, VIEW_COLUMNS)
    view = default_view if view is None else view
    if not isinstance(view, str):
        raise SchemaError(
            f"{place}: no view", hint="name it in a column 'view', or for the whole file with --set view=original"
        )
    repeat = row.get("repeat")
    try:
        number = None if repeat is None else int(str(repeat))
    except ValueError as error:
        raise SchemaError(f"{place}: repeat {repeat!r} is not a whole number", hint="count repeats from 0") from error
    return AnswerKey(str(question_id), view, number)


def _answer(row: JsonObject, line: int, place: str) -> StoredAnswer:
    column = next((column for column in RESPONSE_COLUMNS if column in row), None)
    error, state = row.get("error"), row.get("state")
    is_error = bool(error) or state in _ERROR_STATES
    if column == "answer" and _PICTURES & set(row):
        raise SchemaError(
            f"{place}: a question with its right answer, not the answer of a model",
            hint="give the file of responses; a response stands in a column response or prediction",
        )
    if column is None and not is_error:
        raise SchemaError(f"{place}: no response", hint=f"name it in a column {', '.join(RESPONSE_COLUMNS)}")
    text = row.get(column) if column else None
    if text is not None and not isinstance(text, str | int | float):
        raise SchemaError(f"{place}: the response is not a text but {text!r}", hint="write the model's own words")
    if isinstance(text, str) and text.startswith(_FAILURE_TEXTS):
        error, is_error = text, True
    if text is None and not is_error:
        error, is_error = "the file holds no response", True
    return StoredAnswer(
        line,
        None if is_error else str(text),
        str(error or state) if is_error else None,
        state if isinstance(state, str) else None,
        _optional_text(_first(row, REASONING_COLUMNS)),
        _optional_text(_first(row, FINISH_COLUMNS)),
        _optional_text(row.get("log")),
        {name: cell for name, cell in row.items() if name in _OPTION_COLUMNS} or None,
    )


def _first(row: JsonObject, columns: tuple[str, ...]) -> object:
    return next((row[column] for column in columns if row.get(column) is not None), None)


def _optional_text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
