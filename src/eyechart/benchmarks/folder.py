"""Your own questions: a JSONL, JSON, CSV, TSV, parquet or xlsx file beside your pictures."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

import msgspec

from eyechart.benchmarks._answers import Answer, AnswerForm, settle
from eyechart.benchmarks._boxes import EDGE_NAMES, BoxFormat, GivenBox, check_convention, crosses_border, to_xyxy
from eyechart.benchmarks._cells import Row, plain, shown
from eyechart.benchmarks._columns import NAMES, Columns, Role, common_name
from eyechart.benchmarks._conversations import SystemTurn
from eyechart.benchmarks._faults import Faults, some_places
from eyechart.benchmarks._options import EmptyOptions, OptionLetters, OptionRules
from eyechart.benchmarks._picture_cells import OfRow, SeveralPicturesError
from eyechart.benchmarks._rows import Draft, Keep, Listed, Pictures, RowReader, RowRules, columns_read
from eyechart.benchmarks._spreadsheets import Strict
from eyechart.benchmarks._tables import Encoding, find_question_file, read_rows, splits_at_every_tab
from eyechart.benchmarks._unread import refuse_if_none_can_be_read
from eyechart.errors import BenchmarkError, UsageError
from eyechart.geometry import clip
from eyechart.images.hash import file_sha256
from eyechart.kinds import AskDefaults
from eyechart.schema import BenchmarkIdentity, ImageRef, Question, TargetPolicy, content_sha256

__all__ = ["FolderKind"]

# Where the bytes lie is not part of which questions are asked.
_PATH_OPTIONS = frozenset({"file", "image_root"})
_COLUMN_OPTIONS: dict[str, Role] = {
    "id_column": "id",
    "image_column": "image",
    "question_column": "question",
    "choices_column": "choices",
    "answer_column": "answer",
    "box_column": "box",
    "group_column": "image_group",
    "task_column": "task",
    "source_column": "source",
}
# Options of the first version are recorded always, as they were from the first.
_ALWAYS_RECORDED = frozenset({"box_format", "choices_separator", "answer_form", "target_policy", *_COLUMN_OPTIONS})
_EXAMPLE = "say which one, for example --option file=mine.csv"
_PROMPT = "letter_normalized"
_FREE_SCORER, _LETTER_SCORER = "vqa_soft", "option_letter"


SeveralPictures = Literal["refuse", "skip"]


class FolderOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a question file is to be read.

    A column that is named here is the only one of its kind; without a name the common ones are looked for (``id``,
    ``question_id``, …; ``options``, ``A``, ``option_a``, …): ``docs/question-files.md`` lists them.

    Args:
        box_format: Convention of the boxes; it has no default, because a wrong guess looks right on many pictures.
        file: Name of the question file inside the folder; needed only if there are several.
        sheet: Name of the sheet of an xlsx file; the first that is not hidden if left out.
        image_root: Folder that image paths count from, relative to the question file or absolute.
        choices_separator: What separates the choices in a text cell that is not a list.
        answer_form: Whether answers are letters, texts of a choice, or numbers counted from 0 or from 1; ``either``
            lets the file show it.
        target_policy: Where a row has several boxes, views are built on their union or on the first.
        id_column: Column of the question id; rows are numbered if it is missing.
        image_column: Column of the picture.
        question_column: Column of the question's text.
        choices_column: Column of the options.
        answer_column: Column of the right answer. A question without choices may have a column ``answers`` too: what
            is accepted, as a list, or as text with "|" between.
        box_column: Column of the target box or boxes.
        group_column: Column that says which questions share a picture; default the picture's content hash.
        task_column: Column of the task.
        source_column: Column of the source.
        encoding: Encoding of a text file that is not UTF-8 and says nothing of it.
        empty_options: What to do with an empty option before a filled one, and with the words nan and NA: refuse,
            ``drop`` them, or ``text``, which shows the words as they stand. If one is dropped, the others move up, the
            right answer follows its text, and ``extra.source_letters`` keeps the letters of the file.
        option_letters: Whether letters that all options carry are taken off (``auto``) or belong to them (``keep``).
        listed: Which options count where the question's text lists others than the column, or in another order.
        keep: Which rows are asked of a file that mixes questions with options (``choices``) and without (``free``).
        pictures: What to do with rows of several pictures: refuse the file, or skip them.
        system_turn: What to do with a system turn of a conversation, whose wording is not sent.
        allow_hidden: Whether questions without a right answer are asked, and not scored.
    """

    box_format: BoxFormat | None = None
    file: str | None = None
    sheet: str | None = None
    image_root: str | None = None
    choices_separator: str = "|"
    answer_form: AnswerForm = "either"
    target_policy: TargetPolicy = "union"
    id_column: str | None = None
    image_column: str | None = None
    question_column: str | None = None
    choices_column: str | None = None
    answer_column: str | None = None
    box_column: str | None = None
    group_column: str | None = None
    task_column: str | None = None
    source_column: str | None = None
    encoding: Encoding | None = None
    empty_options: EmptyOptions = "refuse"
    option_letters: OptionLetters = "auto"
    listed: Listed = "refuse"
    keep: Keep | None = None
    pictures: SeveralPictures = "refuse"
    system_turn: SystemTurn = "refuse"
    allow_hidden: bool = False

    @property
    def row_rules(self) -> RowRules:
        """How cells are read."""
        columns = Columns(**{role: getattr(self, option) for option, role in _COLUMN_OPTIONS.items()})
        return RowRules(
            columns=columns,
            options=OptionRules(self.choices_separator, self.empty_options, self.option_letters),
            answer_form=self.answer_form,
            listed=self.listed,
            keep=self.keep,
            system_turn=self.system_turn,
        )

    @property
    def recorded(self) -> dict[str, object]:
        """What a run stores of them."""
        stored: dict[str, object] = msgspec.to_builtins(self)
        left_out: dict[str, object] = msgspec.to_builtins(FolderOptions())
        return {
            name: value
            for name, value in stored.items()
            if name not in _PATH_OPTIONS and (name in _ALWAYS_RECORDED or value != left_out[name])
        }


class FolderBenchmark:
    """Questions of one file, all checked when it was opened.

    ``warnings`` holds what the user should look at, such as boxes that fit another convention better; ``readings`` what
    was chosen in reading the file. ``defaults`` names the scorer: ``vqa_soft`` where all questions are free.
    """

    identity: BenchmarkIdentity
    warnings: tuple[str, ...]
    readings: tuple[str, ...]
    defaults: AskDefaults

    def __init__(self, file: Path, options: FolderOptions) -> None:
        pictures = Pictures(file.parent / (options.image_root or "."))
        found = _read(file, options, pictures)
        refuse_if_none_can_be_read([(draft.place, _own_picture(draft)[1]) for draft in found.drafts])
        self.warnings = (*_check_boxes(found.drafts, options), *pictures.warnings())
        self.readings = found.readings
        self._pictures = pictures  # it may own the folder that some of them lie in
        self._questions = tuple(_question(draft, found.golds.get(draft.place), options) for draft in found.drafts)
        self._paths = {image.file_sha256: path for path, image in map(_own_picture, found.drafts) if image.file_sha256}
        is_free = not any(question.choices for question in self._questions)
        self.defaults = AskDefaults((), _PROMPT, _FREE_SCORER if is_free else _LETTER_SCORER)
        self.identity = BenchmarkIdentity(
            name="folder",
            revision=content_sha256([file_sha256(file)[0], sorted(self._paths)]),
            options=options.recorded,
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
    """Your own questions about your own pictures: JSONL, JSON, CSV, TSV, parquet or xlsx."""

    options = FolderOptions

    def open(self, data: Path | None, options: msgspec.Struct) -> FolderBenchmark:
        """Return the benchmark of a question file, or of a folder that holds one.

        Raises:
            UsageError: If no data is given, or a folder holds several question files.
            BenchmarkError: If a row breaks the contract; the message names file and line.
            MissingDependencyError: If the file is parquet and pyarrow is not installed.
        """
        if not isinstance(options, FolderOptions):
            raise UsageError(f"{type(options).__name__} are not the options of folder", hint="pass FolderOptions")
        if data is None:
            raise UsageError("folder needs data", hint="--data questions.jsonl, or the folder that holds it")
        return FolderBenchmark(find_question_file(data, options.file, _EXAMPLE), options)


class _Found(msgspec.Struct, frozen=True):
    """What a file holds: drafts to ask, the place of each right option by row, and what was chosen in reading."""

    drafts: tuple[Draft, ...]
    golds: dict[str, int]
    readings: tuple[str, ...]


def _read(file: Path, options: FolderOptions, pictures: Pictures) -> _Found:
    """Read all rows; the file is refused, with every kind of fault in it, if any cannot be asked or scored.

    Raises:
        BenchmarkError: If there is such a row, or none at all.
    """
    reader = RowReader(options.row_rules, pictures)
    faults, left_out = Faults(file), dict[str, list[str]]()
    drafts: list[Draft] = []
    told: list[str] = []
    rows = _rows(file, options, told)
    n_rows = 0
    for n_rows, row in enumerate(rows, start=1):
        try:
            drafts.append(reader.read(row, f"{n_rows:06d}"))
        except BenchmarkError as error:
            if isinstance(error, SeveralPicturesError) and options.pictures == "skip":
                left_out.setdefault("several pictures", []).append(row.place)
            else:
                faults.add(error)
    if not n_rows:
        raise BenchmarkError(
            f"{file} holds no question", hint="; ".join(("write one row per question", *_as_read(told)))
        )
    drafts = _with_shared_pictures(drafts, faults)
    form = None
    try:
        form = settle([draft.answer for draft in drafts if draft.answer is not None])
    except BenchmarkError as error:
        faults.add(error)
    drafts = _of_one_kind(drafts, options, faults, left_out)
    golds = _golds(drafts, form, faults)
    _check_answers(drafts, options, faults, file)
    _check_ids(drafts, faults)
    _check_named_columns(reader.seen, options, file)
    faults.refuse(n_rows, _as_read(told))
    if not drafts:
        raise BenchmarkError(f"{file} holds no question besides those left out", hint="keep other rows")
    columns = [(role, column) for role, column in reader.columns if _is_a_choice(role, column, options)]
    told += [_TOLD_FORMS[form]] if form in _TOLD_FORMS else []
    told += [f"left out: {len(places)} with {why}, {some_places(places)}" for why, places in left_out.items()]
    return _Found(tuple(drafts), golds, (*_chosen(drafts, columns), *told))


def _chosen(drafts: Sequence[Draft], columns: Sequence[tuple[Role, str]]) -> Iterator[str]:
    """Yield what was chosen in reading the rows, with how many it concerns, and the columns of other names."""
    for what, n in Counter(what for draft in drafts for what in draft.chosen).items():
        yield f"{what} ({n} row{'s' * (n > 1)})"
    for role, column in columns:
        yield f"{role} from column {column!r}"
    if not any(draft.options for draft in drafts):
        yield f"no question has options: the scorer is {_FREE_SCORER}"


_TOLD_FORMS = {
    "index0": "answers count from 0",
    "index1": "answers count from 1",
    "text": "whole numbers as answers are the texts of options",
}


def _is_a_choice(role: Role, column: str, options: FolderOptions) -> bool:
    return getattr(options.row_rules.columns, role) is None and column != NAMES[role][0]


def _rows(file: Path, options: FolderOptions, told: list[str]) -> Iterator[Row]:
    """Return the rows, and add to ``told`` what was chosen in reading the file, at the latest with its last row."""
    encoding = options.encoding
    if file.suffix.lower() == ".tsv" and file.is_file() and splits_at_every_tab(file, encoding):
        try:
            for _ in read_rows(file, encoding=encoding, is_spelled=True):
                pass
        except BenchmarkError:
            told.append("quotes mean nothing in this TSV file")
            return read_rows(file, encoding=encoding, is_spelled=True, is_quoted=False, tell=told.append)
    named = options.row_rules.columns
    strict = Strict(told.append, lambda names: columns_read(names, named), options.sheet)
    return read_rows(file, encoding=encoding, is_spelled=True, tell=told.append, strict=strict)


def _as_read(told: Sequence[str]) -> list[str]:
    """Return what to add to the hint of a refused file, whose fault may lie in what was chosen."""
    return [f"read: {'; '.join(told)}"] if told else []


def _with_shared_pictures(drafts: Sequence[Draft], faults: Faults) -> list[Draft]:
    """Return the drafts with the pictures of the rows that they name."""
    if not any(isinstance(draft.picture, OfRow) for draft in drafts):
        return list(drafts)
    by_id = {draft.id: draft for draft in drafts}
    found = []
    for draft in drafts:
        picture, seen = draft.picture, {draft.id}
        while isinstance(picture, OfRow):
            owner = by_id.get(picture.key)
            if owner is None or owner.id in seen:
                break
            seen.add(owner.id)
            picture = owner.picture
        if isinstance(picture, OfRow):
            is_cycle = picture.key in by_id
            what = "rows name each other in a circle" if is_cycle else "no file and no row of that id"
            faults.add(
                BenchmarkError(
                    f"{draft.place}: image {shown(picture.key)}: {what}",
                    hint="give a path, a picture in base64, or the id of a row that has one",
                )
            )
            continue
        found.append(draft._replace(picture=picture))
    return found


def _of_one_kind(
    drafts: list[Draft], options: FolderOptions, faults: Faults, left_out: dict[str, list[str]]
) -> list[Draft]:
    """Return the drafts that are all with options or all without; a file that mixes them is refused."""
    free = [draft for draft in drafts if draft.options is None]
    if not free or len(free) == len(drafts):
        return drafts
    if options.keep is None:
        fewer = min(free, [draft for draft in drafts if draft.options is not None], key=len)
        what = "without options among rows with them" if fewer is free else "with options among rows without"
        for draft in fewer:
            faults.add(
                BenchmarkError(
                    f"{draft.place}: a question {what}: no one scorer judges both",
                    hint="--option keep=choices asks those with options, keep=free those without",
                )
            )
        return drafts
    kept = [draft for draft in drafts if (draft.options is None) == (options.keep == "free")]
    gone = [draft.place for draft in drafts if (draft.options is None) != (options.keep == "free")]
    left_out["options" if options.keep == "free" else "no options"] = gone
    return kept


def _golds(drafts: Sequence[Draft], form: str | None, faults: Faults) -> dict[str, int]:
    """Return the place of the right option of each row, and refuse rows whose columns name different ones."""
    golds: dict[str, int] = {}
    for draft in drafts:
        if draft.answer is None:
            continue
        gold = _meant(draft.answer, form)
        if gold is None:
            continue  # the whole file's fault, which is told already
        golds[draft.place] = gold
        texts = draft.options.texts if draft.options is not None else ()
        if texts and texts.count(texts[gold]) > 1:
            letters = " and ".join(ascii_uppercase[at] for at, text in enumerate(texts) if text == texts[gold])
            faults.add(
                BenchmarkError(
                    f"{draft.place}: the right option {shown(texts[gold])} stands under {letters}",
                    hint="eyechart scores one right option a question; make the options distinct, or leave the row out",
                )
            )
        for column, other in draft.others:
            if gold not in other.fits.values():
                faults.add(
                    BenchmarkError(
                        f"{draft.place}: column {column!r} names another option ({shown(other.text)}) than the answer "
                        f"{shown(draft.answer.text)}",
                        hint="--option answer_column=NAME says which counts",
                    )
                )
    return golds


def _meant(answer: Answer, form: str | None) -> int | None:
    if answer.is_number:
        return next((place for name, place in answer.fits.items() if name == form), None)
    return next(iter(answer.fits.values()))


def _check_answers(drafts: Sequence[Draft], options: FolderOptions, faults: Faults, file: Path) -> None:
    """Refuse rows that cannot be scored: without a right answer, or free ones whose answers are letters or booleans."""
    hidden = [draft for draft in drafts if draft.answer is None and not draft.answers]
    if hidden and not options.allow_hidden:
        hint = "--allow-hidden asks them without scoring, or name the column with --option answer_column=NAME"
        if len(hidden) == len(drafts):
            faults.add(BenchmarkError(f"{file}: no row has a right answer", hint=hint))
        else:
            for draft in hidden:
                faults.add(BenchmarkError(f"{draft.place}: no right answer", hint=hint))
    free = [draft for draft in drafts if draft.options is None and draft.answers]
    if len(free) < len(drafts) or not free or options.keep == "free":
        return
    beside = [_column_with_answer(draft) for draft in free]
    if all(beside):
        faults.add(
            BenchmarkError(
                f"{free[0].place}: no row has options, but every answer stands in another column too "
                f"({', '.join(map(repr, dict.fromkeys(beside)))})",
                hint="give the options in one column choices, or in columns A, B, …, or --option keep=free if every "
                "answer is a free text",
            )
        )
    tests: tuple[tuple[str, Callable[[str], bool], str], ...] = (
        ("true or false", lambda text: text.casefold() in {"true", "false"}, 'give choices ["yes", "no"]'),
        ("a letter", lambda text: len(text) == 1 and text.upper() in ascii_uppercase, "name the column of the options"),
    )
    for what, holds, hint in tests:
        if all(holds(text) for draft in free for text in draft.answers):
            faults.add(
                BenchmarkError(
                    f"{free[0].place}: no row has options, but every answer is {what}: {shown(free[0].answers[0])}",
                    hint=f"{hint}, for example --option choices_column=NAME, or --option keep=free if they are texts",
                )
            )


def _column_with_answer(draft: Draft) -> str | None:
    """Return another column of a row that holds the very answer of a free question, as a column of options would."""
    accepted = set(map(plain, draft.answers))
    cells = draft.extra.items()
    return next((name for name, cell in cells if isinstance(cell, str) and plain(cell) in accepted), None)


def _check_ids(drafts: Sequence[Draft], faults: Faults) -> None:
    first: dict[str, str] = {}
    for draft in drafts:
        if draft.id in first:
            faults.add(
                BenchmarkError(
                    f"{draft.place}: id {draft.id!r} is also that of {first[draft.id]}",
                    hint="give each question its own id, or name the column that does with --option id_column=NAME",
                )
            )
        first.setdefault(draft.id, draft.place)


def _check_named_columns(seen: frozenset[str], options: FolderOptions, file: Path) -> None:
    """Refuse a column that the user names and no row has: its kind would silently be left out.

    Raises:
        BenchmarkError: If there is such a column; it comes before the faults of rows, which may follow from it.
    """
    for option, role in _COLUMN_OPTIONS.items():
        name = getattr(options, option)
        # A run of an earlier version names the common column of each kind, whether the file has it or not.
        if seen and name is not None and name not in seen and name != NAMES[role][0]:
            raise BenchmarkError(
                f"{file}: {option}={name} is given, but no row has a column {name!r}",
                hint=f"the columns are {', '.join(sorted(seen)[:20])}; leave {option} out to look for common names",
            )


def _convention(draft: Draft, options: FolderOptions) -> BoxFormat | None:
    """Return the format of a row's boxes: which edges they are by their own names, counted in what is declared.

    Raises:
        BenchmarkError: If there is no such format.
    """
    own, declared = draft.boxes.convention, options.box_format
    if own not in {"xyxy", "xywh"} or draft.boxes.is_named or declared is None:
        return own or declared
    unit = next((unit for unit in ("unit", "percent", "thousandths") if unit in declared), None)
    if unit == "thousandths" and own == "xywh":
        raise BenchmarkError(
            f"{draft.place}: no format counts x, y and sides in thousandths", hint="name the edges x1, y1, x2, y2"
        )
    return _COUNTED_IN[own, unit] if unit is not None else own


_COUNTED_IN: dict[tuple[str, str], BoxFormat] = {
    ("xyxy", "unit"): "unit",
    ("xyxy", "percent"): "percent",
    ("xyxy", "thousandths"): "thousandths",
    ("xywh", "unit"): "unit_xywh",
    ("xywh", "percent"): "percent_xywh",
}


def _check_boxes(drafts: Sequence[Draft], options: FolderOptions) -> tuple[str, ...]:
    boxed = [draft for draft in drafts if draft.boxes.quads]
    if not boxed:
        return _check_no_boxes(drafts, options)
    given: dict[tuple[BoxFormat, bool], list[GivenBox]] = {}
    for draft in boxed:
        convention = _convention(draft, options)
        if convention is None:
            raise BenchmarkError(
                f"{draft.place}: there are boxes, but the box format is not declared",
                hint="--option box_format=xyxy, xywh (pixels), unit, unit_xywh (0–1), thousandths (0–1000), …",
            )
        if draft.boxes.is_named and options.box_format not in {None, convention}:
            raise BenchmarkError(
                f"{draft.place}: the column's name says {convention}, and box_format={options.box_format} is declared",
                hint="leave out the one that is wrong",
            )
        size, is_declared = _own_picture(draft)[1].size, draft.boxes.is_named or options.box_format is not None
        boxes = (GivenBox(quad, size, draft.place) for quad in draft.boxes.quads)
        given.setdefault((convention, is_declared), []).extend(boxes)
    return tuple(
        warning
        for (convention, is_declared), boxes in given.items()
        for warning in check_convention(boxes, convention, is_declared=is_declared)
    )


def _check_no_boxes(drafts: Sequence[Draft], options: FolderOptions) -> tuple[str, ...]:
    """Return what to warn of where no row has a box: columns that look like one.

    Raises:
        BenchmarkError: If a format is declared, so that there should be boxes.
    """
    kept = dict.fromkeys(name for draft in drafts for name in draft.extra)
    others = [name for name in kept if "box" in name.casefold()]
    by_name = {common_name(name): name for name in kept}
    edges = next((names for names in EDGE_NAMES if set(names) <= set(by_name)), None)
    if options.box_format is not None:
        raise BenchmarkError(
            f"box_format={options.box_format} is declared, but no row has a box in column "
            f"{options.box_column or 'box'!r}",
            hint=f"--option box_column={others[0]}" if others else "name the column with --option box_column=NAME",
        )
    if edges is not None:
        columns = ", ".join(by_name[name] for name in edges)
        return (f"columns {columns} look like a box and are not read; write the four numbers into one column, box",)
    return (f"column {others[0]!r} is not read as a box; --option box_column={others[0]} names it",) if others else ()


def _own_picture(draft: Draft) -> tuple[Path, ImageRef]:
    """Return the file of a draft's picture, and what names it."""
    if isinstance(draft.picture, OfRow):
        raise TypeError(draft.place)
    return draft.picture


def _question(draft: Draft, gold: int | None, options: FolderOptions) -> Question:
    convention: BoxFormat = _convention(draft, options) or "xyxy"
    image = _own_picture(draft)[1]
    targets = tuple(to_xyxy(quad, convention, image.size) for quad in draft.boxes.quads if image.size.n_px)
    across = any(crosses_border(target, image.size) for target in targets)
    return Question(
        id=draft.id,
        benchmark="folder",
        text=draft.text,
        text_raw=draft.text_raw,
        image=image,
        image_group=draft.image_group or image.file_sha256 or draft.id,
        choices=draft.options.texts if draft.options else (),
        answer=None if gold is None else ascii_uppercase[gold],
        answers=draft.answers,
        targets=targets,
        targets_clipped=tuple(clip(target, image.size) for target in targets),
        target_policy=options.target_policy,
        task=draft.task,
        source=draft.source,
        notes=(*draft.notes, *(("target crosses the border",) if across else ())),
        extra=draft.extra,
    )
