"""What each request of a run gave, gathered from the store for counting and estimating."""

from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache

import msgspec
import numpy as np

from eyechart.runs.answers import ASKED_AGAIN
from eyechart.runs.reconcile import Reconciliation, reconcile, without_contradicted
from eyechart.runs.sights import Sight, read_sights
from eyechart.runs.spending import BATCHED, reported_dollars
from eyechart.runs.store import RunStore
from eyechart.schema import (
    Box,
    Picture,
    Question,
    Request,
    Response,
    ResponseState,
    Run,
    Sampling,
    Score,
    Size,
    TokenPrice,
    Usage,
    content_sha256,
)
from eyechart.scorers.option_letter.copied_text import copied_option, may_copy
from eyechart.seen.ledger import cut_of
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.missing import ScoreBounds
from eyechart.stats.option_order import OrderPair
from eyechart.stats.repeats import average_repeats

NOT_RECORDED = "not-recorded@1"
"""Prompt of answers that were given elsewhere and are read from a file: nothing more will come."""
# What VLMEvalKit writes where it replaced an answer it could not read by a random option.
Slot = tuple[int, int, int]
"""Question, condition and slot: the place of one answer in a run."""
_RANDOM_FILL = ("randomly generate one", "randomly generated option")
# Reasons for 0 that are an answer in the expected form.
_READABLE = frozenset({"cannot_tell"})


class Ending(msgspec.Struct, frozen=True):
    """How a request ended, without its text; ``asked_again`` is the state of the error in whose place it was asked.

    ``is_open`` says that it is still to be asked: it has no answer, and no start that reached its end gave it up.
    """

    state: ResponseState
    error: str | None = None
    usage: Usage | None = None
    finished_at: str | None = None
    provider_fingerprint: str | None = None
    is_random_fill: bool = False
    reported_dollars: float | None = None
    is_batched: bool = False
    asked_again: str = ""
    is_open: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """What a scorer said, without where it read it."""

    value: float | None
    answer: str | None = None
    reason: str | None = None
    judge: str = ""

    @property
    def has_answer(self) -> bool:
        """Whether an option was read."""
        return self.answer is not None


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One request with what became of it; small, since a run has many.

    Args:
        sent_size: Size of the first picture, None where none was sent; ``sent_px`` pixels of all together.
        target_px_sent: Shorter side of the target in the picture sent.
        recipes: Recipe keys of the pictures: two cells with the same show the same.
        cut: Names what the one picture shows, whatever its size; empty if there are none or several.
        sight: What the model saw.
        ending: How it ended; None if it was never answered.
        verdict: The score; None if there is no response.
        prompt_sha256: Hash of the prompt.
        settings: Sampling and transport, in words that two cells share if nothing differs.
        choice_order: Index in ``Question.choices`` of the option shown under each letter.
        pair: The option that the answer names by its letter and the one whose text it copies, where it does both.
    """

    sent_size: Size | None = None
    sent_px: int = 0
    target_px_sent: float | None = None
    recipes: tuple[str, ...] = ()
    cut: str = ""
    sight: Sight | None = None
    ending: Ending | None = None
    verdict: Verdict | None = None
    prompt_sha256: str = ""
    settings: str = ""
    choice_order: tuple[int, ...] = ()
    pair: OrderPair | None = None

    @property
    def is_answered(self) -> bool:
        """Whether there is a response that is not an error."""
        return self.ending is not None and not self.ending.state.is_error

    @property
    def is_open(self) -> bool:
        """Whether the request is still to be asked: nothing came back, or an error that no start has made final."""
        return self.value is None and (self.ending is None or self.ending.is_open)

    @property
    def value(self) -> float | None:
        """The score, None where there is none."""
        return None if self.verdict is None else self.verdict.value

    @property
    def reason(self) -> str | None:
        """Why a score of 0 is not merely a wrong letter."""
        return self.verdict.reason if self.verdict is not None and self.verdict.value == 0.0 else None

    @property
    def is_unparsed(self) -> bool:
        """Whether an answer was scored 0 because no letter could be read from it."""
        if self.verdict is None or not self.is_answered or self.verdict.value != 0.0:
            return False
        return not self.verdict.has_answer and self.verdict.reason not in _READABLE


class AskedQuestion(msgspec.Struct, frozen=True):
    """What estimates need of a question.

    Args:
        id: Its id.
        image_group: Its cluster.
        n_choices: Number of options, 0 for a free-form question.
        content: Hash of what is asked: text, options, answers, picture, targets.
        answer: Right letter of the unrotated options.
        task: Task, if the benchmark has any.
        source: Collection it comes from, if the benchmark says.
        target_share: Area of the targets as a share of the picture, None without a target.
        notes: Remarks of the benchmark, such as known errata.
        image_px: Pixels, 0 if unknown.
        asks_for_cell: Whether the right answer is the cell that the view puts the picture in.
        base_id: Id that the rows of one question in several orders of its options share.
        n_orders: In how many orders its options are shown in this run; 0 where that follows from their number.
    """

    id: str
    image_group: str
    n_choices: int
    content: str = ""
    answer: str | None = None
    task: str | None = None
    source: str | None = None
    target_share: float | None = None
    notes: tuple[str, ...] = ()
    image_px: int = 0
    asks_for_cell: bool = False
    base_id: str | None = None
    n_orders: int = 0

    @property
    def has_errata(self) -> bool:
        """Whether the benchmark knows an error in this question."""
        return any(note.startswith("errata") for note in self.notes)


@cache
def _slots(n_repeats: int, n_rotations: int, n_orders: int) -> tuple[int, ...]:
    turned = range(min(n_rotations, max(n_orders, 1)))
    return tuple(repeat * n_rotations + turn for repeat in range(n_repeats) for turn in turned)


class RunTable(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """All cells of a run by question, condition and repeat; a cell that was not planned is absent.

    A cell's third index counts repeats, and within them rotations of the choices. ``view_of`` gives the view of each
    condition, ``n_contradicted`` how many of its requests have several answers of different text, ``reconciliation``
    where replies contradict what was expected to be seen; nothing expected is left in those cells.
    """

    run: Run
    questions: tuple[AskedQuestion, ...]
    conditions: tuple[str, ...]
    view_of: dict[str, str]
    cells: dict[tuple[int, int, int], Cell]
    n_rows: int = 0
    n_duplicates: int = 0
    n_contradicted: dict[str, int] = {}
    reconciliation: Reconciliation = Reconciliation()

    @property
    def n_slots(self) -> int:
        """How often a question is asked under one condition at most: repeats times rotations of its choices."""
        return self.run.n_repeats * self.run.n_rotations

    @property
    def slots(self) -> list[int]:
        """(n_questions,) how often each question is asked: fewer rotations where it has fewer choices."""
        return [len(self.slots_of(question)) for question in self.questions]

    def slots_of(self, question: AskedQuestion) -> tuple[int, ...]:
        """Return the third indices of a question's cells under one condition: repeats, and within them rotations."""
        return _slots(self.run.n_repeats, self.run.n_rotations, question.n_orders or question.n_choices)

    @property
    def image_groups(self) -> list[str]:
        """(n_questions,) cluster of each question."""
        return [question.image_group for question in self.questions]

    @property
    def chance(self) -> Floats:
        """(n_questions,) guess rate: one in the number of options, 0 for free-form questions."""
        return np.array([1 / q.n_choices if q.n_choices else 0.0 for q in self.questions], dtype=np.float64)

    def column(self, condition: int) -> list[tuple[int, Cell]]:
        """Return question index and cell of every request under one condition, in question order."""
        return [(key[0], self.cells[key]) for key in sorted(self.cells) if key[1] == condition]

    def columns(self) -> list[list[tuple[int, Cell]]]:
        """Return ``column`` of every condition, from one pass over the cells."""
        found: list[list[tuple[int, Cell]]] = [[] for _ in self.conditions]
        for key in sorted(self.cells):
            found[key[1]].append((key[0], self.cells[key]))
        return found

    def only(self, conditions: Collection[str]) -> "RunTable":
        """Return the table with some of its conditions, in its own order."""
        kept = tuple(name for name in self.conditions if name in conditions)
        place = {self.conditions.index(name): position for position, name in enumerate(kept)}
        cells = {(key[0], place[key[1]], key[2]): cell for key, cell in self.cells.items() if key[1] in place}
        contradicted = {name: n for name, n in self.n_contradicted.items() if name in conditions}
        return msgspec.structs.replace(self, conditions=kept, cells=cells, n_contradicted=contradicted)

    def only_questions(self, kept: Sequence[int]) -> "RunTable":
        """Return the table with some of its questions, named by their index, in the given order."""
        place = {question: position for position, question in enumerate(kept)}
        cells = {(place[key[0]], *key[1:]): cell for key, cell in self.cells.items() if key[0] in place}
        return msgspec.structs.replace(self, questions=tuple(self.questions[one] for one in kept), cells=cells)

    def scores(self) -> tuple[Floats, Bools]:
        """Return (n_questions, n_conditions) scores averaged over repeats, and where there is any."""
        shape = (len(self.questions), len(self.conditions), self.n_slots)
        values, present = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        for key, cell in self.cells.items():
            if cell.value is not None:
                values[key], present[key] = cell.value, True
        return average_repeats(values, present)

    def bounds(self) -> ScoreBounds:
        """Return (n_questions, n_conditions) bounds of the scores, whatever the missing answers and repeats are.

        What was not planned was not asked; nor was an answer that nobody can score, since its right option is unknown.
        """
        shape = (len(self.questions), len(self.conditions), self.n_slots)
        lowest, highest, asked = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        for key, cell in self.cells.items():
            if cell.value is None and cell.is_answered and cell.verdict is not None:
                continue
            lowest[key], highest[key] = (0.0, 1.0) if cell.value is None else (cell.value, cell.value)
            asked[key] = True
        means, is_asked = average_repeats(lowest, asked)
        return ScoreBounds(means, average_repeats(highest, asked)[0], is_asked)

    @property
    def is_finished(self) -> bool:
        """Whether every request has an answer or a final error, or was given up by a start that reached its end.

        A file of answers is finished: nothing more will come.
        """
        return self.run.prompt_id == NOT_RECORDED or not self.n_open

    @property
    def n_open(self) -> int:
        """Requests that are still to be asked."""
        return sum(cell.is_open for cell in self.cells.values())

    def shares(self, keys: Iterable[Slot]) -> Floats:
        """Return (n_questions, n_conditions) shares in [0, 1] of a question's cells that are among the given ones."""
        counts = np.zeros((len(self.questions), len(self.conditions)))
        for question, condition, _ in keys:
            counts[question, condition] += 1
        return counts / np.array(self.slots, dtype=np.float64)[:, None]

    def mask(self, keys: Iterable[tuple[int, int, int]]) -> Bools:
        """Return (n_questions, n_conditions), True where any of the given cells lies."""
        found = np.zeros((len(self.questions), len(self.conditions)), dtype=np.bool_)
        for question, condition, _ in keys:
            found[question, condition] = True
        return found


def read_table(store: RunStore, scorer_id: str, scores: Iterable[Score] | None = None) -> RunTable:
    """Gather a run from its store.

    Args:
        store: The run.
        scorer_id: Whose scores to take.
        scores: These scores instead of the stored ones.

    Raises:
        StoreError: If this scorer did not judge the run.
        SchemaError: If a file is damaged.
    """
    run, index = store.run, store.index()
    questions = tuple(asked_question(question) for question in store.questions())
    price = store.run.price
    verdicts: dict[str, Verdict] = {}
    spans: dict[str, tuple[int, int] | None] = {}
    for score in store.scores(scorer_id) if scores is None else scores:
        verdicts[score.request_id], spans[score.request_id] = _verdict(score), score.span
    endings: dict[str, Ending] = {}
    texts: dict[str, str] = {}
    given_up = store.given_up()
    for response in store.responses(index):
        name = response.request_id
        endings[name] = _ending(response, price, is_given_up=name in given_up)
        if response.text and name in verdicts and may_copy(response.text, verdicts[name].answer, spans[name]):
            texts[name] = response.text
    contradicted, n_contradicted = store.contradicted(index), dict[str, int]()
    sights = read_sights(store.seen())
    question_at = {question.id: position for position, question in enumerate(questions)}
    condition_at: dict[str, int] = {view: position for position, view in enumerate(run.views)}
    view_of = {view: view for view in run.views}
    cells: dict[tuple[int, int, int], Cell] = {}
    turned: list[set[int]] = [set() for _ in questions]
    for request in store.requests():
        condition = condition_at.setdefault(request.condition, len(condition_at))
        view_of[request.condition] = request.view
        key = (question_at[request.question_id], condition, slot_of(request, run))
        turned[key[0]].add(key[2] % run.n_rotations)
        if request.id in contradicted:
            n_contradicted[request.condition] = n_contradicted.get(request.condition, 0) + 1
        verdict = verdicts.pop(request.id, None)
        pair = _pair(texts.pop(request.id, None), request, verdict, spans.pop(request.id, None))
        cells[key] = _cell(request, sights.get(request.id), endings.pop(request.id, None), verdict, pair)
    reconciliation = reconcile(cells)
    return RunTable(
        run=run,
        questions=tuple(map(_with_orders, questions, map(len, turned))),
        conditions=tuple(condition_at),
        view_of=view_of,
        cells=without_contradicted(cells, reconciliation),
        reconciliation=reconciliation,
        n_rows=index.n_rows,
        n_duplicates=index.n_duplicates,
        n_contradicted=n_contradicted,
    )


def letter_index(letter: str | None) -> int | None:
    """Return the place of an option's letter, counted from 0; None where there is no single letter A–Z.

    Example:
        >>> letter_index("B"), letter_index("banana"), letter_index(None)
        (1, None, None)
    """
    return ord(letter) - ord("A") if letter and len(letter) == 1 and "A" <= letter <= "Z" else None


def total_usage(cells: Iterable[Cell]) -> Usage | None:
    """Return the tokens of the answers that count; None where no provider reported any."""
    reported = [cell.ending.usage for cell in cells if cell.ending is not None and cell.ending.usage is not None]
    if not reported:
        return None
    return Usage(
        input_tokens=_total(usage.input_tokens for usage in reported),
        output_tokens=_total(usage.output_tokens for usage in reported),
        image_tokens=_total(usage.image_tokens for usage in reported),
        reasoning_tokens=_total(usage.reasoning_tokens for usage in reported),
    )


def _total(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _pair(
    text: str | None, request: Request, verdict: Verdict | None, span: tuple[int, int] | None
) -> OrderPair | None:
    """Return the option that an answer names by its letter and the one whose text it copies."""
    if text is None or verdict is None or verdict.answer is None:
        return None
    named = copied_option(text, request.choices, verdict.answer, span)
    return None if named is None else OrderPair(ord(verdict.answer) - ord("A"), named, len(request.choices))


def _cell(
    request: Request, sight: Sight | None, ending: Ending | None, verdict: Verdict | None, pair: OrderPair | None
) -> Cell:
    targets = [_short_side(picture.target) for picture in request.pictures if picture.target is not None]
    return Cell(
        sent_size=request.pictures[0].size if request.pictures else None,
        sent_px=sum(picture.size.n_px for picture in request.pictures),
        target_px_sent=max(targets, default=None),
        recipes=tuple(picture.recipe_key for picture in request.pictures),
        cut=_cut(request.pictures),
        sight=sight,
        ending=ending,
        verdict=verdict,
        prompt_sha256=request.prompt_sha256,
        settings=_settings(request.sampling, tuple(picture.recipe.transport for picture in request.pictures)),
        choice_order=request.choice_order,
        pair=pair,
    )


def slot_of(request: Request, run: Run) -> int:
    """Return the third index of a request's cell: its repeat, and within it which option stands under A."""
    return slot_at(request.repeat, request.choice_order, run)


def slot_at(repeat: int, choice_order: tuple[int, ...], run: Run) -> int:
    """Return the third index of the cell of a repeat under an order of the options."""
    rotation = choice_order[0] if choice_order and run.n_rotations > 1 else 0
    return repeat * run.n_rotations + rotation


def _ending(response: Response, price: TokenPrice | None, *, is_given_up: bool) -> Ending:
    texts = (response.text or "", str(response.extra.get("log", "")))
    return Ending(
        response.state,
        response.error,
        response.usage,
        response.finished_at,
        response.provider_fingerprint,
        is_random_fill=any(phrase in text for text in texts for phrase in _RANDOM_FILL),
        reported_dollars=reported_dollars(response.usage, response.extra, price),
        is_batched=BATCHED in response.extra,
        asked_again=str(response.extra.get(ASKED_AGAIN, "")),
        is_open=not response.state.is_final and not is_given_up,
    )


def _verdict(score: Score) -> Verdict:
    """Return what counts of a score; a model that judged is named by a diagnostic ``judge: …``."""
    judge = next((note for note in score.diagnostics if note.startswith("judge:")), score.scorer)
    return Verdict(score.value, score.answer, score.reason, judge)


def asked_question(question: Question) -> AskedQuestion:
    """Return what estimates need of a question."""
    words = [question.text, question.choices, question.answer, question.answers]
    asked = [*words, question.image.file_sha256, question.targets]
    boxes = question.targets_clipped or question.targets
    area = sum(box.width * box.height for box in boxes)
    return AskedQuestion(
        id=question.id,
        image_group=question.image_group,
        n_choices=len(question.choices),
        content=content_sha256(asked),
        answer=question.answer,
        task=question.task,
        source=question.source,
        target_share=area / question.image.size.n_px if boxes else None,
        notes=question.notes,
        image_px=question.image.size.n_px,
        asks_for_cell=question.asks_for_cell,
        base_id=str(question.extra["base_id"]) if question.extra.get("base_id") is not None else None,
    )


def hash_contents(questions: Iterable[AskedQuestion]) -> str:
    """Return the hash of what is asked and how it is grouped by picture, whatever the order of the questions."""
    return content_sha256(sorted((one.id, one.image_group, one.content) for one in questions))


def _with_orders(question: AskedQuestion, n_orders: int) -> AskedQuestion:
    return msgspec.structs.replace(question, n_orders=n_orders) if n_orders != question.n_choices else question


@cache
def _settings(sampling: Sampling, transports: tuple[str, ...]) -> str:
    """Say in words how a request was sent."""
    sent = {name: getattr(sampling, name) for name in sampling.__struct_fields__}
    words = [f"{name} {value}" for name, value in sent.items() if value is not None]
    return ", ".join([*words, *sorted({f"transport {transport}" for transport in transports})])


def _cut(pictures: tuple[Picture, ...]) -> str:
    if len(pictures) != 1:
        return ""
    file_sha256, *geometry = cut_of(pictures[0])
    return f"{file_sha256} {_geometry_sha256(tuple(geometry))}"


@lru_cache(maxsize=4096)
def _geometry_sha256(geometry: tuple[object, ...]) -> str:
    return content_sha256(geometry)  # the cells of a grid are the same for every base sample


def _short_side(target: Box) -> float:
    return float(min(target.width, target.height))
