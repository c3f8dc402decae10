"""Which stored answer counts for each request, when writers were killed, resumed or ran side by side."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from eyechart.errors import SchemaError
from eyechart.runs.files import read_lines
from eyechart.schema import NOT_JSON, SCHEMA_VERSION, JsonObject, Response, ResponseState, decode_record

GENERATION = "generation"
"""Key in ``Response.extra``: how often this request was asked anew: its answer was too old, or it was wanted again."""


OPEN_ERROR = "open_error"
"""Key in ``Response.extra`` of a passing error that is final once its start has ended well: its state and the start."""
ASKED_AGAIN = "asked_again"
"""Key in ``Response.extra``: the state of the final error in whose place this request was asked again."""


CARRIED = "carried_from"
"""Key in ``Response.extra``: the request whose answer this is; it asked the same under another id of its question."""


class Row(msgspec.Struct, frozen=True):
    """Where an answer stands, and what decides whether it counts.

    Args:
        writer: Index of the writer's file among the sorted files.
        line: Line in that file, from 1.
        state: How the request ended.
        generation: 0, or one more than the answer that was too old, or the error that was asked again.
        finished_at: ISO time of the answer, None where it was not recorded.
    """

    writer: int
    line: int
    state: ResponseState
    generation: int = 0
    finished_at: str | None = None

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Sort key: newer generations first, answers before final errors before passing errors, then file order."""
        kind = 2 if not self.state.is_final else int(self.state.is_error)
        return (-self.generation, kind, self.writer, self.line)


class AnswerIndex(msgspec.Struct, frozen=True):
    """For every request that has a row: the row that counts.

    ``n_rows`` counts all rows and ``n_duplicates`` the answers that stand beside the one that counts; errors that
    were followed by an answer are not duplicates, nor are answers that were asked for anew. ``open_errors`` holds, for
    requests with an error that becomes final when its start has ended well, these starts.
    """

    rows: dict[str, Row]
    n_rows: int = 0
    n_duplicates: int = 0
    open_errors: dict[str, set[str]] = {}

    def is_settled(self, request_id: str, start: str | None = None) -> bool:
        """Whether a request has an answer or a final error, so that it is not asked again.

        Args:
            request_id: The request.
            start: Whose open errors count as final, too: those of the start that is going on.
        """
        row = self.rows.get(request_id)
        return (row is not None and row.state.is_final) or start in self.open_errors.get(request_id, ())


class _Head(msgspec.Struct):
    """The part of a response row that the index needs; skipping the text keeps the index fast and small."""

    request_id: str
    state: ResponseState
    schema_version: int = 0
    finished_at: str | None = None
    extra: dict[str, object] = {}


def index_answers(files: Iterable[Path], wanted: Container[str] | None = None) -> AnswerIndex:
    """Read the rows of all writers and decide which counts for each request.

    The first answer by (writer file, line) counts; without any, the first final error; without that, the first
    passing error. What was asked anew because the old answer was stale counts before the old answer, error or not.

    Args:
        files: The writers' files, sorted by name.
        wanted: The requests to look at; all of them if None.

    Raises:
        SchemaError: If a whole line is damaged or was written by a newer schema.
        StoreError: If a file cannot be read.
    """
    rows: dict[str, Row] = {}
    n_answers: Counter[tuple[str, int]] = Counter()
    n_rows = 0
    open_errors: dict[str, set[str]] = {}
    for writer, path in enumerate(files):
        for line, text in read_lines(path, may_be_torn=True):
            head = _read_head(text, f"{path}:{line}")
            if wanted is not None and head.request_id not in wanted:
                continue
            generation = head.extra.get(GENERATION, 0)
            row = Row(
                writer=writer,
                line=line,
                state=head.state,
                generation=generation if isinstance(generation, int) else 0,
                finished_at=head.finished_at,
            )
            n_rows += 1
            if (start := start_of(head.extra)) is not None:
                open_errors.setdefault(head.request_id, set()).add(start)
            if not row.state.is_error:
                n_answers[head.request_id, row.generation] += 1
            known = rows.get(head.request_id)
            if known is None or row.rank < known.rank:
                rows[head.request_id] = row
    n_duplicates = n_answers.total() - len(n_answers)
    return AnswerIndex(rows=rows, n_rows=n_rows, n_duplicates=n_duplicates, open_errors=open_errors)


def read_answers(files: Iterable[Path], index: AnswerIndex) -> Iterator[Response]:
    """Yield the responses that count, in file order, one at a time.

    Raises:
        SchemaError: If a line is not a response.
        StoreError: If a file cannot be read.
    """
    counting = {(row.writer, row.line) for row in index.rows.values()}
    for writer, path in enumerate(files):
        for line, text in read_lines(path, may_be_torn=True):
            if (writer, line) in counting:
                yield decode_record(text, Response, f"{path}:{line}")


def read_open_errors(files: Iterable[Path], start: str) -> Iterator[Response]:
    """Yield every error that becomes final when this start has ended well, in file order.

    Raises:
        SchemaError: If such a line is not a response.
        StoreError: If a file cannot be read.
    """
    mark = start.encode()
    for path in files:
        for line, text in read_lines(path, may_be_torn=True):
            if mark in text:
                response = decode_record(text, Response, f"{path}:{line}")
                if start_of(response.extra) == start:
                    yield response


def contradicted_ids(files: Iterable[Path]) -> frozenset[str]:
    """Return the requests that have several answers with different texts; errors and answers asked anew are none.

    Args:
        files: The writers' files.

    Raises:
        SchemaError: If a line is not a response.
        StoreError: If a file cannot be read.
    """
    texts: dict[tuple[str, object], str | None] = {}
    found: set[str] = set()
    for path in files:
        for line, text in read_lines(path, may_be_torn=True):
            response = decode_record(text, Response, f"{path}:{line}")
            if response.state.is_error:
                continue
            key = (response.request_id, response.extra.get(GENERATION, 0))
            if texts.setdefault(key, response.text) != response.text:
                found.add(response.request_id)
    return frozenset(found)


def left_open(row: Response, start: str | None) -> Response:
    """Return how a row is stored while its start goes on: a final error as a passing one that names the start.

    Args:
        row: How the request ended.
        start: The start; None stores it as final at once.
    """
    if start is None or not (row.state.is_error and row.state.is_final):
        return row
    extra: JsonObject = {**row.extra, OPEN_ERROR: {"state": row.state.value, "start": start}}
    return msgspec.structs.replace(row, state=ResponseState.TRANSIENT, extra=extra)


def as_it_ended(row: Response) -> Response:
    """Return a row with the state in which its request ended, whether that was kept or not."""
    told = row.extra.get(OPEN_ERROR)
    if not isinstance(told, dict):
        return row
    extra = {key: value for key, value in row.extra.items() if key != OPEN_ERROR}
    return msgspec.structs.replace(row, state=ResponseState(str(told.get("state"))), extra=extra)


def start_of(extra: Mapping[str, object]) -> str | None:
    """Return the start whose good end makes an error final, None for every other row."""
    told = extra.get(OPEN_ERROR)
    start = told.get("start") if isinstance(told, dict) else None
    return start if isinstance(start, str) else None


def stale_ids(index: AnswerIndex, now: datetime, max_age: timedelta) -> dict[str, int]:
    """Return the requests whose answer is older than ``max_age``, with the generation a new answer must carry.

    An answer without a readable time counts as old. Errors are never stale.

    Args:
        index: The answers that count.
        now: The present, with a time zone.
        max_age: How old an answer may be.
    """
    return {
        request_id: row.generation + 1
        for request_id, row in index.rows.items()
        if not row.state.is_error and _age(row.finished_at, now) > max_age
    }


def _age(finished_at: str | None, now: datetime) -> timedelta:
    try:
        return now - datetime.fromisoformat(finished_at or "")
    except (TypeError, ValueError):  # no time, or one without zone
        return timedelta.max


def _read_head(text: bytes, place: str) -> _Head:
    try:
        head = msgspec.json.decode(text, type=_Head)
    except NOT_JSON as error:
        raise SchemaError(f"{place}: no response ({error})", hint="was the file edited by hand?") from error
    if head.schema_version > SCHEMA_VERSION:
        decode_record(text, Response, place)  # raises, naming both versions
    return head
