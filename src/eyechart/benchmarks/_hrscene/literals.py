"""Data written as JavaScript: ``name = literal;`` statements, read and never run."""

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from eyechart.errors import BenchmarkError

MAX_BYTES = 64 << 20
MAX_DEPTH = 64

_SKIPPED = re.compile(r"(?:[\s\ufeff]|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$.])")
_TEXTS = {quote: re.compile(rf"{quote}((?:[^{quote}\\\n\r]|\\(?:\r\n|.))*){quote}", re.DOTALL) for quote in ("'", '"')}
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_LINE_ENDS = frozenset({"\n", "\r", "\r\n", "\u2028", "\u2029"})
_WORDS = {"null": None, "undefined": None, "true": True, "false": False}
_DECLARING = frozenset({"var", "let", "const"})
_SURROGATES = range(0xD800, 0xE000)
_N_SHOWN = 24


class Assignment(NamedTuple):
    """One statement: ``cache["M"] = {…}`` has the target ``("cache", "M")``."""

    target: tuple[str, ...]
    value: object


def read_assignments(content: bytes, place: str) -> tuple[Assignment, ...]:
    """Read a file that only assigns literals to names.

    Keys may be bare, texts stand in either quote, commas may trail, comments are skipped, ``null`` and ``undefined``
    are both None. Calls, operators, templates, references and whatever else would have to be run are refused.

    Args:
        content: The file; at most ``MAX_BYTES``.
        place: Its name, for errors.

    Raises:
        BenchmarkError: If it is too large or too deep, no UTF-8, or anything but such assignments; with the line.

    Example:
        >>> read_assignments(b"cache['M'] = {0: [1, 'a',], /* own */ b: null};", "data.js")
        (Assignment(target=('cache', 'M'), value={'0': [1, 'a'], 'b': None}),)
    """
    if len(content) > MAX_BYTES:
        raise BenchmarkError(f"{place}: {len(content)} bytes, more than {MAX_BYTES}", hint="is it a file of answers?")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{place} is not UTF-8 text", hint="save it as UTF-8") from error
    reader = _Reader(text, place)
    found = []
    while not reader.is_at_end():
        found.append(reader.assignment())
    return tuple(found)


class _Reader:
    """A place in a text."""

    def __init__(self, text: str, place: str) -> None:
        self._text, self._place, self._at = text, place, 0

    def is_at_end(self) -> bool:
        return not self._peek()

    def assignment(self) -> Assignment:
        name = self._name()
        if name in _DECLARING:
            name = self._name()
        target = [name]
        while self._peek() in {"[", "."}:
            if self._takes("."):
                target.append(self._name())
            else:
                self._need("[")
                if self._peek() not in _TEXTS:
                    self._refuse()
                target.append(self._quoted())
                self._need("]")
        self._need("=")
        value = self._value(0)
        if not self._takes(";") and not self.is_at_end() and not self._is_on_a_new_line():
            self._refuse()
        return Assignment(tuple(target), value)

    def _value(self, depth: int) -> object:
        sign = self._peek()
        if depth > MAX_DEPTH:
            raise BenchmarkError(f"{self._here()}: nested deeper than {MAX_DEPTH}", hint="is it a file of answers?")
        if sign in _TEXTS:
            return self._quoted()
        if sign == "[":
            return self._list(depth)
        if sign == "{":
            return self._object(depth)
        number = _NUMBER.match(self._text, self._at)
        if number:
            self._at = number.end()
            return float(number[0]) if set(number[0]) & set(".eE") else int(number[0])
        word = _NAME.match(self._text, self._at)
        if word is None or word[0] not in _WORDS:
            self._refuse()
        self._at = word.end()
        return _WORDS[word[0]]

    def _list(self, depth: int) -> list[object]:
        entries: list[object] = []
        self._each("[", "]", lambda: entries.append(self._value(depth + 1)))
        return entries

    def _object(self, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}

        def take_entry() -> None:
            key = self._key()
            if key in found:
                raise BenchmarkError(f"{self._here()}: key {key!r} stands twice", hint="keep one of them")
            self._need(":")
            found[key] = self._value(depth + 1)

        self._each("{", "}", take_entry)
        return found

    def _each(self, first: str, last: str, take: Callable[[], None]) -> None:
        """Take what stands between brackets, with commas between and perhaps one behind."""
        self._need(first)
        while not self._takes(last):
            take()
            if not self._takes(","):
                self._need(last)
                return

    def _key(self) -> str:
        if self._peek() in _TEXTS:
            return self._quoted()
        number = re.compile(r"\d+(?![\w$.])").match(self._text, self._at)
        if number:
            self._at = number.end()
            return str(int(number[0]))
        return self._name()

    def _name(self) -> str:
        self._peek()
        match = _NAME.match(self._text, self._at)
        if match is None:
            self._refuse()
        self._at = match.end()
        return match[0]

    def _quoted(self) -> str:
        match = _TEXTS[self._peek()].match(self._text, self._at)
        if match is None:
            raise BenchmarkError(f"{self._here()}: a text without its closing quote", hint="is the file whole?")
        text = _ESCAPE.sub(self._unescaped, match[1])
        self._at = match.end()
        # Two escapes may be the halves of one character; half a character is none.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _unescaped(self, match: re.Match[str]) -> str:
        sign = match[1]
        if len(sign) > 1 and sign[0] in "ux":
            code = int(sign[1:].strip("{}"), 16)
            if code <= 0x10FFFF:  # noqa: PLR2004 -- the last character there is
                return chr(code)
        elif sign in _LINE_ENDS:
            return ""
        elif sign not in "ux123456789":
            return _ESCAPED.get(sign, sign)
        raise BenchmarkError(f"{self._here()}: {match[0]!r} is not an escape", hint="is the file whole?")

    def _peek(self) -> str:
        """Skip spaces and comments, and return the next sign; empty at the end."""
        skipped = _SKIPPED.match(self._text, self._at)
        self._at = skipped.end() if skipped else self._at
        return self._text[self._at : self._at + 1]

    def _takes(self, sign: str) -> bool:
        is_there = self._peek() == sign
        self._at += is_there
        return is_there

    def _need(self, sign: str) -> None:
        if not self._takes(sign):
            self._refuse()

    def _is_on_a_new_line(self) -> bool:
        """Whether a line ended between the last value and here; without a semicolon that ends a statement too."""
        before = self._text[: self._at]
        rest = before[len(before.rstrip()) :]
        return "\n" in rest or before.rstrip().endswith("*/")

    def _here(self) -> str:
        return f"{self._place}, line {self._text.count(chr(10), 0, self._at) + 1}"

    def _refuse(self) -> NoReturn:
        shown = self._text[self._at : self._at + _N_SHOWN].split("\n")[0]
        what = f"{shown!r} is not data" if shown else "the file ends too early"
        raise BenchmarkError(
            f"{self._here()}: {what}", hint="only names with literals are read, name = …; nothing of the file is run"
        )
