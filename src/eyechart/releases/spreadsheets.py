"""Rows of the first sheet of an xlsx file, read without running or resolving anything in it."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from xml.etree import ElementTree as XmlTree
from zipfile import BadZipFile, ZipFile

from eyechart.benchmarks._tables import Row
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
# Sheets of answers unpack to some ten times their packed size; archives made to exhaust memory to a thousand times.
_LEAST_BOUND, _MOST_PACKED = 16 << 20, 50


def read_sheet(path: Path) -> Iterator[Row]:
    """Yield the rows under the header of the first sheet; cells that are not there are None.

    Raises:
        BenchmarkError: If the file is no xlsx file, or has no header.
    """
    try:
        with ZipFile(path) as archive:
            shared = _shared_strings(archive)
            with _Bounded(archive, _first_sheet(archive)) as sheet:
                yield from _rows(path, _cells(sheet, shared))
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error
    except (BadZipFile, KeyError, IndexError, ValueError, XmlTree.ParseError) as error:
        raise BenchmarkError(f"{path}: no xlsx file ({error})", hint="was the file copied completely?") from error


def _rows(path: Path, rows: Iterator[tuple[int, dict[int, Cell]]]) -> Iterator[Row]:
    _, header = next(rows, (0, {}))
    names = {column: str(name) for column, name in header.items() if name is not None}
    if not names:
        raise BenchmarkError(f"{path}: the first sheet has no header", hint="the first row names the columns")
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


def _cells(sheet: _Bounded, shared: list[str]) -> Iterator[tuple[int, dict[int, Cell]]]:
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
