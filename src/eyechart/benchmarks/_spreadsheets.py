"""Rows of one sheet of an xlsx file, read without running or resolving anything in it."""

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple
from xml.etree import ElementTree as XmlTree
from zipfile import BadZipFile, ZipFile

from eyechart.benchmarks._cells import Row, check_names
from eyechart.errors import BenchmarkError, UsageError

MAX_CELL_CHARACTERS = 32_767
"""Longest text a cell can hold (Excel specifications and limits); writers cut or drop what is longer."""

Cell = str | int | float | bool | None

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
# Control characters, and texts that look like one, are written so (ECMA-376 part 1, 22.4.2.4).
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_REFERENCE = re.compile(r"([A-Z]+)([0-9]+)")
_WHOLE = re.compile(r"-?[0-9]+")
# The list of merged cells stands behind the rows, which are to be read one at a time.
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z]+[0-9]+):([A-Z]+[0-9]+)[\"']")
_CHUNK_BYTES, _LONGEST_ELEMENT = 1 << 20, 256
_SNIFFED_BYTES = 4096
# Numbers of built-in formats (ECMA-376 part 1, 18.8.30), those of East Asian dates among them.
_PERCENTAGES = frozenset({"9", "10"})
_DATES = frozenset(map(str, (*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59))))
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|General')
# Sheets of answers unpack to some ten times their packed size; archives made to exhaust memory to a thousand times.
_LEAST_BOUND, _MOST_PACKED = 16 << 20, 50


class Strict(NamedTuple):
    """How a sheet is read whose cells are to mean what the spreadsheet shows.

    Args:
        tell: Is told what was chosen: the sheet, hidden rows and columns, merged cells.
        columns_read: Which of the columns that a header names are read for more than to be kept; in these, cells are
            refused that say something else than the spreadsheet shows: a formula that was never worked out, an error,
            or a number shown as a date, a time or a percentage. In others they are left out.
        sheet: Name of the sheet; the first that is not hidden if None.
    """

    tell: Callable[[str], None]
    columns_read: Callable[[Sequence[str]], frozenset[str]]
    sheet: str | None = None


def read_sheet(path: Path, strict: Strict | None = None) -> Iterator[Row]:
    """Yield the rows under the header of the first sheet that is not hidden; cells that are not there are None.

    Args:
        path: The file.
        strict: How to read what a spreadsheet may show otherwise; None reads cells as they are stored.

    Raises:
        BenchmarkError: If the file is not an xlsx file, has no header or one name twice in it, or a cell is refused.
        UsageError: If there is no sheet of the name.
    """
    try:
        with ZipFile(path) as archive:
            shared = _shared_strings(archive)
            part = _choose_sheet(archive, path, strict)
            if strict is None:
                with _Bounded(archive, part) as sheet:
                    yield from _rows(path, _cells(sheet, shared, None))
                return
            merged = _merged_cells(archive, part)
            with _Bounded(archive, part) as sheet:
                yield from _strict_rows(path, _cells(sheet, shared, _formats_unlike_numbers(archive)), merged, strict)
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error
    except (BadZipFile, KeyError, IndexError, ValueError, XmlTree.ParseError) as error:
        raise BenchmarkError(f"{path}: not an xlsx file ({error})", hint="was the file copied completely?") from error


class _SheetRow(NamedTuple):
    """One row of a sheet: cells by column number, and which of them say something else than is shown, and what."""

    number: int
    cells: dict[int, Cell]
    unlike: dict[int, str]
    is_hidden: bool
    hidden_columns: frozenset[int]


class _Range(NamedTuple):
    """Merged cells: columns and rows, counted from 1, both ends included."""

    name: str
    first_column: int
    first_row: int
    last_column: int
    last_row: int


def _header(path: Path, rows: Iterator[_SheetRow]) -> tuple[dict[int, str], int]:
    """Return the names of the columns, and the row in which they stand."""
    row = next(rows, None)
    names = {} if row is None else {column: str(name) for column, name in row.cells.items() if name is not None}
    if row is None or not names:
        raise BenchmarkError(f"{path}: the sheet has no header", hint="the first row names the columns")
    check_names(tuple(names.values()), f"{path}:{row.number}")
    return names, row.number


def _rows(path: Path, rows: Iterator[_SheetRow]) -> Iterator[Row]:
    names, _ = _header(path, rows)
    for row in rows:
        if any(cell is not None for cell in row.cells.values()):
            yield Row(f"{path}:{row.number}", {name: row.cells.get(column) for column, name in names.items()})


def _strict_rows(path: Path, rows: Iterator[_SheetRow], merged: Sequence[_Range], strict: Strict) -> Iterator[Row]:
    """Yield rows in which every cell that is read means what the spreadsheet shows; what is merged stands in each."""
    names, header_row = _header(path, rows)
    read = strict.columns_read(tuple(names.values()))
    numbers_read = {column for column, name in names.items() if name in read}
    upright = _upright(merged, numbers_read, header_row, path)
    tops: dict[_Range, Cell] = {}
    told: dict[str, None] = {}
    for row in rows:
        if all(cell is None for cell in row.cells.values()) and not row.unlike:
            continue
        news = (
            *_fill(row, upright, tops),
            *_leave_out(row, names, numbers_read, path),
            *_hidden(row, names, numbers_read),
        )
        for what in news:
            if what not in told:
                strict.tell(what)
        told |= dict.fromkeys(news)
        yield Row(f"{path}:{row.number}", {name: row.cells.get(column) for column, name in names.items()})


def _fill(row: _SheetRow, upright: Sequence[_Range], tops: dict[_Range, Cell]) -> Iterator[str]:
    """Put into a row what is merged with a cell above, which ``tops`` keeps, and yield what to tell of it."""
    for one in upright:
        if row.number == one.first_row:
            tops[one] = row.cells.get(one.first_column)
        elif one.first_row < row.number <= one.last_row and row.cells.get(one.first_column) is None:
            row.cells[one.first_column] = tops.get(one)
            if tops.get(one) is not None:
                yield "cells merged over several rows stand in each of them"


def _leave_out(row: _SheetRow, names: Mapping[int, str], read: Set[int], path: Path) -> Iterator[str]:
    """Take out of a row what its spreadsheet shows otherwise, and yield what to tell of it.

    Raises:
        BenchmarkError: If it stands in a column that is read.
    """
    for column, what in row.unlike.items():
        if column in read:
            raise BenchmarkError(
                f"{path}: cell {_letters(column)}{row.number} holds {what}",
                hint="format the cell as text, write what is meant, save",
            )
        if column in names:
            row.cells[column] = None
            yield f"column {names[column]!r} is not kept where it holds {what}"


def _hidden(row: _SheetRow, names: Mapping[int, str], read: Set[int]) -> Iterator[str]:
    """Yield what to tell of a row and columns that the spreadsheet does not show."""
    if row.is_hidden:
        yield "hidden rows are read too"
    if hidden := row.hidden_columns & read:
        yield f"hidden columns are read too: {', '.join(names[column] for column in sorted(hidden))}"


def _upright(merged: Sequence[_Range], columns: set[int], header_row: int, path: Path) -> list[_Range]:
    """Return the merged cells of one column under the header that is read.

    Raises:
        BenchmarkError: If merged cells go over several columns of which one is read: which is meant cannot be told.
    """
    upright = []
    for one in merged:
        touched = columns & set(range(one.first_column, one.last_column + 1))
        is_wide = one.first_column != one.last_column
        if one.last_row < header_row or not (touched or (is_wide and one.first_row <= header_row)):
            continue
        if is_wide:
            raise BenchmarkError(
                f"{path}: cells {one.name} are merged, and they belong to several columns",
                hint="take the cells apart, and write into each what is meant; the first row names the columns",
            )
        upright.append(one)
    return upright


def _choose_sheet(archive: ZipFile, path: Path, strict: Strict | None) -> str:
    """Return the name of the chosen sheet's part inside the archive, and tell which it is where there are several."""
    sheets = list(_parse(archive, "xl/workbook.xml").iter(f"{_MAIN}sheet"))
    shown = [sheet for sheet in sheets if sheet.get("state", "visible") == "visible"]
    name = strict.sheet if strict is not None else None
    chosen = next(
        (sheet for sheet in (sheets if name else [*shown, *sheets]) if name in {None, sheet.get("name")}), None
    )
    if chosen is None:
        names = ", ".join(sheet.get("name", "") for sheet in sheets) or "none"
        raise UsageError(f"{path}: there is no sheet {name!r}", hint=f"its sheets are {names}")
    others = [sheet.get("name", "") for sheet in sheets if sheet is not chosen]
    if strict is not None and name is None and others:
        strict.tell(f"sheet {chosen.get('name')!r}, and not {', '.join(map(repr, others))}")
    return _part_of(archive, chosen.attrib[_RELATION])


def _part_of(archive: ZipFile, relation: str) -> str:
    for entry in _parse(archive, "xl/_rels/workbook.xml.rels").iter(f"{_PACKAGE}Relationship"):
        if entry.attrib["Id"] == relation:
            target = entry.attrib["Target"]
            return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
    raise KeyError(relation)


def _merged_cells(archive: ZipFile, part: str) -> list[_Range]:
    """Return the merged cells of a sheet."""
    found: dict[str, _Range] = {}
    with _Bounded(archive, part) as stream:
        before = b""
        while chunk := stream.read(_CHUNK_BYTES):
            for first, last in _MERGED.findall(before + chunk):
                name = f"{first.decode()}:{last.decode()}"
                (left, top), (right, bottom) = (_place(end) for end in name.split(":"))
                found[name] = _Range(name, left, top, right, bottom)
            before = chunk[-_LONGEST_ELEMENT:]
    return list(found.values())


def _shared_strings(archive: ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    texts = []
    with _Bounded(archive, "xl/sharedStrings.xml") as stream:
        _refuse_document_type(stream)
        for _, element in XmlTree.iterparse(stream):  # noqa: S314 -- entities are refused before
            if element.tag == f"{_MAIN}si":
                texts.append(_text(element))
                element.clear()
    return texts


class _Bounded(io.RawIOBase):
    """A member of an archive that ends in an error where it unpacks to far more than any sheet would."""

    def __init__(self, archive: ZipFile, name: str) -> None:
        self._member = archive.open(name)
        self._name, self._most = name, _LEAST_BOUND + _MOST_PACKED * archive.getinfo(name).compress_size

    def read(self, n: int = -1, /) -> bytes:
        """Return the next bytes.

        Raises:
            ValueError: If they are too many.
        """
        content = self._member.read(n if n >= 0 else self._most + 1)
        if self._member.tell() > self._most:
            raise ValueError(f"{self._name} unpacks to more than {_MOST_PACKED} times its size")
        return content

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place."""
        return self._member.seek(offset, whence)

    def close(self) -> None:
        """Close the member."""
        self._member.close()
        super().close()


def _parse(archive: ZipFile, name: str) -> XmlTree.Element:
    with _Bounded(archive, name) as stream:
        _refuse_document_type(stream)
        return XmlTree.parse(stream).getroot()  # noqa: S314 -- entities are refused before


def _refuse_document_type(stream: _Bounded) -> None:
    """Refuse XML that could declare entities: nothing that writes spreadsheets does."""
    if b"<!DOCTYPE" in stream.read(_SNIFFED_BYTES):
        raise ValueError("it declares a document type")
    stream.seek(0)


def _formats_unlike_numbers(archive: ZipFile) -> dict[str, str]:
    """Return what a number is shown as by the style of its cell: a date or time, or a percentage; no others."""
    if "xl/styles.xml" not in archive.namelist():
        return {}
    styles = _parse(archive, "xl/styles.xml")
    codes = {entry.get("numFmtId"): entry.get("formatCode", "") for entry in styles.iter(f"{_MAIN}numFmt")}
    found = {}
    for position, style in enumerate(styles.findall(f"{_MAIN}cellXfs/{_MAIN}xf")):
        number = style.get("numFmtId", "0")
        code = _QUOTED.sub("", codes.get(number, ""))
        if number in _PERCENTAGES or "%" in code:
            found[str(position)] = "a percentage"
        elif number in _DATES or re.search(r"[ymdhs]", code, re.IGNORECASE):
            found[str(position)] = "a date or time"
    return found


def _unlike_shown(cell: XmlTree.Element, value: Cell, unlike: Mapping[str, str]) -> str | None:
    """Return what a cell holds that its spreadsheet shows otherwise, None where it shows what it holds."""
    if cell.get("t") == "e":
        return f"the error {cell.findtext(f'{_MAIN}v')}"
    if cell.get("t") == "d":
        return "a date or time"
    what = unlike.get(cell.get("s", "0")) if isinstance(value, int | float) and not isinstance(value, bool) else None
    if what is not None:
        return f"a number shown as {what}"
    # Writers that work nothing out store no result, or 0 (XlsxWriter).
    is_open = cell.find(f"{_MAIN}f") is not None and value in {None, 0}
    return "a formula whose result is not stored" if is_open else None


def _cells(sheet: _Bounded, shared: list[str], unlike: Mapping[str, str] | None) -> Iterator[_SheetRow]:
    """Yield the rows of a sheet, one in memory at a time; ``unlike`` is None where it does not matter what is shown."""
    _refuse_document_type(sheet)
    number, hidden = 0, set[int]()
    for _, element in XmlTree.iterparse(sheet):  # noqa: S314 -- entities are refused before
        if element.tag == f"{_MAIN}col" and element.get("hidden") in _TRUE:
            first = int(element.get("min", "1"))
            hidden |= set(range(first, min(int(element.get("max", first)), _MAX_COLUMNS) + 1))
        if element.tag != f"{_MAIN}row":
            continue
        number = int(element.get("r", number + 1))
        cells, odd = dict[int, Cell](), dict[int, str]()
        for cell in element.iter(f"{_MAIN}c"):
            column = _column(cell.get("r")) or max(cells, default=0) + 1
            cells[column] = _value(cell, shared)
            what = None if unlike is None else _unlike_shown(cell, cells[column], unlike)
            if what is not None:
                odd[column] = what
        yield _SheetRow(number, cells, odd, element.get("hidden") in _TRUE, frozenset(hidden))
        element.clear()


_TRUE = frozenset({"1", "true"})
_MAX_COLUMNS = 16_384


def _place(reference: str) -> tuple[int, int]:
    """Return column and row of a cell, counted from 1.

    Example:
        >>> _place("AA7")
        (27, 7)
    """
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise ValueError(reference)
    return _column(reference) or 0, int(found[2])


def _letters(column: int) -> str:
    """Return the name of a column from its number.

    Example:
        >>> _letters(1), _letters(27)
        ('A', 'AA')
    """
    name = ""
    while column:
        column, letter = divmod(column - 1, len(ascii_uppercase))
        name = ascii_uppercase[letter] + name
    return name


def _column(reference: str | None) -> int | None:
    """Return the number of a cell's column, counted from 1.

    Example:
        >>> _column("A1"), _column("AA7")
        (1, 27)
    """
    found = _REFERENCE.fullmatch(reference or "")
    if found is None:
        return None
    number = 0
    for letter in found[1]:
        number = number * len(ascii_uppercase) + ascii_uppercase.index(letter) + 1
    return number


def _value(cell: XmlTree.Element, shared: list[str]) -> Cell:
    kind = cell.get("t", "n")
    inline = cell.find(f"{_MAIN}is")
    if inline is not None:
        return _text(inline)
    stored = cell.findtext(f"{_MAIN}v")
    if stored is None or kind == "e" or (not stored and kind != "str"):
        return None
    if kind == "s":
        return shared[int(stored)]
    if kind == "b":
        return stored == "1"
    return _unescape(stored) if kind in {"str", "d"} else _number(stored)


def _number(stored: str) -> int | float:
    if _WHOLE.fullmatch(stored):
        return int(stored)
    number = float(stored)
    return int(number) if number.is_integer() else number


def _text(element: XmlTree.Element) -> str:
    """Return the text of a string item; phonetic readings of it are not part of it."""
    parts = [*element.findall(f"{_MAIN}t"), *element.findall(f"{_MAIN}r/{_MAIN}t")]
    return _unescape("".join(part.text or "" for part in parts))


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
