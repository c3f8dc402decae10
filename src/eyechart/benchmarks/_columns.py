"""Which column of a question file holds what: by the user's word, else by the names that such files commonly use."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from string import ascii_uppercase
from typing import Literal, NamedTuple

import msgspec

from eyechart.benchmarks._boxes import NAMED_FORMATS
from eyechart.benchmarks._cells import is_absent, shown
from eyechart.errors import BenchmarkError

Role = Literal["id", "image", "question", "choices", "answer", "box", "image_group", "task", "source"]

NAMES: dict[Role, tuple[str, ...]] = {
    "id": ("id", "question_id", "qid", "index", "uid", "sample_id"),
    "image": ("image", "image_path", "img", "img_path", "file_name", "image_file", "picture", "images"),
    "question": ("question", "query", "text", "prompt", "problem"),
    "choices": ("choices", "options", "candidates", "answer_choices"),
    "answer": (
        *("answer", "gold", "label", "ground_truth", "gt", "correct_answer", "correct_option", "correct_choice"),
        *("answer_key", "gold_answer", "solution", "answer_idx", "answer_index", "correct_idx", "correct_index"),
        *("correct_choice_idx", "correct_choice_index", "correct_option_idx", "correct_option_index"),
        *("correct_answer_idx", "correct_answer_index", "gold_idx", "gold_index"),
    ),
    "box": ("box", "bbox", "bbox_2d", "boxes", "bboxes", "target_box"),
    "image_group": ("image_group", "image_id"),
    "task": ("task", "category", "type", "subtask"),
    "source": ("source",),
}
"""Names of columns by what they hold, the first the one we write. Case, blanks, ``_`` and ``-`` do not count."""

# Where several of these are filled and differ, the first is taken: they sort questions and judge none.
_SORTING = frozenset({"image_group", "task", "source"})
_INDEX = re.compile(r"(?:answer|gold|correct(?:choice|option|answer)?)(?:idx|index)")
_OPTION = re.compile(r"(?:option|choice|opt|candidate)s?([a-z]|\d{1,2})")
_PICTURE = re.compile(r"(?:image|img|picture)s?(\d{1,2})")
_WRONG_OPTIONS = re.compile(r"(?:distractor|incorrect|wrong)s?(?:answer|choice|option)?s?[a-z]?\d{0,2}")
_NOT_NAMED = re.compile(r"[^a-z0-9]+")


class Columns(msgspec.Struct, frozen=True):
    """The columns that the user names; None leaves a role to the common names."""

    id: str | None = None
    image: str | None = None
    question: str | None = None
    choices: str | None = None
    answer: str | None = None
    box: str | None = None
    image_group: str | None = None
    task: str | None = None
    source: str | None = None


class Layout(NamedTuple):
    """What the columns of a row hold.

    Args:
        of: Columns of each role, the likeliest first.
        options: Columns with one option each, with the labels that they give it, in order; empty where there are none.
        pictures: Columns of numbered pictures, such as ``image_1``, in order.
        own: All columns that are read.
    """

    of: dict[Role, tuple[str, ...]]
    options: tuple[tuple[str, str], ...]
    pictures: tuple[str, ...]
    own: frozenset[str]


def common_name(column: str) -> str:
    """Return the name of a column without what spelling changes.

    Example:
        >>> common_name("Answer Choices"), common_name("imagePath"), common_name("option_A")
        ('answerchoices', 'imagepath', 'optiona')
    """
    return _NOT_NAMED.sub("", column.casefold())


_ROLE_OF = {
    common_name(name): (role, position) for role, names in NAMES.items() for position, name in enumerate(names)
} | dict.fromkeys(NAMED_FORMATS, ("box", 0))


@cache
def layout_of(columns: tuple[str, ...], named: Columns) -> Layout:
    """Return what columns hold. A column that the user names is the only one of its role.

    Example:
        >>> found = layout_of(("qid", "query", "A", "B", "label", "image_1", "image_2"), Columns())
        >>> found.of["answer"], found.options, found.pictures
        (('label',), (('A', 'A'), ('B', 'B')), ('image_1', 'image_2'))
    """
    # A run of an earlier version names the common column of each role, whether the file has it or not.
    named = msgspec.structs.replace(
        named, **{role: None for role, names in NAMES.items() if getattr(named, role) == names[0] not in columns}
    )
    given = {name for name in msgspec.structs.astuple(named) if name is not None}
    ranked: dict[Role, list[tuple[int, str]]] = {role: [] for role in NAMES}
    pictures: list[tuple[int, str]] = []
    for column in columns:
        name = common_name(column)
        numbered = _PICTURE.fullmatch(name)
        if column in given:
            continue
        if numbered:
            pictures.append((int(numbered[1]), column))
        elif name in _ROLE_OF:
            role, position = _ROLE_OF[name]
            ranked[role].append((position, column))
    of: dict[Role, tuple[str, ...]] = {}
    for role, found in ranked.items():
        own = getattr(named, role)
        of[role] = (own,) if own is not None else tuple(column for _, column in sorted(found))
    options = () if named.choices is not None else _option_columns([name for name in columns if name not in given])
    numbered_pictures = () if named.image is not None else tuple(column for _, column in sorted(pictures))
    own_columns = {column for names in of.values() for column in names}
    own_columns |= {*numbered_pictures, *(column for _, column in options)}
    return Layout(of, options, numbered_pictures, frozenset(own_columns))


def _option_columns(columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the columns of one option each with their labels: ``A``, ``B``; ``option_a``; ``choice_0`` and so on."""
    single = {name: name.strip() for name in columns if len(name.strip()) == 1}
    letters = {name: letter for name, letter in single.items() if letter in ascii_uppercase}
    if not _is_list(letters):
        letters = {name: letter.upper() for name, letter in single.items() if letter.upper() in ascii_uppercase}
    if not _is_list(letters):
        letters = {
            name: found[1].upper() for name in columns if (found := _OPTION.fullmatch(common_name(name))) is not None
        }
    if len(set(letters.values())) != len(letters):
        return ()
    order = sorted(letters, key=lambda name: (letters[name].isdigit(), len(letters[name]), letters[name]))
    return tuple((letters[name], name) for name in order) if len(order) > 1 else ()


def _is_list(letters: Mapping[str, str]) -> bool:
    """Return whether columns of one letter are options: a list begins with A or B; x and y are something else."""
    return len(letters) > 1 and min(letters.values()) in {"A", "B"}


def is_index(column: str) -> bool:
    """Return whether a column holds the number of an option by its name.

    Example:
        >>> is_index("answer_idx"), is_index("answer")
        (True, False)
    """
    return _INDEX.fullmatch(common_name(column)) is not None


@cache
def holds_wrong_options(column: str) -> bool:
    """Return whether a column holds wrong options, without the right one, by its name.

    Example:
        >>> holds_wrong_options("distractor_1"), holds_wrong_options("wrongly")
        (True, False)
    """
    return _WRONG_OPTIONS.fullmatch(common_name(column)) is not None


def filled(values: Mapping[str, object], columns: Sequence[str]) -> list[str]:
    """Return those of some columns that hold something in a row."""
    if len(columns) == 1:
        return [] if is_absent(values.get(columns[0])) else [columns[0]]
    return [column for column in columns if not is_absent(values.get(column))]


def first_cell(values: Mapping[str, object], columns: Sequence[str], role: Role, place: str) -> object:
    """Return the cell of a role, None where there is none.

    Raises:
        BenchmarkError: If several columns of the role hold different things.
    """
    if len(columns) == 1:
        cell = values.get(columns[0])
        return None if is_absent(cell) else cell
    found = filled(values, columns)
    if not found:
        return None
    first = values[found[0]]
    for other in found[1:]:
        if values[other] != first and str(values[other]).strip() != str(first).strip() and role not in _SORTING:
            raise two_columns(values, found[0], other, role, place)
    return first


def two_columns(values: Mapping[str, object], first: str, other: str, role: Role, place: str) -> BenchmarkError:
    """Return the error for two columns that could both be meant and say different things."""
    option = "group" if role == "image_group" else role
    return BenchmarkError(
        f"{place}: columns {first!r} and {other!r} hold different things ({shown(values[first])} and "
        f"{shown(values[other])}), and either may be the {role.replace('_', ' ')}",
        hint=f"--option {option}_column={first}, or {other}",
    )
