"""Which question each row of a kit's prediction file is about: by its id or text, never by its row number."""

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

from eyechart.benchmarks._cells import plain_text
from eyechart.benchmarks._foreign_views import known_view
from eyechart.benchmarks._ids import QuestionIds
from eyechart.benchmarks._shown_options import shown_as
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
        n_repeated: Rows that repeat a question and view; the first answer that is not an error counts.
        other_answers: Ids of questions whose right answer is another one in the kit's file.
    """

    predictions: dict[PredictionKey, Prediction]
    unmatched: tuple[Unmatched, ...]
    n_repeated: int
    other_answers: tuple[str, ...]


def questions_of(rows: Iterable[KitRow], view: str) -> tuple[Question, ...]:
    """Return the questions that a self-contained file asks, for scoring it without its benchmark.

    Rows with the same question and the same options in any order (rotations of one question) are one cluster. Rows of
    one id in several views are one question.

    Args:
        rows: Rows of one file.
        view: The view of rows that name none.

    Raises:
        BenchmarkError: If a row tells no options or no right answer, or two rows of one view have one id.
    """
    questions: dict[str, Question] = {}
    seen: set[tuple[str, str]] = set()
    for number, row in enumerate(rows):
        if not row.choices or row.gold is None:
            what = "no right answer" if row.choices else "no options"
            raise BenchmarkError(
                f"{row.place}: {what} in this row, so it cannot be scored by itself",
                hint="give the benchmark it was asked about with --data",
            )
        question_id = own_id(row, number)
        if (question_id, row.view or view) in seen:
            raise BenchmarkError(f"{row.place}: index {row.key!r} stands twice", hint="keep one row per question")
        seen.add((question_id, row.view or view))
        question = _own_question(row, question_id)
        if questions.setdefault(question_id, question) != question:
            raise BenchmarkError(
                f"{row.place}: question {row.key!r} has another text, other options or right answer than before",
                hint="give the benchmark it was asked about with --data",
            )
    return tuple(questions.values())


def own_id(row: KitRow, number: int) -> str:
    """Return the id of a row that is its own question: the kit's, else its number from 0."""
    return row.key or f"{number:06d}"


def _own_question(row: KitRow, question_id: str) -> Question:
    """Return the question of a row: the options it shows, and the right one under the letter it has among them."""
    choices = tuple(text for text in row.choices if text)
    n_before = ascii_uppercase.index(row.gold or "A")
    return Question(
        id=question_id,
        benchmark="predictions",
        text=row.stem,
        image=_UNKNOWN_IMAGE,
        image_group=content_sha256([plain_text(row.stem), sorted(map(plain_text, choices))]),
        choices=choices,
        answer=ascii_uppercase[sum(bool(text) for text in row.choices[:n_before])],
        task=row.task,
    )


def own_predictions(rows: Sequence[KitRow], questions: Sequence[Question], view: str) -> KitPredictions:
    """Return the predictions of rows that ``questions_of`` made the questions of."""
    by_id = {question.id: question for question in questions}
    found = {}
    for number, row in enumerate(rows):
        question = by_id[own_id(row, number)]
        found[question.id, row.view or view] = _prediction(row, question, row.view or view)
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


def known_view_in_name(stem: str) -> str | None:
    """Return the id of any view that a file or task name ends in, None if it ends in none.

    Example:
        >>> known_view_in_name("20261201_samples_own_crop_3x"), known_view_in_name("samples_colours")
        ('crop_3x', None)
    """
    starts = [0, *(at + 1 for at, sign in enumerate(stem) if sign in "_-")]
    return next((stem[start:] for start in starts if known_view(stem[start:]) is not None), None)


class _Finder:
    """Finds questions by id, then by text and options."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._by_id = {question.id: question for question in questions}
        self._ids = QuestionIds(self._by_id)
        self._by_source_id: dict[str, list[Question]] = {}
        self._by_text: dict[str, list[Question]] = {}
        for question in questions:
            source_id = question.extra.get("source_question_id")
            if source_id is not None:
                self._by_source_id.setdefault(str(source_id), []).append(question)
            for text in {plain_text(question.text), plain_text(question.text_raw or question.text)}:
                self._by_text.setdefault(text, []).append(question)

    def find(self, row: KitRow) -> Question | str:
        """Return the question of a row, or why there is none."""
        for question in self._by_key(row):
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

    def _by_key(self, row: KitRow) -> list[Question]:
        named = self._ids.find(row.key, row.place) if row.key else None
        direct = [] if named is None else [self._by_id[named]]
        return [*direct, *self._by_source_id.get(row.key, ())]

    def _with_text(self, row: KitRow) -> list[Question]:
        """Return the questions whose text is the row's, or one of its lines behind ``Question:``."""
        lines = [row.stem, *row.stem.splitlines()]
        texts = dict.fromkeys(plain_text(text) for line in lines for text in (line, line.partition("Question:")[2]))
        found = {question.id: question for text in texts if text for question in self._by_text.get(text, ())}
        return list(found.values())


def _fits(row: KitRow, question: Question) -> bool:
    """Return whether the row shows the question's options, in any order; rows that tell none fit."""
    return not row.choices or shown_as(row.choices, question.choices) is not None


def _mentions(row: KitRow, question: Question) -> bool:
    return any(plain_text(text) in plain_text(row.stem) for text in (question.text, question.text_raw or question.text))


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
    shown = shown_as(row.choices, question.choices) if row.choices else None
    return None if shown == question.choices else shown


def _has_other_answer(row: KitRow, question: Question) -> bool:
    if row.gold is None or question.answer is None or not row.choices:
        return False
    ours = question.choices[ascii_uppercase.index(question.answer)]
    return plain_text(row.choices[ascii_uppercase.index(row.gold)]) != plain_text(ours)


def _view_of(row: KitRow, view: str | None, views: Sequence[str]) -> str:
    named = row.view or view
    if named is None:
        raise UsageError(
            f"{row.place} names no view, and neither does the name of the file", hint="say which with --view"
        )
    if named not in views:
        raise unknown_name(f"view in {row.place}", named, tuple(views))
    return named


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
