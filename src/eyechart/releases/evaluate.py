"""SUM's evaluation of given predictions: both accuracies by view, family, source and task, and what is missing."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase

import msgspec
import numpy as np

from eyechart.benchmarks._foreign_views import known_view
from eyechart.kinds import Scorer
from eyechart.releases.predictions import Prediction, PredictionKey, views_of
from eyechart.schema import Contrast, Estimate, Question, Response, Score, Value
from eyechart.stats.arrays import Floats
from eyechart.stats.clusters import cluster_sums, find_clusters
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition, contrasts_between
from eyechart.stats.intervals import critical_t

MACRO_METHOD = "mean of group accuracies, linearised over images with one right and one wrong pseudo-question a group"
_N_PSEUDO = 2
CONFIDENCE = 0.95
_BASELINE = "original"


class PredictionCell(Value, frozen=True):
    """One view, all questions or a subset of them.

    Args:
        view: View id, or ``family:crop`` for the mean over that family's views of each question.
        subset: ``task=OCR``, ``source=HR-Bench``, or None for all.
        n_questions: All questions of the subset: the denominator of ``accuracy_sum``.
        n_asked: Answers that there should be: one per question and view; more than ``n_questions`` for a family.
        n_correct: Sum of scores over all of them.
        n_absent: Without a row, or with an error; 0 in ``accuracy_sum``, left out of ``accuracy_answered``.
        reasons: Why answers scored 0 without naming a wrong letter, by the scorer's reason.
        accuracy_sum: SUM's headline.
        accuracy_answered: On the questions answered; None if there is none.
    """

    view: str
    subset: str | None
    n_questions: int
    n_asked: int
    n_correct: float
    n_absent: int
    reasons: dict[str, int]
    accuracy_sum: Estimate
    accuracy_answered: Estimate | None


class PredictionReport(Value, frozen=True):
    """The scores of all predictions and what they add up to.

    ``macro`` holds unweighted means over tasks and over sources of ``accuracy_sum``, one per view and grouping.
    ``contrasts`` are paired differences of every view from the original, on the questions answered in both.
    """

    scorer: str
    cells: tuple[PredictionCell, ...]
    macro: tuple[Estimate, ...]
    contrasts: tuple[Contrast, ...]
    scores: dict[str, tuple[Score | None, ...]]
    question_ids: tuple[str, ...]


def evaluate_predictions(
    questions: Sequence[Question],
    predictions: Mapping[PredictionKey, Prediction],
    views: Sequence[str],
    scorer: Scorer,
    mode: str,
) -> PredictionReport:
    """Score predictions and estimate accuracies.

    Questions with a hidden or free-form answer are left out. Views without any prediction are left out too; in a view
    that has some, every question without one is absent.

    Args:
        questions: All questions of the benchmark.
        predictions: From ``read_predictions``.
        views: The views there are, in order.
        scorer: The scorer.
        mode: One of its modes.
    """
    judged = tuple(question for question in questions if question.answer is not None)
    scores = {
        view: tuple(_score(question, predictions.get((question.id, view)), scorer, mode) for question in judged)
        for view in views_of(predictions, views)
    }
    scorer_id = f"{scorer.name}.{mode}@{scorer.version}"
    tables = {**_by_view(scores), **_by_family(scores)}
    cells = tuple(
        _cell(judged, view, scores_of, subset, scorer_id)
        for view, scores_of in tables.items()
        for subset in _subsets(judged)
    )
    macro = tuple(
        _macro(judged, view, scores_of[0], field, scorer_id)
        for view, scores_of in _by_view(scores).items()
        for field in ("task", "source")
        if len(_groups(judged, field)) > 1
    )
    return PredictionReport(
        scorer=scorer_id,
        cells=cells,
        macro=macro,
        contrasts=_contrasts(judged, scores, scorer_id),
        scores=scores,
        question_ids=tuple(question.id for question in judged),
    )


Columns = tuple[tuple[Score | None, ...], ...]
"""One tuple of scores per view, in the order of the questions."""


def _score(question: Question, prediction: Prediction | None, scorer: Scorer, mode: str) -> Score | None:
    """Return the verdict, None where there is no answer to judge."""
    if prediction is None:
        return None
    response = Response(
        request_id=f"{prediction.question_id}/{prediction.view}", state=prediction.state, text=prediction.text
    )
    choices = prediction.choices or question.choices
    score = scorer.score(response, question, choices, shown_gold(question, choices), mode)
    return None if score.value is None else score


def shown_gold(question: Question, choices: Sequence[str]) -> str | None:
    """Return the letter under which the right choice is shown, None where the answer is hidden.

    Args:
        question: The question.
        choices: Its options in the order shown.
    """
    if question.answer is None or tuple(choices) == question.choices:
        return question.answer
    return ascii_uppercase[list(choices).index(question.choices[ascii_uppercase.index(question.answer)])]


def _contrasts(
    questions: Sequence[Question], scores: Mapping[str, tuple[Score | None, ...]], scorer: str
) -> tuple[Contrast, ...]:
    """Return view − original for every other view, none where the original was not answered."""
    if _BASELINE not in scores or len(scores) == 1:
        return ()
    rows = list(zip(*scores.values(), strict=True))
    table = ScoreTable(
        values=np.array([[0.0 if score is None else score.value or 0.0 for score in row] for row in rows]),
        present=np.array([[score is not None for score in row] for row in rows]),
        image_groups=[question.image_group for question in questions],
        conditions=tuple(scores),
        scorer=scorer,
    )
    pairs = [(view, _BASELINE) for view in scores if view != _BASELINE]
    return contrasts_between(table, pairs)


def _by_view(scores: Mapping[str, tuple[Score | None, ...]]) -> dict[str, Columns]:
    return {view: (column,) for view, column in scores.items()}


def _by_family(scores: Mapping[str, tuple[Score | None, ...]]) -> dict[str, Columns]:
    """Return the views of each family with more than one view."""
    families: dict[str, list[tuple[Score | None, ...]]] = {}
    for view_id, column in scores.items():
        view = known_view(view_id)
        if view is not None:
            families.setdefault(f"family:{type(view).family}", []).append(column)
    return {name: tuple(columns) for name, columns in families.items() if len(columns) > 1}


def _groups(questions: Sequence[Question], field: str) -> dict[str, list[int]]:
    """Return the rows of each named task or source."""
    groups: dict[str, list[int]] = {}
    for index, question in enumerate(questions):
        name = question.task if field == "task" else question.source
        if name is not None:
            groups.setdefault(name, []).append(index)
    return groups


def _subsets(questions: Sequence[Question]) -> Iterator[tuple[str | None, list[int]]]:
    yield None, list(range(len(questions)))
    for field in ("source", "task"):
        for name, rows in sorted(_groups(questions, field).items()):
            yield f"{field}={name}", rows


def _cell(
    questions: Sequence[Question], view: str, columns: Columns, subset: tuple[str | None, list[int]], scorer: str
) -> PredictionCell:
    name, rows = subset
    given = [[column[row] for column in columns] for row in rows]
    values = np.array([[0.0 if score is None else score.value or 0.0 for score in scores] for scores in given])
    present = np.array([[score is not None for score in scores] for scores in given])
    n_present = present.sum(axis=1)
    means = (values * present).sum(axis=1) / np.maximum(n_present, 1)
    table = ScoreTable(
        values=values.mean(axis=1, keepdims=True),
        present=np.ones((len(rows), 1), dtype=np.bool_),
        image_groups=[questions[row].image_group for row in rows],
        conditions=(view,),
        chance=np.array([1 / len(questions[row].choices) for row in rows]),
        scorer=scorer,
        subset=name,
    )
    answered = msgspec.structs.replace(table, values=means[:, np.newaxis], present=(n_present > 0)[:, np.newaxis])
    return PredictionCell(
        view=view,
        subset=name,
        n_questions=len(rows),
        n_asked=len(rows) * len(columns),
        n_correct=float(values.sum()),
        n_absent=int((~present).sum()),
        reasons=dict(sorted(Counter(_reasons(given)).items())),
        accuracy_sum=accuracy_by_condition(table, name="accuracy_sum")[0],
        accuracy_answered=next(iter(accuracy_by_condition(answered, name="accuracy_answered")), None),
    )


def _reasons(given: Sequence[Sequence[Score | None]]) -> Iterator[str]:
    for scores in given:
        yield from (score.reason for score in scores if score is not None and score.reason is not None)


def _macro(
    questions: Sequence[Question], view: str, column: Sequence[Score | None], field: str, scorer: str
) -> Estimate:
    """Return the unweighted mean of the accuracies of all tasks or sources, with its interval."""
    groups = _groups(questions, field)
    members = np.zeros((len(questions), len(groups)))
    for index, rows in enumerate(groups.values()):
        members[rows, index] = 1.0
    values = np.array([0.0 if score is None else score.value or 0.0 for score in column])
    clusters = find_clusters([question.image_group for question in questions])
    tops, bottoms = cluster_sums(members * values[:, np.newaxis], clusters), cluster_sums(members, clusters)
    mean = float((tops.sum(axis=0) / bottoms.sum(axis=0)).mean())
    low, high = _macro_interval(tops, bottoms)
    return Estimate(
        name=f"macro_accuracy_over_{field}s",
        condition=view,
        value=mean,
        low=min(low, mean),
        high=max(high, mean),
        n_questions=int(members.sum()),
        n_clusters=clusters.n_clusters,
        n_missing=sum(score is None for score in column),
        method=MACRO_METHOD,
        scorer=scorer,
    )


def _macro_interval(tops: Floats, bottoms: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a mean of ratios; never of zero width, also where every group is all right.

    The pseudo-questions shrink each ratio to p̃ = (T+1)/(m+2). The variance sums over images the squared sum over groups
    of (T − m·p̃)/(m+2), so that a picture in two groups counts with its covariance, plus the pseudo-questions' own part.

    Args:
        tops: (n_clusters, n_groups) sums of scores.
        bottoms: (n_clusters, n_groups) numbers of questions.
    """
    n_clusters, n_groups = tops.shape
    sizes = bottoms.sum(axis=0) + _N_PSEUDO
    shrunk = (tops.sum(axis=0) + 1) / sizes
    moves = ((tops - bottoms * shrunk) / sizes).sum(axis=1)
    pseudo = (((1 - shrunk) ** 2 + shrunk**2) / sizes**2).sum()
    variance = (n_clusters + _N_PSEUDO) / (n_clusters + 1) * (float((moves**2).sum()) + float(pseudo)) / n_groups**2
    half = float(critical_t(np.array(n_clusters + 1), CONFIDENCE)) * variance**0.5
    centre = float(shrunk.mean())
    return max(0.0, centre - half), min(1.0, centre + half)
