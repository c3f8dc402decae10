"""Another kit's scores beside ours on the same answers: the difference, and the items that changed."""

from collections.abc import Mapping, Sequence

import numpy as np

from eyechart.releases.evaluate import PredictionReport, shown_gold
from eyechart.releases.predictions import Prediction, PredictionKey
from eyechart.schema import Contrast, Estimate, Question, Score, Value
from eyechart.stats.arrays import SCORE_ROUNDING
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition, contrasts_between

THEIRS, OURS = "theirs", "ours"


class ChangedItem(Value, frozen=True):
    """One answer that the two score differently.

    Args:
        question_id: The question.
        view: The view.
        theirs: Their score.
        ours: Our score, None where there is no answer: missing, not wrong.
        gold: The right letter, as shown.
        their_answer: What they read.
        our_answer: The letter we read, None if none.
        why: Our rule or reason, and what their file says of the row.
        text: The response.
    """

    question_id: str
    view: str
    theirs: float
    ours: float | None
    gold: str | None
    their_answer: str | None
    our_answer: str | None
    why: str
    text: str | None


class Rescoring(Value, frozen=True):
    """Both scores of one view, on the rows that have theirs.

    Args:
        view: The view.
        n_rows: Those rows.
        n_failures: Rows without an answer: failures that count as wrong in theirs, and as missing in ours.
        theirs: Their accuracy.
        ours: Ours on the same rows with missing ones counted as wrong, as they do.
        ours_answered: Ours on the rows that were answered; None if none was.
        difference: Ours − theirs, paired, missing ones counted as wrong.
        changed: Every answer whose score differs.
        notes: What their file says of its rows, with counts.
    """

    view: str
    n_rows: int
    n_failures: int
    theirs: Estimate
    ours: Estimate
    ours_answered: Estimate | None
    difference: Contrast
    changed: tuple[ChangedItem, ...]
    notes: dict[str, int]


def compare_scores(
    questions: Sequence[Question], predictions: Mapping[PredictionKey, Prediction], report: PredictionReport
) -> tuple[Rescoring, ...]:
    """Compare a kit's stored scores with ours, view by view; views without any stored score are left out.

    Args:
        questions: The questions.
        predictions: What was scored.
        report: Our scores of them.
    """
    by_id = {question.id: question for question in questions}
    compared = []
    for view, scores in report.scores.items():
        rows = [
            (predictions[question_id, view], score)
            for question_id, score in zip(report.question_ids, scores, strict=True)
            if (question_id, view) in predictions and predictions[question_id, view].theirs is not None
        ]
        if rows:
            compared.append(_compare(view, rows, by_id, report.scorer))
    return tuple(compared)


def _compare(
    view: str, rows: Sequence[tuple[Prediction, Score | None]], by_id: Mapping[str, Question], scorer: str
) -> Rescoring:
    theirs = np.array([prediction.theirs or 0.0 for prediction, _ in rows])
    ours = np.array([(score.value if score else None) or 0.0 for _, score in rows])
    answered = np.array([score is not None for _, score in rows])
    groups = [by_id[prediction.question_id].image_group for prediction, _ in rows]
    present = np.ones((len(rows), 2), dtype=np.bool_)
    table = ScoreTable(np.column_stack([theirs, ours]), present, groups, (THEIRS, OURS), scorer=scorer)
    given = ScoreTable(ours[:, np.newaxis], answered[:, np.newaxis], groups, (OURS,), scorer=scorer)
    their_accuracy, our_accuracy = accuracy_by_condition(table, name="accuracy_sum")
    notes: dict[str, int] = {}
    for prediction, _ in rows:
        for note in prediction.notes:
            notes[note] = notes.get(note, 0) + 1
    return Rescoring(
        view=view,
        n_rows=len(rows),
        n_failures=int((~answered).sum()),
        theirs=their_accuracy,
        ours=our_accuracy,
        ours_answered=next(iter(accuracy_by_condition(given, name="accuracy_answered")), None),
        difference=contrasts_between(table, [(OURS, THEIRS)])[0],
        changed=tuple(
            _changed(prediction, score, by_id[prediction.question_id])
            for prediction, score in rows
            if abs((prediction.theirs or 0.0) - (score.value or 0.0 if score else 0.0)) > SCORE_ROUNDING
        ),
        notes=notes,
    )


def _changed(prediction: Prediction, score: Score | None, question: Question) -> ChangedItem:
    gold = shown_gold(question, prediction.choices or question.choices)
    reasons = [score.reason or score.rule or "" if score else "no answer", *prediction.notes]
    return ChangedItem(
        question_id=prediction.question_id,
        view=prediction.view,
        theirs=prediction.theirs or 0.0,
        ours=score.value if score else None,
        gold=gold,
        their_answer=prediction.their_answer,
        our_answer=score.answer if score else None,
        why="; ".join(dict.fromkeys(reason for reason in reasons if reason)),
        text=prediction.text,
    )
