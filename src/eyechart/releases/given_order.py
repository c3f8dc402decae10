"""Whether given predictions belong to another order of the options than the one they are read with."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

import numpy as np

from eyechart.releases.evaluate import PredictionReport, shown_gold
from eyechart.releases.predictions import Prediction, PredictionKey
from eyechart.schema import Estimate, Question, Value
from eyechart.scorers.option_letter.copied_text import copied_option
from eyechart.stats.codes import Code
from eyechart.stats.option_order import (
    GIVEN_UNDER_ANOTHER_ORDER,
    OrderPair,
    accuracy_by_text,
    count_orders,
    describe_order,
    say_text_accuracy,
)


class OtherOrder(Value, frozen=True):
    """The alarm that answers were given under another order of the options.

    Args:
        code: Name of the rule.
        message: What was found, with numbers and what to do.
        n_pairs: Answers that name an option by letter and by text.
        n_questions: Questions with such an answer.
        n_mismatched: Questions most of whose answers name two different options.
        p: Probability of so many if models slip in one question of twenty.
        accuracy_by_text: Share of those questions whose text is the right option, whatever the letter.
    """

    code: str
    message: str
    n_pairs: int
    n_questions: int
    n_mismatched: int
    p: float
    accuracy_by_text: Estimate | None


def check_given_order(
    questions: Sequence[Question], predictions: Mapping[PredictionKey, Prediction], report: PredictionReport
) -> OtherOrder | None:
    """Compare the letter that each answer gives with the text of the option that it copies, over all views.

    Args:
        questions: All questions.
        predictions: What was scored.
        report: Its scores.
    """
    by_id = {question.id: question for question in questions}
    pairs: dict[str, list[OrderPair]] = {}
    right: dict[str, list[float]] = {}
    for view, scores in report.scores.items():
        for question_id, score in zip(report.question_ids, scores, strict=True):
            if score is None or score.answer is None:
                continue
            question, given = by_id[question_id], predictions[question_id, view]
            choices = given.choices or question.choices
            named = copied_option(given.text or "", choices, score.answer, score.span)
            if named is None:
                continue
            pair = OrderPair(ascii_uppercase.index(score.answer), named, len(choices))
            pairs.setdefault(str(question.extra.get("base_id") or question_id), []).append(pair)
            right.setdefault(question_id, []).append(float(ascii_uppercase[named] == shown_gold(question, choices)))
    test = count_orders(pairs)
    if not test.is_alarm:
        return None
    by_text = accuracy_by_text(
        [float(np.mean(own)) for own in right.values()], [by_id[name].image_group for name in right]
    )
    return OtherOrder(
        code=str(Code.OPTION_ORDER),
        message=f"{describe_order(test)}; {say_text_accuracy(by_text)}. {GIVEN_UNDER_ANOTHER_ORDER}",
        n_pairs=test.n_pairs,
        n_questions=test.n_questions,
        n_mismatched=test.n_mismatched,
        p=test.p,
        accuracy_by_text=by_text,
    )
