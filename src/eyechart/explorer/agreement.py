"""How far several people agree on a benchmark: on answers, on boxes, and how right they are."""

import itertools
from collections.abc import Sequence

import numpy as np

from eyechart.errors import UsageError
from eyechart.explorer.edits import Edit
from eyechart.opening import open_scorer
from eyechart.runs.plan import shown_answer
from eyechart.runs.store import RunStore
from eyechart.schema import Box, Question, Request, Value
from eyechart.stats.annotators import box_overlap, human_accuracy, krippendorff_alpha
from eyechart.stats.arrays import Bools, Floats


class PeopleAccuracy(Value, frozen=True):
    """Accuracy of people under one view, with an interval for people and pictures both."""

    view: str
    value: float
    low: float
    high: float
    n_answers: int
    n_people: int


class Agreement(Value, frozen=True):
    """What several people's runs say together.

    Args:
        people: Their names.
        alpha: Krippendorff's alpha of their option letters; None where no question was answered by two.
        n_shared: Questions (under a view) that at least two answered.
        accuracies: Per view.
        box_overlap: Mean intersection over union of the boxes of two people; None where no question has any.
        n_boxes: Pairs of boxes behind that.
    """

    people: tuple[str, ...]
    alpha: float | None
    n_shared: int
    accuracies: tuple[PeopleAccuracy, ...]
    box_overlap: float | None = None
    n_boxes: int = 0


class _Person:
    """One person's answers by question and view, as letters of the question's own order, with their scores."""

    def __init__(self, store: RunStore, scorer_id: str) -> None:
        self.name = store.run.model.name
        self.questions = {question.id: question for question in store.questions()}
        self.letters: dict[tuple[str, str], str | None] = {}
        self.scores: dict[tuple[str, str], float] = {}
        scorer, mode = open_scorer(scorer_id)
        requests = {request.id: request for request in store.requests()}
        for response in store.responses():
            request = requests[response.request_id]
            question = self.questions[request.question_id]
            gold = shown_answer(question, request)
            score = scorer.score(response, question, request.choices, gold, mode)
            key = (request.question_id, request.condition)
            self.letters[key] = _own_letter(score.answer, request)
            if score.value is not None:
                self.scores[key] = score.value


def people_agreement(
    stores: Sequence[RunStore], scorer_id: str = "option_letter", edits: Sequence[Edit] = ()
) -> Agreement:
    """Return how far the people of several runs agree.

    Args:
        stores: One run of each person, of one benchmark.
        scorer_id: Judges the answers.
        edits: Changes with boxes.

    Raises:
        UsageError: If the runs are of different benchmarks, or a name repeats.
    """
    people = [_Person(store, scorer_id) for store in stores]
    names = [person.name for person in people]
    if len(set(names)) != len(names):
        raise UsageError(f"two runs are of {max(names, key=names.count)}", hint="give one run of each person")
    if len({store.run.benchmark.revision for store in stores}) > 1:
        raise UsageError("the runs are of different benchmarks", hint="give runs of the same questions")
    keys = sorted({key for person in people for key in person.letters})
    codes, present = _codes(people, keys)
    overlaps = _overlaps(edits)
    return Agreement(
        people=tuple(names),
        alpha=krippendorff_alpha(codes, present),
        n_shared=int((present.sum(axis=1) > 1).sum()),
        accuracies=tuple(_accuracy(people, view, keys) for view in dict.fromkeys(view for _, view in keys)),
        box_overlap=float(np.mean(overlaps)) if overlaps else None,
        n_boxes=len(overlaps),
    )


def _codes(people: Sequence[_Person], keys: Sequence[tuple[str, str]]) -> tuple[Floats, Bools]:
    """Return answers as numbers, and where there are any; no letter, such as cannot tell, is an answer of its own."""
    shape = (len(keys), len(people))
    codes, present = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    for column, person in enumerate(people):
        for row, key in enumerate(keys):
            if key in person.letters:
                letter = person.letters[key]
                codes[row, column], present[row, column] = -1.0 if letter is None else ord(letter), True
    return codes, present


def _accuracy(people: Sequence[_Person], view: str, keys: Sequence[tuple[str, str]]) -> PeopleAccuracy:
    rows = [key for key in keys if key[1] == view]
    known: dict[str, Question] = {name: one for person in people for name, one in person.questions.items()}
    values = np.array([[person.scores.get(key, 0.0) for person in people] for key in rows])
    present = np.array([[key in person.scores for person in people] for key in rows])
    if not present.any():
        return PeopleAccuracy(view, 0.0, 0.0, 1.0, 0, 0)
    found = human_accuracy(values, present, [known[key[0]].image_group for key in rows])
    return PeopleAccuracy(
        view,
        float(np.asarray(found.value)),
        float(np.asarray(found.low)),
        float(np.asarray(found.high)),
        int(present.sum()),
        int(present.any(axis=0).sum()),
    )


def _own_letter(letter: str | None, request: Request) -> str | None:
    """Return an answered letter in the order of the question itself, so that turned options compare."""
    if letter is None or not request.choice_order:
        return letter
    place = ord(letter) - ord("A")
    return chr(ord("A") + request.choice_order[place]) if place < len(request.choice_order) else None


def _overlaps(edits: Sequence[Edit]) -> list[float]:
    """Return the overlap of every two people's last first box of a question."""
    last: dict[str, dict[str, Box]] = {}
    for edit in edits:
        if edit.targets:
            last.setdefault(edit.question_id, {})[edit.author] = edit.targets[0]
    return [box_overlap(*pair) for boxes in last.values() for pair in itertools.combinations(boxes.values(), 2)]
