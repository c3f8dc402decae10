"""Rows of the first sheet of an xlsx file, read without running or resolving anything in it."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from xml.etree import ElementTree as XmlTree
from zipfile import BadZipFile, ZipFile

from eyechart.benchmarks._cells import Row, check_names
from eyechart.errors import BenchmarkError

MAX_CELL_CHARACTERS = 32_767
"""Longest text a cell can hold (Excel specifications and limits); writers cut or drop what is longer."""

Cell = str | int | float | bool | None

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
# Control characters, and texts that look like one, are written so (ECMA-376 part 1, 22.4.2.4).
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_REFERENCE = re.compile(r"([A-Z]+)[0-9]+")
_SNIFFED_BYTES = 4096
# Numbers of built-in formats (ECMA-376 part 1, 18.8.30), those of East Asian dates among them.
_PERCENTAGES = frozenset({"9", "10"})
_DATES = frozenset(map(str, (*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59))))
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|General')
# Sheets of answers unpack to some ten times their packed size; archives made to exhaust memory to a thousand times.
_LEAST_BOUND, _MOST_PACKED = 16 << 20, 50


def read_sheet(path: Path, *, is_strict: bool = False) -> Iterator[Row]:
    """Yield the rows under the header of the first sheet; cells that are not there are None.

    Args:
        path: The file.
        is_strict: Whether cells are refused that say something else than the spreadsheet shows: a formula that was
            never worked out, or a number shown as a date, a time or a percentage.

    Raises:
        BenchmarkError: If the file is no xlsx file, has no header or one name twice in it, or a cell is refused.
    """
    try:
        with ZipFile(path) as archive:
            shared = _shared_strings(archive)
            unlike = _formats_unlike_numbers(archive) if is_strict else None
            with _Bounded(archive, _first_sheet(archive)) as sheet:
                yield from _rows(path, _cells(sheet, shared, unlike, path))
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error
    except (BadZipFile, KeyError, IndexError, ValueError, XmlTree.ParseError) as error:
        raise BenchmarkError(f"{path}: no xlsx file ({error})", hint="was the file copied completely?") from error


def _rows(path: Path, rows: Iterator[tuple[int, dict[int, Cell]]]) -> Iterator[Row]:
    _, header = next(rows, (0, {}))
    names = {column: str(name) for column, name in header.items() if name is not None}
    if not names:
        raise BenchmarkError(f"{path}: the first sheet has no header", hint="the first row names the columns")
    check_names(tuple(names.values()), f"{path}:1")
    for number, cells in rows:
        if any(cell is not None for cell in cells.values()):
            yield Row(f"{path}:{number}", {name: cells.get(column) for column, name in names.items()})


def _first_sheet(archive: ZipFile) -> str:
    """Return the name of the first sheet's part inside the archive."""
    book = _parse(archive, "xl/workbook.xml")
    relation = next(iter(book.iter(f"{_MAIN}sheet"))).attrib[_RELATION]
    for entry in _parse(archive, "xl/_rels/workbook.xml.rels").iter(f"{_PACKAGE}Relationship"):
        if entry.attrib["Id"] == relation:
            target = entry.attrib["Target"]
            return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
    raise KeyError(relation)


def _shared_strings(archive: ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    texts = []
    with _Bounded(archive, "xl/sharedStrings.xml") as stream:
        _refuse_document_type(stream)
        for _, element in XmlTree.iterparse(stream):  # noqa: S314 -- see the import
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
        return XmlTree.parse(stream).getroot()  # noqa: S314 -- see the import


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


def _check_as_shown(cell: XmlTree.Element, value: Cell, unlike: dict[str, str], path: Path) -> None:
    what = unlike.get(cell.get("s", "0")) if isinstance(value, int | float) and not isinstance(value, bool) else None
    # Writers that work nothing out store no result, or 0 (XlsxWriter).
    is_open = cell.find(f"{_MAIN}f") is not None and value in {None, 0}
    if what is not None or is_open:
        fault = f"a number shown as {what}" if what else "a formula whose result is not stored"
        raise BenchmarkError(
            f"{path}: cell {cell.get('r', '')} holds {fault}", hint="format the cell as text, write what is meant, save"
        )


def _cells(
    sheet: _Bounded, shared: list[str], unlike: dict[str, str] | None, path: Path
) -> Iterator[tuple[int, dict[int, Cell]]]:
    """Yield row numbers with cells by column number, one row in memory at a time."""
    _refuse_document_type(sheet)
    number = 0
    for _, element in XmlTree.iterparse(sheet):  # noqa: S314 -- see the import
        if element.tag != f"{_MAIN}row":
            continue
        number = int(element.get("r", number + 1))
        cells: dict[int, Cell] = {}
        for cell in element.iter(f"{_MAIN}c"):
            column = _column(cell.get("r")) or max(cells, default=0) + 1
            cells[column] = _value(cell, shared)
            if unlike is not None:
                _check_as_shown(cell, cells[column], unlike, path)
        yield number, cells
        element.clear()


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
    if stored is None or kind == "e":
        return None
    if kind == "s":
        return shared[int(stored)]
    if kind == "b":
        return stored == "1"
    if kind == "str":
        return _unescape(stored)
    number = float(stored)
    return int(number) if number.is_integer() else number


def _text(element: XmlTree.Element) -> str:
    """Return the text of a string item; phonetic readings of it are no part of it."""
    parts = [*element.findall(f"{_MAIN}t"), *element.findall(f"{_MAIN}r/{_MAIN}t")]
    return _unescape("".join(part.text or "" for part in parts))


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
