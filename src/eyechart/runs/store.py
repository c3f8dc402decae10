"""The folder of one run: what was planned, written once, and what came back, appended."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from eyechart.errors import StoreError
from eyechart.runs.answers import (
    AnswerIndex,
    contradicted_ids,
    index_answers,
    left_open,
    read_answers,
    read_open_errors,
)
from eyechart.runs.files import LineWriter, read_records, write_records, write_whole
from eyechart.runs.later_plans import (
    PLANNED_FILES,
    PLANS,
    RUN_FILE,
    add_plan,
    content_of,
    is_scored_alike,
    planned_file,
    read_chain,
)
from eyechart.runs.plan import Plan
from eyechart.schema import (
    AnyRecord,
    GivenUp,
    LaterPlan,
    LookTaken,
    Question,
    Record,
    Request,
    Response,
    Run,
    Score,
    Seen,
    Summary,
    ViewImage,
    encode_record,
)
from eyechart.stats.codes import with_current_codes

ESTIMATES_FILE = "estimates.json"
GIVEN_UP = "given_up"
LOOKS = "looks"


class RunStore:
    """Reads and extends a run folder.

    ``run.json``, ``questions``, ``views``, ``requests`` and ``seen.jsonl`` (what the model is expected to see) are
    written once. Where the questions were changed afterwards, later plans lie in ``plans/``: everything read here is of
    the newest, and answers to questions that are gone stay stored unread. Each process appends to its own
    ``responses/<writer>.jsonl`` and ``seen/<writer>.jsonl`` (what the model executed or reported); a start that reached
    its end names in ``given_up/<writer>.jsonl`` what it has no answer to. ``looks/`` holds the looks that tables took
    as a plan allowed, each written once. ``scores/`` and ``estimates.json`` follow from these and can be made anew.

    Args:
        folder: An existing run folder.

    Raises:
        StoreError: If ``folder`` holds no run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._planned_ids: tuple[str, frozenset[str]] = ("", frozenset())
        if not (folder / RUN_FILE).is_file():
            raise StoreError(f"{folder} holds no run: there is no {RUN_FILE}", hint="give a folder made by `run`")

    @property
    def run(self) -> Run:
        """The settings of the run, with what its newest plan changed."""
        run, plans = _only(self.folder / RUN_FILE, Run), self.later_plans
        if not plans:
            return run
        newest = plans[-1]
        return msgspec.structs.replace(
            run,
            benchmark=newest.benchmark,
            n_questions=newest.n_questions,
            n_rotations=newest.n_rotations,
            estimated_dollars=newest.estimated_dollars,
            matching=newest.matching,
            n_plans=1 + len(plans),
        )

    @property
    def later_plans(self) -> tuple[LaterPlan, ...]:
        """The plans that followed the first one, because the questions were changed; most runs have none."""
        return read_chain(self.folder)

    @property
    def plan_id(self) -> str:
        """The id of the newest plan."""
        plans = self.later_plans
        return plans[-1].plan_id if plans else _only(self.folder / RUN_FILE, Run).plan_id

    def is_of(self, plan: Plan) -> bool:
        """Whether the newest plan asks the same as another one, of questions that are scored alike."""
        return self.plan_id == plan.plan_id and is_scored_alike(self.questions(), plan.questions)

    def planned_file(self, name: str) -> Path:
        """Return where a planned file of the newest plan lies, such as ``questions.jsonl``."""
        return planned_file(self.folder, self.later_plans, name)

    def questions(self) -> Iterator[Question]:
        """Yield the questions of the run."""
        return read_records(self.planned_file("questions.jsonl"), Question)

    def views(self) -> Iterator[ViewImage]:
        """Yield every planned view image; what a release lacks is noted ``missing_in_release``."""
        return read_records(self.planned_file("views.jsonl"), ViewImage)

    def requests(self) -> Iterator[Request]:
        """Yield every request in the order of asking."""
        return read_records(self.planned_file("requests.jsonl"), Request)

    def planned_before(self) -> tuple[Iterator[Question], Iterator[Request]]:
        """Return questions and requests of the plan before the newest, or of the only one."""
        before = self.later_plans[:-1]
        questions = read_records(planned_file(self.folder, before, "questions.jsonl"), Question)
        return questions, read_records(planned_file(self.folder, before, "requests.jsonl"), Request)

    def earlier_requests(self) -> Iterator[Request]:
        """Yield every request that only earlier plans ask, the latest plan first, each once."""
        plans = self.later_plans
        known = set(self._ids() or ())
        for n_plans in reversed(range(len(plans))):
            for request in read_records(planned_file(self.folder, plans[:n_plans], "requests.jsonl"), Request):
                if request.id not in known:
                    known.add(request.id)
                    yield request

    def index(self, *, of_all_plans: bool = False) -> AnswerIndex:
        """Return which stored answer counts for each request; of the newest plan, unless those of all are wanted."""
        return index_answers(self._writer_files("responses"), None if of_all_plans else self._ids())

    def responses(self, index: AnswerIndex | None = None) -> Iterator[Response]:
        """Yield the one response that counts for each request that has any, in file order."""
        return read_answers(self._writer_files("responses"), index or self.index())

    def open_errors(self, start: str) -> Iterator[Response]:
        """Yield every error that becomes final when this start has ended well, in file order."""
        return read_open_errors(self._writer_files("responses"), start)

    def contradicted(self, index: AnswerIndex) -> frozenset[str]:
        """Return the requests with several answers of different text; reads nothing where none was answered twice."""
        if not index.n_duplicates:
            return frozenset()
        return contradicted_ids(self._writer_files("responses")) & index.rows.keys()

    def given_up(self) -> frozenset[str]:
        """Return the requests that starts which reached their end gave up; later starts may have had an answer."""
        files = self._writer_files(GIVEN_UP)
        return frozenset(row.request_id for path in files for row in read_records(path, GivenUp, may_be_torn=True))

    def give_up(self, writer: str, request_ids: Iterable[str]) -> None:
        """Note the requests that a start which reached its end has no answer to.

        Args:
            writer: Name of its writer.
            request_ids: The requests, each asked at least once.

        Raises:
            StoreError: If it cannot be written.
        """
        rows = [GivenUp(request_id=request_id) for request_id in request_ids]
        if rows:
            write_records(self.folder / GIVEN_UP / f"{writer}.jsonl", rows)

    def looks(self) -> tuple[LookTaken, ...]:
        """Return the looks that were taken while the run was not finished, in their order.

        Raises:
            SchemaError: If one is damaged.
        """
        return tuple(_only(path, LookTaken) for path in sorted((self.folder / LOOKS).glob("[0-9]*.json")))

    def keep_look(self, look: LookTaken) -> LookTaken:
        """Record a look; where another table took it first, that one stands and is returned.

        Raises:
            StoreError: If it cannot be written.
        """
        path = self.folder / LOOKS / f"{look.number:04}.json"
        write_whole(path, (encode_record(look), b"\n"), keep_existing=True)
        return _only(path, LookTaken)

    def seen(self) -> Iterator[Seen]:
        """Yield what was expected to be seen, then what was observed, writers in the order of their names.

        A request asked twice has two observations; the first is of the answer that counts unless that was stale.
        """
        planned, ids = self.planned_file("seen.jsonl"), self._ids()
        if planned.is_file():
            yield from read_records(planned, Seen)
        for row in self.observed():
            if ids is None or row.request_id in ids:
                yield row

    def observed(self) -> Iterator[Seen]:
        """Yield what was observed for every answer, whatever plan asked for it."""
        for path in self._writer_files("seen"):
            yield from read_records(path, Seen, may_be_torn=True)

    def scores(self, scorer_id: str) -> Iterator[Score]:
        """Yield the stored scores of one scorer.

        Raises:
            StoreError: If this scorer did not judge the run yet.
        """
        path = self.score_file(scorer_id)
        if not path.is_file():
            raise StoreError(
                f"{self.folder} has no scores by {scorer_id}", hint=f"eyechart score {self.folder} --scorer {scorer_id}"
            )
        ids = self._ids()
        return (score for score in read_records(path, Score) if ids is None or score.request_id in ids)

    def scorer_ids(self) -> tuple[str, ...]:
        """Return the ids of the scorers that judged this run, sorted."""
        return tuple(sorted(path.stem for path in (self.folder / "scores").glob("*.jsonl")))

    def score_file(self, scorer_id: str) -> Path:
        """Return the file of one scorer's scores."""
        return self.folder / "scores" / f"{scorer_id}.jsonl"

    def write_scores(self, scorer_id: str, scores: Iterable[Score]) -> Path:
        """Replace the scores of one scorer.

        Raises:
            StoreError: If the file cannot be written.
        """
        path = self.score_file(scorer_id)
        write_records(path, scores)
        return path

    def is_current(self, path: Path) -> bool:
        """Whether a file that follows from the answers is there, and no answer or plan was written after it."""
        try:
            written = path.stat().st_mtime_ns
            answers = (*self._writer_files("responses"), *self._writer_files(GIVEN_UP))
            sources = (*answers, *(self.folder / PLANS).glob("[0-9]*.json"))
            return all(source.stat().st_mtime_ns <= written for source in sources)
        except OSError:
            return False

    def summary(self) -> Summary:
        """Return the stored estimates, rules under the names that they have now.

        Raises:
            StoreError: If there are none yet, or the file is empty.
        """
        path = self.folder / ESTIMATES_FILE
        if not path.is_file():
            raise StoreError(f"{self.folder} has no estimates", hint=f"eyechart score {self.folder}")
        return with_current_codes(_only(path, Summary))

    def write_summary(self, summary: Summary) -> Path:
        """Replace the stored estimates.

        Raises:
            StoreError: If the file cannot be written.
        """
        path = self.folder / ESTIMATES_FILE
        write_whole(path, (encode_record(summary), b"\n"))
        return path

    def open_writer(self, name: str, start: str | None = None) -> "AnswerWriter":
        """Return a writer of new answers; ``name`` must be new in this folder.

        Args:
            name: Of the writer.
            start: The start whose final errors stay open until it has ended well; None stores them as final at once.
        """
        return AnswerWriter(self.folder, name, start)

    def _ids(self) -> frozenset[str] | None:
        """Return the requests of the newest plan, None where there is but one plan and every answer is to it."""
        plans = self.later_plans
        if not plans:
            return None
        if self._planned_ids[0] != plans[-1].plan_id:
            self._planned_ids = (plans[-1].plan_id, frozenset(request.id for request in self.requests()))
        return self._planned_ids[1]

    def _writer_files(self, room: str) -> list[Path]:
        return sorted((self.folder / room).glob("*.jsonl"))


class AnswerWriter:
    """Appends the answers of one process and what the model saw for them.

    Final errors are stored as open ones of ``start``, unless that is None.
    """

    def __init__(self, folder: Path, name: str, start: str | None = None) -> None:
        self.start = start
        self._responses = LineWriter(folder / "responses" / f"{name}.jsonl")
        self._seen = LineWriter(folder / "seen" / f"{name}.jsonl")

    @property
    def path(self) -> Path:
        """The file of the answers."""
        return self._responses.path

    def begin(self) -> Path:
        """Create the file of the answers before there is one, so that other processes see this one; return its path.

        Raises:
            StoreError: If it cannot be made.
        """
        self._responses.begin()
        return self._responses.path

    def append(self, response: Response, seen: Iterable[Seen] = ()) -> None:
        """Append one answer. What was seen goes first: an answer never stands without it.

        Raises:
            StoreError: If the disk refuses; all earlier answers are kept.
        """
        for row in seen:
            self._seen.append(encode_record(row))
        self.append_final(left_open(response, self.start))

    def append_final(self, response: Response) -> None:
        """Append one answer as it is.

        Raises:
            StoreError: If the disk refuses; all earlier answers are kept.
        """
        self._responses.append(encode_record(response))

    def close(self) -> None:
        """Close both files.

        Raises:
            StoreError: If the disk refuses.
        """
        try:
            self._seen.close()
        finally:
            self._responses.close()


def _only(path: Path, kind: type[AnyRecord]) -> AnyRecord:
    """Return the one record of a file."""
    for record in read_records(path, kind):
        return record
    raise StoreError(f"{path} is empty", hint="restore it; what `score` can make anew may be removed")


def create_store(folder: Path, run: Run, plan: Plan, seen: Iterable[Seen]) -> RunStore:
    """Write the planned part of a run into a folder, ``run.json`` last.

    Writers that do this at the same time write the same bytes but for ``run.json``, where the first one stands.

    Args:
        folder: A new or empty folder, or one whose creation was cut off.
        run: Settings of the run.
        plan: The plan.
        seen: What the model is expected to see, if it is known.

    Raises:
        StoreError: If the folder holds other files, or cannot be written.
    """
    if (folder / RUN_FILE).is_file():  # another writer has just made it
        return open_store(folder, plan)
    check_ours(folder)
    files: tuple[tuple[str, Iterable[Record]], ...] = (
        ("questions.jsonl", plan.questions),
        ("views.jsonl", plan.view_images),
        ("requests.jsonl", plan.requests),
        ("seen.jsonl", seen),
    )
    for name, records in files:
        write_records(folder / name, records)
    write_whole(folder / RUN_FILE, (encode_record(run), b"\n"), keep_existing=True)
    return open_store(folder, plan)


def open_store(folder: Path, plan: Plan) -> RunStore:
    """Open the run folder of this very plan.

    Raises:
        StoreError: If the folder holds another run; the message says in what the two differ.
    """
    store = RunStore(folder)
    if store.plan_id != plan.plan_id:
        raise _another_run(folder, _differences(store.run, plan))
    return store


def grow_store(folder: Path, run: Run, plan: Plan, seen: Iterable[Seen]) -> RunStore:
    """Open a run folder for a plan whose questions changed since the folder was planned, keeping what is the same.

    Args:
        folder: A run folder.
        run: The settings of this start, as they would be stored.
        plan: The plan as it is now; the folder's own, or one that asks some of the same.
        seen: What the model is expected to see.

    Raises:
        StoreError: If the folder holds another run: it differs in more than its questions, or in all of them; or if
            it cannot be written.
    """
    store = RunStore(folder)
    if store.is_of(plan):
        return store
    check_growth(store, run, plan)
    later = LaterPlan(
        number=0,
        previous_sha256="",
        plan_id=plan.plan_id,
        benchmark=run.benchmark,
        n_questions=run.n_questions,
        n_rotations=run.n_rotations,
        estimated_dollars=run.estimated_dollars,
        matching=run.matching,
        files={},
    )
    add_plan(folder, plan, later, seen)
    return open_store(folder, plan)


def check_growth(store: RunStore, run: Run, plan: Plan) -> None:
    """Refuse a plan that a run folder cannot grow to, as ``grow_store`` does; nothing is written.

    Raises:
        StoreError: If the folder holds another run.
    """
    if store.is_of(plan):
        return
    stored, folder = store.run, store.folder
    others = [name for name in _differences(stored, plan) if name not in {"benchmark", "questions"}]
    same_source = (stored.benchmark.name, stored.benchmark.options) == (run.benchmark.name, run.benchmark.options)
    if not same_source or stored.limit != run.limit or others or _design(stored) != _design(run):
        raise _another_run(folder, _differences(stored, plan))
    most = max((len(question.choices) for question in store.questions()), default=1) or 1
    if min(plan.options.rotations, most) != stored.n_rotations:
        raise _another_run(folder, ["orders of the choices"])
    known = {content_of(request) for request in store.requests()}
    if not any(content_of(request) in known for request in plan.requests):
        raise _another_run(folder, ["pictures or questions"])


def _another_run(folder: Path, differences: Sequence[str]) -> StoreError:
    return StoreError(
        f"{folder} holds another run, with other {', '.join(differences) or 'pictures or questions'}",
        hint="give another folder with --out: answers to different questions are never mixed",
    )


def _design(run: Run) -> str | None:
    return None if run.matching is None else run.matching.design


def _differences(run: Run, plan: Plan) -> list[str]:
    """Name the settings in which a stored run differs from a plan."""
    pairs: dict[str, tuple[object, object]] = {
        "benchmark": (run.benchmark, plan.benchmark),
        "views": (run.views, plan.views),
        "prompt": (run.prompt_id, plan.prompt_id),
        "model": (run.model, plan.model),
        "sampling": (run.sampling, plan.sampling),
        "decode policy": (run.decode, plan.options.decode),
        "geometry policy": (run.geometry_policy, msgspec.to_builtins(plan.options.geometry_policy)),
        "resampler": (run.resampler, plan.options.resampler),
        "transport": (run.transport, plan.options.transport),
        "questions": (run.n_questions, len(plan.questions)),
        "repeats": (run.n_repeats, plan.options.repeats),
        "orders of the choices": (run.n_rotations > 1, plan.options.rotations > 1),
        "seed": (run.seeds.get("limit"), plan.options.seed),
    }
    return [name for name, (stored, planned) in pairs.items() if stored != planned]


def check_ours(folder: Path) -> None:
    """Refuse a folder with files that no run has written.

    Raises:
        StoreError: If there are such, or it is a file.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise StoreError(f"{folder} is a file", hint="give --out the path of a folder")
    foreign = [
        path.name
        for path in folder.iterdir()
        if path.name not in PLANNED_FILES and not path.name.startswith(tuple(f".{name}." for name in _temporary()))
    ]
    if foreign and not (folder / RUN_FILE).is_file():
        raise StoreError(
            f"{folder} is not a run folder and holds other files, among them {min(foreign)}",
            hint="give --out a new or empty folder",
        )


def _temporary() -> tuple[str, ...]:
    return (*PLANNED_FILES, RUN_FILE)
