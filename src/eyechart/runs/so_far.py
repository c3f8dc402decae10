"""Judges answers as they come, so that whoever watches a run sees the accuracy so far. Nothing is stored."""

from collections.abc import Iterable, Sequence

from eyechart.kinds import Scorer
from eyechart.opening import open_scorer
from eyechart.runs.gold import right_answer
from eyechart.runs.listening import Beginning, CheckedAnswer, FollowsScores, Listener
from eyechart.runs.score import JUDGE
from eyechart.schema import Question, Request, Response


def with_scores(listener: Listener, scorer_id: str, questions: Sequence[Question]) -> Listener:
    """Return a listener that is told scores too, where it wants them.

    Args:
        listener: Is told.
        scorer_id: Who judges.
        questions: All questions of the run.
    """
    if not isinstance(listener, FollowsScores):
        return listener
    return ScoringListener(listener, *open_scorer(scorer_id), questions)


class ScoringListener:
    """Passes everything on to a listener, and tells it what each answer scored.

    A scorer that fails on an answer is not asked again in this run: the answers are kept, and scoring at the end of the
    run tells the fault.

    Args:
        listener: Is told.
        scorer: Who judges.
        mode: One of its modes.
        questions: All questions of the run.
    """

    def __init__(self, listener: FollowsScores, scorer: Scorer, mode: str, questions: Sequence[Question]) -> None:
        self._listener, self._scorer, self._mode = listener, scorer, mode
        self._questions = {question.id: question for question in questions}
        self._can_score = scorer.name != JUDGE  # its verdicts are asked for later

    def began(self, beginning: Beginning) -> None:
        """Pass it on."""
        self._listener.began(beginning)

    def answered(self, request: Request, response: Response) -> None:
        """Judge it, and pass it on."""
        self._judge(request, response)
        self._listener.answered(request, response)

    def judge_earlier(self, requests: Iterable[Request], responses: Iterable[Response]) -> None:
        """Judge answers of earlier starts.

        Args:
            requests: Of the whole run.
            responses: Those that count.
        """
        if not self._can_score:
            return
        by_id = {request.id: request for request in requests}
        for response in responses:
            if response.request_id in by_id:
                self._judge(by_id[response.request_id], response)

    def _judge(self, request: Request, response: Response) -> None:
        if not self._can_score or response.state.is_error:
            return
        question = self._questions[request.question_id]
        gold = right_answer(question, request.view, request.choice_order)
        try:
            score = self._scorer.score(response, question, request.choices, gold, self._mode)
        except Exception as error:  # noqa: BLE001 -- a fault of a plug-in must not end a run that is paid for
            self._can_score = False
            self._listener.noted(f"no accuracy so far: {self._scorer.name} failed on {request.question_id}: {error}")
            return
        self._listener.scored(request, score)

    def waiting(self, seconds: float, cause: str) -> None:
        """Pass it on."""
        self._listener.waiting(seconds, cause)

    def checked(self, answers: Sequence[CheckedAnswer]) -> None:
        """Pass it on."""
        self._listener.checked(answers)

    def noted(self, message: str) -> None:
        """Pass it on."""
        self._listener.noted(message)
