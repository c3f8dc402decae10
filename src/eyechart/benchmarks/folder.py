"""Your own questions: a JSONL, JSON, CSV or parquet file beside your pictures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from eyechart.benchmarks._answers import AnswerForm
from eyechart.benchmarks._boxes import BoxFormat, GivenBox, check_convention, crosses_border, to_xyxy
from eyechart.benchmarks._rows import Columns, Draft, Pictures, RowRules, draft_of
from eyechart.benchmarks._tables import find_question_file, read_rows
from eyechart.benchmarks._unread import refuse_if_none_can_be_read
from eyechart.errors import BenchmarkError, UsageError
from eyechart.geometry import clip
from eyechart.images.hash import file_sha256
from eyechart.schema import BenchmarkIdentity, ImageRef, Question, TargetPolicy, content_sha256

__all__ = ["FolderKind"]

# Where the bytes lie is no part of which questions are asked.
_PATH_OPTIONS = frozenset({"file", "image_root"})
_EXAMPLE = "say which one, for example --option file=mine.csv"


class FolderOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a question file is to be read.

    Args:
        box_format: Convention of the boxes; it has no default, because a wrong guess looks right on many pictures.
        file: Name of the question file inside the folder; needed only if there are several.
        image_root: Folder that image paths count from, relative to the question file or absolute.
        choices_separator: What separates the choices in a text cell that is no JSON list.
        answer_form: Whether answers are letters, texts of a choice, or either.
        target_policy: Where a row has several boxes, views are built on their union or on the first.
        id_column: Column of the question id; rows are numbered if it is missing.
        image_column: Column of the picture's path.
        question_column: Column of the question's text.
        choices_column: Column of the options; without it, columns ``A``, ``B``, … are used.
        answer_column: Column of the right answer. A question without choices may have a column ``answers`` too: what
            is accepted, as a list, or as text with "|" between.
        box_column: Column of the target box or boxes.
        group_column: Column that says which questions share a picture; default the picture's content hash.
        task_column: Column of the task.
        source_column: Column of the source.
    """

    box_format: BoxFormat | None = None
    file: str | None = None
    image_root: str | None = None
    choices_separator: str = "|"
    answer_form: AnswerForm = "either"
    target_policy: TargetPolicy = "union"
    id_column: str = "id"
    image_column: str = "image"
    question_column: str = "question"
    choices_column: str = "choices"
    answer_column: str = "answer"
    box_column: str = "box"
    group_column: str = "image_group"
    task_column: str = "task"
    source_column: str = "source"

    @property
    def row_rules(self) -> RowRules:
        """How cells are read."""
        columns = Columns(
            id=self.id_column,
            image=self.image_column,
            question=self.question_column,
            choices=self.choices_column,
            answer=self.answer_column,
            box=self.box_column,
            image_group=self.group_column,
            task=self.task_column,
            source=self.source_column,
        )
        return RowRules(columns, self.choices_separator, self.answer_form)


class FolderBenchmark:
    """Questions of one file, all checked when it was opened.

    ``warnings`` holds what the user should look at, such as boxes that fit another convention better.
    """

    identity: BenchmarkIdentity
    warnings: tuple[str, ...]

    def __init__(self, file: Path, options: FolderOptions) -> None:
        pictures = Pictures(file.parent / (options.image_root or "."))
        drafts = [
            draft_of(row, f"{number:06d}", options.row_rules, pictures)
            for number, row in enumerate(read_rows(file), start=1)
        ]
        if not drafts:
            raise BenchmarkError(f"{file} holds no question", hint="write one row per question")
        _check_ids(drafts)
        refuse_if_none_can_be_read([(draft.place, draft.image) for draft in drafts])
        self.warnings = (*_check_boxes(drafts, options), *pictures.warnings())
        self._questions = tuple(_question(draft, options) for draft in drafts)
        self._paths = {draft.image.file_sha256: draft.image_path for draft in drafts if draft.image.file_sha256}
        stored: dict[str, object] = msgspec.to_builtins(options)
        self.identity = BenchmarkIdentity(
            name="folder",
            revision=content_sha256([file_sha256(file)[0], sorted(self._paths)]),
            options={name: value for name, value in stored.items() if name not in _PATH_OPTIONS},
        )

    def questions(self) -> Iterator[Question]:
        """Yield every question, in the order of the file."""
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie.

        Raises:
            BenchmarkError: If no question of this benchmark shows it.
        """
        path = self._paths.get(image.file_sha256)
        if path is None:
            raise BenchmarkError(
                f"no question shows a picture with SHA-256 {image.file_sha256[:12]}…",
                hint="was the folder changed since the run was planned?",
            )
        return path

    def released_views(self) -> tuple[str, ...]:
        """Return no view: all are made here."""
        return ()

    def released_image(self, question: Question, view_id: str) -> None:
        """Return None: all views are made here."""


class FolderKind:
    """Your own questions about your own pictures: JSONL, JSON, CSV or parquet."""

    options = FolderOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> FolderBenchmark:
        """Return the benchmark of a question file, or of a folder that holds one.

        Raises:
            UsageError: If no data is given, or a folder holds several question files.
            BenchmarkError: If a row breaks the contract; the message names file and line.
            MissingDependencyError: If the file is parquet and pyarrow is not installed.
        """
        if not isinstance(options, FolderOptions):
            raise UsageError(f"{type(options).__name__} are no options of folder", hint="pass FolderOptions")
        if data is None:
            raise UsageError("folder needs data", hint="--data questions.jsonl, or the folder that holds it")
        return FolderBenchmark(find_question_file(data, options.file, _EXAMPLE), options)


def _check_ids(drafts: Sequence[Draft]) -> None:
    first: dict[str, str] = {}
    for draft in drafts:
        if draft.id in first:
            raise BenchmarkError(
                f"{draft.place}: id {draft.id!r} is also that of {first[draft.id]}",
                hint="give each question its own id",
            )
        first[draft.id] = draft.place


def _check_boxes(drafts: Sequence[Draft], options: FolderOptions) -> tuple[str, ...]:
    boxes = [GivenBox(quad, draft.image.size, draft.place) for draft in drafts for quad in draft.quads]
    if not boxes and options.box_format is None:
        return ()
    if not boxes:
        others = sorted({name for draft in drafts for name in draft.extra if "box" in name.casefold()})
        raise BenchmarkError(
            f"box_format={options.box_format} is declared, but no row has a box in column {options.box_column!r}",
            hint=f"--option box_column={others[0]}" if others else "name the column with --option box_column=NAME",
        )
    if options.box_format is None:
        raise BenchmarkError(
            f"{boxes[0].place}: there are boxes, but their format is not declared",
            hint="--option box_format=xyxy, xywh (pixels), unit or unit_xywh (0–1)",
        )
    return check_convention(boxes, options.box_format)


def _question(draft: Draft, options: FolderOptions) -> Question:
    convention: BoxFormat = options.box_format or "xyxy"
    size = draft.image.size
    targets = tuple(to_xyxy(quad, convention, size) for quad in draft.quads if size.n_px)
    across = any(crosses_border(target, size) for target in targets)
    return Question(
        id=draft.id,
        benchmark="folder",
        text=draft.text,
        image=draft.image,
        image_group=draft.image_group or draft.image.file_sha256 or draft.id,
        choices=draft.choices,
        answer=draft.answer,
        answers=draft.answers,
        targets=targets,
        targets_clipped=tuple(clip(target, size) for target in targets),
        target_policy=options.target_policy,
        task=draft.task,
        source=draft.source,
        notes=(*draft.notes, *(("target crosses the border",) if across else ())),
        extra=draft.extra,
    )
