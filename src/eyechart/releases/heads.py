"""What stands at the beginning of somebody's file: how it is kept, its columns, its first rows. Nothing in it is run.

Every look is bounded: a line, an archive's list of members, the depth of JSON and the part of a document that is looked
at, so that a hostile file costs no memory and no time.
"""

import csv
import io
import json
import mmap
import re
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple
from zipfile import BadZipFile, ZipFile

from eyechart.benchmarks._cells import Row
from eyechart.benchmarks._spreadsheets import read_sheet
from eyechart.benchmarks._tables import check_header, read_rows
from eyechart.errors import BenchmarkError
from eyechart.schema import TwiceError, once

Container = Literal["folder", "zip", "xlsx", "parquet", "js", "json", "jsonl", "csv", "tsv"]
"""How a file keeps its rows, whatever it is called."""

N_ROWS = 20
"""Rows that are looked at."""

_LONGEST_LINE = 64 << 20
_LONGEST_LOOK = 128 << 20
_LONGEST_WHOLE = 4 << 20
_LONGEST_LIST = 8 << 20  # of an archive's members: a hundred thousand names
_DEEPEST = 200
_MOST_TOKENS = 1_000_000
_HEAD = 4096
_LEVELS = 2
_LONGEST_CHARACTER = 4
_SEE_WIDE = 0xFFFFFFFF
_BOM = b"\xef\xbb\xbf"
_JS_START = re.compile(
    r"(?:\s|//[^\n]*\n|/\*[^*]*\*/)*(?:(?:var|let|const)\s+)?(?:test_data\s*=|(?:window\.)?cache\s*\[\s*[\"'])"
)
_TOKEN = re.compile(rb'"(?:[^"\\]+|\\.)*+"|[{}\[\],]|[^\s"{}\[\],:]+', re.DOTALL)
_PICKLED = (
    "pickle files are never loaded, because loading one runs whatever it holds",
    "give the table written beside",
)


class Head(NamedTuple):
    """The beginning of a file or folder.

    Args:
        container: How it is kept.
        names: Files of a folder, members of an archive, or keys of a JSON object; else the columns of its rows.
        rows: The first rows; a short JSON object is its own only row, or holds rows under ``logs``.
        shapes: For a JSON object, path of keys → ``object``, ``list`` or ``value``, down to the second level.
    """

    container: Container
    names: tuple[str, ...]
    rows: tuple[Mapping[str, object], ...] = ()
    shapes: Mapping[tuple[str, ...], str] = MappingProxyType({})


def read_head(path: Path) -> Head:
    """Look at the beginning of a file or folder.

    Raises:
        BenchmarkError: If it cannot be read, is not a table, text or archive, or is damaged or hostile.
        MissingDependencyError: If it is parquet and pyarrow is not installed.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return Head("folder", tuple(sorted(entry.name for entry in path.iterdir())))
        if not stat.S_ISREG(mode):
            raise BenchmarkError(f"{path} is not a file with content", hint="give the path of a file or folder")
        with path.open("rb") as file:
            start = file.read(_HEAD)
        return _head_of(path, start)
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error


def _head_of(path: Path, start: bytes) -> Head:
    if not start.strip():
        raise BenchmarkError(f"{path} is empty", hint="was the file copied completely?")
    if start.startswith(b"PK\x03\x04"):
        return _zip_head(path)
    if start.startswith(b"PAR1"):
        rows = _first(read_rows(path, suffix=".parquet", rows_at_once=N_ROWS))
        return Head("parquet", _columns(rows), rows)
    if start[:1] == b"\x80" and start[1:2] <= b"\x05":
        raise BenchmarkError(f"{path}: {_PICKLED[0]}", hint=f"{_PICKLED[1]} it (xlsx, tsv, json)")
    if start.startswith(b"\x1f\x8b"):
        raise BenchmarkError(f"{path} is compressed with gzip", hint="unpack it first: gunzip FILE")
    text = _decoded(path, start)
    if _JS_START.match(text):
        return Head("js", ())
    if text.lstrip().startswith(("{", "[")):
        return _json_head(path)
    return _table_head(path, text)


def _first(rows: Iterator[Row]) -> tuple[Mapping[str, object], ...]:
    return tuple(row.values for row in islice(rows, N_ROWS))


def _decoded(path: Path, start: bytes) -> str:
    """Return the beginning as text; a character cut in two at its end is left out.

    Raises:
        BenchmarkError: If it is not UTF-8.
    """
    try:
        return start.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start >= len(start) - _LONGEST_CHARACTER and len(start) == _HEAD:
            return start[: error.start].decode("utf-8-sig")
        what = "UTF-16 text" if start[:2] in {b"\xff\xfe", b"\xfe\xff"} else "neither UTF-8 text nor a known archive"
        raise BenchmarkError(f"{path} is {what}", hint="give the file of answers itself, as UTF-8") from error


# --- archives ---------------------------------------------------------------------------------------------------------


def _zip_head(path: Path) -> Head:
    if _list_bytes(path) > _LONGEST_LIST:
        raise BenchmarkError(f"{path}: the archive lists more members than any file of answers has", hint="unpack it")
    try:
        with ZipFile(path) as archive:
            names = tuple(archive.namelist())
    except (BadZipFile, ValueError, NotImplementedError) as error:
        raise BenchmarkError(f"{path}: no readable archive ({error})", hint="was it copied completely?") from error
    if "xl/workbook.xml" in names:
        rows = _first(read_sheet(path))
        return Head("xlsx", _columns(rows), rows)
    if any(name.endswith((".pkl", ".pickle")) for name in names):
        raise BenchmarkError(f"{path}: {_PICKLED[0]}", hint=f"{_PICKLED[1]} it (xlsx, tsv, json)")
    return Head("zip", names)


def _list_bytes(path: Path) -> int:
    """Return how long an archive says that its list of members is, without reading it; 0 where it does not say."""
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - (1 << 16) - 22))
        tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or end + 16 > len(tail):
        return 0
    (n_bytes,) = struct.unpack_from("<I", tail, end + 12)
    wide = tail.rfind(b"PK\x06\x06")  # where an archive has more members than the short form can count
    if n_bytes == _SEE_WIDE and wide >= 0 and wide + 48 <= len(tail):
        (n_bytes,) = struct.unpack_from("<Q", tail, wide + 40)
    return int(n_bytes)


# --- JSON -------------------------------------------------------------------------------------------------------------


def _json_head(path: Path) -> Head:
    """Look at one JSON object a line, or at one JSON value over the whole file."""
    lines = _first_lines(path)
    if len(lines) > 1 and _object(lines[0][1], f"{path}:{lines[0][0]}") is not None:
        rows = []
        for number, line in lines:
            row = _object(line, f"{path}:{number}")
            if row is None:
                raise BenchmarkError(f"{path}:{number}: not JSON, or no object", hint="was the file copied completely?")
            rows.append(row)
        return Head("jsonl", _columns(rows), tuple(rows))
    return _document_head(path)


def _first_lines(path: Path) -> list[tuple[int, bytes]]:
    """Return the first lines that are not blank, with their numbers from 1.

    Raises:
        BenchmarkError: If one is longer than any answer.
    """
    lines: list[tuple[int, bytes]] = []
    number = n_bytes = 0
    with path.open("rb") as file:
        while len(lines) < N_ROWS and n_bytes <= _LONGEST_LINE and (line := file.readline(_LONGEST_LINE + 1)):
            number, n_bytes = number + 1, n_bytes + len(line)
            if len(line) > _LONGEST_LINE:
                if not lines:
                    return []  # one value on one line: its outline is read without holding it
                raise BenchmarkError(
                    f"{path}:{number}: longer than {_LONGEST_LINE >> 20} MiB",
                    hint="leave pictures and logs out of the rows",
                )
            if line.strip():
                lines.append((number, line.removeprefix(_BOM)))
    return lines


def _object(text: bytes, place: str) -> dict[str, object] | None:
    """Return a JSON object; NaN, which Python's writer lets through, is None. Anything else is None.

    Raises:
        BenchmarkError: If a key stands twice in it: either value may be the answer.
    """
    try:
        value = json.loads(text, parse_constant=lambda _: None, object_pairs_hook=once)
    except TwiceError as error:
        raise BenchmarkError(f"{place}: {error}", hint="keep one of the two") from error
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _document_head(path: Path) -> Head:
    """Look at a JSON document without building it: its keys, what they hold, and the first objects of its list."""
    n_bytes = min(path.stat().st_size, _LONGEST_LOOK)
    with path.open("rb") as file, mmap.mmap(file.fileno(), n_bytes, access=mmap.ACCESS_READ) as content:
        outline = _outline(path, content)
        if outline.is_list:
            spans = [span for span in outline.items if span[1] - span[0] <= _LONGEST_WHOLE]
            rows = [row for start, end in spans if (row := _object(content[start:end], str(path))) is not None]
            return Head("json", _columns(rows), tuple(rows))
        whole = _object(content[:].removeprefix(_BOM), str(path)) if n_bytes <= _LONGEST_WHOLE else None
    if whole is None:
        return Head("json", outline.keys, (), outline.shapes)
    logs = whole.get("logs")
    rows = [entry for entry in logs[:N_ROWS] if isinstance(entry, dict)] if isinstance(logs, list) else [whole]
    return Head("json", outline.keys, tuple(rows), outline.shapes)


class _Outline:
    """The keys of a JSON object down to the second level, or where the first objects of a list stand."""

    def __init__(self) -> None:
        self.is_list = self.is_done = False
        self.shapes: dict[tuple[str, ...], str] = {}
        self.items: list[tuple[int, int]] = []
        self.opened: list[bytes] = []
        self._path: list[str] = []  # the key that the open object or list of each inner level stands under
        self._key, self._awaits_key, self._item_start = "", False, 0

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the whole."""
        return tuple(names[0] for names in self.shapes if len(names) == 1)

    def open(self, kind: bytes, start: int) -> None:
        """Take an opening bracket."""
        if not self.opened:
            self.is_list = kind == b"["
        else:
            if len(self.opened) == 1 and self.is_list:
                self._item_start = start
            self._note("object" if kind == b"{" else "list")
            self._path.append(self._key)
        self.opened.append(kind)
        self._awaits_key = kind == b"{"

    def close(self, end: int) -> None:
        """Take a closing bracket."""
        kind = self.opened.pop() if self.opened else b""
        if self._path:
            self._path.pop()
        if self.is_list and len(self.opened) == 1 and kind == b"{":
            self.items.append((self._item_start, end))
        self.is_done = not self.opened or len(self.items) == N_ROWS
        self._awaits_key = False

    def take(self, token: bytes) -> None:
        """Take a comma, a key or a value."""
        if not self.opened:
            self.is_done = True  # neither an object nor a list
        elif token == b",":
            self._awaits_key = self.opened[-1] == b"{"
        elif self._awaits_key:
            self._key, self._awaits_key = _key(token), False
        else:
            self._note("value")

    def _note(self, shape: str) -> None:
        if len(self.opened) <= _LEVELS and not self.is_list and self.opened[-1] == b"{":
            self.shapes.setdefault((*self._path, self._key), shape)


def _outline(path: Path, content: mmap.mmap) -> _Outline:
    """Return the outline of a JSON document, without building it.

    Raises:
        BenchmarkError: If it is nested deeper than any file of answers, or is not whole JSON.
    """
    outline, number = _Outline(), 0
    for number, found in enumerate(_TOKEN.finditer(content)):
        token = found.group() if found.end() - found.start() < _HEAD else b'"'
        if token[:1] in b"{[":
            outline.open(token, found.start())
        elif token[:1] in b"}]":
            outline.close(found.end())
        elif token != _BOM or outline.opened:
            outline.take(token)
        if len(outline.opened) > _DEEPEST:
            raise BenchmarkError(f"{path}: JSON nested deeper than {_DEEPEST} levels", hint="no file of answers is")
        if outline.is_done or number > _MOST_TOKENS:
            break
    is_whole = outline.is_done and (not outline.opened or outline.is_list)
    is_long = number > _MOST_TOKENS or len(content) == _LONGEST_LOOK
    if not (is_whole or (is_long and outline.opened)) or not (outline.shapes or outline.items or number):
        raise BenchmarkError(f"{path}: not JSON, or cut short", hint="was the file copied completely?")
    return outline


def _key(token: bytes) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return ""


# --- tables -----------------------------------------------------------------------------------------------------------


def _table_head(path: Path, text: str) -> Head:
    """Look at a table of cells divided by tabs or commas."""
    header = text.split("\n", 1)[0]
    container: Container = "tsv" if "\t" in header else "csv"
    delimiter = "\t" if container == "tsv" else ","
    rows: list[dict[str, object]] = []
    limit = csv.field_size_limit(_LONGEST_LINE)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(_bounded(path, file), delimiter=delimiter, strict=True)
            names = tuple(reader.fieldnames or ())
            check_header(names, path, delimiter)
            rows += [
                {name: cell or None for name, cell in row.items() if isinstance(name, str)}
                for row in islice(reader, N_ROWS)
            ]
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{path}: not UTF-8 ({error.reason})", hint="save the file as UTF-8") from error
    except csv.Error as error:
        raise BenchmarkError(f"{path}: no table ({error})", hint="is a quotation mark missing?") from error
    finally:
        csv.field_size_limit(limit)
    return Head(container, names, tuple(rows or [dict.fromkeys(names)]))


def _bounded(path: Path, file: io.TextIOBase) -> Iterator[str]:
    """Yield the lines of a table, none longer than any answer."""
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise BenchmarkError(
                f"{path}: a line is longer than {_LONGEST_LINE >> 20} MiB", hint="leave pictures out of the rows"
            )
        yield line


def _columns(rows: "list[dict[str, object]] | tuple[Mapping[str, object], ...]") -> tuple[str, ...]:
    """Return the columns of rows in the order they first appear."""
    return tuple(dict.fromkeys(sys.intern(name) if type(name) is str else str(name) for row in rows for name in row))
