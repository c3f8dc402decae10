"""What models' answers and the pictures themselves say about a collection's content: labels, leaks, near-duplicates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from eyechart.kinds import Benchmark
from eyechart.opening import open_scorer
from eyechart.releases.near_duplicates import NearDuplicate, find_near_duplicates
from eyechart.runs.score import judge
from eyechart.runs.store import RunStore
from eyechart.schema import Question, Value

BLIND_VIEWS = frozenset({"no_image", "blank"})
MIN_MODELS = 2


class SuspectLabel(Value, frozen=True):
    """A question to which all given models give another answer than the recorded one.

    Args:
        question_id: The question.
        recorded: The recorded letter and its text.
        agreed: The letter all models give most often, and its text.
        n_models: Models asked.
        share: Smallest share of a model's answers that say so.
    """

    question_id: str
    recorded: str
    agreed: str
    n_models: int
    share: float


class SolvedBlind(Value, frozen=True):
    """A question that every model answers right every time without the picture.

    Args:
        question_id: The question.
        n_answers: Answers without the picture, over all models.
        by_guessing: Probability that guessing gives as much.
    """

    question_id: str
    n_answers: int
    by_guessing: float


class ContentReport(Value, frozen=True):
    """What a person should look at; none of it is proof.

    Args:
        n_questions: Questions with a recorded letter.
        models: Models whose answers were read.
        suspect_labels: Empty also where fewer than two models were given.
        n_blind: Questions that at least one model was asked without the picture.
        solved_blind: Sorted by how unlikely guessing explains it.
        blind_expected: How many questions guessing alone would put on that list.
        near_duplicates: Pairs of pictures of different groups.
    """

    n_questions: int
    models: tuple[str, ...]
    suspect_labels: tuple[SuspectLabel, ...]
    n_blind: int
    solved_blind: tuple[SolvedBlind, ...]
    blind_expected: float
    near_duplicates: tuple[NearDuplicate, ...]


class _Answer(NamedTuple):
    """One letter a model named, as the question's own letter; None where it named none."""

    model: str
    question_id: str
    is_blind: bool
    letter: str | None


def check_content(
    benchmark: Benchmark, runs: Sequence[Path], *, scorer: str = "option_letter", n_processes: int | None = None
) -> ContentReport:
    """List suspect labels, questions solvable without the picture, and near-duplicate pictures.

    Args:
        benchmark: The collection.
        runs: Folders of runs over it; the blind views of runs with ``--blind`` show what can be guessed.
        scorer: Reads the letters.
        n_processes: Processes that read pictures; the number of processors if None.

    Raises:
        EyechartError: If a run cannot be read, or a picture is damaged.
    """
    questions = {question.id: question for question in benchmark.questions() if question.answer is not None}
    answers = [answer for run in runs for answer in _answers_of(RunStore(run), questions, scorer)]
    sighted, blind = _by_question(answers, is_blind=False), _by_question(answers, is_blind=True)
    models = tuple(sorted({answer.model for answer in answers}))
    solved = [_solved(questions[name], given) for name, given in blind.items()]
    expected = sum(_chance(questions[name], given) for name, given in blind.items())
    return ContentReport(
        n_questions=len(questions),
        models=models,
        suspect_labels=_suspects(questions, sighted, models),
        n_blind=len(blind),
        solved_blind=tuple(sorted((one for one in solved if one), key=lambda one: (one.by_guessing, one.question_id))),
        blind_expected=expected,
        near_duplicates=find_near_duplicates(benchmark, n_processes=n_processes),
    )


def _answers_of(store: RunStore, questions: Mapping[str, Question], scorer_id: str) -> list[_Answer]:
    scorer, mode = open_scorer(scorer_id)
    model = store.run.model
    name = model.spec if model.revision is None else f"{model.spec}@{model.revision}"
    asked = {request.id: request for request in store.requests()}
    answers = []
    for score in judge(store, scorer, mode):
        request = asked[score.request_id]
        if score.value is None or request.question_id not in questions:
            continue
        letter = None
        if score.answer is not None and score.answer in ascii_uppercase[: len(request.choice_order)]:
            letter = ascii_uppercase[request.choice_order[ascii_uppercase.index(score.answer)]]
        answers.append(_Answer(name, request.question_id, request.view in BLIND_VIEWS, letter))
    return answers


def _by_question(answers: Sequence[_Answer], *, is_blind: bool) -> dict[str, list[_Answer]]:
    found: dict[str, list[_Answer]] = {}
    for answer in answers:
        if answer.is_blind == is_blind:
            found.setdefault(answer.question_id, []).append(answer)
    return found


def _suspects(
    questions: Mapping[str, Question], sighted: Mapping[str, Sequence[_Answer]], models: Sequence[str]
) -> tuple[SuspectLabel, ...]:
    """Return questions that every model answers alike and otherwise, each by more than half of its answers."""
    if len(models) < MIN_MODELS:
        return ()
    found = []
    for question_id, given in sighted.items():
        question = questions[question_id]
        favourites = [_favourite([answer.letter for answer in given if answer.model == model]) for model in models]
        letters = {letter for letter, _ in favourites}
        agreed = letters.pop() if len(letters) == 1 else None
        if agreed is not None and agreed != question.answer:
            share = min(share for _, share in favourites)
            recorded = question.answer or ""
            found.append(
                SuspectLabel(
                    question_id, _named(question, recorded), _named(question, agreed), len(models), round(share, 6)
                )
            )
    return tuple(sorted(found, key=lambda one: (-one.share, one.question_id)))


def _favourite(letters: Sequence[str | None]) -> tuple[str | None, float]:
    """Return the letter that more than half of a model's answers name, and their share; None where there is none."""
    counted = Counter(letter for letter in letters if letter is not None).most_common(1)
    if not counted or counted[0][1] * 2 <= len(letters):
        return None, 0.0
    return counted[0][0], counted[0][1] / len(letters)


def _solved(question: Question, given: Sequence[_Answer]) -> SolvedBlind | None:
    if any(answer.letter != question.answer for answer in given):
        return None
    return SolvedBlind(question.id, len(given), _chance(question, given))


def _chance(question: Question, given: Sequence[_Answer]) -> float:
    """Return how likely guessing answers a question right every time, if each model guesses once and sticks to it.

    Repeated answers of one model are not independent guesses: it may just prefer a letter.
    """
    n_models = len({answer.model for answer in given})
    return float((1 / len(question.choices)) ** n_models)


def _named(question: Question, letter: str) -> str:
    return f"{letter}. {question.choices[ascii_uppercase.index(letter)]}"
