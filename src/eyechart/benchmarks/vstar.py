"""V*Bench: a folder of pictures with one JSON file each, or its list of questions, options shuffled by a seed."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from eyechart.benchmarks._answers import letter_of
from eyechart.benchmarks._boxes import BoxFormat, GivenBox, Quad, check_convention, parse_quads
from eyechart.benchmarks._cells import text_of
from eyechart.benchmarks._given_boxes import with_targets
from eyechart.benchmarks._listed_options import take_apart
from eyechart.benchmarks._options import equal_up_to_case, keeps_its_order
from eyechart.benchmarks._rows import Pictures
from eyechart.benchmarks._source import SourceBenchmark, add_boxes, recorded
from eyechart.benchmarks._tables import decode_json, read_rows
from eyechart.benchmarks._unread import absence_of
from eyechart.errors import BenchmarkError, UsageError
from eyechart.schema import BenchmarkIdentity, ImageRef, Question, TargetPolicy, content_sha256

__all__ = ["VStarKind"]

QUESTIONS_NAME = "test_questions.jsonl"

Order = Literal["shuffled", "published"]
Category = Literal["direct_attributes", "relative_position", "all"]

_PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
# "What is the material of the glove?": the attribute decides which of SUM's tasks a question belongs to.
_ATTRIBUTE = re.compile(r"^\s*What is the (\w+(?: \w+)?) of\b", re.IGNORECASE)
_BOX_FORMAT: BoxFormat = "xywh"


class VStarOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which questions, and in which order their options are shown.

    Args:
        category: ``direct_attributes`` (115 questions), ``relative_position`` (76), or all.
        order: ``shuffled`` turns the source's options, of which the first is always right, by ``seed``; ``published``
            takes the letters of ``test_questions.jsonl``.
        seed: Of the shuffle; recorded. A question keeps its order whichever others are asked.
        target_policy: Where a question has several boxes, views are built on their union or on the first.
        boxes: File with other target boxes, for the list of questions without its JSON files.
        box_format: Convention of those boxes; the source's own are xywh.
    """

    category: Category = "all"
    order: Order = "shuffled"
    seed: int = 0
    target_policy: TargetPolicy = "union"
    boxes: str | None = None
    box_format: BoxFormat = "xyxy"


class _Annotation(NamedTuple):
    """What the JSON file beside a picture says."""

    place: str
    question: str
    options: tuple[str, ...]
    quads: tuple[Quad, ...]
    target_objects: tuple[str, ...]


class _Draft(NamedTuple):
    """A question as its file has it: ``right`` is a letter of ``options`` in the file's own order."""

    id: str
    category: str
    stem: str
    options: tuple[str, ...]
    right: str | None
    path: Path
    image: ImageRef
    annotation: _Annotation | None
    text_raw: str | None = None


class VStarKind:
    """The benchmark ``vstar``."""

    options = VStarOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> SourceBenchmark:
        """Return the benchmark of V*'s folder, or of its ``test_questions.jsonl``.

        Raises:
            UsageError: If no data is given, or ``order=published`` is asked of a folder without list.
            BenchmarkError: If an annotation breaks the contract; the message names its file.
        """
        if not isinstance(options, VStarOptions):
            raise UsageError(f"{type(options).__name__} are not the options of vstar", hint="pass VStarOptions")
        if data is None or not data.exists():
            raise UsageError(f"vstar needs data, not {data}", hint="eyechart fetch vstar, then --data vstar")
        reader = _Reader(data.parent if data.is_file() else data, options)
        drafts = tuple(reader.from_list(data) if data.is_file() else reader.from_folder())
        chosen = tuple(question for question in drafts if options.category in {"all", question.task})
        revision = content_sha256(
            [[question.image.file_sha256, question.text, question.choices] for question in chosen]
        )
        questions, warnings, revision = add_boxes(chosen, options.boxes, options.box_format, revision)
        identity = BenchmarkIdentity(
            name="vstar", revision=revision, options=recorded(msgspec.to_builtins(options), ("boxes",))
        )
        return SourceBenchmark(identity, questions, reader.path_of, (*reader.warnings, *warnings))


class _Reader:
    """Reads annotations under one folder."""

    def __init__(self, root: Path, options: VStarOptions) -> None:
        self._root, self._options = root, options
        self._pictures = Pictures(root)
        self._paths: dict[str, Path] = {}
        self._given: list[GivenBox] = []

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the pictures and the convention of the boxes warn of."""
        return (*check_convention(self._given, _BOX_FORMAT), *self._pictures.warnings())

    def path_of(self, image: ImageRef) -> Path:
        """Return where a picture lies."""
        return self._paths[image.file_sha256]

    def from_folder(self) -> Iterator[Question]:
        """Yield the questions of the folder: those of its list in the published order, else of its JSON files."""
        listed = self._root / QUESTIONS_NAME
        if self._options.order == "published":
            if not listed.is_file():
                raise UsageError(
                    f"{self._root} has no {QUESTIONS_NAME}, whose letters are the published order",
                    hint="fetch it, or use order=shuffled",
                )
            yield from self.from_list(listed)
            return
        found = sorted(path for path in self._root.rglob("*") if path.suffix.lower() in _PICTURE_SUFFIXES)
        annotated = [path for path in found if path.with_suffix(".json").is_file()]
        if not annotated and listed.is_file():
            yield from self.from_list(listed)
        elif not annotated:
            raise BenchmarkError(
                f"{self._root} holds neither pictures with a JSON file each nor {QUESTIONS_NAME}",
                hint="eyechart fetch vstar",
            )
        for path in annotated:
            yield self._of_annotation(path)

    def from_list(self, listed: Path) -> Iterator[Question]:
        """Yield the questions of ``test_questions.jsonl``, with the letters that it gives.

        With ``order=shuffled`` the options of its text are turned by the seed, whatever letters they had.
        """
        for number, row in enumerate(read_rows(listed), start=1):
            name = _text(row.values, ("image", "image_path", "file_name"), row.place)
            text = _text(row.values, ("text", "question"), row.place)
            taken = take_apart(text)
            if not taken.options:
                raise BenchmarkError(f"{row.place}: no options (A), (B), … in {text[:60]!r}", hint="is this V*'s list?")
            path, image = self._pictures.find(name, row.place)
            self._paths[image.file_sha256] = path
            annotation = self._annotation(path, image)
            label = letter_of(row.values.get("label", row.values.get("answer")), taken.options, "either", row.place)
            own_id = row.values.get("question_id")
            yield self._question(
                _Draft(
                    id=str(own_id) if own_id is not None else f"{number - 1}",
                    category=str(row.values.get("category") or path.parent.name),
                    stem=taken.stem,
                    options=taken.options,
                    right=label,
                    path=path,
                    image=image,
                    annotation=annotation,
                    text_raw=text,
                )
            )

    def _of_annotation(self, path: Path) -> Question:
        place = str(path.with_suffix(".json"))
        _, image = self._pictures.find(str(path.relative_to(self._root)), place)
        self._paths[image.file_sha256] = path
        annotation = self._annotation(path, image)
        if annotation is None or not annotation.options:
            raise BenchmarkError(f"{place}: no options", hint="the first of the options is the right one")
        category = path.parent.name
        return self._question(
            _Draft(
                id=f"{category}-{path.stem}",
                category=category,
                stem=annotation.question,
                options=annotation.options,
                right="A",
                path=path,
                image=image,
                annotation=annotation,
            )
        )

    def _annotation(self, path: Path, image: ImageRef) -> _Annotation | None:
        # By suffix: the official loader cuts at the first dot of the whole path and fails on folders with a dot.
        beside = path.with_suffix(".json")
        if absence_of(beside, beside.name):
            return None
        place = str(beside)
        values = decode_json(beside.read_bytes(), place)
        if not isinstance(values, dict):
            raise BenchmarkError(f"{place}: no JSON object", hint="restore the file")
        options, objects = values.get("options"), values.get("target_object")
        quads = parse_quads(values.get("bbox"), place)
        given = [GivenBox(quad, image.size, place) for quad in quads]
        check_convention(given, _BOX_FORMAT)
        self._given += given
        return _Annotation(
            place=place,
            question=_text(values, ("question",), place),
            options=tuple(_option(option, place) for option in options) if isinstance(options, list) else (),
            quads=quads,
            target_objects=tuple(map(str, objects)) if isinstance(objects, list) else (),
        )

    def _question(self, draft: _Draft) -> Question:
        choices, answer, raw = draft.options, draft.right, draft.text_raw
        if self._options.order == "shuffled" and not keeps_its_order(choices):
            key = f"{draft.category}/{draft.path.stem}/{draft.stem}"
            order = shuffled_order(len(choices), key, self._options.seed)
            choices = tuple(draft.options[index] for index in order)
            answer = None if answer is None else ascii_uppercase[order.index(ascii_uppercase.index(answer))]
            raw = None  # it lists the options in the other order
        attribute = _ATTRIBUTE.match(draft.stem)
        objects = draft.annotation.target_objects if draft.annotation else ()
        twins = equal_up_to_case(choices)
        extra: dict[str, object] = {
            "source_question_id": draft.id,
            "source_image_id": f"{draft.category}/{draft.path.name}",
            "target_objects": ", ".join(objects) or None,
            "attribute": attribute[1].lower() if attribute else None,
        }
        question = Question(
            id=draft.id,
            benchmark="vstar",
            text=draft.stem,
            text_raw=raw,
            image=draft.image,
            image_group=draft.image.file_sha256 or draft.id,
            choices=choices,
            answer=answer,
            target_policy=self._options.target_policy,
            task=draft.category,
            source="VStarBench",
            notes=(f"choices equal up to case: {', '.join(twins)}",) if twins else (),
            extra={name: value for name, value in extra.items() if value is not None},
        )
        return with_targets(question, draft.annotation.quads if draft.annotation else (), _BOX_FORMAT)


def shuffled_order(n_options: int, key: str, seed: int) -> tuple[int, ...]:
    """Return a permutation that depends on a question and the seed alone: place → index of the option shown there.

    Args:
        n_options: At least 1.
        key: What names the question.
        seed: Recorded with the run.

    Example:
        >>> sorted(shuffled_order(4, "direct_attributes/sa_4690/What is the material of the glove?", 0))
        [0, 1, 2, 3]
    """
    digest = hashlib.sha256(f"{seed}\0{key}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:16], "big"))
    return tuple(int(index) for index in rng.permutation(n_options))


def _option(cell: object, place: str) -> str:
    text = cell if isinstance(cell, str) else text_of(cell, "an option", place)
    if not text.strip():
        raise BenchmarkError(f"{place}: an option is empty", hint="restore the file: the first option is the right one")
    return text


def _text(values: Mapping[str, object], names: Sequence[str], place: str) -> str:
    for name in names:
        value = values.get(name)
        if isinstance(value, str) and value.strip():
            return value
    raise BenchmarkError(
        f"{place}: no {' or '.join(names)} (it has {', '.join(values) or 'nothing'})", hint="is this V*?"
    )
