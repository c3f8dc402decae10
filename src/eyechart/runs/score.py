"""Judge the stored answers of a run. No model is ever called."""

from eyechart.errors import SchemaError
from eyechart.kinds import Scorer
from eyechart.runs.gold import right_answer
from eyechart.runs.store import RunStore
from eyechart.schema import Score, Value

JUDGE = "judge"
"""Name of the scorer whose verdicts are stored replies of a model."""


def scorer_id_of(scorer: Scorer, mode: str) -> str:
    """Return ``name.mode@version``: the name of a scorer in scores, files and flags."""
    return f"{scorer.name}.{mode}@{scorer.version}"


def score_run(store: RunStore, scorer: Scorer, mode: str) -> str:
    """Judge every response that counts and replace ``scores/<scorer id>.jsonl``, in the order of the requests.

    Args:
        store: The run.
        scorer: Who judges.
        mode: One of the scorer's modes.

    Returns:
        The scorer's id.

    Raises:
        StoreError: If the scores cannot be written.
        SchemaError: If an answer belongs to no request of the run.
    """
    scorer_id = scorer_id_of(scorer, mode)
    store.write_scores(scorer_id, judge(store, scorer, mode))
    return scorer_id


class ChangedReading(Value, frozen=True):
    """One answer that two versions of a scorer read differently.

    Args:
        request_id: The request.
        question_id: The question.
        condition: Under which it was asked.
        before: What the earlier version read, None if nothing.
        after: What the later version reads.
        score_before: The stored score, None where it has none.
        score_after: The new one.
    """

    request_id: str
    question_id: str
    condition: str
    before: str | None
    after: str | None
    score_before: float | None
    score_after: float | None


class ReadingChange(Value, frozen=True):
    """What a version of a scorer makes otherwise of the answers of a run than the version that scored it before.

    Args:
        earlier: Id of the stored scorer.
        later: Id of the scorer that judged now.
        n_answers: Answers that both have judged.
        n_rising: Answers that score more now.
        n_falling: Answers that score less now.
        changed: Every answer that is read or scored otherwise, in the order of the requests.
    """

    earlier: str
    later: str
    n_answers: int
    n_rising: int
    n_falling: int
    changed: tuple[ChangedReading, ...]


def compare_versions(store: RunStore, earlier: str, later: str) -> ReadingChange:
    """Return which answers of a run two of its stored scorers read or score differently.

    Args:
        store: The run.
        earlier: Id of the scorer that judged it before.
        later: Id of the other one.

    Raises:
        StoreError: If the run is not scored by both.
    """
    before = {score.request_id: score for score in store.scores(earlier)}
    asked = {request.id: request for request in store.requests()}
    both = [(before[score.request_id], score) for score in store.scores(later) if score.request_id in before]
    changed = tuple(
        ChangedReading(
            request_id=new.request_id,
            question_id=asked[new.request_id].question_id,
            condition=asked[new.request_id].condition,
            before=old.answer,
            after=new.answer,
            score_before=old.value,
            score_after=new.value,
        )
        for old, new in both
        if (old.answer, old.value) != (new.answer, new.value)
    )
    steps = [(new.value or 0.0) - (old.value or 0.0) for old, new in both]
    return ReadingChange(
        earlier=earlier,
        later=later,
        n_answers=len(both),
        n_rising=sum(step > 0 for step in steps),
        n_falling=sum(step < 0 for step in steps),
        changed=changed,
    )


def judge(store: RunStore, scorer: Scorer, mode: str) -> tuple[Score, ...]:
    """Judge every response that counts, in the order of the requests, and write nothing.

    Raises:
        SchemaError: If an answer belongs to no request of the run.
        StoreError: If a judge's verdicts are wanted and none was asked.
    """
    if scorer.name == JUDGE:
        from eyechart.runs.judging import judged_scores  # it judges by rules itself, with this function

        return judged_scores(store, mode)
    questions = {question.id: question for question in store.questions()}
    asked = {
        request.id: (position, request.question_id, request.view, request.choice_order)
        for position, request in enumerate(store.requests())
    }
    scored = {}
    for response in store.responses():
        if response.request_id not in asked:
            raise SchemaError(
                f"{store.folder}: answer to {response.request_id}, which this run never asked",
                hint="was a file of another run copied here?",
            )
        position, question_id, view_id, order = asked.pop(response.request_id)
        question = questions[question_id]
        choices = tuple(question.choices[index] for index in order)
        gold = right_answer(question, view_id, order)
        scored[position] = scorer.score(response, question, choices, gold, mode)
    return tuple(scored[position] for position in sorted(scored))
