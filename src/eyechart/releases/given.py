"""Prediction files of any known form, read against a benchmark or, where they say everything themselves, without."""

from collections.abc import Sequence
from pathlib import Path

from eyechart.errors import UsageError
from eyechart.kinds import Benchmark
from eyechart.releases.kit_questions import (
    KitPredictions,
    Unmatched,
    match_rows,
    merge,
    own_predictions,
    questions_of,
    view_in_name,
)
from eyechart.releases.kits import Kit, read_kit, recognise_kit
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
        n_repeated: Rows that repeat a question and view; the first answer that is no error counts.
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
    paths: Sequence[Path], benchmark: Benchmark | None, *, view: str | None = None, metric: str | None = None
) -> Given:
    """Read prediction files: JSONL, JSON, CSV or parquet rows (sum.md 1.9), VLMEvalKit tables, lmms-eval samples.

    Args:
        paths: The files, or folders that hold nothing but such files (one per view, for example).
        benchmark: What they answer; None for one self-contained file of a kit.
        view: The view of rows that name none; else the file's name may end in it.
        metric: For lmms-eval, whose values are their scores.

    Raises:
        BenchmarkError: If a file or row is damaged, or answers differ about one question and view.
        UsageError: If a view is missing or unknown, or a file needs a benchmark and none is given.
    """
    paths = _files(paths)
    if benchmark is None:
        return _read_alone(paths, view, metric)
    questions = tuple(benchmark.questions())
    views = benchmark.released_views()
    names: dict[str, str] = getattr(benchmark, "read_as", {})
    view = names.get(view, view) if view else view
    files: list[GivenFile] = []
    parts: list[KitPredictions] = []
    for path in paths:
        kit = recognise_kit(path)
        if kit is None:
            known = views or _views_named(path, view)
            ids = {question.id for question in questions}
            named = view or view_in_name(path.stem, known)
            part = KitPredictions(read_predictions([path], ids, known, view=named, names=names), (), 0, ())
        else:
            named = view or view_in_name(path.stem, views) or (views[0] if len(views) == 1 else None)
            known = views or _views_named(path, view)
            part = match_rows(read_kit(path, kit, metric=metric), questions, known, named or _only(known))
        files.append(GivenFile(path.name, kit, len(part.predictions)))
        parts.append(part)
    predictions = merge(part.predictions for part in parts)
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
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.suffix.lower() in _SUFFIXES)
            if not inside:
                raise UsageError(f"{path} holds no prediction file", hint=f"they end in {', '.join(_SUFFIXES)}")
        found += inside
    return found


def _read_alone(paths: Sequence[Path], view: str | None, metric: str | None) -> Given:
    kits = [recognise_kit(path) for path in paths]
    if len(paths) != 1 or kits[0] is None:
        what = f"{len(paths)} files" if len(paths) != 1 else f"{paths[0]} has rows of ids and responses and"
        raise UsageError(
            f"{what} cannot be scored without the questions", hint="--data FOLDER, the release they answer"
        )
    rows = read_kit(paths[0], kits[0], metric=metric)
    questions = questions_of(rows)
    shown = view or ONLY_VIEW
    part = own_predictions(rows, questions, (shown,), shown)
    files = (GivenFile(paths[0].name, kits[0], len(part.predictions)),)
    return Given(questions, (shown,), part.predictions, files)


def _views_named(path: Path, view: str | None) -> tuple[str, ...]:
    """Return every view that a file of a benchmark without released views may name: any id we can read."""
    from eyechart.benchmarks._foreign_views import known_view
    from eyechart.benchmarks._tables import read_rows

    named = [view] if view else []
    if path.suffix.lower() in {".jsonl", ".csv", ".json", ".parquet"}:
        for row in read_rows(path):
            value = row.values.get("view_id", row.values.get("view"))
            if isinstance(value, str) and known_view(value) is not None:
                named.append(value)
    if known_view(path.stem) is not None:
        named.append(path.stem)
    return tuple(dict.fromkeys(named)) or (ONLY_VIEW,)


def _only(views: Sequence[str]) -> str | None:
    return views[0] if len(views) == 1 else None
