"""The runs that are looked at together, held small: scores in arrays, texts on disk until they are asked for."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TypeVar, cast

import msgspec
import numpy as np

from eyechart.errors import UsageError
from eyechart.explorer.labels import model_label, tell_apart
from eyechart.explorer.lines import LineIndex, Place, read_places
from eyechart.runs.answers import AnswerIndex
from eyechart.runs.baselines import baselines
from eyechart.runs.cells import Cell, RunTable, read_table, slot_at
from eyechart.runs.choosing import choose_scorer
from eyechart.runs.score import judge, scorer_id_of
from eyechart.runs.store import ESTIMATES_FILE, RunStore
from eyechart.runs.summarise import estimate
from eyechart.schema import Question, Request, Response, Run, Score, Summary
from eyechart.stats.arrays import Bools, Floats

_HALF = 0.5
CROP = "crop_3x"
"""The view to look at first beside the original."""
Result = TypeVar("Result")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One request with all that is known of it.

    Args:
        request: What was asked.
        response: The answer that counts; None if there is none.
        score: The scorer's verdict; None if there was nothing to judge.
        cell: Sizes, what the model saw, how it ended.
        slot: Which repeat or order of the choices this is.
    """

    request: Request
    response: Response | None
    score: Score | None
    cell: Cell
    slot: int


class Memory:
    """Remembers what is worked out of what never changes, a bounded number of results of the latest questions."""

    def __init__(self, most: int = 512) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, object] = OrderedDict()
        self._lock = Lock()

    def remember(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return what ``make`` returned for a key before, or returns now; it must depend on the key alone."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return cast("Result", self._known[key])
        made = make()  # outside the lock, since it may remember other things
        with self._lock:
            self._known[key] = made
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made


class ExploredRun(Memory):
    """One run: its table of scores, its summary, and its texts by place.

    Args:
        store: The run folder.
        scorer: ``name``, ``name.mode`` or ``name.mode@version``; the run's own if left out. Nothing is written.
        label: What the run is called; its model if left out.
    """

    def __init__(self, store: RunStore, scorer: str | None = None, label: str | None = None) -> None:
        super().__init__()
        chosen, mode = choose_scorer(store, scorer)
        self.store = store
        self.scorer_id = scorer_id_of(chosen, mode)
        index = store.index()
        stored = _current_scores(store, self.scorer_id, index)
        scores = judge(store, chosen, mode) if stored is None else stored
        self._scores = {score.request_id: score for score in scores}
        self.table: RunTable = read_table(store, self.scorer_id, scores)
        self.summary: Summary = _summary(store, self.scorer_id, self.table, is_current=stored is not None)
        self.label = label or model_label(self.table.run)
        self.baselines = baselines(self.table.conditions, self.table.view_of)
        self._position_of = {one.id: position for position, one in enumerate(self.table.questions)}
        values, present = self.table.scores()
        self.values: Floats = values
        self.present: Bools = present
        self._request_ids, self._requests = _index_requests(store, self.table)
        self._responses = _index_responses(store, index)
        self._questions = _index_questions(store)
        self.texts = tuple(question.text for question in store.questions())
        self.seen_sizes = frozenset(
            cell.sight.seen_size for cell in self.table.cells.values() if cell.sight and cell.sight.seen_size
        )
        first = self.table.conditions.index(self.baseline)
        self.target_px = _target_px(self.table, first, seen=False)
        self.seen_px = _target_px(self.table, first, seen=True)

    @property
    def name(self) -> str:
        """Name of the run folder."""
        return self.store.folder.name

    @property
    def recorded(self) -> Run:
        """The settings as they were recorded, which may name more than is shown."""
        return self.store.run

    def clean(self, text: str) -> str:
        """Return a text as it may be shown."""
        return text

    @property
    def model(self) -> str:
        """The model, as ``provider/name``."""
        return self.table.run.model.spec

    @property
    def baseline(self) -> str:
        """The condition that is compared with nothing: the original, or the first one."""
        return next(name for name, base in self.baselines.items() if name == base)

    @property
    def contents(self) -> frozenset[tuple[str, str]]:
        """Id and content of every question: two runs asked the same where both are equal."""
        return self.remember("contents", lambda: frozenset((one.id, one.content) for one in self.table.questions))

    def position(self, question_id: str) -> int | None:
        """Return where a question stands in the table, None if this run never asked it."""
        return self._position_of.get(question_id)

    def question(self, question_id: str) -> Question | None:
        """Return a question as the run stored it."""
        return self._questions.read(question_id, Question)

    def entries(self, position: int, conditions: Sequence[str] = ()) -> dict[str, tuple[Entry, ...]]:
        """Return every request of one question by condition, repeats and orders of choices in turn.

        Args:
            position: Where the question stands in the table.
            conditions: Conditions to read; all if empty.
        """
        names = conditions or self.table.conditions
        columns = {name: self.table.conditions.index(name) for name in names}
        keys = {
            name: [key for slot in range(self.table.n_slots) if (key := (position, column, slot)) in self.table.cells]
            for name, column in columns.items()
        }
        ids = [self._request_ids[key] for own in keys.values() for key in own]
        requests = self._requests.read_many(ids, Request)
        responses = self._responses.read_many(ids, Response)
        return {name: tuple(self._entry(key, requests, responses) for key in own) for name, own in keys.items()}

    def find(self, request_id: str) -> Request | None:
        """Return a request by its id."""
        return self._requests.read(request_id, Request)

    def is_right(self, column: int) -> Bools:
        """Return (n_questions,) whether each question scored at least one half under a condition."""
        return np.asarray(self.present[:, column] & (self.values[:, column] >= _HALF))

    def is_wrong(self, column: int) -> Bools:
        """Return (n_questions,) whether each question scored less than one half under a condition."""
        return np.asarray(self.present[:, column] & (self.values[:, column] < _HALF))

    def _entry(
        self, key: tuple[int, int, int], requests: Mapping[str, Request], responses: Mapping[str, Response]
    ) -> Entry:
        request_id = self._request_ids[key]
        return Entry(
            request=requests[request_id],
            response=responses.get(request_id),
            score=self._scores.get(request_id),
            cell=self.table.cells[key],
            slot=key[2],
        )


class Study(Memory):
    """Runs that are looked at together.

    Args:
        runs: At least one run.
    """

    def __init__(self, runs: Sequence[ExploredRun]) -> None:
        if not runs:
            raise UsageError("no run was named", hint="give at least one run folder, such as runs/NAME")
        super().__init__()
        self.runs = tuple(runs)

    def run(self, number: int) -> ExploredRun:
        """Return a run by its number, from 0.

        Raises:
            UsageError: If there is no such run.
        """
        if not 0 <= number < len(self.runs):
            raise UsageError(f"there is no run {number}", hint=f"runs are numbered 0 to {len(self.runs) - 1}")
        return self.runs[number]

    def alike(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the runs that asked about the same benchmark, the run itself first."""
        name = self.runs[number].table.run.benchmark.name
        others = [at for at, one in enumerate(self.runs) if at != number and one.table.run.benchmark.name == name]
        return (number, *others)

    def comparable(self, number: int) -> tuple[int, ...]:
        """Return the numbers of the runs that a run can be compared with, the run itself first if it has two views.

        Runs of one benchmark are, where they share a condition and a question of the same content.
        """

        def found() -> tuple[int, ...]:
            run = self.runs[number]
            itself = [number] if any(one != base for one, base in run.baselines.items()) else []
            return (*itself, *(at for at in self.alike(number)[1:] if _share(run, self.runs[at])))

        return self.remember(("comparable", number), found)


def _share(one: ExploredRun, other: ExploredRun) -> bool:
    is_asked_alike = not set(one.table.conditions).isdisjoint(other.table.conditions)
    return is_asked_alike and not one.contents.isdisjoint(other.contents)


def read_study(
    folders: Sequence[Path], scorer: str | None = None, *, tell: Callable[[int, int], None] | None = None
) -> Study:
    """Read run folders; nothing is written and no model is asked.

    Args:
        folders: Run folders.
        scorer: Whose scores to show; each run's own if left out, all in one version.
        tell: Called with how many runs are read, and of how many.

    Raises:
        StoreError: If a folder holds no run.
        UsageError: If none is named, or the scorer is unknown.
    """
    stores = [RunStore(folder) for folder in folders]
    labels = tell_apart([store.run for store in stores], [store.folder.resolve().name for store in stores])
    runs: list[ExploredRun] = []
    for store, label in zip(stores, labels, strict=True):
        if tell is not None:
            tell(len(runs), len(folders))
        own = scorer or scorer_id_of(*choose_scorer([store, *stores], None))
        runs.append(ExploredRun(store, own, label))
    if tell is not None:
        tell(len(runs), len(folders))
    return Study(runs)


def _current_scores(store: RunStore, scorer_id: str, index: AnswerIndex) -> tuple[Score, ...] | None:
    """Return the stored scores, None if there are none or if answers came after them, as in a run that went on."""
    if not store.is_current(store.score_file(scorer_id)):
        return None
    stored = tuple(store.scores(scorer_id))
    return stored if {score.request_id for score in stored} == index.rows.keys() else None


def _summary(store: RunStore, scorer_id: str, table: RunTable, *, is_current: bool) -> Summary:
    """Return the stored estimates if they are by this scorer and of these answers, else new ones."""
    if is_current and store.is_current(store.folder / ESTIMATES_FILE):
        stored = store.summary()
        if stored.scorer == scorer_id:
            return stored
    return estimate(table, scorer_id, tuple(store.views()))


class _IdHead(msgspec.Struct):
    id: str


class _RequestHead(msgspec.Struct):
    """What places a request in the table; the table itself was read from the whole of it."""

    id: str
    question_id: str
    condition: str
    repeat: int = 0
    choice_order: tuple[int, ...] = ()


def _index_requests(store: RunStore, table: RunTable) -> tuple[dict[tuple[int, int, int], str], LineIndex[str]]:
    """Return the id of every cell's request, and the place of every request."""
    question_at = {question.id: at for at, question in enumerate(table.questions)}
    condition_at = {name: at for at, name in enumerate(table.conditions)}
    ids: dict[tuple[int, int, int], str] = {}
    places: dict[str, Place] = {}
    heads = msgspec.json.Decoder(_RequestHead)
    for place, text in read_places(store.planned_file("requests.jsonl")):
        request = heads.decode(text)
        slot = slot_at(request.repeat, request.choice_order, table.run)
        key = (question_at[request.question_id], condition_at[request.condition], slot)
        ids[key] = request.id
        places[request.id] = place
    return ids, LineIndex(places)


def _index_responses(store: RunStore, index: AnswerIndex) -> LineIndex[str]:
    """Return the place of the answer that counts for each request."""
    counting = {(row.writer, row.line): request_id for request_id, row in index.rows.items()}
    places: dict[str, Place] = {}
    for writer, path in enumerate(sorted((store.folder / "responses").glob("*.jsonl"))):
        for place, _ in read_places(path):
            request_id = counting.get((writer, place.line))
            if request_id is not None:
                places[request_id] = place
    return LineIndex(places)


def _index_questions(store: RunStore) -> LineIndex[str]:
    places = read_places(store.planned_file("questions.jsonl"))
    return LineIndex({msgspec.json.decode(text, type=_IdHead).id: place for place, text in places})


def _target_px(table: RunTable, column: int, *, seen: bool) -> Floats:
    """Return (n_questions,) shorter side of each target under one condition, NaN where it is not known.

    Args:
        table: The run.
        column: The condition.
        seen: As the model saw it; else as it was sent.
    """
    found = np.full(len(table.questions), np.nan)
    for (question, condition, _), cell in table.cells.items():
        if condition == column:
            size = (cell.sight.target_px if cell.sight is not None else None) if seen else cell.target_px_sent
            if size is not None:
                found[question] = size
    return found
