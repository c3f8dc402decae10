"""The answers of one person: which question comes next, and how its answer is stored like any model's."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from eyechart.errors import ImageError, UsageError
from eyechart.kinds import Benchmark
from eyechart.runs.execute import utc_now, writer_name
from eyechart.runs.folders import Destination, Origin, find_or_create
from eyechart.runs.plan import Plan
from eyechart.runs.replies import Asking, error_row
from eyechart.runs.unreadable import fault_of
from eyechart.runs.versions import read_versions
from eyechart.runs.writers import check_alone
from eyechart.schema import JsonObject, Question, Request, Response, ResponseState

CANNOT_TELL = "cannot tell"
_LONGEST_ANSWER = 10_000


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends.

    Args:
        position: Which question, as the page was told.
        answer: An option letter, ``cannot tell``, or a text where there are no options.
        seconds: From when the picture stood on the screen to the answer.
        shown: Size of the picture on the screen in device pixels, and whether it was enlarged.
    """

    position: int
    answer: str
    seconds: float
    shown: JsonObject = {}


class Progress(NamedTuple):
    """How many questions are answered, of how many."""

    n_done: int
    n_all: int


class Annotation:
    """A person's run: shuffled, resumable, stored answer by answer.

    Every question is shown once before any is shown under a second view, and the views of a question come in random
    order, so that a picture is seen again as late as can be.

    Args:
        plan: What is asked; its model is the person.
        benchmark: Where pictures are.
        where: Which folder.
        command: The command line, for ``run.json``.

    Raises:
        StoreError: If the folder holds another run, or cannot be written.
        UsageError: If another process of this machine asks the same run.
    """

    def __init__(self, plan: Plan, benchmark: Benchmark, where: Destination, command: tuple[str, ...] = ()) -> None:
        self.benchmark = benchmark
        origin = Origin(now=utc_now(), versions=read_versions(), command=command)
        self.store, self.is_resumed = find_or_create(plan, where, origin, may_grow=True)
        self.requests = _shuffled(plan.requests, f"{plan.model.name} {plan.options.seed}")
        self._questions: dict[str, Question] = {question.id: question for question in plan.questions}
        index = self.store.index()
        self._writer = self.store.open_writer(writer_name())
        try:
            self.warning = check_alone(self._writer.begin(), utc_now())
        except UsageError:
            self._writer.close()
            raise
        self._open: list[int] = []
        for place, request in enumerate(self.requests):
            if index.is_settled(request.id):
                continue
            fault = fault_of(request.pictures)
            if fault is None:
                self._open.append(place)
            else:  # nobody can be shown it
                finished_at = utc_now().isoformat(timespec="milliseconds")
                asking = Asking(request_id=request.id, seconds=None, finished_at=finished_at)
                self._writer.append(error_row(ImageError(fault), asking))

    @property
    def progress(self) -> Progress:
        """How far the person is."""
        return Progress(len(self.requests) - len(self._open), len(self.requests))

    @property
    def position(self) -> int | None:
        """Which question comes next, None where all are answered."""
        return self._open[0] if self._open else None

    def request(self, position: int) -> Request:
        """Return a request by its position in the shuffled order.

        Raises:
            UsageError: If there is none.
        """
        if not 0 <= position < len(self.requests):
            raise UsageError(f"there is no question {position}", hint="reload the page")
        return self.requests[position]

    def text(self, position: int) -> str:
        """Return the question's text without its options."""
        return self._questions[self.request(position).question_id].text

    def put_off(self, position: int) -> None:
        """Ask a question again at the end."""
        if position in self._open:
            self._open.remove(position)
            self._open.append(position)

    def answer(self, given: Given) -> None:
        """Store an answer.

        Raises:
            UsageError: If it answers nothing that is open, or is not an option of the question.
            StoreError: If it cannot be stored.
        """
        request = self.request(given.position)
        if given.position not in self._open:
            raise UsageError("this question is answered already", hint="reload the page")
        letters = [chr(ord("A") + index) for index in range(len(request.choices))]
        text = given.answer.strip()
        if letters and text not in {*letters, CANNOT_TELL}:
            raise UsageError(
                f"{text!r} is not an option of this question", hint=f"{', '.join(letters)}, or cannot tell"
            )
        if not text or len(text) > _LONGEST_ANSWER or not 0 <= given.seconds < float("inf"):
            raise UsageError("an answer needs a text and a time", hint="reload the page")
        self._writer.append(
            Response(
                request_id=request.id,
                state=ResponseState.ANSWERED,
                text=text,
                finish="stop",
                seconds=round(given.seconds, 3),
                finished_at=utc_now().isoformat(timespec="milliseconds"),
                extra={"shown": given.shown} if given.shown else {},
            )
        )
        self._open.remove(given.position)

    def close(self) -> None:
        """Bring everything to the disk."""
        self._writer.close()


def _shuffled(requests: Sequence[Request], seed: str) -> tuple[Request, ...]:
    """Return the requests in rounds: each round holds every question at most once, in a random order of its own."""
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8]))
    by_question: dict[str, list[Request]] = {}
    for request in requests:
        by_question.setdefault(request.question_id, []).append(request)
    by_question = {name: [own[place] for place in rng.permutation(len(own))] for name, own in by_question.items()}
    rounds: list[Request] = []
    for number in range(max(map(len, by_question.values()), default=0)):
        one = [own[number] for own in by_question.values() if number < len(own)]
        rounds.extend(one[place] for place in rng.permutation(len(one)))
    return tuple(rounds)
