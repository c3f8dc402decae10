"""Needles of the grid diagnostics: a folder of pictures with a question or a caption each."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from eyechart.benchmarks._answers import listed_answers
from eyechart.benchmarks._cells import Row, shown
from eyechart.benchmarks._parquet_needles import unpack_needles
from eyechart.benchmarks._rows import Pictures
from eyechart.benchmarks._tables import find_question_file, read_rows
from eyechart.benchmarks._unread import refuse_if_none_can_be_read
from eyechart.errors import BenchmarkError, UsageError
from eyechart.images.hash import file_sha256
from eyechart.schema import ImageRef

MAX_GRID = 99
_EXAMPLE = 'write needles.jsonl beside the pictures: {"image": "a.jpg", "question": "…", "answers": ["…"]}'


class NeedleOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which needles, and on which grids.

    Args:
        needles: Folder with pictures and a question file (JSONL, JSON, CSV or parquet), or that file.
        grid: Cells a side: 5, or several as in ``1,5,10``.
        file: Name of the question file inside the folder; needed only if there are several.
        image_root: Folder that image paths count from, relative to the question file or absolute.
        id_column: Column of the needle's id; rows are numbered from 0 if it is missing.
        image_column: Column of the picture's path.
        group_column: Column that says which needles share a picture; default the picture's content hash.
    """

    needles: str | None = None
    grid: int | str | tuple[int, ...] = 5
    file: str | None = None
    image_root: str | None = None
    id_column: str = "id"
    image_column: str = "image"
    group_column: str = "image_group"

    @property
    def grids(self) -> tuple[int, ...]:
        """The grid sizes, in the order given.

        Raises:
            UsageError: If one is not a whole number from 1 to 99, or none or one twice is given.
        """
        given = self.grid if isinstance(self.grid, tuple) else str(self.grid).split(",")
        sizes = [str(size).strip() for size in given]
        found = [int(size) for size in sizes if size.isdecimal() and 1 <= int(size) <= MAX_GRID]
        if not found or len(found) != len(sizes) or len(set(found)) != len(found):
            raise UsageError(f"grid {self.grid!r}", hint=f"give a number from 1 to {MAX_GRID}, or several: 1,5,10")
        return tuple(found)


class Needle(NamedTuple):
    """One picture with what is asked about it."""

    id: str
    text: str
    answers: tuple[str, ...]
    image: ImageRef
    path: Path
    group: str
    extra: dict[str, object]
    place: str


class NeedleFile(NamedTuple):
    """All needles of a file, the hash of the file, and what the user should look at."""

    needles: tuple[Needle, ...]
    sha256: str
    warnings: tuple[str, ...]


def needle_source(data: Path | None, options: NeedleOptions, name: str) -> Path:
    """Return where the needles are, from ``--data`` or the option.

    Raises:
        UsageError: If neither or both are given.
    """
    if (data is None) == (options.needles is None):
        given = "no needles" if data is None else "needles twice"
        raise UsageError(f"{name} was given {given}", hint="name their folder once, with --data or --option needles=")
    return data if data is not None else Path(str(options.needles))


def read_needles(data: Path, options: NeedleOptions, text_column: str, answers_column: str | None) -> NeedleFile:
    """Read the needles of a folder or question file; every picture is probed and hashed, none is decoded.

    Args:
        data: The folder, or the question file in it; or a copy of HRScene's ``whitebackground_1x1``.
        options: Names of file and columns.
        text_column: Column of the question or caption.
        answers_column: Column of the accepted answers: one, or a list as from several people; None where none are
            asked for.

    Raises:
        UsageError: If there is no question file, or several.
        BenchmarkError: If a row lacks a value, or an id repeats.
    """
    columns = (text_column, answers_column)
    warnings: tuple[str, ...] = ()
    unpacked = unpack_needles(data, options.id_column)
    if unpacked is not None:
        needles = tuple(
            _needle(one.row, str(number), options, columns, (one.path, one.image))
            for number, one in enumerate(unpacked.rows)
        )
        sha256 = unpacked.sha256
    else:
        file = find_question_file(data, options.file, _EXAMPLE)
        pictures = Pictures(file.parent / (options.image_root or "."))
        needles = tuple(
            _needle(row, str(number), options, columns, pictures.find(_text(row, options.image_column), row.place))
            for number, row in enumerate(read_rows(file))
        )
        sha256, warnings = file_sha256(file)[0], pictures.warnings()
    if not needles:
        raise BenchmarkError(f"{data} holds no needle", hint="write one row per picture")
    _check_ids(needles)
    refuse_if_none_can_be_read([(needle.place, needle.image) for needle in needles])
    return NeedleFile(needles, sha256, warnings)


def _needle(
    row: Row, default_id: str, options: NeedleOptions, columns: tuple[str, str | None], found: tuple[Path, ImageRef]
) -> Needle:
    text_column, answers_column = columns
    path, image = found
    answers = _answers(row, answers_column)
    needle_id = _optional(row, options.id_column) or default_id
    own = {options.id_column, options.image_column, options.group_column, text_column, answers_column, "answer"}
    return Needle(
        id=needle_id,
        text=_text(row, text_column),
        answers=answers,
        image=image,
        path=path,
        group=_optional(row, options.group_column) or image.file_sha256 or needle_id,
        extra={name: cell for name, cell in row.values.items() if name not in own and cell is not None},
        place=row.place,
    )


def _answers(row: Row, column: str | None) -> tuple[str, ...]:
    """Return the accepted answers of a needle."""
    if column is None:
        return ()
    texts = listed_answers(row.values.get(column, row.values.get("answer")))
    if not texts:
        raise BenchmarkError(
            f"{row.place}: no value in column {column!r} (columns: {', '.join(row.values)})",
            hint="give the accepted answer, or a list of what several people said",
        )
    return texts


def _text(row: Row, column: str) -> str:
    text = _optional(row, column)
    if text is None:
        raise BenchmarkError(
            f"{row.place}: no value in column {column!r} (columns: {', '.join(row.values) or 'none'})",
            hint="name your own column, for example --option image_column=picture",
        )
    return text


def _optional(row: Row, column: str) -> str | None:
    """Return a cell as text, None if it is missing or empty; whole numbers count as text."""
    value = row.values.get(column)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise BenchmarkError(
        f"{row.place}: {column} {shown(value)} is not a text", hint="write a text (for images: a path)"
    )


def _check_ids(needles: Sequence[Needle]) -> None:
    first: dict[str, str] = {}
    for needle in needles:
        if needle.id in first:
            raise BenchmarkError(
                f"{needle.place}: id {needle.id!r} is also that of {first[needle.id]}",
                hint="give each needle its own id",
            )
        first[needle.id] = needle.place
