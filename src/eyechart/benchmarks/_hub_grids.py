"""Grids as HRScene's hub stores them, one picture per base sample and cell, read as released views."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from eyechart.benchmarks._cache import cache_folder
from eyechart.benchmarks._cell_names import view_id_of
from eyechart.benchmarks._parquet_rows import ParquetRow, ParquetRows, parquet_files
from eyechart.benchmarks._release import fetched_from
from eyechart.errors import BenchmarkError, UsageError
from eyechart.kinds import AskDefaults
from eyechart.schema import BenchmarkIdentity, Box, GridComposition, ImageRef, Question, Size, ViewImage, content_sha256

Style = Literal["white", "captioned"]

_ID = re.compile(r"(?P<base>.+)_(?P<row>0|[1-9]\d?)_(?P<column>0|[1-9]\d?)")
_CELL = re.compile(r"row: (\d+), col: (\d+)")
_N_SHOWN = 3
# HRScene's geometry; see eyechart.views.grid, which benchmarks may not import. A test holds them against each other.
_TILE = Size(448, 448)
_PITCHES: dict[Style, Size] = {"white": Size(448, 448), "captioned": Size(488, 508)}


class CellId(NamedTuple):
    """Which base sample stands in which cell, counted from 0."""

    base: str
    row: int
    column: int


def parse_cell_id(text: str, size: int) -> CellId:
    """Read an id ``base_row_column``; a base may hold underscores, and in a grid of one cell it stands alone.

    Raises:
        BenchmarkError: If it names no cell of the grid.

    Example:
        >>> parse_cell_id("coco_17_2_0", 3)
        CellId(base='coco_17', row=2, column=0)
        >>> parse_cell_id("17", 1)
        CellId(base='17', row=0, column=0)
    """
    match = _ID.fullmatch(text)
    if match is not None and int(match["row"]) < size and int(match["column"]) < size:
        return CellId(match["base"], int(match["row"]), int(match["column"]))
    if size == 1 and text.strip():
        return CellId(text, 0, 0)
    raise BenchmarkError(
        f"id {text!r} names no cell of a {size}×{size} grid", hint="ids are base_row_column, counted from 0"
    )


def hub_files(data: Path, name: str, size: int) -> tuple[Path, ...]:
    """Return the parquet files of one config of a copy of the hub; none if there is none."""
    config = f"{name}_{size}x{size}"
    found = parquet_files(data / config) if (data / config).is_dir() else ()
    return found or tuple(path for path in parquet_files(data) if path.parent.name == config)


class HubGrids:
    """A diagnostic from the hub's configs: base samples are questions, rows are released views.

    Base samples without a picture in every cell are left out, and ``warnings`` say so.

    Args:
        name: ``whitebackground`` or ``complexgrid``.
        style: The style of their views.
        files: Parquet files of every grid size.

    Raises:
        BenchmarkError: If an id names no cell or stands twice, rows of a base sample disagree, an answer contradicts
            its id, or a picture has not the size of its grid.
    """

    def __init__(
        self, name: str, style: Style, files: dict[int, tuple[Path, ...]], defaults: AskDefaults, data: Path
    ) -> None:
        self._name, self._style, self.defaults = name, style, defaults
        self._places = {
            view_id_of(style, size, row, column): (size, row, column)
            for size in files
            for row in range(size)
            for column in range(size)
        }
        cache = cache_folder()
        self._shelves = {size: ParquetRows(paths, cache) for size, paths in files.items()}
        self._cells: dict[CellId, dict[int, ParquetRow]] = {}
        self._homes: dict[str, ParquetRows] = {}
        for size, shelf in self._shelves.items():
            for row in shelf.rows:
                self._take(size, shelf, row)
        bases = list(dict.fromkeys(cell.base for cell in self._cells))
        whole = [base for base in bases if self._is_whole(base)]
        self.warnings = _lacking(len(bases), [base for base in bases if base not in set(whole)])
        if not whole:
            raise BenchmarkError(f"no base sample of {name} has all its cells", hint="fetch the rest of its files")
        self._questions = tuple(self._question(base) for base in whole)
        self.identity = BenchmarkIdentity(
            name=name,
            revision=content_sha256([[size, shelf.fingerprint] for size, shelf in self._shelves.items()]),
            options={
                "grid": ",".join(str(size) for size in files),
                **({"fetched_from": origin} if (origin := fetched_from(data)) else {}),
            },
        )

    def questions(self) -> Iterator[Question]:
        """Yield every question, in the order of the rows."""
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie now; it stays for the next 64 at least.

        Raises:
            BenchmarkError: If no row shows it.
        """
        shelf = self._homes.get(image.file_sha256)
        if shelf is None:
            raise BenchmarkError(
                f"no row shows a picture with SHA-256 {image.file_sha256[:12]}…",
                hint="were the parquet files changed since the run was planned?",
            )
        return shelf.path(image)

    def released_views(self) -> tuple[str, ...]:
        """Return all cells of all grids, row by row."""
        return self.defaults.views

    def released_image(self, question: Question, view_id: str) -> ViewImage | None:
        """Return the picture of one cell, None if the view is none of these grids."""
        if view_id not in self._places:
            return None
        size, row_index, column = self._places[view_id]
        row = self._cells[CellId(question.id, row_index, column)][size]
        left, top = self._grid(size).corner(row_index, column)
        return ViewImage(
            question_id=question.id,
            view=view_id,
            image=row.image,
            target_in_view=Box(left, top, left + _TILE.width, top + _TILE.height),
        )

    def _take(self, size: int, shelf: ParquetRows, row: ParquetRow) -> None:
        try:
            cell = parse_cell_id(str(row.values.get("id", "")), size)
        except BenchmarkError as error:
            raise BenchmarkError(f"{row.place}: {error.message}", hint=error.hint) from error
        by_size = self._cells.setdefault(cell, {})
        if size in by_size:
            raise BenchmarkError(
                f"{row.place}: id {row.values['id']!r} is also that of {by_size[size].place}", hint="ids must be unique"
            )
        if row.image.size.n_px and row.image.size != self._grid(size).canvas:
            wanted = self._grid(size).canvas
            raise BenchmarkError(
                f"{row.place}: the picture has {row.image.size.width}×{row.image.size.height} px, a {size}×{size} grid "
                f"{wanted.width}×{wanted.height}",
                hint="is the file of another config?",
            )
        if self._style == "captioned":
            _check_answer(row, cell)
        by_size[size] = row
        self._homes[row.image.file_sha256] = shelf

    def _is_whole(self, base: str) -> bool:
        return all(
            size in self._cells.get(CellId(base, row, column), {})
            for size in self._shelves
            for row in range(size)
            for column in range(size)
        )

    def _question(self, base: str) -> Question:
        rows = [row for cell, by_size in self._of_base(base) for row in by_size.values()]
        first = self._cells[CellId(base, 0, 0)][next(iter(self._shelves))]
        is_cell = self._style == "captioned"
        column = "caption" if is_cell else "question"
        for row in rows:
            for name in (column,) if is_cell else (column, "answer"):
                if row.values.get(name) != first.values.get(name):
                    raise BenchmarkError(
                        f"{row.place}: base sample {base} has another {name} than at {first.place}",
                        hint="all cells of a base sample ask the same",
                    )
        return Question(
            id=base,
            benchmark=self._name,
            text=_text(first, column),
            image=first.image,
            image_group=first.image.file_sha256,
            answers=() if is_cell else _answers(first),
            asks_for_cell=is_cell,
        )

    def _of_base(self, base: str) -> list[tuple[CellId, dict[int, ParquetRow]]]:
        largest = max(self._shelves)
        cells = [CellId(base, row, column) for row in range(largest) for column in range(largest)]
        return [(cell, self._cells[cell]) for cell in cells if cell in self._cells]

    def _grid(self, size: int) -> GridComposition:
        pitch = _PITCHES[self._style]
        canvas = Size(pitch.width * size, pitch.height * size)
        return GridComposition(canvas, self._style, size, size, 0, 0, _TILE, pitch)


def find_hub_grids(
    data: Path | None, name: str, style: Style, grids: Sequence[int], defaults: AskDefaults
) -> HubGrids | None:
    """Return a diagnostic from a copy of the hub, None if the data is not such a copy.

    Raises:
        UsageError: If it is one, but lacks one of the grids.
    """
    if data is None or not any(path.parent.name.startswith(f"{name}_") for path in parquet_files(data)):
        return None
    files = {size: hub_files(data, name, size) for size in grids}
    lacking = [size for size, paths in files.items() if not paths]
    if lacking:
        there = sorted({path.parent.name for path in parquet_files(data) if path.parent.name.startswith(f"{name}_")})
        make = f", or make it from needles: --option needles={data}" if f"{name}_1x1" in there else ""
        raise UsageError(
            f"{data} holds no {name}_{lacking[0]}x{lacking[0]}",
            hint=f"there is {', '.join(there)}: --option grid={make}",
        )
    return HubGrids(name, style, files, defaults, data)


def _check_answer(row: ParquetRow, cell: CellId) -> None:
    match = _CELL.fullmatch(str(row.values.get("answer")))
    if match is None or (int(match[1]), int(match[2])) != (cell.row + 1, cell.column + 1):
        raise BenchmarkError(
            f"{row.place}: the answer {row.values.get('answer')!r} contradicts the id {row.values['id']!r}",
            hint=f"the cell of this id is row: {cell.row + 1}, col: {cell.column + 1}",
        )


def _text(row: ParquetRow, column: str) -> str:
    value = row.values.get(column)
    if not isinstance(value, str) or not value.strip():
        raise BenchmarkError(f"{row.place}: no value in column {column!r}", hint="is the file of another config?")
    return value


def _answers(row: ParquetRow) -> tuple[str, ...]:
    given = row.values.get("answer")
    entries = given if isinstance(given, list) else [given]
    return tuple(entry for entry in entries if isinstance(entry, str) and entry)


def _lacking(n_bases: int, lacking: Sequence[str]) -> tuple[str, ...]:
    if not lacking:
        return ()
    shown = ", ".join(lacking[:_N_SHOWN]) + (", …" if len(lacking) > _N_SHOWN else "")
    return (f"{len(lacking)} of {n_bases} base samples lack cells and are left out: {shown}",)
