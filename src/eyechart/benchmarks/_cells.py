"""Rows and cells of a question file: a cell as text, as a list written into a text, and as messages repeat it."""

import ast
import io
import json
import math
import re
import tokenize
import unicodedata
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from eyechart.errors import BenchmarkError

MAX_SHOWN = 60
"""Characters of a cell that a message repeats; a cell may hold a whole picture."""

_MAX_LITERAL = 1 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")
_LARGEST_STORED = 2**63 - 1  # larger whole numbers have no form in our records


class Row(NamedTuple):
    """One row of a question file. ``place`` is file and line (CSV, JSONL) or file and row, counted from 1."""

    place: str
    values: dict[str, object]


def check_names(names: Sequence[str], place: str) -> None:
    """Refuse a table with two columns of one name: the second would silently replace the first.

    Raises:
        BenchmarkError: If there are such.
    """
    twice = [name for name, n in Counter(names).items() if n > 1 and name]
    if twice:
        raise BenchmarkError(
            f"{place}: column {twice[0]!r} stands there twice", hint="rename or remove one of the two columns"
        )


class SpelledFloat(float):
    """A number with a point or an exponent that remembers how its file spells it.

    Example:
        >>> text_of(SpelledFloat("100000.0")), text_of(100000.0), text_of(1e-07)
        ('100000.0', '100000', '1e-07')
    """

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> "SpelledFloat":
        """Read a number."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number


def is_absent(cell: object) -> bool:
    """Return whether a cell says nothing: missing, an empty or blank text, an empty list, or no number (NaN).

    Example:
        >>> is_absent(None), is_absent(" "), is_absent(float("nan")), is_absent(0), is_absent(False)
        (True, True, True, False, False)
    """
    if isinstance(cell, str):
        return not cell or cell.isspace()
    if cell is None:
        return True
    if isinstance(cell, float):
        return math.isnan(cell)
    if isinstance(cell, Decimal):
        return cell.is_nan()
    return isinstance(cell, list | tuple | dict | bytes) and not cell


def text_of(cell: object, what: str = "the cell", place: str = "") -> str:
    """Return a cell as text without outer blanks; "" where it says nothing.

    Numbers of JSON files stand as the file spells them. In typed columns a whole number is written without a point,
    every other number in the shortest form that gives it back. True and false are the words.

    Args:
        cell: The cell.
        what: What it should be, for the message.
        place: File and row, for the message.

    Raises:
        BenchmarkError: If it is a list, an object or bytes.

    Example:
        >>> [text_of(cell) for cell in (" red ", 3, 1234567.0, 12345.678, True, None, float("nan"))]
        ['red', '3', '1234567', '12345.678', 'true', '', '']
    """
    if isinstance(cell, str):
        return cell.strip()
    if is_absent(cell):
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, SpelledFloat):
        return cell.spelling
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, bytes | bytearray | memoryview | list | tuple | Mapping):
        raise BenchmarkError(f"{place}: {what} {shown(cell)} is not a text", hint="write a text")
    return str(cell)


def shown(cell: object) -> str:
    """Return a cell as a message repeats it: short, and never the bytes of a picture.

    Example:
        >>> shown("E"), shown(b"abc"), shown(["a", b"abc"]), shown({"bytes": b"", "path": "a.png"})
        ("'E'", '(3 bytes)', "['a', (3 bytes)]", "{'bytes': (0 bytes), 'path': 'a.png'}")
        >>> shown("x" * 1000)
        "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (1000 characters)"
    """
    if isinstance(cell, bytes | bytearray | memoryview):
        return f"({len(cell)} bytes)"
    if isinstance(cell, str):
        # A long text is cut before it is escaped: a picture in base64 is millions of characters.
        whole = repr(cell[: 2 * MAX_SHOWN])
        return whole if len(cell) <= MAX_SHOWN else f"{whole[:MAX_SHOWN]}… ({len(cell)} characters)"
    if isinstance(cell, Mapping):
        whole = ", ".join(f"{shown(str(key))}: {shown(value)}" for key, value in list(cell.items())[:MAX_SHOWN])
        return _cut(f"{{{whole}}}")
    if isinstance(cell, list | tuple):
        return _cut(f"[{', '.join(shown(entry) for entry in cell[:MAX_SHOWN])}]")
    return _cut(cell.spelling if isinstance(cell, SpelledFloat) else repr(cell))


def _cut(text: str) -> str:
    return text if len(text) <= 2 * MAX_SHOWN else f"{text[: 2 * MAX_SHOWN]}…"


def plain_text(text: str) -> str:
    """Return a text with one form of every character, in small letters, blanks made one.

    Example:
        >>> plain_text("  Dark   RED "), plain_text("Straße")
        ('dark red', 'strasse')
    """
    return " ".join((text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()).split())


def plain(text: str) -> str:
    """Return a text as two spellings of one thing agree in: as ``plain_text``, without a final stop.

    Example:
        >>> plain(" Dark  Red.")
        'dark red'
    """
    folded = plain_text(text)
    return folded[:-1] if folded.endswith(".") and len(folded) > 1 else folded


def narrow(text: str) -> str:
    r"""Return a text with ASCII in the place of its full-width forms, which East Asian keyboards write.

    Example:
        >>> narrow("\N{FULLWIDTH LATIN CAPITAL LETTER B}2"), narrow("Ⅱ²")
        ('B2', 'Ⅱ²')
    """
    return text if text.isascii() else text.translate(_NARROW)


# U+FF01 to U+FF5E are the printable ASCII characters in full width.
_NARROW = {0xFF01 + at: 0x21 + at for at in range(0x5E)}


def number_in(text: str) -> Decimal | None:
    """Return the number that a text is, None if it is none.

    Example:
        >>> number_in("2.50") == number_in("2.5"), number_in("two")
        (True, None)
    """
    if not text or text[-1] not in "0123456789.":
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def stored(cell: object) -> object:
    """Return a cell as it is kept with a question: plain numbers, no bytes, and None for what says nothing.

    Example:
        >>> stored([SpelledFloat("1.50"), float("nan"), b"abc"])
        [1.5, None, None]
    """
    if isinstance(cell, float):
        return None if math.isnan(cell) else float(cell)
    if isinstance(cell, bytes | bytearray | memoryview):
        return None
    if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) > _LARGEST_STORED:
        return str(cell)
    if isinstance(cell, list | tuple):
        return [stored(entry) for entry in cell]
    if isinstance(cell, Mapping):
        return {str(key): stored(value) for key, value in cell.items()}
    return cell


def in_text(cell: str) -> object:
    r"""Return the list or object that is written into a text cell: as JSON, or as Python prints it.

    Numbers keep their spelling. A list of texts without commas between them, as numpy prints it, is a list too.

    Returns:
        A list or a dict; None where the text is not such a thing.

    Example:
        >>> in_text('["red", 1.50]')[1].spelling, in_text("['red', 'blue']"), in_text("['red' 'dark\\nblue']")
        ('1.50', ['red', 'blue'], ['red', 'dark\nblue'])
        >>> in_text("[sic] red"), in_text("red"), in_text("{'A': 'red', 'B': None}")
        (None, None, {'A': 'red', 'B': None})
    """
    text = cell.strip()
    if text[:1] not in ("[", "{", "(") or len(text) > _MAX_LITERAL:
        return None
    try:
        found = json.loads(text, parse_float=SpelledFloat, parse_constant=_no_number)
    except (ValueError, RecursionError):
        try:
            with warnings.catch_warnings():  # of escapes that Python does not know, which are kept as they stand
                warnings.simplefilter("ignore")
                found = _literal(ast.parse(text, mode="eval").body, text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    is_whole = "\\u" not in text.lower() or not has_half_characters(found)
    return found if is_whole and isinstance(found, list | dict) else None


def has_half_characters(found: object) -> bool:
    r"""Return whether any text in what was decoded holds half of a surrogate pair, which no file can be written with.

    Example:
        >>> has_half_characters(["a", {"b": "\ud83d"}]), has_half_characters("\u00e9")
        (True, False)
    """
    return _SURROGATE.search(json.dumps(found, ensure_ascii=False, default=str)) is not None


def _no_number(name: str) -> None:
    if name != "NaN":
        raise ValueError(name)


def _literal(node: ast.expr, text: str) -> object:
    """Return what a node of Python's grammar writes out: lists, objects, texts and numbers, and nothing else."""
    if isinstance(node, ast.List | ast.Tuple):
        parts = [_beside_each_other(entry, text) for entry in node.elts]
        if len(parts) == 1 and parts[0]:
            return parts[0]
        if any(parts):
            raise ValueError("texts with and without commas between them")
        return [_literal(entry, text) for entry in node.elts]
    if isinstance(node, ast.Dict):
        return {_key(key, text): _literal(value, text) for key, value in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.Name) and node.id in {"nan", "NaN", "null"}:
        return None
    spelling = ast.get_source_segment(text, node) or ""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        node = node.operand
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str | bool)):
        return node.value
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return int(spelling) if isinstance(node.value, int) else SpelledFloat(spelling)
    raise ValueError(spelling)


def _beside_each_other(node: ast.expr, text: str) -> list[str]:
    """Return texts that stand beside each other without a comma; none where there is one text or another thing."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return []
    segment = f"({ast.get_source_segment(text, node)})"
    tokens = [token.string for token in tokenize.generate_tokens(io.StringIO(segment).readline)]
    texts = [token for token in tokens if re.match(r"[rRuUbB]{0,2}['\"]", token)]
    return [str(ast.literal_eval(token)) for token in texts] if len(texts) > 1 else []


def _key(node: ast.expr | None, text: str) -> str:
    if node is None:
        raise ValueError("no key")
    return str(_literal(node, text))
