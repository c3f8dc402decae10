"""Prediction files of any known form, read against a benchmark or, where they say everything themselves, without."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from eyechart.benchmarks._foreign_views import known_view
from eyechart.benchmarks._shown_options import shown_as
from eyechart.errors import BenchmarkError, UsageError
from eyechart.kinds import Benchmark
from eyechart.releases.forms import Recognised, is_whole, not_read, recognise
from eyechart.releases.kit_questions import (
    KitPredictions,
    Unmatched,
    known_view_in_name,
    match_rows,
    merge,
    own_predictions,
    questions_of,
    view_in_name,
)
from eyechart.releases.kits import Kit, read_kit, rows_in
from eyechart.releases.predictions import Prediction, PredictionKey, read_predictions
from eyechart.schema import Question, Value

ONLY_VIEW = "original"
"""The view of files that are scored without a benchmark and name none."""

_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet", ".xlsx", ".tsv")


class GivenFile(Value, frozen=True):
    """One prediction file: what wrote it (None: plain rows), and how many predictions it holds."""

    name: str
    kit: Kit | None
    n_predictions: int


class Given(Value, frozen=True):
    """All prediction files as one.

    Args:
        questions: All questions of the benchmark, or those of the file itself.
        views: The views there are.
        predictions: One for each question and view.
        files: What was read.
        unmatched: Rows that belong to no question, with the reason.
        n_repeated: Rows that repeat a question and view; the first answer that is not an error counts.
        other_answers: Questions whose right answer is another one in a kit's file.
    """

    questions: tuple[Question, ...]
    views: tuple[str, ...]
    predictions: dict[PredictionKey, Prediction]
    files: tuple[GivenFile, ...]
    unmatched: tuple[Unmatched, ...] = ()
    n_repeated: int = 0
    other_answers: tuple[str, ...] = ()


def read_given(
    paths: Sequence[Path],
    benchmark: Benchmark | None,
    *,
    view: str | None = None,
    metric: str | None = None,
    form: str | None = None,
    orders: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
) -> Given:
    """Read prediction files: rows of ids and responses (sum.md 1.9), VLMEvalKit tables, lmms-eval samples.

    What a file is, its content tells (``releases.forms``), never its name.

    Args:
        paths: The files, or folders that hold nothing but such files (one per view, for example).
        benchmark: What they answer; None for one self-contained file of a kit.
        view: The view of rows that name none; else the file's name may end in it.
        metric: For lmms-eval, whose values are their scores.
        form: The form of the files, where their content fits several.
        orders: Question → for each letter shown the index of its option, whatever the files say.

    Raises:
        BenchmarkError: If a file or row is damaged, of a form that is not read, or answers differ about a question and
            view.
        UsageError: If a view is missing or unknown, or a file needs a benchmark and none is given.
    """
    paths = _files(paths)
    if benchmark is None:
        return _read_alone(paths, view, metric, form)
    questions = tuple(benchmark.questions())
    views = benchmark.released_views()
    names: dict[str, str] = getattr(benchmark, "read_as", {})
    view = names.get(view, view) if view else view
    files: list[GivenFile] = []
    parts: list[KitPredictions] = []
    for path in paths:
        found = recognise(path, form)
        reader = found.form.reader
        if reader is None:
            raise not_read(path, found)
        in_name = view_in_name(path.stem, views) or known_view_in_name(path.stem)
        if reader == "plain":
            known = views or _views_named(path, found, view)
            ids = {question.id for question in questions}
            named = view or view_in_name(path.stem, known)
            rows = read_predictions([path], ids, known, view=named, names=names, container=found.container)
            part = KitPredictions(_as_shown(rows, questions), (), 0, ())
            kit: Kit | None = None
        else:
            kit = reader
            named = view or in_name or (views[0] if len(views) == 1 else None)
            read = read_kit(path, reader, found.container, metric=metric)
            known = views or tuple(dict.fromkeys([row.view for row in read if row.view] + ([named] if named else [])))
            part = match_rows(read, questions, known or (ONLY_VIEW,), named or _only(known or (ONLY_VIEW,)))
        files.append(GivenFile(path.name, kit, len(part.predictions)))
        parts.append(part)
    predictions = _ordered(merge(part.predictions for part in parts), questions, orders)
    return Given(
        questions=questions,
        views=views or tuple(dict.fromkeys(place for _, place in predictions)),
        predictions=predictions,
        files=tuple(files),
        unmatched=tuple(row for part in parts for row in part.unmatched),
        n_repeated=sum(part.n_repeated for part in parts),
        other_answers=tuple(dict.fromkeys(name for part in parts for name in part.other_answers)),
    )


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return the files named, and those of the folders named, by name.

    Raises:
        UsageError: If a path does not exist, or a folder holds none.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist", hint="check the path given as --predictions")
        inside = [path]
        if path.is_dir() and not is_whole(path):
            inside = sorted(file for file in path.iterdir() if file.suffix.lower() in _SUFFIXES)
            if not inside:
                raise UsageError(f"{path} holds no prediction file", hint=f"they end in {', '.join(_SUFFIXES)}")
        found += inside
    return found


def _as_shown(
    predictions: Mapping[PredictionKey, Prediction], questions: Sequence[Question]
) -> dict[PredictionKey, Prediction]:
    """Return predictions with the question's own choices in the order their rows tell.

    Raises:
        BenchmarkError: If a row tells other options than its question has.
    """
    by_id = {question.id: question for question in questions}
    found = {}
    for key, prediction in predictions.items():
        own = by_id[prediction.question_id].choices
        shown = None if prediction.choices is None else shown_as(prediction.choices, own)
        if prediction.choices is not None and own and shown is None:
            raise BenchmarkError(
                f"{prediction.place}: its options ({', '.join(prediction.choices)}) are not those of question "
                f"{prediction.question_id} ({', '.join(own)})",
                hint="are these predictions for other data?",
            )
        found[key] = msgspec.structs.replace(prediction, choices=None if shown == own else shown)
    return found


def _ordered(
    predictions: Mapping[PredictionKey, Prediction],
    questions: Sequence[Question],
    orders: Mapping[str, tuple[int, ...]],
) -> dict[PredictionKey, Prediction]:
    """Return predictions with the options in the order given for their question."""
    own = {question.id: question.choices for question in questions}
    return {
        key: msgspec.structs.replace(one, choices=tuple(own[key[0]][index] for index in orders[key[0]]))
        if key[0] in orders
        else one
        for key, one in predictions.items()
    }


def _read_alone(paths: Sequence[Path], view: str | None, metric: str | None, form: str | None) -> Given:
    found = [recognise(path, form) for path in paths]
    for path, one in zip(paths, found, strict=True):
        if one.form.reader is None:
            raise not_read(path, one)
    reader = found[0].form.reader if len(found) == 1 else "plain"
    if reader is None or reader == "plain":
        what = f"{len(paths)} files" if len(paths) != 1 else f"{paths[0]} has rows of ids and responses and"
        raise UsageError(
            f"{what} cannot be scored without the questions", hint="--data FOLDER, the release they answer"
        )
    rows = read_kit(paths[0], reader, found[0].container, metric=metric)
    shown = view or known_view_in_name(paths[0].stem) or ONLY_VIEW
    questions = questions_of(rows, shown)
    part = own_predictions(rows, questions, shown)
    files = (GivenFile(paths[0].name, reader, len(part.predictions)),)
    return Given(questions, tuple(dict.fromkeys(place for _, place in part.predictions)), part.predictions, files)


def _views_named(path: Path, found: Recognised, view: str | None) -> tuple[str, ...]:
    """Return every view that a file of a benchmark without released views may name: any id we can read."""
    named = [view] if view else []
    for row in rows_in(path, found.container):
        value = row.values.get("view_id", row.values.get("view"))
        if isinstance(value, str) and known_view(value) is not None:
            named.append(value)
    in_name = known_view_in_name(path.stem)
    if in_name is not None:
        named.append(in_name)
    return tuple(dict.fromkeys(named)) or (ONLY_VIEW,)


def _only(views: Sequence[str]) -> str | None:
    return views[0] if len(views) == 1 else None
