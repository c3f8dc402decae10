"""Question files as rows: JSONL, JSON, CSV, TSV, parquet and xlsx, each row with the place to name in an error."""

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from eyechart.benchmarks._cells import Row, SpelledFloat, check_names, has_half_characters, is_absent, shown
from eyechart.benchmarks._spreadsheets import Strict, read_sheet
from eyechart.errors import BenchmarkError, MissingDependencyError, UsageError
from eyechart.schema import TwiceError, once

if TYPE_CHECKING:
    import pyarrow

SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
MORE_SUFFIXES = (*SUFFIXES, ".ndjson", ".xlsx")
"""What is read where the file itself is named, or a folder holds nothing else."""

Encoding = Literal[
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "gb18030", "shift_jis", "big5", "euc-kr"
]

# Some tables carry whole pictures in their cells; the csv module's own limit is 128 KiB.
_MAX_CELL_CHARACTERS = 1 << 30
_ROWS_AT_ONCE = 256
_PICTURE_ROWS_AT_ONCE = 4
_BUFFER_BYTES = 1 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WRAPPERS = ("data", "questions", "samples", "annotations", "examples", "rows", "items", "test")
_NAMES_A_QUESTION = frozenset({"question", "query", "text", "prompt", "problem", "conversations", "messages"})
_N_SHOWN_BYTES = 24


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
    files = sorted(path for path in data.iterdir() if path.is_file())
    found = [path for path in files if path.suffix.lower() in SUFFIXES]
    found = found or [path for path in files if path.suffix.lower() in MORE_SUFFIXES]
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise UsageError(
            f"{data} holds {len(found)} question files ({names})",
            hint="say which one, for example --option file=mine.csv" if found else example,
        )
    return found[0]


def read_rows(
    path: Path,
    *,
    rows_at_once: int | None = None,
    encoding: Encoding | None = None,
    is_spelled: bool = False,
    is_quoted: bool = True,
    suffix: str | None = None,
    tell: Callable[[str], None] | None = None,
    strict: Strict | None = None,
) -> Iterator[Row]:
    """Yield the rows of a question file, one at a time for JSONL, CSV and TSV.

    Args:
        path: The file; its suffix decides how it is read.
        rows_at_once: Rows of a parquet file in memory at once; few where they carry pictures.
        encoding: How text files are encoded; UTF-8, or what a mark at their beginning says, if None.
        is_spelled: Whether numbers with a point remember their spelling, and NaN is read as nothing.
        is_quoted: Whether quotes may stand around the cells of a TSV file.
        suffix: Read it as if its name ended so, where its content told what it is.
        tell: Is told what was chosen in reading the file, such as the sign that divides its cells.
        strict: How an xlsx file is read; None reads its cells as they are stored.

    Raises:
        BenchmarkError: If the file cannot be read, has an unknown suffix, or a row is damaged, such as one in which a
            key stands twice.
        MissingDependencyError: If the file is parquet and pyarrow is not installed.
    """
    decode = _spelled_json if is_spelled else _single_json
    readers: dict[str, Callable[[Path], Iterator[Row]]] = {
        ".jsonl": partial(_jsonl, encoding=encoding, decode=decode),
        ".ndjson": partial(_jsonl, encoding=encoding, decode=decode),
        ".json": partial(_json, encoding=encoding, decode=decode),
        ".csv": partial(_separated, encoding=encoding, own=",", tell=tell),
        ".tsv": partial(_separated, encoding=encoding, own="\t", is_quoted=is_quoted, tell=tell),
        ".parquet": partial(_parquet, rows_at_once=rows_at_once, is_spelled=is_spelled),
        ".xlsx": partial(read_sheet, strict=strict),
    }
    reader = readers.get(suffix or path.suffix.lower())
    if reader is None:
        raise BenchmarkError(
            f"{path}: not the name of a question file ({f'it ends in {path.suffix}' if path.suffix else 'no suffix'})",
            hint=_one_of(),
        )
    try:
        yield from reader(path)
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error})", hint="check the path") from error


# --- JSON -------------------------------------------------------------------------------------------------------------


def decode_json(text: bytes, place: str) -> object:
    """Decode strict JSON (UTF-8, no NaN).

    Raises:
        BenchmarkError: If it is none; the message names the place and the byte.
    """
    try:
        return msgspec.json.decode(text.removeprefix(codecs.BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BenchmarkError(f"{place}: not JSON ({error})", hint="repair or remove what stands there") from error


def _single_json(text: bytes, place: str) -> object:
    """Decode strict JSON in which no key stands twice in an object: either value may be the answer.

    Raises:
        BenchmarkError: If it is none, or a key stands there twice.
    """
    found = decode_json(text, place)
    try:
        _SINGLE.decode(text.removeprefix(codecs.BOM_UTF8).decode())
    except TwiceError as error:
        raise BenchmarkError(f"{place}: {error}", hint="keep one of the two") from error
    return found


def _spelled_json(text: bytes, place: str) -> object:
    """Decode JSON whose numbers are shown as they stand in the file.

    Raises:
        BenchmarkError: If it is none, a key stands twice in an object, or a character is cut in two (a lone surrogate).
    """
    try:
        found = _SPELLED.decode(text.removeprefix(codecs.BOM_UTF8).decode())
    except TwiceError as error:
        raise BenchmarkError(f"{place}: {error}", hint="keep one of the two") from error
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(f"{place}: not JSON ({error})", hint="repair or remove what stands there") from error
    # Only an escape can bring a lone surrogate into a text that was UTF-8.
    if b"\\u" in text and has_half_characters(found):
        raise BenchmarkError(
            f"{place}: not JSON (half a character: a lone surrogate such as \\ud83d)", hint="write the file again"
        )
    return found


def _absent(name: str) -> None:
    """Read NaN, which Python and pandas write for a missing value, as nothing.

    Raises:
        ValueError: For an infinite number.
    """
    if name != "NaN":
        raise ValueError(f"{name} is not a number")


_SINGLE = json.JSONDecoder(object_pairs_hook=once)
_SPELLED = json.JSONDecoder(object_pairs_hook=once, parse_float=SpelledFloat, parse_constant=_absent)


def _jsonl(path: Path, encoding: Encoding | None, decode: Callable[[bytes, str], object]) -> Iterator[Row]:
    if _first_character(path) == "[":
        yield from _json(path, encoding, decode)
        return
    with _open_lines(path, encoding) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                place = f"{path}:{number}"
                yield Row(place, _object(_decoded(line, place, path, decode), place))


def _decoded(line: bytes, place: str, path: Path, decode: Callable[[bytes, str], object]) -> object:
    try:
        return decode(line, place)
    except BenchmarkError as error:
        if isinstance(error.__cause__, UnicodeDecodeError) or not _is_utf8(line):
            raise not_utf8(path) from error
        raise


def _json(path: Path, encoding: Encoding | None, decode: Callable[[bytes, str], object]) -> Iterator[Row]:
    content = path.read_bytes()
    how = encoding or _encoding_of(content) or json.detect_encoding(content)
    if how not in {"utf-8", "utf-8-sig"}:
        content = _recoded(content, how, path)
    try:
        found = _decoded(content, str(path), path, decode)
    except BenchmarkError:
        first, _, rest = content.partition(b"\n")
        if not (first.lstrip().startswith(b"{") and first.rstrip().endswith(b"}") and rest.strip()):
            raise
        for number, line in enumerate(content.split(b"\n"), start=1):  # JSON lines under another name
            if line.strip():
                place = f"{path}:{number}"
                yield Row(place, _object(_decoded(line, place, path, decode), place))
        return
    for number, row in enumerate(_rows_in(found, path), start=1):
        place = f"{path}: item {number}"
        yield Row(place, _object(row, place))


def _rows_in(found: object, path: Path) -> Sequence[object]:
    """Return the rows of a JSON file: a list, a list in a wrapper, a table by columns, or questions by their ids."""
    if isinstance(found, list):
        return found
    if not isinstance(found, dict):
        raise BenchmarkError(
            f"{path}: holds {shown(found)}, and not a list of questions",
            hint="write one list with one object per question",
        )
    if {"images", "annotations", "categories"} <= set(found):
        raise BenchmarkError(
            f"{path}: a COCO file holds boxes and classes, but no questions",
            hint="write a question file, and give the boxes with --boxes or in a column box",
        )
    if set(found) >= {"columns", "data"} and isinstance(found["columns"], list):
        raise BenchmarkError(
            f"{path}: a table split into columns and data", hint="write one object per question (orient='records')"
        )
    asking = [name for name, value in found.items() if _asks(value)]
    wrapped = [name for name in _WRAPPERS if isinstance(found.get(name), list)]
    lists = list(dict.fromkeys((*asking, *(name for name in wrapped if found[name])))) or wrapped
    if len(lists) == 1:
        rows = found[lists[0]]
        return rows if isinstance(rows, list) else []
    if not lists and found and all(isinstance(value, dict) for value in found.values()):
        return _rows_by_name(found)
    of = " of questions" if len(lists) == len(asking) else ""
    what = f"{len(lists)} lists{of} ({', '.join(map(shown, lists))})" if lists else "no list of questions"
    raise BenchmarkError(f"{path}: holds {what}", hint="write one list with one object per question")


def _asks(value: object) -> bool:
    """Return whether a value is a list of questions, as far as its first entry tells."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and any(name.casefold() in _NAMES_A_QUESTION - {"text"} for name in first)


def _rows_by_name(found: dict[str, dict[str, object]]) -> list[object]:
    """Return the rows of an object of objects: cells by column and row as pandas writes them, or questions by id."""
    if _NAMES_A_QUESTION & {name.casefold() for name in found}:
        numbers = dict.fromkeys(key for column in found.values() for key in column)
        return [{name: column.get(key) for name, column in found.items()} for key in numbers]
    return [row if "id" in row else {"id": name, **row} for name, row in found.items()]


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        what = json.dumps(value, ensure_ascii=False)[:60]
        raise BenchmarkError(f"{place}: {what} is not a JSON object", hint='write one {"image": …, "question": …}')
    return value


# --- CSV and TSV ------------------------------------------------------------------------------------------------------


_DIVIDERS = {",": ("comma", "commas"), ";": ("semicolon", "semicolons"), "\t": ("tab", "tabs"), "|": ("bar", "bars")}
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)


def _separated(
    path: Path,
    encoding: Encoding | None,
    own: str,
    *,
    is_quoted: bool = True,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Row]:
    kind = "TSV" if own == "\t" else "CSV"
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    n_before = 0
    with _open_text(path, encoding) as lines:
        try:
            delimiter, before = _divider(lines, own)
            n_before = len(before)
        except UnicodeDecodeError as error:
            raise _undecodable(path, encoding, error) from error
        if tell is not None and delimiter != own:
            tell(f"cells divided by {_DIVIDERS[delimiter][1]}")
        reader = csv.DictReader(lines, strict=True, delimiter=delimiter, quoting=quoting)
        header = None
        while True:
            try:
                if header is None:
                    header = reader.fieldnames or ()
                    check_header(header, path, delimiter, n_before + 1)
                row = next_row(reader)
            except UnicodeDecodeError as error:
                raise _undecodable(path, encoding, error) from error
            except csv.Error as error:
                place = f"{path}:{n_before + reader.line_num + 1}"
                raise BenchmarkError(
                    f"{place}: not {kind} ({error})",
                    hint=f"close every quotation mark, write one inside a cell twice, and save as UTF-8 {kind}",
                ) from error
            if row is None:
                return
            place = f"{path}:{n_before + reader.line_num}"
            if any(row.values()):  # table programs write rows of nothing but commas at the end
                yield Row(place, _complete(row, header, place, delimiter))


def _divider(lines: io.TextIOWrapper, own: str) -> tuple[str, list[str]]:
    """Return what divides the cells of a table, and the lines before its header; the header is the next to be read.

    It is the file's own sign, unless the header has none of them and signs of one other kind alone, or the first line
    names it as Excel does (``sep=;``).
    """
    before: list[str] = []
    named = None
    while True:
        at = lines.tell()
        line = lines.readline()
        found = _SEPARATOR_LINE.fullmatch(line) if named is None else None
        if found is None and (line.strip() or not line):
            break
        named = found[1] if found else named
        before.append(line)
    lines.seek(at)
    bare = _QUOTED.sub("", line)
    held = [sign for sign in _DIVIDERS if sign in bare]
    return named or (held[0] if own not in held and len(held) == 1 else own), before


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


def check_header(header: Sequence[str], path: Path, delimiter: str, line: int = 1) -> None:
    """Refuse a header that names a column twice, or that other separators would divide."""
    check_names(header, f"{path}:{line}")
    for separator, (_, name) in _DIVIDERS.items():
        if len(header) == 1 and separator != delimiter and separator in header[0]:
            kind = "tab-separated TSV" if delimiter == "\t" else "comma-separated CSV"
            raise BenchmarkError(
                f"{path}:{line}: the cells are divided by {name}, not by {_DIVIDERS[delimiter][1]}",
                hint=f"save the file as {kind}",
            )


def splits_at_every_tab(path: Path, encoding: Encoding | None) -> bool:
    """Return whether a TSV file has quotes, and as many cells in every line as in its header if they mean nothing."""
    widths, has_quotes = set[int](), False
    try:
        with _open_text(path, encoding) as lines:
            for line in filter(str.strip, lines):
                widths.add(line.rstrip("\r\n").count("\t"))
                has_quotes = has_quotes or line.startswith('"') or '\t"' in line
    except UnicodeDecodeError:
        return False
    return has_quotes and len(widths) == 1 and widths != {0}


def _complete(row: dict[str, str], header: Sequence[str], place: str, delimiter: str) -> dict[str, object]:
    """Return a row whose cells are as many as the columns; empty cells become None."""
    if None in row or None in row.values():
        further: object = row.get(None)  # type: ignore[call-overload]  # where csv puts the cells beyond the header
        n_further = len(further) if isinstance(further, list) else 0
        n = len(header) + n_further if n_further else sum(cell is not None for cell in row.values())
        own, others = _DIVIDERS[delimiter][0], [sign for sign in _DIVIDERS if any(sign in name for name in header)]
        other = f"; if {_DIVIDERS[others[0]][1]} divide the cells, write a first line sep={others[0]}" if others else ""
        raise BenchmarkError(
            f"{place}: the row has {n} cell{'s' * (n != 1)}, and the header {len(header)}",
            hint=f"put quotation marks around cells that contain a {own}{other}",
        )
    return {column: cell if cell != "" else None for column, cell in row.items()}


def _first_character(path: Path) -> str:
    """Return the first character of a text file that is not a blank, "" where there is none or it is not UTF-8."""
    with path.open("rb") as stream:
        return stream.read(64).removeprefix(codecs.BOM_UTF8).lstrip()[:1].decode("ascii", "replace")


# --- encodings --------------------------------------------------------------------------------------------------------


def _encoding_of(head: bytes) -> str | None:
    """Return what a mark at the beginning of a file says of its encoding, None where there is no mark."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def _encoding(path: Path, given: Encoding | None) -> str:
    if given is not None:
        return given
    with path.open("rb") as stream:
        head = stream.read(4096)
    marked = _encoding_of(head)
    if marked is None and b"\0" in head:
        order = "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be"
        raise BenchmarkError(
            f"{path}:1: not UTF-8 at byte {head.index(0)}: a zero byte; is it UTF-16 without a mark?",
            hint=f"--option encoding={order}, or save the file as UTF-8",
        )
    return marked or "utf-8"


def _open_text(path: Path, encoding: Encoding | None) -> io.TextIOWrapper:
    return path.open(encoding=_encoding(path, encoding), newline="")


def _open_lines(path: Path, encoding: Encoding | None) -> io.BufferedReader | io.BytesIO:
    """Return a stream of lines in UTF-8."""
    how = _encoding(path, encoding)
    if how in {"utf-8", "utf-8-sig"}:
        return path.open("rb")
    return io.BytesIO(_recoded(path.read_bytes(), how, path))


def _recoded(content: bytes, encoding: str, path: Path) -> bytes:
    try:
        return content.decode(encoding).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise BenchmarkError(
            f"{path}: not {encoding} at byte {error.start}", hint="name the encoding with --option encoding=…"
        ) from error


def _undecodable(path: Path, encoding: Encoding | None, error: UnicodeDecodeError) -> BenchmarkError:
    if encoding is None and _encoding(path, None) in {"utf-8", "utf-8-sig"}:
        return not_utf8(path)
    return BenchmarkError(f"{path}: not {error.encoding} ({error.reason})", hint="--option encoding=…")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def not_utf8(path: Path) -> BenchmarkError:
    """Return the error for a file that is not UTF-8: line, byte, and how other encodings read what stands there."""
    offset = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                around = line[max(0, error.start - _N_SHOWN_BYTES) : error.start + _N_SHOWN_BYTES].strip()
                readings = [(name, _read_as(around, name)) for name in ("cp1252", "gb18030")]
                told = ", ".join(f"as {name} it reads {text!r}" for name, text in readings if text)
                best = next((name for name, text in readings if text), "latin-1")
                return BenchmarkError(
                    f"{path}:{number}: not UTF-8 at byte {offset + error.start}{'; ' if told else ''}{told}",
                    hint=f"--option encoding={best}, or save the file as UTF-8",
                )
            offset += len(line)
    return BenchmarkError(f"{path}: not UTF-8", hint="save the file as UTF-8")


def _read_as(around: bytes, encoding: str) -> str | None:
    """Return bytes as another encoding reads them, None where it cannot; a character cut at either end is left out."""
    for first in range(2):
        for last in range(2):
            try:
                text = around[first : len(around) - last].decode(encoding)
            except UnicodeDecodeError:
                continue
            return text if text.isprintable() else None
    return None


# --- parquet and xlsx -------------------------------------------------------------------------------------------------


def _parquet(path: Path, rows_at_once: int | None, *, is_spelled: bool) -> Iterator[Row]:
    try:
        import pyarrow  # deferred: an extra
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow (it reads parquet)", "hub") from error
    try:
        number = 0
        # Without a buffer a whole row group, pictures included, is read before its first row; threads take two.
        with pyarrow.parquet.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as table:
            schema = table.schema_arrow
            check_names(schema.names, str(path))
            short = {name for name in schema.names if "float" in str(schema.field(name).type)} if is_spelled else ()
            has_bytes = any("binary" in str(schema.field(name).type) for name in schema.names)
            rows_at_once = rows_at_once or (_PICTURE_ROWS_AT_ONCE if has_bytes else _ROWS_AT_ONCE)
            for batch in table.iter_batches(batch_size=rows_at_once, use_threads=False):
                columns = {name: _as_stored(batch.schema.field(name).type) for name in short}
                for values in batch.to_pylist():
                    number += 1
                    for name, respell in columns.items():
                        if respell is not None:
                            values[name] = respell(values[name])
                    yield Row(f"{path}: row {number}", values)
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise BenchmarkError(f"{path}: not parquet ({error})", hint="was the file copied completely?") from error


def _as_stored(kind: "pyarrow.DataType") -> Callable[[object], object] | None:
    """Return what spells numbers of 16 or 32 bits as short as they are stored: 0.1, and not 0.10000000149011612."""
    text = str(kind)
    bits = next((name for name in ("halffloat", "float") if re.search(rf"\b{name}\b", text)), None)
    if bits is None:
        return None
    import numpy as np

    stored = np.float16 if bits == "halffloat" else np.float32

    def respell(cell: object) -> object:
        if isinstance(cell, list):
            return [respell(entry) for entry in cell]
        if isinstance(cell, float) and not cell.is_integer() and not is_absent(cell):
            return SpelledFloat(str(stored(cell)))
        return cell

    return respell


def _one_of() -> str:
    return f"question files end in {', '.join(MORE_SUFFIXES)}"
