"""Tables that carry their pictures in the cells: unpacked once into files beside the table, rows without pictures."""

import base64
import binascii
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from eyechart.benchmarks._cells import Row
from eyechart.benchmarks._release import MEDIA_TYPES
from eyechart.benchmarks._tables import read_rows
from eyechart.benchmarks._unread import absence_of, shortened
from eyechart.errors import BenchmarkError, ImageError
from eyechart.images.decode import examine, unread_image
from eyechart.images.files import read_whole, write_pieces
from eyechart.schema import ImageRef, JsonObject, content_sha256

# VLMEvalKit writes another row's index in place of a picture that it repeats; no picture is as short as that.
MAX_REFERENCE_CHARACTERS = 64
_INDEX_NAME = "rows.jsonl"
_INDEX_VERSION = 2
_PICTURE_ROWS_AT_ONCE = 4
_SUFFIXES = {"image/jpeg": ".jpg", "image/tiff": ".tif"} | {
    kind: suffix for suffix, kind in MEDIA_TYPES.items() if kind not in {"image/jpeg", "image/tiff"}
}


class UnpackedRow(msgspec.Struct, frozen=True):
    """One row: its place, its cells but the pictures, and its pictures by column, None where the cell is empty."""

    place: str
    values: JsonObject
    pictures: dict[str, ImageRef | None]


class _Header(msgspec.Struct, frozen=True):
    """Of which table an index tells, as far as a look at the file shows."""

    table: str
    n_bytes: int
    mtime_ns: int
    columns: tuple[str, ...]
    n_rows: int
    version: int


class UnpackedTable(NamedTuple):
    """A table and the folder with its pictures.

    Args:
        rows: All rows in order.
        folder: Where its pictures lie, named by content.
    """

    rows: tuple[UnpackedRow, ...]
    folder: Path

    @property
    def revision(self) -> str:
        """A hash of all rows and pictures: the same for a TSV and a parquet file that say the same."""
        return content_sha256(
            [[row.values, {name: ref.file_sha256 for name, ref in row.pictures.items() if ref}] for row in self.rows]
        )

    def path(self, image: ImageRef) -> Path:
        """Return where a picture of the table lies."""
        return self.folder / _file_name(image)


def unpack_table(table: Path, columns: Sequence[str], folder: Path | None = None) -> UnpackedTable:
    """Read a table whose cells hold pictures, writing each distinct picture once.

    A cell may hold encoded bytes, a parquet struct with ``bytes``, base64 text with or without a data-URI head, the
    index of another row that holds the picture, or the path of a file relative to the table. One row at a time is in
    memory. The next call reads the index that this one leaves, as long as the table keeps its length and time.

    Args:
        table: TSV, CSV, JSONL or parquet.
        columns: Columns that hold pictures, where the table has them.
        folder: Where pictures and index go; ``<table>.images`` beside the table if None.

    Raises:
        BenchmarkError: If the table is damaged; the message names file and row.
        StoreError: If the folder cannot be written.
        MissingDependencyError: If the table is parquet and pyarrow is not installed.
    """
    folder = folder or table.with_name(f"{table.name}.images")
    try:
        status = table.stat()
    except OSError as error:
        raise BenchmarkError(f"{table} cannot be read ({error.strerror})", hint="check the path") from error
    header = _Header(table.name, status.st_size, status.st_mtime_ns, tuple(columns), 0, _INDEX_VERSION)
    known = _read_index(folder, header)
    if known is None:
        known = tuple(_unpacked(table, columns, folder))
        if not any(ref is not None and ref.fault for row in known for ref in row.pictures.values()):
            # What cannot be read is looked at again each time: it may be mended without a change of the table.
            _write_index(folder, msgspec.structs.replace(header, n_rows=len(known)), known)
    return UnpackedTable(known, folder)


def _unpacked(table: Path, columns: Sequence[str], folder: Path) -> Iterator[UnpackedRow]:
    by_index: dict[str, dict[str, ImageRef | None]] = {}
    for row in read_rows(table, rows_at_once=_PICTURE_ROWS_AT_ONCE):
        pictures: dict[str, ImageRef | None] = {}
        for column in columns:
            if column in row.values:
                reference = _reference(row.values[column])
                if reference is not None and reference in by_index:
                    pictures[column] = by_index[reference].get(column)
                else:
                    pictures[column] = _kept(row, column, table, folder)
        index = row.values.get("index")
        if index is not None:
            by_index[str(index)] = pictures
        values = {name: cell for name, cell in row.values.items() if name not in columns}
        yield UnpackedRow(row.place.replace(f"{table}", table.name), values, pictures)


def _reference(cell: object) -> str | None:
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    return cell.strip() if isinstance(cell, str) and len(cell) <= MAX_REFERENCE_CHARACTERS else None


def _kept(row: Row, column: str, table: Path, folder: Path) -> ImageRef | None:
    """Write the picture of a cell and return what it is, None for an empty cell."""
    place = f"{row.place.replace(str(table), table.name)}, column {column}"
    try:
        content = _bytes_of(row.values[column], place, table)
    except ImageError as error:
        return unread_image(error.message)
    if content is None:
        return None
    image, _ = examine(content, place)
    path = folder / _file_name(image)
    if not path.is_file() or path.stat().st_size != len(content):
        write_pieces(path, [content])
    return image


def _bytes_of(cell: object, place: str, table: Path) -> bytes | None:
    if isinstance(cell, Mapping):
        cell = cell.get("bytes") or cell.get("path")
    if cell is None or cell == "":
        return None
    if isinstance(cell, bytes):
        return cell
    if not isinstance(cell, str):
        raise BenchmarkError(f"{place}: {type(cell).__name__} is not a picture", hint="bytes, base64 or a path is read")
    if cell.lstrip().startswith("["):
        raise BenchmarkError(f"{place}: a list of pictures", hint="one picture a question is read")
    if len(cell) <= MAX_REFERENCE_CHARACTERS or "." in cell[-6:]:
        return _file_bytes(cell, place, table)
    try:
        return base64.b64decode(cell.partition("base64,")[2] or cell, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageError(f"{place}: no base64 ({error})") from error


def _file_bytes(name: str, place: str, table: Path) -> bytes:
    # By text, not by resolving links: download caches are folders of links.
    root = Path(os.path.normpath(table.parent.absolute()))
    path = Path(os.path.normpath(root / name))
    if not path.is_relative_to(root):
        hint = "give paths inside the table's folder"
        raise BenchmarkError(f"{place}: {shortened(name)!r} lies outside {root}", hint=hint)
    absence = absence_of(path, name)
    if absence:
        raise ImageError(f"{place}: neither a picture nor the index of an earlier row, and as a path: {absence}")
    return read_whole(path, f"{place}: {shortened(name)}")


def _file_name(image: ImageRef) -> str:
    return image.file_sha256 + _SUFFIXES.get(image.media_type, "")


def _read_index(folder: Path, header: _Header) -> tuple[UnpackedRow, ...] | None:
    """Return the rows that an earlier call left for the same table, None where it must be read again."""
    try:
        first, *lines = (folder / _INDEX_NAME).read_bytes().splitlines()
        stored = msgspec.json.decode(first, type=_Header)
        if msgspec.structs.replace(stored, n_rows=0) != header or stored.n_rows != len(lines):
            return None
        rows = tuple(msgspec.json.decode(line, type=UnpackedRow) for line in lines)
    except (OSError, ValueError, RecursionError):  # no index, or one that was cut
        return None
    images = {ref for row in rows for ref in row.pictures.values() if ref is not None}
    return rows if all((folder / _file_name(image)).is_file() for image in images) else None


def _write_index(folder: Path, header: _Header, rows: Sequence[UnpackedRow]) -> None:
    lines = (msgspec.json.encode(entry) + b"\n" for entry in (header, *rows))
    write_pieces(folder / _INDEX_NAME, lines)
