"""Answers you already have: JSONL or CSV files of predictions, aligned by question and view."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from eyechart.benchmarks._cells import Row
from eyechart.benchmarks._ids import QuestionIds
from eyechart.benchmarks._shown_options import options_in_row
from eyechart.benchmarks._tables import read_rows
from eyechart.errors import BenchmarkError
from eyechart.registry import unknown_name
from eyechart.releases.heads import Container
from eyechart.releases.kits import rows_in
from eyechart.schema import ResponseState, Value

ID_COLUMNS = ("base_sample_id", "id", "question_id")
VIEW_COLUMNS = ("view_id", "view")
RESPONSE_COLUMNS = ("response", "prediction", "output", "answer")

PredictionKey = tuple[str, str]
"""Question id and view id."""


class Prediction(Value, frozen=True):
    """One answer given to one question in one view.

    Args:
        question_id: The question.
        view: The view.
        text: The response; None where the row has none, which is not an answer and not an empty one.
        state: How the request ended; only errors have no score.
        place: File and line.
        choices: Options in the order shown, None if that is the question's own.
        theirs: The score that another kit gave this answer, None where there is none.
        their_answer: What that kit read from the response.
        notes: What it did that a score should not depend on.
    """

    question_id: str
    view: str
    text: str | None
    state: ResponseState
    place: str
    choices: tuple[str, ...] | None = None
    theirs: float | None = None
    their_answer: str | None = None
    notes: tuple[str, ...] = ()


def read_predictions(
    paths: Sequence[Path],
    question_ids: Collection[str],
    views: Sequence[str],
    *,
    view: str | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
    container: Container | None = None,
) -> dict[PredictionKey, Prediction]:
    """Read prediction files: one for all views with a view column, or one per view.

    A row needs an id (``base_sample_id``, ``id`` or ``question_id``) and a response (``response``, ``prediction``,
    ``output`` or ``answer``) that is text. Its view is the column ``view_id`` or ``view``, else the argument, else the
    name of the file if that is a view. ``state`` may say how the request ended, ``choices`` or ``options`` in which
    order the options were shown. A row without a response (null, an empty CSV cell, or an empty text beside an
    ``error``) counts as missing.

    Args:
        paths: JSONL, JSON, CSV or parquet files.
        question_ids: The questions there are.
        views: The views there are.
        view: The view of rows that name none.
        names: What views are called that the release spells in its own way.
        container: How the files keep their rows; else their suffix says.

    Returns:
        The predictions by question and view.

    Raises:
        BenchmarkError: If an id is unknown, a row has no id, response column or view, or two rows about the same
            question and view differ.
        UsageError: If a view is unknown; the hint names the nearest.
    """
    found: dict[PredictionKey, Prediction] = {}
    ids = QuestionIds(question_ids)
    for path in paths:
        models: dict[str, str] = {}
        default = view or (path.stem if path.stem in {*views, *names} else None)
        for row in _rows(path, container):
            prediction = _prediction(row, default, ids, names)
            _check_model(row, models)
            if prediction.view not in views:
                raise unknown_name(f"view in {prediction.place}", prediction.view, tuple(views))
            key = (prediction.question_id, prediction.view)
            other = found.setdefault(key, prediction)
            if (other.text, other.state) != (prediction.text, prediction.state):
                raise BenchmarkError(
                    f"{prediction.place}: another response to {key[0]} in {key[1]} than {other.place}",
                    hint="keep one row per question and view",
                )
    return found


def views_of(predictions: Iterable[PredictionKey], views: Sequence[str]) -> tuple[str, ...]:
    """Return the views that have a prediction, in the order of ``views``."""
    given = {view for _, view in predictions}
    return tuple(view for view in views if view in given)


def _check_model(row: Row, models: dict[str, str]) -> None:
    """Refuse a file that holds the answers of several models: equal answers would hide that."""
    name = row.values.get("model")
    if isinstance(name, str) and name:
        models.setdefault(name, row.place)
    if len(models) > 1:
        first, second = list(models)[:2]
        raise BenchmarkError(
            f"{row.place}: the file holds answers of several models ({first}, {second})",
            hint="give one file per model",
        )


def _rows(path: Path, container: Container | None) -> Iterator[Row]:
    """Yield the rows of a file: strictly, but for sheets and JSON documents, which may be one object or by columns."""
    if container in {"json", "xlsx"}:
        return rows_in(path, container)
    return read_rows(path, suffix=None if container is None else f".{container}")


def _prediction(row: Row, default_view: str | None, ids: QuestionIds, names: Mapping[str, str]) -> Prediction:
    values = row.values
    name = _first(values, ID_COLUMNS)
    if name is None:
        raise BenchmarkError(f"{row.place}: no id", hint=f"every row needs one of {', '.join(ID_COLUMNS)}")
    question_id = ids.find(name, row.place)
    if question_id is None:
        raise BenchmarkError(
            f"{row.place}: id {str(name)!r} is not a question of this benchmark",
            hint="are these predictions for other data?",
        )
    view = _first(values, VIEW_COLUMNS) or default_view
    if view is None:
        raise BenchmarkError(
            f"{row.place}: no view", hint="add a column view_id, give the view, or name the file after its view"
        )
    if not any(column in values for column in RESPONSE_COLUMNS):
        raise BenchmarkError(
            f"{row.place}: no response (columns: {', '.join(values)})", hint=f"one of: {', '.join(RESPONSE_COLUMNS)}"
        )
    text = next((values[column] for column in RESPONSE_COLUMNS if column in values), None)
    if text is not None and not isinstance(text, str | int | float):
        raise BenchmarkError(f"{row.place}: the response is not a text", hint="write the model's own words")
    if values.get("error") not in (None, "", False) and not str(text or "").strip():
        text = None  # what failed is not an empty answer
    return Prediction(
        question_id=question_id,
        view=names.get(str(view), str(view)),
        text=None if text is None else str(text),
        state=_state(values, row.place, is_missing=text is None),
        place=row.place,
        choices=options_in_row(values),
    )


def _state(values: Mapping[str, object], place: str, *, is_missing: bool) -> ResponseState:
    given = values.get("state")
    if given is None:
        return ResponseState.TRANSIENT if is_missing else ResponseState.ANSWERED
    try:
        return ResponseState(str(given))
    except ValueError as error:
        raise BenchmarkError(f"{place}: state {given!r}", hint=f"one of: {', '.join(ResponseState)}") from error


def _first(values: Mapping[str, object], columns: Sequence[str]) -> object:
    return next((values[column] for column in columns if values.get(column) not in (None, "")), None)
