"""How the plan of a run grows: later plans beside the first one, each written once and chained to the one before."""

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from eyechart.errors import StoreError
from eyechart.runs.files import read_records, write_records, write_whole
from eyechart.runs.plan import Plan
from eyechart.schema import LaterPlan, Question, Record, Request, Seen, encode_record, request_id

PLANS = "plans"
RUN_FILE = "run.json"
PLANNED_FILES = ("questions.jsonl", "views.jsonl", "requests.jsonl", "seen.jsonl")
_FIRST_LATER = 2
_NAME_LETTERS = 16


def read_chain(folder: Path) -> tuple[LaterPlan, ...]:
    """Return the plans that followed the first one of a run, in order; most runs have none.

    Raises:
        StoreError: If one of them does not follow the one before it, or is missing between others.
    """
    links: list[LaterPlan] = []
    before = folder / RUN_FILE
    while (path := _link_path(folder, _FIRST_LATER + len(links))).is_file():
        link = next(iter(read_records(path, LaterPlan)), None)
        if link is None or link.previous_sha256 != _sha256(before):
            raise StoreError(f"{path} does not follow {before.name}", hint="restore the files of this run folder")
        links.append(link)
        before = path
    n_files = len(list((folder / PLANS).glob("[0-9][0-9][0-9][0-9].json")))
    if n_files > len(links):
        raise StoreError(f"{folder / PLANS} lacks {path.name}", hint="restore the files of this run folder")
    return tuple(links)


def planned_file(folder: Path, links: Sequence[LaterPlan], name: str) -> Path:
    """Return where a planned file of the newest of these plans lies: beside ``run.json`` if they are none."""
    return _kept_path(folder, name, links[-1].files[name]) if links else folder / name


def add_plan(folder: Path, plan: Plan, later: LaterPlan, seen: Iterable[Seen]) -> None:
    """Write a plan behind the newest one; the file that makes it the newest comes last, and the first writer's stands.

    A process killed on the way leaves files that nothing names yet, and which the next one finds as they should be.

    Args:
        folder: The run folder.
        plan: What is planned now.
        later: What is told of it; its number, and what it follows, are filled in here, and so are its files.
        seen: What the model is expected to see.

    Raises:
        StoreError: If something cannot be written.
    """
    links = read_chain(folder)
    records: tuple[Iterable[Record], ...] = (plan.questions, plan.view_images, plan.requests, tuple(seen))
    files = {name: _keep(folder, name, rows) for name, rows in zip(PLANNED_FILES, records, strict=True)}
    if links and links[-1].files == files:  # another writer was first
        return
    number = _FIRST_LATER + len(links)
    before = _link_path(folder, number - 1) if links else folder / RUN_FILE
    link = msgspec.structs.replace(later, number=number, previous_sha256=_sha256(before), files=files)
    write_whole(_link_path(folder, number), (encode_record(link), b"\n"), keep_existing=True)


class Change(msgspec.Struct, frozen=True):
    """How the questions of a plan differ from those of the plan before it, by what is asked and not by their ids."""

    n_new: int
    n_changed: int
    n_gone: int


Planned = tuple[Iterable[Question], Iterable[Request]]


def change_between(older: Planned, newer: Planned) -> Change:
    """Return how many questions are new, ask or count something else under the same id, or are gone.

    A question that only got another number, because a row before it was removed, is none of these.
    """
    old, new = _contents(*older), _contents(*newer)
    spare = Counter(old.values())
    left_new = []
    for question_id, content in new.items():
        if spare[content]:
            spare[content] -= 1
        else:
            left_new.append(question_id)
    left_old = []
    for question_id, content in reversed(old.items()):
        if spare[content]:
            spare[content] -= 1
            left_old.append(question_id)
    n_changed = len(set(left_new) & set(left_old))
    return Change(len(left_new) - n_changed, n_changed, len(left_old) - n_changed)


def content_of(request: Request) -> str:
    """Return what names a request whatever the id of its question is."""
    return request_id(msgspec.structs.replace(request, question_id=""))


def matching_contents(older: Iterable[Request], newer: Iterable[Request]) -> Iterator[tuple[Request, Request]]:
    """Yield pairs of an older and a newer request that ask the same under other ids of their questions, each once."""
    waiting: dict[str, list[Request]] = {}
    for request in newer:
        waiting.setdefault(content_of(request), []).append(request)
    for request in older if waiting else ():
        same = waiting.get(content_of(request))
        if same:
            yield request, same.pop(0)


def is_scored_alike(older: Iterable[Question], newer: Iterable[Question]) -> bool:
    """Whether questions of the same ids lead to the same tables, whatever their order."""
    return _scored_parts(older) == _scored_parts(newer)


def _scored_parts(questions: Iterable[Question]) -> dict[str, tuple[object, ...]]:
    return {one.id: (_scored_part(one), one.image_group) for one in questions}


def _scored_part(question: Question) -> tuple[object, ...]:
    """Return what answers to a question are scored and grouped by, apart from its id and the picture's."""
    return (
        question.text,
        question.image.file_sha256,
        question.choices,
        question.answer,
        question.answers,
        question.targets,
        question.targets_clipped,
        question.target_policy,
        question.task,
        question.source,
        question.asks_for_cell,
        None if (base_id := question.extra.get("base_id")) is None else str(base_id),
    )


def _contents(questions: Iterable[Question], requests: Iterable[Request]) -> dict[str, Hashable]:
    asked: dict[str, set[str]] = {}
    for request in requests:
        asked.setdefault(request.question_id, set()).add(content_of(request))
    return {one.id: (_scored_part(one), frozenset(asked.get(one.id, ()))) for one in questions}


def _keep(folder: Path, name: str, records: Iterable[Record]) -> str:
    """Write records under their own hash, so that whoever plans the same writes the same file; return the hash."""
    digest = hashlib.sha256()
    for record in records:
        digest.update(encode_record(record) + b"\n")
    path = _kept_path(folder, name, digest.hexdigest())
    if not path.is_file():
        write_records(path, records)
    return digest.hexdigest()


def _kept_path(folder: Path, name: str, sha256: str) -> Path:
    return folder / PLANS / f"{sha256[:_NAME_LETTERS]}.{name}"


def _link_path(folder: Path, number: int) -> Path:
    return folder / PLANS / f"{number:04d}.json"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
