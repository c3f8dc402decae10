"""One row of a user's question file as a draft of a question, faults named with their place."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from eyechart.benchmarks._answers import AnswerForm, accepted_answers, equal_up_to_case, letter_of, parse_choices
from eyechart.benchmarks._boxes import Quad, parse_quads
from eyechart.benchmarks._tables import Row
from eyechart.benchmarks._unread import absence_of, shortened
from eyechart.errors import BenchmarkError
from eyechart.images.decode import examine, unread_image
from eyechart.schema import ImageRef

_ANSWERS = "answers"


class Columns(msgspec.Struct, frozen=True):
    """Which column of a file holds what."""

    id: str = "id"
    image: str = "image"
    question: str = "question"
    choices: str = "choices"
    answer: str = "answer"
    box: str = "box"
    image_group: str = "image_group"
    task: str = "task"
    source: str = "source"


class RowRules(msgspec.Struct, frozen=True):
    """How cells are read: column names, the separator of choices in text cells, and what an answer may be."""

    columns: Columns
    choices_separator: str
    answer_form: AnswerForm


class Draft(NamedTuple):
    """A row read so far: everything but its boxes, which are judged over the whole file."""

    place: str
    id: str
    text: str
    image: ImageRef
    image_path: Path
    choices: tuple[str, ...]
    answer: str | None
    answers: tuple[str, ...]
    quads: tuple[Quad, ...]
    image_group: str | None
    task: str | None
    source: str | None
    notes: tuple[str, ...]
    extra: dict[str, object]


class Pictures:
    """The pictures under one folder; each file is probed and hashed once."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.normpath(root.absolute()))
        self._known: dict[Path, ImageRef] = {}
        self._turned: list[str] = []
        self._transparent: list[str] = []

    def find(self, name: str, place: str) -> tuple[Path, ImageRef]:
        """Return where a named picture lies, and what it is.

        A file that is missing, or of which no picture can be made by what its header shows, is named with its fault:
        its questions are not asked, and the others are.

        Raises:
            BenchmarkError: If the path leaves the folder.
        """
        # By text, not by resolving links: download caches are folders of links, and a link is the owner's own choice.
        path = Path(os.path.normpath(self._root / name))
        if not path.is_relative_to(self._root):
            raise BenchmarkError(
                f"{place}: image {shortened(name)!r} lies outside {self._root}",
                hint="give paths inside the folder, or name another one with image_root",
            )
        if path not in self._known:
            absence = absence_of(path, name)
            image, form = (unread_image(absence), None) if absence else examine(path, shortened(name))
            self._known[path] = image
            if form is not None and form.exif_orientation != 1:
                self._turned.append(name)
            if form is not None and form.has_alpha:
                self._transparent.append(name)
        return path, self._known[path]

    def warnings(self) -> tuple[str, ...]:
        """Return what ``decode@1`` does to some of these pictures that a viewer of the files would not expect."""
        found = []
        if self._turned:
            found.append(
                f"{_counted(self._turned)} an EXIF orientation: boxes refer to the stored pixels, which are shown "
                f"unturned unless --exif apply turns both"
            )
        if self._transparent:
            found.append(f"{_counted(self._transparent)} transparency, which is laid on white")
        return tuple(found)


def _counted(names: list[str]) -> str:
    """Return how many pictures have something, and the first of them."""
    return f"{names[0]} has" if len(names) == 1 else f"{len(names)} pictures have (the first is {names[0]})"


def draft_of(row: Row, default_id: str, rules: RowRules, pictures: Pictures) -> Draft:
    """Read one row except its boxes' convention.

    Raises:
        BenchmarkError: If a needed cell is missing, or its value breaks the contract.
    """
    place, values, columns = row.place, row.values, rules.columns
    path, image = pictures.find(_needed(values, columns.image, place), place)
    choices = parse_choices(_choices_cell(values, columns), rules.choices_separator, place)
    answer = values.get(columns.answer)
    if choices and answer in (None, "") and _listed_cell(values, columns) not in (None, "", []):
        raise BenchmarkError(
            f"{place}: no value in column {columns.answer!r}, only in column {_ANSWERS!r}, beside choices",
            hint=f"a question with choices has one right answer: give it in {columns.answer!r}, or leave out the "
            f"choices to accept several texts",
        )
    twins = equal_up_to_case(choices)
    return Draft(
        place=place,
        id=_optional(values, columns.id, place) or default_id,
        text=_needed(values, columns.question, place),
        image=image,
        image_path=path,
        choices=choices,
        answer=letter_of(answer, choices, rules.answer_form, place) if choices else None,
        answers=() if choices else accepted_answers(answer, _listed_cell(values, columns), place),
        quads=parse_quads(values.get(columns.box), place),
        image_group=_optional(values, columns.image_group, place),
        task=_optional(values, columns.task, place),
        source=_optional(values, columns.source, place),
        notes=(f"choices equal up to case: {', '.join(twins)}",) if twins else (),
        extra=_foreign(values, columns, () if choices else (_ANSWERS,)),
    )


def _choices_cell(values: Mapping[str, object], columns: Columns) -> object:
    """Return the choices cell, or the columns ``A``, ``B``, … of files that give one column per option."""
    if columns.choices in values or "A" not in values:
        return values.get(columns.choices)
    return {letter: cell for letter, cell in values.items() if _is_letter(letter)}


def _listed_cell(values: Mapping[str, object], columns: Columns) -> object:
    """Return the list of accepted answers as needle files give it; None where the column is another one's."""
    return None if _ANSWERS in msgspec.structs.astuple(columns) else values.get(_ANSWERS)


def _foreign(values: Mapping[str, object], columns: Columns, read: tuple[str, ...]) -> dict[str, object]:
    own = {*msgspec.structs.astuple(columns), *read}
    split_choices = columns.choices not in values and "A" in values
    return {
        name: cell
        for name, cell in values.items()
        if name not in own and cell is not None and not (split_choices and _is_letter(name))
    }


def _is_letter(name: str) -> bool:
    return len(name) == 1 and "A" <= name <= "Z"


def _needed(values: Mapping[str, object], column: str, place: str) -> str:
    text = _optional(values, column, place)
    if text is None:
        raise BenchmarkError(
            f"{place}: no value in column {column!r} (columns: {', '.join(values) or 'none'})",
            hint="name your own column, for example --option image_column=picture",
        )
    return text


def _optional(values: Mapping[str, object], column: str, place: str) -> str | None:
    """Return a cell as text, None if it is missing or empty; whole numbers count as text."""
    value = values.get(column)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise BenchmarkError(f"{place}: {column} {value!r} is no text", hint="write a text (for images: a path)")
