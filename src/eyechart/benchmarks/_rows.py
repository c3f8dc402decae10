"""One row of a user's question file as a draft of a question, faults named with their place."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from eyechart.benchmarks._answers import Answer, AnswerForm, accepted_answers, read_answer
from eyechart.benchmarks._boxes import NAMED_FORMATS, CellBoxes, read_boxes_in
from eyechart.benchmarks._cells import Row, in_text, is_absent, plain, shown, stored, text_of
from eyechart.benchmarks._columns import (
    NAMES,
    Columns,
    Layout,
    Role,
    common_name,
    filled,
    first_cell,
    holds_wrong_options,
    is_index,
    layout_of,
    two_columns,
)
from eyechart.benchmarks._conversations import SystemTurn, conversation_column, flatten
from eyechart.benchmarks._options import (
    OptionRules,
    Options,
    equal_up_to_case,
    read_option_columns,
    read_options,
    same_list,
    take_from_text,
)
from eyechart.benchmarks._picture_cells import (
    Held,
    Named,
    OfRow,
    Picture,
    PictureCache,
    read_picture,
    several,
    without_tags,
)
from eyechart.benchmarks._unread import absence_of, shortened
from eyechart.errors import BenchmarkError
from eyechart.images.decode import examine, unread_image
from eyechart.images.hash import file_sha256
from eyechart.schema import ImageRef

Listed = Literal["refuse", "text", "column"]
"""Which options count where the question's text lists others than the column, or in another order."""

Keep = Literal["choices", "free"]
"""Which rows are asked of a file that mixes questions with options and free ones."""

_ANSWERS, _TURN_TEXT, _TURN_ANSWER, _TURN_IMAGES = "answers", "turn_text", "turn_answer", "turn_images"
_MARK = re.compile(r"(?:^|(?<=\s))(?:\(([A-Za-z]|\d)\)|([A-Za-z]|\d)[.):])(?=\s)", re.MULTILINE)
_FIRST_TWO = ({"A", "B"}, {"a", "b"}, {"1", "2"})
_LETTER = re.compile(r"\(?([A-Za-z])\)?[.)]?")
_WHOLE = re.compile(r"\d+(?:\.0+)?")
_OTHER_BYTES = "the picture's bytes are not those of the file it names; the bytes are shown"
_READ = frozenset({_TURN_TEXT, _TURN_ANSWER, _TURN_IMAGES, ""})
_SORTING_ROLES: tuple[Role, ...] = ("task", "image_group")
_COUNTED_ROLES: tuple[Role, ...] = ("id", "question", "choices", "answer", "image", "box")


class RowRules(msgspec.Struct, frozen=True):
    """How rows are read.

    Args:
        columns: Columns that the user names.
        options: How options are read.
        answer_form: What answers may be.
        listed: Which options count where text and column differ.
        keep: Which rows are asked of a mixed file; None refuses it.
        system_turn: What to do with a system turn of a conversation.
    """

    columns: Columns = Columns()
    options: OptionRules = OptionRules()
    answer_form: AnswerForm = "either"
    listed: Listed = "refuse"
    keep: Keep | None = None
    system_turn: SystemTurn = "refuse"


def columns_read(names: Sequence[str], named: Columns) -> frozenset[str]:
    """Return which columns of a table are read for more than to be kept with the question."""
    return layout_of(tuple(names), named).own | {_ANSWERS}


class Draft(NamedTuple):
    """A row read so far: everything but what only the whole file settles.

    ``picture`` is a file and what names it, or the row that holds it. ``others`` are what further columns say of the
    answer; ``chosen`` says what was chosen in reading the row.
    """

    place: str
    id: str
    text: str
    text_raw: str | None
    picture: "tuple[Path, ImageRef] | OfRow"
    options: Options | None
    answer: Answer | None
    others: tuple[tuple[str, Answer], ...]
    answers: tuple[str, ...]
    boxes: CellBoxes
    image_group: str | None
    task: str | None
    source: str | None
    notes: tuple[str, ...]
    extra: dict[str, object]
    chosen: tuple[str, ...]


class Pictures:
    """The pictures under one folder; each file is probed and hashed once."""

    def __init__(self, root: Path) -> None:
        self.root = self._root = Path(os.path.normpath(root.absolute()))
        self._cache = PictureCache()
        self._known: dict[Path, ImageRef] = {}
        self._names: dict[str, tuple[Path, ImageRef]] = {}
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
        self._names[name] = path, self._described(path, name)
        return self._names[name]

    def known(self, cell: object) -> tuple[Path, ImageRef] | None:
        """Return the picture that an earlier row named by the very same path, None where there is none."""
        return self._names.get(cell) if isinstance(cell, str) else None

    def keep(self, content: bytes, place: str) -> tuple[Path, ImageRef]:
        """Return where a picture lies that the question file itself held, and what it is; with its fault, as ``find``.

        Raises:
            StoreError: If it can be written nowhere.
        """
        path = self._cache.keep(content)
        return path, self._described(path, f"the picture held at {Path(place).name}")

    def differs(self, name: str, image: ImageRef) -> bool:
        """Return whether a named file is there and is another picture."""
        path = Path(os.path.normpath(self._root / name))
        try:
            return path.is_relative_to(self._root) and path.is_file() and file_sha256(path)[0] != image.file_sha256
        except OSError:  # no name of a file
            return False

    def _described(self, path: Path, name: str) -> ImageRef:
        if path not in self._known:
            absence = absence_of(path, name)
            image, form = (unread_image(absence), None) if absence else examine(path, shortened(name))
            self._known[path] = image
            if form is not None and form.exif_orientation != 1:
                self._turned.append(name)
            if form is not None and form.has_alpha:
                self._transparent.append(name)
        return self._known[path]

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


class RowReader:
    """Reads the rows of one file, and remembers which columns it took for what.

    Args:
        rules: How to read.
        pictures: The pictures beside the file.
    """

    def __init__(self, rules: RowRules, pictures: Pictures) -> None:
        self._rules, self._pictures = rules, pictures
        self.columns: dict[tuple[Role, str], None] = {}
        self._layouts: dict[tuple[str, ...], Layout] = {}

    def read(self, row: Row, default_id: str) -> Draft:
        """Read one row, except for what only the whole file settles.

        Raises:
            SeveralPicturesError: If it shows several pictures.
            BenchmarkError: If a needed cell is missing, or its value breaks the contract.
        """
        place, values, chosen = row.place, row.values, list[str]()
        turns = None if self._rules.columns.question else conversation_column(values)
        if turns is not None:
            values = flatten(values, turns, place, self._rules.system_turn)
            chosen.append("questions from conversations")
        layout = self._layout(values)
        own_text = self._needed(values, layout, "question", place)
        raw = own_text if turns is None else str(values[_TURN_TEXT])
        text = without_tags(own_text, place)
        picture, notes = self._picture(values, layout, place)
        if text != own_text:
            chosen.append("the picture's mark taken out of the text")
        options, stem = self._options(values, layout, text, place, chosen)
        answers: tuple[str, ...] = ()
        answer, others = None, list[tuple[str, Answer]]()
        if options is None:
            answers = self._free_answers(values, layout, text, place)
        else:
            answer, others = self._answer(values, layout, options, place)
            notes += (
                [f"choices equal up to case: {', '.join(twins)}"] if (twins := equal_up_to_case(options.texts)) else []
            )
        boxes = self._boxes(values, layout, place)
        extra = self._foreign(values, layout, is_free=options is None)
        if options is not None and "empty options left out" in options.was:
            extra["source_letters"] = list(options.labels)
        return Draft(
            place=place,
            id=self._id(values, layout, place) or default_id,
            text=stem,
            text_raw=raw if raw != stem else None,
            picture=picture,
            options=options,
            answer=answer,
            others=tuple(others),
            answers=answers,
            boxes=boxes,
            image_group=self._text(values, layout, "image_group", place),
            task=self._text(values, layout, "task", place),
            source=self._text(values, layout, "source", place),
            notes=(*notes, *(("targets are boxes around polygons",) if boxes.is_polygon else ())),
            extra=extra,
            chosen=tuple(chosen),
        )

    @property
    def seen(self) -> frozenset[str]:
        """All columns of the rows read so far."""
        return frozenset(name for names in self._layouts for name in names)

    def _layout(self, values: Mapping[str, object]) -> Layout:
        names = tuple(values)
        if names not in self._layouts:
            self._layouts[names] = layout_of(names, self._rules.columns)
        return self._layouts[names]

    def _cell(self, values: Mapping[str, object], layout: Layout, role: Role, place: str) -> object:
        columns = layout.of[role]
        if not columns:
            return None
        if len(columns) == 1:
            cell = values.get(columns[0])
            cell = None if is_absent(cell) else cell
        else:
            cell = first_cell(values, columns, role, place)
        if cell is not None and role in _COUNTED_ROLES:
            name = columns[0] if len(columns) == 1 else filled(values, columns)[0]
            self.columns[role, name] = None
        return cell

    def _text(self, values: Mapping[str, object], layout: Layout, role: Role, place: str) -> str | None:
        """Return a cell as text, None if it is missing or empty."""
        cell = self._cell(values, layout, role, place)
        if cell is None or isinstance(cell, str):
            return cell
        return text_of(cell, next(iter(filled(values, layout.of[role])), role), place) or None

    def _id(self, values: Mapping[str, object], layout: Layout, place: str) -> str | None:
        cell = self._cell(values, layout, "id", place)
        if isinstance(cell, float) and cell.is_integer():
            return str(int(cell))  # a column of whole numbers that pandas stored with a point
        return cell if isinstance(cell, str) else text_of(cell, "id", place) or None

    def _needed(self, values: Mapping[str, object], layout: Layout, role: Role, place: str) -> str:
        text = self._text(values, layout, role, place)
        if text is None or not text.strip():
            raise no_value(values, getattr(self._rules.columns, role) or role, place, role)
        return text

    def _picture(
        self, values: Mapping[str, object], layout: Layout, place: str
    ) -> tuple["tuple[Path, ImageRef] | OfRow", list[str]]:
        if len(layout.of["image"]) == 1 and not layout.pictures and _TURN_IMAGES not in values:
            known = self._pictures.known(values.get(layout.of["image"][0]))
            if known is not None:
                return known, []
        numbered = filled(values, layout.pictures)
        if len(numbered) > 1:
            raise several(len(numbered), place)
        columns = filled(values, (_TURN_IMAGES, *layout.of["image"], *numbered))
        if not columns:
            raise no_value(values, self._rules.columns.image or "image", place)
        given = read_picture(values[columns[0]], place, self._pictures.root)
        if given is None:
            raise no_value(values, columns[0], place)
        if columns[0] != _TURN_IMAGES:
            self.columns["image", columns[0]] = None
        if isinstance(given, OfRow):
            return given, []
        path, image = self._found(given, place)
        return (path, image), self._of_further_columns(given, (path, image), values, columns, place)

    def _of_further_columns(
        self,
        given: Held | Named,
        found: tuple[Path, ImageRef],
        values: Mapping[str, object],
        columns: Sequence[str],
        place: str,
    ) -> list[str]:
        """Return what to note of further columns with a picture; they must show the same one."""
        path, image = found
        names = [given.name] if isinstance(given, Held) and given.name else []
        for column in columns[1:]:
            other = read_picture(values[column], place, self._pictures.root)
            if isinstance(given, Held) and isinstance(other, Named):
                names.append(other.name)  # where the kit that packed the table wants it written
            elif not self._is_same(other, path, image, place):
                raise two_columns(values, columns[0], column, "image", place)
        is_other = any(self._pictures.differs(name, image) for name in names)
        return [_OTHER_BYTES] if is_other else []

    def _is_same(self, other: Picture | None, path: Path, image: ImageRef, place: str) -> bool:
        """Return whether a further column shows the same picture; a name without a file may be that of its file."""
        if isinstance(other, Held):
            return self._found(other, place)[1] == image
        if not isinstance(other, Named):
            return False
        is_there = (self._pictures.root / other.name).is_file()
        return self._found(other, place)[1] == image if is_there else Path(other.name).name == path.name

    def _found(self, given: Held | Named, place: str) -> tuple[Path, ImageRef]:
        if isinstance(given, Held):
            return self._pictures.keep(given.content, place)
        return self._pictures.find(given.name, place)

    def _options(
        self, values: Mapping[str, object], layout: Layout, text: str, place: str, chosen: list[str]
    ) -> tuple[Options | None, str]:
        """Return the options and the question without them."""
        rules = self._rules.options
        found: list[tuple[str, Options]] = []
        for column in filled(values, layout.of["choices"]):
            options = read_options(values[column], place, rules, column)
            if options is not None:
                found.append((column, options))
                self.columns["choices", column] = None
        by_column = read_option_columns(values, layout.options, place, rules)
        if by_column is not None:
            found.append((layout.options[0][1], by_column))
        for column, options in found[1:]:
            if not same_list(options.texts, found[0][1].texts):
                raise two_columns(values, found[0][0], column, "choices", place)
        stem, listed = take_from_text(text, place)
        if not found:
            chosen += ["options from the question text"] if listed is not None else []
            return listed, stem
        column, options = found[0]
        chosen += options.was
        if listed is None:
            return options, text
        what = f"column {column!r}" if by_column is None else "the columns of options"
        return self._of_two_lists(listed, options, (text, stem), what, place, chosen)

    def _of_two_lists(
        self, listed: Options, options: Options, texts: tuple[str, str], what: str, place: str, chosen: list[str]
    ) -> tuple[Options, str]:
        """Return the options that count where the text (whole, and without its list) lists some and a column too."""
        text, stem = texts
        if same_list(listed.texts, options.texts):
            chosen.append("options listed in the text and in a column shown once")
            return options, stem
        if self._rules.listed == "text":
            chosen.append("options from the question text, not from the column")
            return listed, stem
        if self._rules.listed == "column":
            is_reordered = sorted(map(plain, listed.texts)) == sorted(map(plain, options.texts))
            return options, stem if is_reordered else text
        raise BenchmarkError(
            f"{place}: the question's text lists other options, or in another order, than {what}",
            hint="--option listed=text or listed=column says which counts",
        )

    def _answer(
        self, values: Mapping[str, object], layout: Layout, options: Options, place: str
    ) -> tuple[Answer | None, list[tuple[str, Answer]]]:
        """Return what the answer can mean, and what further columns say of it."""
        columns = layout.of["answer"]
        columns = tuple(filled(values, (*columns, _TURN_ANSWER) if _TURN_ANSWER in values else columns))
        if not columns:
            if not is_absent(self._listed_answers(values)):
                raise BenchmarkError(
                    f"{place}: no value in column 'answer', only in column {_ANSWERS!r}, beside choices",
                    hint="a question with choices has one right answer: give it in 'answer', or leave out the choices "
                    "to accept several texts",
                )
            return None, []
        form = self._rules.answer_form
        first = read_answer(values[columns[0]], options, place, form, is_index=is_index(columns[0]))
        if columns[0] != _TURN_ANSWER:
            self.columns["answer", columns[0]] = None
        others: list[tuple[str, Answer]] = []
        for column in columns[1:]:
            try:
                other = read_answer(values[column], options, place, is_index=is_index(column))
            except BenchmarkError as error:
                raise two_columns(values, columns[0], column, "answer", place) from error
            others += [(column, other)] if other is not None else []
        return first, others

    def _listed_answers(self, values: Mapping[str, object]) -> object:
        """Return the list of accepted answers as needle files give it; None where the column is another one's."""
        return None if _ANSWERS in msgspec.structs.astuple(self._rules.columns) else values.get(_ANSWERS)

    def _free_answers(self, values: Mapping[str, object], layout: Layout, text: str, place: str) -> tuple[str, ...]:
        """Return the accepted texts of a question without options.

        Raises:
            BenchmarkError: If it seems to have options that were not found.
        """
        columns = (*layout.of["answer"], _TURN_ANSWER)
        answer = first_cell(values, columns, "answer", place)
        if answer is not None:
            self.columns["answer", filled(values, columns)[0]] = None
        answers = accepted_answers(answer, self._listed_answers(values), place)
        if self._rules.keep == "free":
            return answers
        names_option = any(_LETTER.fullmatch(one) or _WHOLE.fullmatch(one) for one in answers)
        for column, cell in values.items():
            if column not in layout.own and holds_wrong_options(column) and not is_absent(cell):
                raise BenchmarkError(
                    f"{place}: no options found, but column {column!r} seems to hold wrong ones",
                    hint="give all options, the right one among them, in a column choices or in columns A, B, …, "
                    "or --option keep=free if every answer is a free text",
                )
            listed = (
                [] if column in layout.own or column == _ANSWERS else _texts_in(cell, self._rules.options.separator)
            )
            if listed and (names_option or any(plain(one) in map(plain, listed) for one in answers)):
                raise BenchmarkError(
                    f"{place}: no options found, but column {column!r} looks like them, and the answer is "
                    f"{shown(answers[0])}",
                    hint=f"--option choices_column={column}, or --option keep=free if every answer is a free text",
                )
        marks = {mark[1] or mark[2] for mark in _MARK.finditer(text)}
        is_lettered = len(marks) > 1 and any(_LETTER.fullmatch(one) for one in answers)
        if is_lettered or any(pair <= marks for pair in _FIRST_TWO):
            raise BenchmarkError(
                f"{place}: the question's text lists options that are not a list (A), (B), … from A on without a gap",
                hint="give them in a column choices, or --option keep=free if every answer is a free text",
            )
        return answers

    def _boxes(self, values: Mapping[str, object], layout: Layout, place: str) -> CellBoxes:
        cell = self._cell(values, layout, "box", place)
        if cell is None:
            return CellBoxes(())
        boxes = read_boxes_in(cell, place)
        named = NAMED_FORMATS.get(common_name(filled(values, layout.of["box"])[0]))
        return boxes._replace(convention=named, is_named=True) if named and not boxes.convention else boxes

    def _foreign(self, values: Mapping[str, object], layout: Layout, *, is_free: bool) -> dict[str, object]:
        extra: dict[str, object] = {}
        for name, cell in values.items():
            if name not in layout.own and name not in _READ and not (is_free and name == _ANSWERS):
                kept = cell if isinstance(cell, str) else stored(cell)
                if kept is not None:
                    extra[name] = kept
        for role in _SORTING_ROLES:
            if len(layout.of[role]) > 1:  # the further ones sort nothing and are kept
                extra |= {name: stored(values[name]) for name in filled(values, layout.of[role])[1:]}
        return extra


def _texts_in(cell: object, separator: str) -> list[str]:
    """Return the texts that a cell lists, if it may be a list of options: two or more, or an object by letters."""
    if isinstance(cell, str):
        cell = in_text(cell) or (cell.split(separator) if separator in cell else None)
    if isinstance(cell, Mapping):
        cell = list(cell.values()) if all(_LETTER.fullmatch(str(key)) for key in cell) else None
    texts = [one for one in cell if isinstance(one, str) and one.strip()] if isinstance(cell, list) else []
    return texts if isinstance(cell, list) and len(texts) == len(cell) > 1 else []


def no_value(values: Mapping[str, object], column: str, place: str, role: Role = "image") -> BenchmarkError:
    """Return the error for a row without a value in a column that is needed, or without such a column."""
    known = {common_name(name) for name in (column, *NAMES[role])}
    is_there = any(common_name(name) in known for name in values)
    what = f"no value in column {column!r}" if is_there else f"no column is called {column!r} or as such columns are"
    more = "" if is_there else "; in a table the first row names the columns"
    return BenchmarkError(
        f"{place}: {what} (columns: {_some(tuple(values))})",
        hint=f"name your own column, for example --option {role}_column=NAME{more}",
    )


def _some(names: Sequence[str]) -> str:
    shown_names = ", ".join(names[:20])
    return f"{shown_names}, …" if len(names) > 20 else shown_names or "none"  # noqa: PLR2004 -- as many as a line holds
