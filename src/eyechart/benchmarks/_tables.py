"""Question files as rows: JSONL, JSON, CSV, TSV and parquet, each row with the place to name in an error."""

import csv
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from eyechart.errors import BenchmarkError, MissingDependencyError, UsageError

SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")

# Some tables carry whole pictures in their cells; the csv module's own limit is 128 KiB.
_MAX_CELL_CHARACTERS = 1 << 30
_ROWS_AT_ONCE = 256
_BUFFER_BYTES = 1 << 20


class Row(NamedTuple):
    """One row of a question file. ``place`` is file and line (CSV, JSONL) or file and row, counted from 1."""

    place: str
    values: dict[str, object]


def find_question_file(data: Path, name: str | None, example: str) -> Path:
    """Return the question file of a folder, or the file itself.

    Args:
        data: The file, or the folder that holds it.
        name: Its name where a folder holds several.
        example: Hint where a folder holds none.

    Raises:
        UsageError: If there is none, or several and none is named.
    """
    if data.is_file():
        return data
    if not data.is_dir():
        raise UsageError(f"{data} does not exist", hint="check the path given as data")
    if name is not None:
        return data / name
    found = sorted(path for path in data.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise UsageError(
            f"{data} holds {len(found)} question files ({names})",
            hint="say which one, for example --option file=mine.csv" if found else example,
        )
    return found[0]


def read_rows(path: Path, *, rows_at_once: int = _ROWS_AT_ONCE, suffix: str | None = None) -> Iterator[Row]:
    """Yield the rows of a question file, one at a time for JSONL, CSV and TSV.

    Args:
        path: The file; its suffix decides how it is read.
        rows_at_once: Rows of a parquet file in memory at once; few where they carry pictures.
        suffix: Read it as if its name ended so, where its content told what it is.

    Raises:
        BenchmarkError: If the file cannot be read, has an unknown suffix, or a row is damaged.
        MissingDependencyError: If the file is parquet and pyarrow is not installed.
    """
    readers: dict[str, Callable[[Path], Iterator[Row]]] = {
        ".jsonl": _jsonl,
        ".json": _json,
        ".csv": partial(_separated, delimiter=","),
        ".tsv": partial(_separated, delimiter="\t"),
        ".parquet": partial(_parquet, rows_at_once=rows_at_once),
    }
    reader = readers.get(suffix or path.suffix.lower())
    if reader is None:
        raise BenchmarkError(f"{path}: no question file ({path.suffix or 'no suffix'})", hint=_one_of())
    try:
        yield from reader(path)
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error


def decode_json(text: bytes, place: str) -> object:
    """Decode strict JSON (UTF-8, no NaN).

    Raises:
        BenchmarkError: If it is none; the message names the place and the byte.
    """
    try:
        return msgspec.json.decode(text.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BenchmarkError(f"{place}: not JSON ({error})", hint="repair or remove what stands there") from error


def _jsonl(path: Path) -> Iterator[Row]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                place = f"{path}:{number}"
                yield Row(place, _object(decode_json(line, place), place))


def _json(path: Path) -> Iterator[Row]:
    rows = decode_json(path.read_bytes(), str(path))
    if not isinstance(rows, list):
        raise BenchmarkError(
            f"{path}: holds {type(rows).__name__}, not a list", hint="write a JSON list with one object per question"
        )
    for number, row in enumerate(rows, start=1):
        place = f"{path}: item {number}"
        yield Row(place, _object(row, place))


def _separated(path: Path, delimiter: str) -> Iterator[Row]:
    kind, comma = ("TSV", "tab") if delimiter == "\t" else ("CSV", "comma")
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines, strict=True, delimiter=delimiter)
        if delimiter == ",":
            _check_separator(reader, path)
        while True:
            try:
                row = next_row(reader)
            except (csv.Error, UnicodeDecodeError) as error:
                place = f"{path}:{reader.line_num + 1}"
                raise BenchmarkError(f"{place}: not {kind} ({error})", hint=f"save the file as UTF-8 {kind}") from error
            if row is None:
                return
            yield Row(f"{path}:{reader.line_num}", _complete(row, f"{path}:{reader.line_num}", comma))


def next_row(reader: "csv.DictReader[str]") -> dict[str, str] | None:
    """Return the next row, its cells of any length, or None; the process's own limit stands again afterwards.

    Raises:
        csv.Error: If the row is malformed.
    """
    # Pictures and long reasoning do not fit into the module's default of 131,072 characters a cell.
    earlier_limit = csv.field_size_limit(_MAX_CELL_CHARACTERS)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(earlier_limit)


def _check_separator(reader: "csv.DictReader[str]", path: Path) -> None:
    """Refuse a file whose header is one cell that other separators would divide, as some spreadsheets write it."""
    try:
        header = reader.fieldnames or ()
    except (csv.Error, UnicodeDecodeError):
        return  # said with its line where the rows are read
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and separator in header[0]:
            raise BenchmarkError(
                f"{path}:1: the cells are divided by {name}, not by commas", hint="save the file as comma-separated CSV"
            )


def _complete(row: dict[str, str], place: str, comma: str) -> dict[str, object]:
    """Return a row whose cells are as many as the columns; empty cells become None."""
    if None in row or None in row.values():
        raise BenchmarkError(
            f"{place}: the row has not as many cells as the header", hint=f"quote cells that contain a {comma}"
        )
    return {column: cell if cell != "" else None for column, cell in row.items()}


def _parquet(path: Path, rows_at_once: int) -> Iterator[Row]:
    try:
        import pyarrow  # deferred: an extra
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow (it reads parquet)", "hub") from error
    try:
        number = 0
        # Without a buffer a whole row group, pictures included, is read before its first row; threads take two.
        with pyarrow.parquet.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as table:
            for batch in table.iter_batches(batch_size=rows_at_once, use_threads=False):
                for values in batch.to_pylist():
                    number += 1
                    yield Row(f"{path}: row {number}", values)
    except pyarrow.ArrowException as error:
        raise BenchmarkError(f"{path}: not parquet ({error})", hint="was the file copied completely?") from error


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        shown = json.dumps(value, ensure_ascii=False)[:60]
        raise BenchmarkError(f"{place}: {shown} is no JSON object", hint='write one {"image": …, "question": …}')
    return value


def _one_of() -> str:
    return f"question files end in {', '.join(SUFFIXES)}"
