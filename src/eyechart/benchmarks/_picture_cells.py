"""Pictures as cells of a question file give them: a path, the picture itself, or the row that holds it."""

import base64
import binascii
import hashlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from eyechart.benchmarks._cache import cache_folder
from eyechart.benchmarks._cells import in_text, is_absent, shown, text_of
from eyechart.errors import BenchmarkError, StoreError
from eyechart.images.files import cannot_write
from eyechart.images.probe import sniff_media_type

_MIN_BASE64 = 64
_MAX_NAME = 4096
_HEAD = 16
_ADDRESS = re.compile(r"(?:https?|ftp|s3|gs|hf|azure|wasbs?)://|//[\w.-]+/", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_SUFFIXES = {
    "image/bmp": ".bmp",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/tiff": ".tif",
    "image/webp": ".webp",
}
_BYTES = range(256)
_BYTES_KEYS, _PATH_KEYS = ("bytes", "base64", "data"), ("path", "image", "image_path", "file_name", "url", "image_url")
_TAG = re.compile(
    r"<\|vision_start\|>\s*<\|image_pad\|>\s*<\|vision_end\|>|<\|?\s*(?:image|img|picture)[\s_]*(?:pad)?[\s_]*(\d*)\s*\|?>"
    r"|<imagehere>|<\|image_pad\|>|\{image\}",
    re.IGNORECASE,
)


class SeveralPicturesError(BenchmarkError):
    """A row that shows more than one picture."""


class Held(NamedTuple):
    """A picture whose bytes the row itself holds, and the path that it names beside them."""

    content: bytes
    name: str | None = None


class Named(NamedTuple):
    """A picture by its path, as the row gives it."""

    name: str


class OfRow(NamedTuple):
    """The picture of another row, named by that row's id (VLMEvalKit's tables)."""

    key: str


Picture = Held | Named | OfRow


def read_picture(cell: object, place: str, root: Path) -> Picture | None:
    """Return what a cell says a picture is; None where it says nothing.

    Args:
        cell: A path, ``file://`` or not; a data URI; base64; bytes; an object with bytes or a path; a list of one of
            these; or the id of another row.
        place: File and row.
        root: Folder that paths count from: a path that exists there is a path, whatever it looks like.

    Raises:
        SeveralPicturesError: If it holds several pictures.
        BenchmarkError: If it is an address on the network, or nothing of the above.
    """
    if isinstance(cell, str) and cell.lstrip()[:1] in ("[", "{"):
        written = in_text(cell)
        cell = cell if written is None else written
    if isinstance(cell, list | tuple):
        if len(cell) > 1:
            raise several(len(cell), place)
        return read_picture(cell[0], place, root) if cell else None
    if is_absent(cell):
        return None
    if isinstance(cell, bytes | bytearray | memoryview):
        return Held(bytes(cell))
    if isinstance(cell, Mapping):
        return _of_object(cell, place, root)
    if not isinstance(cell, str):
        return OfRow(_key(text_of(cell, "image", place), cell, place))
    return _of_text(cell.strip(), place, root)


def several(n: int, place: str) -> SeveralPicturesError:
    """Return the error for a row with several pictures."""
    return SeveralPicturesError(
        f"{place}: {n} pictures; eyechart shows one picture a question",
        hint="--option pictures=skip leaves such rows out",
    )


def without_tags(text: str, place: str) -> str:
    r"""Return a question's text without the mark for its only picture, such as ``<image 1>``.

    Raises:
        SeveralPicturesError: If it marks several pictures.

    Example:
        >>> without_tags("<image>\nWhich colour?", "q.jsonl:1"), without_tags("Is a < b?", "")
        ('Which colour?', 'Is a < b?')
    """
    if "<" not in text and "{" not in text:
        return text
    marks = list(_TAG.finditer(text))
    if not marks:
        return text
    numbers = [mark[1] for mark in marks if mark[1]]
    n = max(len(set(numbers)), len(marks) - len(numbers) + bool(numbers))
    if n > 1:
        raise several(n, place)
    lines = [_without_tags_in(line) for line in text.split("\n")]
    return "\n".join(line for line in lines if line is not None).strip()


def _without_tags_in(line: str) -> str | None:
    """Return a line without marks; None where nothing else stood in it."""
    if not _TAG.search(line):
        return line
    kept = ""
    for part in filter(None, (part.strip() for part in _TAG.sub("\0", line).split("\0"))):
        kept += part if not kept or part[0] in ".,;:?!" else f" {part}"
    return kept or None


def _of_object(cell: Mapping[str, object], place: str, root: Path) -> Picture | None:
    """Return the picture of an object: its bytes, else its path."""
    given = next((cell[key] for key in _BYTES_KEYS if not is_absent(cell.get(key))), None)
    path = next((cell[key] for key in _PATH_KEYS if not is_absent(cell.get(key))), None)
    if given is not None:
        name = path if isinstance(path, str) else None
        if isinstance(given, bytes | bytearray | memoryview):
            return Held(bytes(given), name)
        if isinstance(given, list) and all(isinstance(byte, int) and byte in _BYTES for byte in given):
            return Held(bytes(given), name)
        held = read_picture(given, place, root) if isinstance(given, str) else None
        if not isinstance(held, Held):
            raise BenchmarkError(f"{place}: image {shown(cell)} holds no picture in its bytes", hint=_HINT)
        return Held(held.content, name)
    if path is not None:
        return read_picture(path, place, root)
    raise BenchmarkError(f"{place}: image {shown(cell)} holds neither bytes nor a path", hint=_HINT)


_HINT = "give a path, a data URI, base64, or {'bytes': …, 'path': …}"


def _of_text(text: str, place: str, root: Path) -> Picture:
    if text.startswith("data:"):
        head, _, body = text.partition(",")
        content = _from_base64(body) if head.endswith(";base64") else None
        if content is None:
            raise BenchmarkError(f"{place}: image {shown(text)} is a data URI without base64 in it", hint=_HINT)
        return Held(content)
    if _ADDRESS.match(text):
        raise BenchmarkError(
            f"{place}: image {shown(text)} is an address; eyechart does not download: "
            f"fetch the pictures and give paths",
            hint="download them beside the question file and write their names",
        )
    name = unquote(urlsplit(text).path) if text.lower().startswith("file:") else text
    for spelled in (name, name.replace("\\", "/")):
        if _exists(root, spelled):
            return Named(spelled)
    return Named(name) if name != text else _held_or_named(text)


def _held_or_named(text: str) -> Picture:
    """Return what a text can be that names no file there: base64, the id of a row, or a path to complain of."""
    if len(text) >= _MIN_BASE64:
        content = _from_base64(text)
        if content is not None and sniff_media_type(content[:_HEAD]):
            return Held(content)
    if text.isdigit() and len(text) < _MIN_BASE64:
        return OfRow(text)
    return Named(text)


def _exists(root: Path, name: str) -> bool:
    try:
        return len(name) <= _MAX_NAME and "\0" not in name and (root / name).is_file()
    except OSError:  # too long for a name
        return False


def _from_base64(text: str) -> bytes | None:
    """Return what base64 text holds, with or without line breaks, padding and the alphabet of addresses."""
    body = "".join(text.split())
    if not _BASE64.fullmatch(body):
        return None
    body = body.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _key(text: str, cell: object, place: str) -> str:
    if isinstance(cell, bool) or not text.isdigit():
        raise BenchmarkError(
            f"{place}: image {shown(cell)} is not a text", hint=f"write a text (for images: a path); {_HINT}"
        )
    return text


class PictureCache:
    """Pictures taken out of question files: each written once, named by its content, for the user's eyes only.

    They lie in the user's cache folder and never beside the question file; where that cannot be written, in a
    temporary folder that lives as long as this object.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    def keep(self, content: bytes) -> Path:
        """Return the file that holds these bytes.

        Raises:
            StoreError: If no place can be written.
        """
        sha256 = hashlib.sha256(content).hexdigest()
        name = f"{sha256}{_SUFFIXES.get(sniff_media_type(content[:_HEAD]) or '', '')}"
        if self._folder is None:
            known = cache_folder()
            self._folder = known / "pictures" if known is not None else self._temporary()
        try:
            return _kept(self._folder / sha256[:2] / name, content)
        except StoreError:
            if self._scratch is not None:
                raise
            self._folder = self._temporary()
            return _kept(self._folder / sha256[:2] / name, content)

    def _temporary(self) -> Path:
        self._scratch = tempfile.TemporaryDirectory(prefix="eyechart-pictures-")
        return Path(self._scratch.name)


def _kept(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all, readable by its owner alone; one that holds these bytes already stays."""
    try:
        if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=path.parent, suffix=".part")  # mkstemp makes it 0600
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            Path(partial).replace(path)
        finally:
            Path(partial).unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path


def count_filled(cells: Sequence[object]) -> int:
    """Return how many of the cells of numbered pictures hold something."""
    return sum(not is_absent(cell) for cell in cells)
