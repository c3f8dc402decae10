"""Several benchmarks, or the selected part of them, as one: what a new collection is built from."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from eyechart.benchmarks._release import ID_DIGITS, as_id
from eyechart.errors import BenchmarkError, UsageError
from eyechart.kinds import Benchmark
from eyechart.opening import open_benchmark
from eyechart.releases.source_terms import source_name
from eyechart.schema import NOT_JSON, BenchmarkIdentity, ImageRef, JsonObject, Question, content_sha256
from eyechart.settings import read_settings, read_toml


class SourceRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One source of a collection.

    Args:
        benchmark: Registered name.
        name: Name in ``source_dataset``; what the benchmark says if None.
        data: What it reads, relative to the recipe.
        options: Its options.
        boxes: File of target boxes for a source that publishes none, relative to the recipe.
        select: File with the ids to take, in this order, relative to the recipe; all if None.
        task: Task of its questions that have none; refused where all of them have one.
        task_field: Foreign field that says a question's task better than the source's own task does.
        task_map: Task by question, over all of these: a table of the source's ids, or a file with one, relative to the
            recipe (a JSON object, or one id and task a line, with a comma or tab between them).
        notice: Text file with the terms of this source, relative to the recipe.
    """

    benchmark: str
    name: str | None = None
    data: str | None = None
    options: dict[str, object] = msgspec.field(default_factory=dict)
    boxes: str | None = None
    select: str | None = None
    task: str | None = None
    task_field: str | None = None
    task_map: dict[str, str] | str | None = None
    notice: str | None = None

    def all_options(self, folder: Path) -> dict[str, object]:
        """Return the options with the boxes among them, as a path that holds wherever the command runs.

        Raises:
            UsageError: If the boxes are named twice.
        """
        if self.boxes and "boxes" in self.options:
            raise UsageError(
                f"source {self.name or self.benchmark} names boxes twice", hint="keep boxes or options.boxes, not both"
            )
        boxes = {"boxes": str((folder / self.boxes).absolute())} if self.boxes else {}
        return {**self.options, **boxes}


class CollectionRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A collection: its sources and what it calls things.

    Args:
        sources: Where the questions come from, in order.
        title: Title of the cards.
        repository: ``OWNER/NAME`` on the Hugging Face hub, for the cards and the upload commands.
        mirror: The same on ModelScope.
        first_id: Number of the first question; ids are six digits.
        tasks: New task name by old one; several old ones may become one.
        date_published: Day of publication, for ``croissant.json``.
    """

    sources: list[SourceRecipe] = msgspec.field(default_factory=list)
    title: str = "Controlled views"
    repository: str | None = None
    mirror: str | None = None
    first_id: int = 0
    tasks: dict[str, str] = msgspec.field(default_factory=dict)
    date_published: str | None = None


class Part(NamedTuple):
    """A benchmark and what is taken of it: ids in order (all if None), and names for what it leaves open."""

    benchmark: Benchmark
    ids: tuple[str, ...] | None = None
    name: str | None = None
    task: str | None = None
    task_field: str | None = None
    task_map: Mapping[str, str] | None = None


class CollectionBenchmark:
    """The chosen questions of one or more benchmarks in one order.

    With ``first_id`` questions are numbered anew, and their own ids stand in ``extra["source_question_id"]``.
    """

    identity: BenchmarkIdentity

    def __init__(self, parts: Sequence[Part], first_id: int | None) -> None:
        self.warnings = tuple(text for part in parts for text in getattr(part.benchmark, "warnings", ()))
        self.readings = tuple(text for part in parts for text in getattr(part.benchmark, "readings", ()))
        self.source_names: list[tuple[str, ...]] = []
        self._owner: dict[str, Benchmark] = {}
        chosen: list[Question] = []
        for part in parts:
            named = _named(tuple(_select(part)), part)
            self.source_names.append(tuple(dict.fromkeys(map(source_name, named))))
            for question in named:
                self._owner.setdefault(question.image.file_sha256, part.benchmark)
                chosen.append(question)
        if first_id is not None:
            chosen = [_numbered(question, f"{first_id + n:0{ID_DIGITS}d}") for n, question in enumerate(chosen)]
        self._questions = tuple(chosen)
        _check_unique(self._questions)
        identities = [
            [part.benchmark.identity, part.ids, part.name, part.task, part.task_field]
            + ([] if part.task_map is None else [dict(part.task_map)])
            for part in parts
        ]
        name = "collection" if len(parts) > 1 else parts[0].benchmark.identity.name
        self.identity = BenchmarkIdentity(
            name=name, revision=content_sha256([identities, first_id]), options={"sources": [*map(_told, parts)]}
        )

    def questions(self) -> Iterator[Question]:
        """Yield the chosen questions, source by source."""
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie.

        Raises:
            BenchmarkError: If no chosen question shows it.
        """
        owner = self._owner.get(image.file_sha256)
        if owner is None:
            raise BenchmarkError(
                f"no question shows a picture with SHA-256 {image.file_sha256[:12]}…", hint="was the data changed?"
            )
        return owner.image_path(image)

    def released_views(self) -> tuple[str, ...]:
        """Return no view: all are made here."""
        return ()

    def released_image(self, question: Question, view_id: str) -> None:
        """Return None: all views are made here."""


def _told(part: Part) -> JsonObject:
    """Return what a release records of a source: its revision, options (a seed among them) and how much was taken."""
    identity = part.benchmark.identity
    return {
        "name": part.name,
        "benchmark": identity.name,
        "revision": identity.revision,
        "options": identity.options,
        "n_selected": None if part.ids is None else len(part.ids),
    }


def read_recipe(path: Path) -> CollectionRecipe:
    """Read a recipe (TOML).

    Raises:
        UsageError: If it cannot be read, names an unknown setting, has no source, or counts from below 0.
    """
    content = read_toml(path)
    sources = content.get("sources")
    for number, source in enumerate(sources if isinstance(sources, list) else [], start=1):
        read_settings(SourceRecipe, source if isinstance(source, dict) else {}, f"source {number} in {path}")
    recipe = read_settings(CollectionRecipe, content, str(path))
    if not recipe.sources:
        raise UsageError(f"{path} names no source", hint='add [[sources]] with benchmark = "folder" and data = "…"')
    if recipe.first_id < 0:
        raise UsageError(f"{path}: first_id {recipe.first_id} is below 0", hint="give first_id a number from 0")
    return recipe


def open_collection(recipe: CollectionRecipe, folder: Path) -> CollectionBenchmark:
    """Open all sources of a recipe.

    Args:
        recipe: The recipe.
        folder: What its paths count from.

    Raises:
        UsageError: If a benchmark or option is unknown, a selection cannot be read, or a key of a source says nothing
            about any of its questions.
        BenchmarkError: If a source's data breaks its contract, or a selected id does not exist.
    """
    parts = [
        Part(
            benchmark=open_benchmark(
                source.benchmark, folder / source.data if source.data else None, source.all_options(folder)
            ),
            ids=read_ids(folder / source.select) if source.select else None,
            name=source.name,
            task=source.task,
            task_field=source.task_field,
            task_map=_read_task_map(source.task_map, folder),
        )
        for source in recipe.sources
    ]
    return CollectionBenchmark(parts, recipe.first_id)


def read_notices(recipe: CollectionRecipe, folder: Path, collection: CollectionBenchmark) -> dict[str, str]:
    """Return the terms that a recipe gives, by the name under which notices and counts show each source.

    Several texts about one name stand below each other.

    Raises:
        UsageError: If a file cannot be read.
    """
    found: dict[str, dict[str, None]] = {}
    for source, names in zip(recipe.sources, collection.source_names, strict=True):
        if source.notice:
            text = _read_text(folder / source.notice)
            for name in names:
                found.setdefault(name, {})[text.strip()] = None
    return {name: "\n\n".join(texts) for name, texts in found.items()}


def read_ids(path: Path) -> tuple[str, ...]:
    """Read a selection: one id a line (``#`` starts a comment), or a JSON list of ids.

    Raises:
        UsageError: If the file cannot be read, holds no id, or one stands twice.
    """
    text = _read_text(path)
    if path.suffix.lower() == ".json":
        try:
            content = json.loads(text)
        except ValueError as error:
            raise UsageError(f"{path} is not JSON ({error})", hint='write ["id", …]') from error
        ids = [as_id(entry) for entry in content] if isinstance(content, list) else []
    else:
        ids = [line.partition("#")[0].strip() or None for line in text.splitlines()]
    named = [question_id for question_id in ids if question_id is not None]
    twice = next((question_id for question_id in named if named.count(question_id) > 1), None)
    if twice is not None:
        raise UsageError(f"{path}: id {twice!r} stands twice", hint="name each question once")
    if not named:
        raise UsageError(f"{path} names no id", hint="one id a line, or a JSON list")
    return tuple(named)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from error


def _select(part: Part) -> Iterator[Question]:
    if part.ids is None:
        yield from part.benchmark.questions()
        return
    known = {question.id: question for question in part.benchmark.questions()}
    missing = [name for name in part.ids if _find(known, name) is None]
    if missing:
        raise BenchmarkError(
            f"{len(missing)} selected ids are not questions of {part.benchmark.identity.name}: "
            f"{', '.join(missing[:5])}{', …' if len(missing) > 5 else ''}",  # noqa: PLR2004 -- enough to see which
            hint=f"its ids look like {next(iter(known), 'none')!r}",
        )
    for name in part.ids:
        question = _find(known, name)
        if question is not None:
            yield question


def _find(known: Mapping[str, Question], name: str) -> Question | None:
    return known.get(name) or (known.get(name.zfill(ID_DIGITS)) if name.isdecimal() else None)


def _named(questions: Sequence[Question], part: Part) -> tuple[Question, ...]:
    """Return the questions of a part under its names and tasks.

    Raises:
        UsageError: If what the part says about tasks concerns none of its questions.
    """
    named = []
    used: set[str] = set()
    for question in questions:
        extra = dict(question.extra)
        extra.setdefault("source_image_id", part.benchmark.image_path(question.image).name)
        said = question.extra.get(part.task_field) if part.task_field else None
        mapped = None if part.task_map is None else part.task_map.get(question.id)
        choices = (("task_map", mapped), ("task_field", said), (None, question.task), ("task", part.task))
        key, task = next(((key, text) for key, text in choices if isinstance(text, str) and text), (None, None))
        used |= {key} if key else set()
        named.append(msgspec.structs.replace(question, source=part.name or question.source, task=task, extra=extra))
    _check_used(questions, part, used)
    return tuple(named)


def _check_used(questions: Sequence[Question], part: Part, used: Collection[str]) -> None:
    where = f"source {part.name or part.benchmark.identity.name}"
    own = ", ".join(dict.fromkeys(str(question.task) for question in questions if question.task))
    if part.task is not None and "task" not in used and questions:
        raise UsageError(
            f"{where}: task = {part.task!r} names the task of no question: all of them have one"
            + (f" ({own})" if own else ""),
            hint="rename them under [tasks], name single questions in task_map, or leave task out",
        )
    if part.task_field is not None and not any(question.extra.get(part.task_field) for question in questions):
        fields = ", ".join(dict.fromkeys(name for question in questions for name in question.extra)) or "none"
        raise UsageError(
            f"{where}: no question has a field {part.task_field!r} for task_field", hint=f"its fields are {fields}"
        )
    if part.task_map is not None:
        known = {question.id for question in part.benchmark.questions()}
        unknown = [name for name in part.task_map if name not in known]
        if unknown or not part.task_map:
            raise UsageError(
                f"{where}: task_map names {f'no question {unknown[0]!r} of it' if unknown else 'no question'}",
                hint=f"its ids look like {next(iter(sorted(known)), 'none')!r}",
            )


def _read_task_map(given: Mapping[str, str] | str | None, folder: Path) -> Mapping[str, str] | None:
    """Return the tasks by question id of a recipe's table, or of the file that it names."""
    if not isinstance(given, str):
        return given
    path = folder / given
    text = _read_text(path)
    if path.suffix.lower() == ".json":
        try:
            return msgspec.json.decode(text, type=dict[str, str])
        except NOT_JSON as error:
            raise UsageError(f"{path} is not a table of tasks ({error})", hint='write {"id": "task", …}') from error
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        question_id, separator, task = line.partition("\t" if "\t" in line else ",")
        question_id, task = question_id.strip(), task.strip()
        if not separator or not question_id or not task or question_id in found:
            what = "names this id a second time" if question_id in found else "is not an id and a task"
            raise UsageError(f"{path}, line {number}: {line.strip()!r} {what}", hint="one id and task a line: 17,OCR")
        found[question_id] = task
    return found


def _numbered(question: Question, question_id: str) -> Question:
    extra = {"source_question_id": question.id, **question.extra}
    return msgspec.structs.replace(question, id=question_id, extra=extra)


def _check_unique(questions: Sequence[Question]) -> None:
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise BenchmarkError(f"two sources have a question {question.id!r}", hint="number them with first_id")
        seen.add(question.id)
