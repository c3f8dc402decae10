"""Judge the stored answers of a run. No model is ever called."""

from eyechart.errors import SchemaError
from eyechart.kinds import Scorer
from eyechart.runs.gold import right_answer
from eyechart.runs.store import RunStore
from eyechart.schema import Score

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
