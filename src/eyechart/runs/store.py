"""The folder of one run: what was planned, written once, and what came back, appended."""

from collections.abc import Iterable, Iterator
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
from eyechart.runs.plan import Plan
from eyechart.schema import (
    AnyRecord,
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

RUN_FILE = "run.json"
ESTIMATES_FILE = "estimates.json"
# What may lie in a folder whose creation was cut off before run.json, its last file, was written.
_PLANNED_FILES = ("questions.jsonl", "views.jsonl", "requests.jsonl", "seen.jsonl")


class RunStore:
    """Reads and extends a run folder.

    ``run.json``, ``questions``, ``views``, ``requests`` and ``seen.jsonl`` (what the model is expected to see) are
    written once. Each process appends to its own ``responses/<writer>.jsonl`` and ``seen/<writer>.jsonl`` (what the
    model executed or reported). ``scores/`` and ``estimates.json`` follow from these and can be made anew.

    Args:
        folder: An existing run folder.

    Raises:
        StoreError: If ``folder`` holds no run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / RUN_FILE).is_file():
            raise StoreError(f"{folder} holds no run: there is no {RUN_FILE}", hint="give a folder made by `run`")

    @property
    def run(self) -> Run:
        """The settings of the run."""
        return _only(self.folder / RUN_FILE, Run)

    def questions(self) -> Iterator[Question]:
        """Yield the questions of the run."""
        return read_records(self.folder / "questions.jsonl", Question)

    def views(self) -> Iterator[ViewImage]:
        """Yield every planned view image; what a release lacks is noted ``missing_in_release``."""
        return read_records(self.folder / "views.jsonl", ViewImage)

    def requests(self) -> Iterator[Request]:
        """Yield every request in the order of asking."""
        return read_records(self.folder / "requests.jsonl", Request)

    def index(self) -> AnswerIndex:
        """Return which stored answer counts for each request."""
        return index_answers(self._writer_files("responses"))

    def responses(self, index: AnswerIndex | None = None) -> Iterator[Response]:
        """Yield the one response that counts for each request that has any, in file order."""
        return read_answers(self._writer_files("responses"), index or self.index())

    def open_errors(self, start: str) -> Iterator[Response]:
        """Yield every error that becomes final when this start has ended well, in file order."""
        return read_open_errors(self._writer_files("responses"), start)

    def contradicted(self, index: AnswerIndex) -> frozenset[str]:
        """Return the requests with several answers of different text; reads nothing where none was answered twice."""
        return contradicted_ids(self._writer_files("responses")) if index.n_duplicates else frozenset()

    def seen(self) -> Iterator[Seen]:
        """Yield what was expected to be seen, then what was observed, writers in the order of their names.

        A request asked twice has two observations; the first is of the answer that counts unless that was stale.
        """
        planned = self.folder / "seen.jsonl"
        if planned.is_file():
            yield from read_records(planned, Seen)
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
        return read_records(path, Score)

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
        """Whether a file that follows from the answers is there and no answer was written after it."""
        try:
            written = path.stat().st_mtime_ns
            return all(answers.stat().st_mtime_ns <= written for answers in self._writer_files("responses"))
        except OSError:
            return False

    def summary(self) -> Summary:
        """Return the stored estimates.

        Raises:
            StoreError: If there are none yet, or the file is empty.
        """
        path = self.folder / ESTIMATES_FILE
        if not path.is_file():
            raise StoreError(f"{self.folder} has no estimates", hint=f"eyechart score {self.folder}")
        return _only(path, Summary)

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
    _check_ours(folder)
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
    run = store.run
    if run.plan_id != plan.plan_id:
        raise StoreError(
            f"{folder} holds another run, with other {_difference(run, plan)}",
            hint="give another folder with --out: answers to different questions are never mixed",
        )
    return store


def _difference(run: Run, plan: Plan) -> str:
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
    different = [name for name, (stored, planned) in pairs.items() if stored != planned]
    return ", ".join(different) or "pictures or questions"


def _check_ours(folder: Path) -> None:
    """Refuse a folder with files that no run has written."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise StoreError(f"{folder} is a file", hint="give --out the path of a folder")
    foreign = [
        path.name
        for path in folder.iterdir()
        if path.name not in _PLANNED_FILES and not path.name.startswith(tuple(f".{name}." for name in _temporary()))
    ]
    if foreign and not (folder / RUN_FILE).is_file():
        raise StoreError(
            f"{folder} is no run folder and holds other files, among them {min(foreign)}",
            hint="give --out a new or empty folder",
        )


def _temporary() -> tuple[str, ...]:
    return (*_PLANNED_FILES, RUN_FILE)
