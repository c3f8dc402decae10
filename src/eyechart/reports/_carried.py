"""The items that a report carries in itself, and the page written again from them to check every number on it."""

import html
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path

import msgspec
from markupsafe import Markup

from eyechart.errors import SchemaError, StoreError
from eyechart.reports._scripts import inline_json, script_digest
from eyechart.runs.items import Items, pack_items, unpack_items
from eyechart.schema import NOT_JSON, Value

SCRIPT_ID = "eyechart-items"
_SCRIPT = re.compile(rf'<script type="application/json" id="{SCRIPT_ID}">(.*?)</script>', re.DOTALL)
# Curves may differ in their last digit between versions of matplotlib; their titles and descriptions may not.
_DRAWING = re.compile(r"(<svg\b[^>]*>)(.*?)(</svg>)", re.DOTALL)
_WORDS = re.compile(r"<(title|desc)\b[^>]*>.*?</\1>", re.DOTALL)
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
# Keeps an interval on one line; its text belongs to what stands around it.
_WHOLE = re.compile(r'<span class="whole">([^<]*)</span>')
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_ANY_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_DATA_SCRIPT = re.compile(r'type="application/json"')


class CarriedPage(Value, frozen=True):
    """What a page needs besides its summary, as it was when it was written."""

    notices: tuple[str, ...] = ()
    is_anonymous: bool = False
    is_static: bool = False


class Difference(Value, frozen=True):
    """A place where the page says something else than its items give."""

    printed: str
    recomputed: str


class PageCheck(Value, frozen=True):
    """The result of checking a page: how many items it carries, how many numbers it prints, and where it differs."""

    n_items: int
    n_numbers: int
    differences: tuple[Difference, ...]


def carry(items: Items, page: CarriedPage) -> Markup:
    """Return the inside of the script tag that holds the items; nothing in it can end the tag.

    Args:
        items: The run, without names where the page has none.
        page: What else the page was written with.
    """
    return inline_json({"page": msgspec.to_builtins(page), **pack_items(items)})


def read_page(path: Path) -> tuple[str, CarriedPage, Items]:
    """Return a report's text and what it carries.

    Raises:
        StoreError: If the file cannot be read.
        SchemaError: If it is not a report that carries its items.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"{path} cannot be read ({reason})", hint="give a report.html that `report` wrote") from error
    match = _SCRIPT.search(text)
    if match is None:
        raise SchemaError(f"{path} carries no items", hint="write it again: eyechart report RUN")
    try:
        content = msgspec.json.decode(match.group(1))
        page = msgspec.convert(content.pop("page"), CarriedPage)
    except (*NOT_JSON, KeyError, AttributeError) as error:
        raise SchemaError(f"{path}: the items are damaged ({error})", hint="write it again with `report`") from error
    return text, page, unpack_items(content, str(path))


def compare_pages(printed: str, recomputed: str, n_items: int) -> PageCheck:
    """Compare what two pages say, number by number and word by word: texts, data of charts, and which scripts run.

    Layout, and the curves of still pictures, are left aside.

    Args:
        printed: The page as it is.
        recomputed: The page as its items give it.
        n_items: How many items it carries.
    """
    old, new = (list(chain(_said(page), _plotted(page), _drawn(page), _run(page))) for page in (printed, recomputed))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    differences = [
        Difference(" ".join(old[a0:a1]), " ".join(new[b0:b1]))
        for kind, a0, a1, b0, b1 in matcher.get_opcodes()
        if kind != "equal"
    ]
    n_numbers = sum(len(_NUMBER.findall(line)) for line in chain(_said(printed), _plotted(printed)))
    return PageCheck(n_items=n_items, n_numbers=n_numbers, differences=tuple(differences))


def _said(page: str) -> Iterator[str]:
    """Yield the texts of a page in order: between tags, and the words of its figures."""
    plain = _ANY_SCRIPT.sub("", _STYLE.sub("", page))
    plain = _DRAWING.sub(lambda drawing: " ".join(word.group() for word in _WORDS.finditer(drawing.group(2))), plain)
    for part in _TAG.split(_WHOLE.sub(r"\1", plain)):
        text = " ".join(html.unescape(part).split())
        if text:
            yield text


def _charts(page: str) -> Iterator[tuple[list[object], object]]:
    """Yield the rows of data of every chart on a page, and all else of it; what is not a chart has no rows."""
    for attributes, content in _ANY_SCRIPT.findall(page):
        if 'class="spec"' not in attributes:
            continue
        try:
            spec = msgspec.json.decode(content)
            yield list(spec["data"].pop("values")), spec
        except (*NOT_JSON, KeyError, TypeError, AttributeError):
            yield [], content


def _plotted(page: str) -> Iterator[str]:
    """Yield the numbers and words of charts, row by row."""
    for rows, _ in _charts(page):
        yield from (msgspec.json.encode(row).decode() for row in rows)


def _drawn(page: str) -> Iterator[str]:
    """Yield how charts show their rows, lines of reference included."""
    for _, spec in _charts(page):
        yield msgspec.json.encode(spec, order="sorted").decode()


def _run(page: str) -> Iterator[str]:
    """Yield the hash of every script that a page would run, so that none can change what is shown."""
    for attributes, content in _ANY_SCRIPT.findall(page):
        if not _DATA_SCRIPT.search(attributes):
            yield f"script {script_digest(content)}"
