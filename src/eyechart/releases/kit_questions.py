"""Which question each row of a kit's prediction file is about: by its id or text, never by its row number."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

from eyechart.benchmarks._release import as_id
from eyechart.errors import BenchmarkError, UsageError
from eyechart.registry import unknown_name
from eyechart.releases.kits import KitRow
from eyechart.releases.predictions import Prediction, PredictionKey
from eyechart.schema import ImageRef, Question, Size, Value, content_sha256

# A kit's file says nothing about the pictures themselves.
_UNKNOWN_IMAGE = ImageRef("", Size(1, 1), "image/png")
_N_SHOWN = 3


class Unmatched(Value, frozen=True):
    """A row that belongs to no question, and why."""

    place: str
    key: str
    reason: str


class KitPredictions(Value, frozen=True):
    """The rows of a kit's file by question and view.

    Args:
        predictions: One for each question and view.
        unmatched: Rows that could not be used, with the reason.
        n_repeated: Rows that repeat a question and view; the first answer that is no error counts.
        other_answers: Ids of questions whose right answer is another one in the kit's file.
    """

    predictions: dict[PredictionKey, Prediction]
    unmatched: tuple[Unmatched, ...]
    n_repeated: int
    other_answers: tuple[str, ...]


def questions_of(rows: Iterable[KitRow]) -> tuple[Question, ...]:
    """Return the questions that a self-contained file asks, for scoring it without its benchmark.

    Rows with the same question and the same options in any order (rotations of one question) are one cluster.

    Raises:
        BenchmarkError: If a row tells no options or no right answer, or two rows have one id.
    """
    questions: dict[str, Question] = {}
    for number, row in enumerate(rows):
        if not row.choices or row.gold is None:
            what = "no right answer" if row.choices else "no options"
            raise BenchmarkError(
                f"{row.place}: {what} in this row, so it cannot be scored by itself",
                hint="give the benchmark it was asked about with --data",
            )
        question_id = row.key or f"{number:06d}"
        if question_id in questions:
            raise BenchmarkError(f"{row.place}: index {row.key!r} stands twice", hint="keep one row per question")
        questions[question_id] = Question(
            id=question_id,
            benchmark="predictions",
            text=row.stem,
            image=_UNKNOWN_IMAGE,
            image_group=content_sha256([_plain(row.stem), sorted(map(_plain, row.choices))]),
            choices=row.choices,
            answer=row.gold,
            task=row.task,
        )
    return tuple(questions.values())


def own_predictions(
    rows: Sequence[KitRow], questions: Sequence[Question], views: Sequence[str], view: str
) -> KitPredictions:
    """Return the predictions of rows that ``questions_of`` made the questions of, in the same order."""
    if view not in views:
        raise unknown_name("view", view, tuple(views))
    found = {
        (question.id, view): _prediction(row, question, view) for row, question in zip(rows, questions, strict=True)
    }
    return KitPredictions(found, (), 0, ())


def match_rows(
    rows: Sequence[KitRow], questions: Sequence[Question], views: Sequence[str], view: str | None
) -> KitPredictions:
    """Find the question of every row.

    A row belongs to the question with its id if the texts agree, else to the only one with its text and options.
    Options in another order are scored in the order shown.

    Args:
        rows: Rows of one file.
        questions: All questions of the benchmark.
        views: The views there are.
        view: The view of rows that name none.

    Raises:
        UsageError: If a row names no view and none is given, or a view is unknown.
    """
    finder = _Finder(questions)
    found: dict[PredictionKey, Prediction] = {}
    unmatched: list[Unmatched] = []
    n_repeated = 0
    other_answers: dict[str, None] = {}
    for row in rows:
        place = _view_of(row, view, views)
        match = finder.find(row)
        if isinstance(match, str):
            unmatched.append(Unmatched(row.place, row.key, match))
            continue
        prediction = _prediction(row, match, place)
        other = found.setdefault((match.id, place), prediction)
        if other is not prediction:
            n_repeated += 1
            if other.state.is_error and not prediction.state.is_error:
                found[match.id, place] = prediction
        if _has_other_answer(row, match):
            other_answers[match.id] = None
    return KitPredictions(found, tuple(unmatched), n_repeated, tuple(other_answers))


def view_in_name(stem: str, views: Sequence[str]) -> str | None:
    """Return the view that a file or task name ends in, None if it ends in none.

    Example:
        >>> view_in_name("20261130_samples_sum_crop_3x", ["crop_3x", "original"])
        'crop_3x'
    """
    ends = [view for view in views if stem == view or stem.endswith((f"_{view}", f"-{view}"))]
    return max(ends, key=len, default=None)


class _Finder:
    """Finds questions by id, then by text and options."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._by_id = {question.id: question for question in questions}
        self._by_source_id: dict[str, list[Question]] = {}
        self._by_text: dict[str, list[Question]] = {}
        for question in questions:
            source_id = question.extra.get("source_question_id")
            if source_id is not None:
                self._by_source_id.setdefault(str(source_id), []).append(question)
            for text in {_plain(question.text), _plain(question.text_raw or question.text)}:
                self._by_text.setdefault(text, []).append(question)

    def find(self, row: KitRow) -> Question | str:
        """Return the question of a row, or why there is none."""
        for question in self._by_key(row.key):
            if _fits(row, question) and (not row.stem or _mentions(row, question)):
                return question
        same_text = self._with_text(row)
        fitting = [question for question in same_text if _fits(row, question)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            ids = ", ".join(question.id for question in fitting[:_N_SHOWN])
            return f"its question and options are those of {len(fitting)} questions ({ids}, …)"
        if same_text:
            return f"its options are not those of {same_text[0].id}, which asks the same"
        return "no question has its id or its text"

    def _by_key(self, key: str) -> list[Question]:
        padded = as_id(int(key)) if key.isdecimal() else None
        direct = [self._by_id[name] for name in (key, padded) if name in self._by_id]
        return [*direct, *self._by_source_id.get(key, ())]

    def _with_text(self, row: KitRow) -> list[Question]:
        """Return the questions whose text is the row's, or one of its lines behind ``Question:``."""
        lines = [row.stem, *row.stem.splitlines()]
        texts = dict.fromkeys(_plain(text) for line in lines for text in (line, line.partition("Question:")[2]))
        found = {question.id: question for text in texts if text for question in self._by_text.get(text, ())}
        return list(found.values())


def _fits(row: KitRow, question: Question) -> bool:
    """Return whether the row shows the question's options, in any order; rows that tell none fit."""
    return not row.choices or Counter(map(_plain, filter(None, row.choices))) == Counter(map(_plain, question.choices))


def _mentions(row: KitRow, question: Question) -> bool:
    return any(_plain(text) in _plain(row.stem) for text in (question.text, question.text_raw or question.text))


def _prediction(row: KitRow, question: Question, view: str) -> Prediction:
    return Prediction(
        question_id=question.id,
        view=view,
        text=row.text,
        state=row.state,
        place=row.place,
        choices=_shown(row, question),
        theirs=row.theirs,
        their_answer=row.their_answer,
        notes=row.notes,
    )


def _shown(row: KitRow, question: Question) -> tuple[str, ...] | None:
    """Return the question's own choices in the order of the row, None where that is its own order."""
    if not row.choices:
        return None
    left = list(question.choices)
    shown = []
    for option in row.choices:
        if not option:  # a letter without an option keeps its place
            shown.append("")
            continue
        # An equal text first, so that red and Red keep their places.
        choice = option if option in left else next(choice for choice in left if _plain(choice) == _plain(option))
        left.remove(choice)
        shown.append(choice)
    return None if tuple(shown) == question.choices else tuple(shown)


def _has_other_answer(row: KitRow, question: Question) -> bool:
    if row.gold is None or question.answer is None or not row.choices:
        return False
    ours = question.choices[ascii_uppercase.index(question.answer)]
    return _plain(row.choices[ascii_uppercase.index(row.gold)]) != _plain(ours)


def _view_of(row: KitRow, view: str | None, views: Sequence[str]) -> str:
    named = row.view or view
    if named is None:
        raise UsageError(
            f"{row.place} names no view, and neither does the name of the file", hint="say which with --view"
        )
    if named not in views:
        raise unknown_name(f"view in {row.place}", named, tuple(views))
    return named


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def merge(parts: Iterable[Mapping[PredictionKey, Prediction]]) -> dict[PredictionKey, Prediction]:
    """Return the predictions of several files as one.

    Raises:
        BenchmarkError: If two files answer the same question in the same view differently.
    """
    merged: dict[PredictionKey, Prediction] = {}
    for part in parts:
        for key, prediction in part.items():
            other = merged.setdefault(key, prediction)
            if (other.text, other.state) != (prediction.text, prediction.state):
                raise BenchmarkError(
                    f"{prediction.place}: another response to {key[0]} in {key[1]} than {other.place}",
                    hint="keep one row per question and view",
                )
    return merged
