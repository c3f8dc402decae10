"""Judge the stored answers of a run. No model is ever called."""

from collections.abc import Sequence
from typing import cast

from eyechart.errors import SchemaError, UsageError
from eyechart.kinds import Scorer
from eyechart.registry import load, names, unknown_name
from eyechart.runs.plan import shown_answer
from eyechart.runs.store import RunStore
from eyechart.schema import Question, Response, Score

DEFAULT_SCORER = "option_letter"


class ChosenScorer:
    """A scorer in one of its modes.

    Args:
        scorer: The scorer.
        mode: One of its modes.
    """

    def __init__(self, scorer: Scorer, mode: str) -> None:
        self.scorer, self.mode = scorer, mode
        self.id = f"{scorer.name}.{mode}@{scorer.version}"

    def score(self, response: Response, question: Question, choices: Sequence[str], gold: str | None) -> Score:
        """Judge one response; arguments as for ``Scorer.score``."""
        return self.scorer.score(response, question, choices, gold, self.mode)


def choose_scorer(text: str = DEFAULT_SCORER) -> ChosenScorer:
    """Return the scorer named ``name``, ``name.mode`` or ``name.mode@version``; a bare name means its first mode.

    Raises:
        UsageError: If there is no such scorer, mode or version.
    """
    rest, _, version = text.partition("@")
    name, _, mode = rest.partition(".")
    if name not in names("scorer"):
        raise unknown_name("scorer", name, names("scorer"))
    scorer = cast("type[Scorer]", load("scorer", name))()
    if mode and mode not in scorer.modes:
        raise unknown_name(f"mode of scorer {name}", mode, scorer.modes)
    if version and version != str(scorer.version):
        raise UsageError(
            f"scorer {text} has another version than {name}@{scorer.version}, which this eyechart has",
            hint=f"use --scorer {name}, or install the eyechart that has version {version}",
        )
    return ChosenScorer(scorer, mode or scorer.modes[0])


def score_run(store: RunStore, scorer: ChosenScorer) -> None:
    """Judge every response that counts and replace ``scores/<scorer id>.jsonl``, in the order of the requests.

    Args:
        store: The run.
        scorer: Who judges.

    Raises:
        StoreError: If the scores cannot be written.
        SchemaError: If an answer belongs to no request of the run.
    """
    questions = {question.id: question for question in store.questions()}
    asked = {
        request.id: (
            position,
            request.question_id,
            request.choices,
            shown_answer(questions[request.question_id], request),
        )
        for position, request in enumerate(store.requests())
    }
    scores: list[Score | None] = [None] * len(asked)
    for response in store.responses():
        if response.request_id not in asked:
            raise SchemaError(
                f"{store.folder}: answer to {response.request_id}, which this run never asked",
                hint="was a file of another run copied here?",
            )
        position, question_id, choices, gold = asked[response.request_id]
        scores[position] = scorer.score(response, questions[question_id], choices, gold)
    store.write_scores(scorer.id, (score for score in scores if score is not None))
