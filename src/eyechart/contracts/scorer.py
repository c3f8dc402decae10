"""The contract of a scorer: pure, in 0–1 or None, and an error is never scored."""

from eyechart.contracts.checks import expect, made_questions
from eyechart.kinds import Scorer
from eyechart.schema import Response, ResponseState

_TEXTS = ("", "A", "B.", "The answer is B", "cannot tell", "Z", "\x1b[2J<script>", "seven", "🙂" * 50, "\ud800")


def check_scorer(scorer: Scorer) -> None:
    """Check a scorer in all its modes.

    Raises:
        ContractError: If a score leaves 0–1, an error gets a value, two calls differ, or an id is wrong.
    """
    expect(bool(scorer.modes), "a scorer has at least one mode; the first is its default")
    for mode in scorer.modes:
        for question in made_questions():
            for text in _TEXTS:
                _check_text(scorer, mode, int(question.id), text)
            for state in ResponseState:
                if state.is_error:
                    response = Response(request_id="r", state=state, error="made up")
                    score = scorer.score(response, question, question.choices, question.answer, mode)
                    expect(score.value is None, f"{state} has no score, got {score.value}")
                    expect(bool(score.reason), f"{state} needs a reason")


def _check_text(scorer: Scorer, mode: str, question_index: int, text: str) -> None:
    question = made_questions()[question_index - 1]
    response = Response(request_id="r", state=ResponseState.ANSWERED, text=text)
    score = scorer.score(response, question, question.choices, question.answer, mode)
    again = scorer.score(response, question, question.choices, question.answer, mode)
    expect(score == again, f"scoring {text!r} must be repeatable")
    expect(score.request_id == "r", "a score names its request")
    wanted = f"{scorer.name}.{mode}@{scorer.version}"
    expect(score.scorer == wanted, f"the scorer id must be {wanted!r}, got {score.scorer!r}")
    expect(score.value is None or 0 <= score.value <= 1, f"a value is in 0–1 or None, got {score.value}")
    if score.span is not None:
        expect(0 <= score.span[0] <= score.span[1] <= len(text), f"the span {score.span} must lie in {text!r}")
