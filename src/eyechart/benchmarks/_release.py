"""The layout of a SUM release on disk: its configs, rows, manifest and errata, as its own files tell them."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol

from eyechart.benchmarks._tables import decode_json, read_rows
from eyechart.errors import BenchmarkError
from eyechart.schema import Box, Number, Size

ORIGINAL = "original"
# ModelScope's automatic review removed these two files; the card names them, and Hugging Face has them.
MIRROR_OMISSIONS = frozenset({"data/crop_1_5x/test/images/000602.png", "data/downsample_0_75/test/images/000075.jpg"})
ID_DIGITS = 6
MEDIA_TYPES = {
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
}

_PATH_KEYS = ("path", "file", "file_name", "image")
_BYTES_KEYS = ("bytes", "byte_size", "size", "size_bytes", "n_bytes")
_CONFIG_KEYS = ("config_name", "view_id", "config", "view", "name", "id")
_ID_KEYS = ("base_sample_id", "id", "sample_id", "question_id")
_ID_LIST_KEYS = ("ids", "sample_ids", "affected_ids", "question_ids", "samples")
_NOTE_KEYS = ("description", "note", "issue", "message", "reason", "text", "summary")
_CONFIG_NAME = re.compile(r"^\s*-?\s*config_name:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)
_FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_N_EDGES = 4


class ManifestEntry(NamedTuple):
    """What the manifest records about one image; None where it says nothing."""

    sha256: str | None
    n_bytes: int | None
    size: Size | None


class Shelf(Protocol):
    """Where the images of a release are kept; names are paths inside the release."""

    def holds(self, name: str) -> bool:
        """Return whether an image is there."""
        ...

    def path(self, name: str) -> Path:
        """Return where an image can be read now; whether it is there is not checked."""
        ...


class FolderShelf:
    """The images in the folder of the release itself."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def holds(self, name: str) -> bool:
        """Return whether the file is there."""
        return (self._root / name).is_file()

    def path(self, name: str) -> Path:
        """Return where the file lies."""
        return self._root / name


class ViewRow(NamedTuple):
    """One row of ``data/<view>/test/metadata.jsonl``: its place, its question's id, and all its fields."""

    place: str
    id: str
    values: dict[str, object]


def metadata_path(root: Path, view_id: str) -> Path:
    """Return where the rows of a view lie."""
    return root / "data" / view_id / "test" / "metadata.jsonl"


def image_name(view_id: str, file_name: str) -> str | None:
    """Return the release-relative path of a row's image, None if it would leave the release or names no file.

    ``upstream://…`` strings are provenance, never files.

    Example:
        >>> image_name("crop_3x", "images/000602.png"), image_name("crop_3x", "../../../../etc/passwd")
        ('data/crop_3x/test/images/000602.png', None)
    """
    if "://" in file_name or PurePosixPath(file_name).is_absolute():
        return None
    path = os.path.normpath(f"data/{view_id}/test/{file_name}")
    return path if path.startswith("data/") else None


def config_names(root: Path) -> tuple[str, ...]:
    """Return the ids of the release's views, in its own order.

    The order is that of ``metadata/validation_summary.json``, else of the card's header; folders under ``data/`` that
    neither names come last. Nothing is assumed about how an id is spelled.
    """
    data = root / "data"
    folders = sorted(path.name for path in data.iterdir() if path.is_dir()) if data.is_dir() else []
    in_card = card_configs(root / "README.md")
    known = {*folders, *in_card, ORIGINAL}
    listings = [listing for listing in _listings(read_json(root, "validation_summary")) if known & set(listing)]
    best = max(listings, key=lambda listing: len(known & set(listing)), default=())
    declared = best if len(known & set(best)) > 1 or len(best) == 1 else ()
    ordered = dict.fromkeys((*(declared or in_card), *(f for f in folders if f == ORIGINAL), *folders))
    return tuple(ordered)


def named_configs(root: Path) -> tuple[str, ...]:
    """Return every name in the papers of a release that may be a view, before any folder under ``data/`` is there.

    Families and the like are among them; only whoever can look into ``data/`` can tell.
    """
    listed = sorted(_listings(read_json(root, "validation_summary")), key=lambda names: ORIGINAL not in names)
    names = (*card_configs(root / "README.md"), *(name for listing in listed for name in listing), ORIGINAL)
    return tuple(dict.fromkeys(name for name in names if _FOLDER_NAME.fullmatch(name)))


def card_configs(card: Path) -> tuple[str, ...]:
    """Return the config names in the YAML header of a dataset card; none if there is no card or no header."""
    if not card.is_file():
        return ()
    _, _, rest = card.read_text(encoding="utf-8", errors="replace").partition("---\n")
    return tuple(dict.fromkeys(_CONFIG_NAME.findall(rest.partition("\n---")[0])))


def read_json(root: Path, name: str) -> object:
    """Return the content of ``metadata/<name>.json``, None if the file is absent.

    Raises:
        BenchmarkError: If it is not JSON.
    """
    path = root / "metadata" / f"{name}.json"
    return decode_json(path.read_bytes(), str(path)) if path.is_file() else None


def fetched_from(root: Path) -> dict[str, object]:
    """Return host, repository and revision of a release that ``eyechart fetch`` loaded, empty for any other.

    Raises:
        BenchmarkError: If the record is not JSON.
    """
    path = root / "fetched.json"
    record = decode_json(path.read_bytes(), str(path)) if path.is_file() else None
    found = record if isinstance(record, dict) else {}
    return {name: found[name] for name in ("host", "repository", "revision") if isinstance(found.get(name), str)}


def read_manifest(root: Path) -> dict[str, ManifestEntry]:
    """Return the manifest by release-relative path: a list of objects, a map by path, or either inside an object.

    Raises:
        BenchmarkError: If the file is not JSON.
    """
    content = read_json(root, "image_manifest")
    return dict(_manifest_entries(content))


def view_rows(root: Path, view_id: str) -> Iterator[ViewRow]:
    """Yield the rows of one view in file order; none if the view is not on disk.

    Raises:
        BenchmarkError: If a row is not a JSON object or has no id.
    """
    path = metadata_path(root, view_id)
    if path.is_file():
        for place, values in read_rows(path):
            yield ViewRow(place, id_of(values, place), values)


def canonical_rows(root: Path) -> list[ViewRow]:
    """Return the rows of ``dataset.json``, a list or a map by id; empty if the file is absent.

    Raises:
        BenchmarkError: If it is something else, or a row has no id.
    """
    path = root / "dataset.json"
    if not path.is_file():
        return []
    content = decode_json(path.read_bytes(), str(path))
    if isinstance(content, dict):
        content = [{"id": key, **entry} for key, entry in content.items() if isinstance(entry, dict)]
    if not isinstance(content, list):
        raise BenchmarkError(f"{path}: holds {type(content).__name__}, not a list", hint="restore the file")
    rows = []
    for number, values in enumerate(content, start=1):
        place = f"{path}: item {number}"
        if not isinstance(values, dict):
            raise BenchmarkError(f"{place}: {values!r} is not a question", hint="restore the file")
        rows.append(ViewRow(place, id_of(values, place), values))
    return rows


def id_of(values: Mapping[str, object], place: str) -> str:
    """Return the id that the rows of all views share; whole numbers are padded to six digits.

    Raises:
        BenchmarkError: If there is none.

    Example:
        >>> id_of({"id": 669}, ""), id_of({"id": "000669@crop_3x", "base_sample_id": "000669"}, "")
        ('000669', '000669')
    """
    for key in ("base_sample_id", "id"):
        found = as_id(values.get(key))
        if found is not None:
            return found
    raise BenchmarkError(f"{place}: no id", hint="every row needs id or base_sample_id")


def as_id(value: object) -> str | None:
    """Return a value as a question id, None if it is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:0{ID_DIGITS}d}"
    return value if isinstance(value, str) and value else None


def as_box(value: object) -> Box | None:
    """Return four numbers as a box, None for anything else."""
    if not isinstance(value, list | tuple) or len(value) != _N_EDGES:
        return None
    edges = [edge for edge in value if isinstance(edge, int | float) and not isinstance(edge, bool)]
    return Box(*edges) if len(edges) == _N_EDGES else None


def as_boxes(value: object) -> tuple[Box, ...]:
    """Return one box or a list of boxes as a tuple; empty for anything else."""
    single = as_box(value)
    if single is not None:
        return (single,)
    entries = value if isinstance(value, list) else []
    boxes = tuple(box for box in map(as_box, entries) if box is not None)
    return boxes if len(boxes) == len(entries) else ()


def as_size(values: Mapping[str, object]) -> Size | None:
    """Return ``width`` and ``height``, None if either is missing."""
    width, height = _whole(values.get("width")), _whole(values.get("height"))
    return None if width is None or height is None else Size(width, height)


def as_choices(value: object) -> tuple[str, ...]:
    """Return the options of a row: a list, an object by letter, or either as JSON text; empty for anything else.

    Example:
        >>> as_choices('["red", "blue"]'), as_choices({"A": "red"}), as_choices("red, blue")
        (('red', 'blue'), ('red',), ())
    """
    if isinstance(value, str) and value.lstrip()[:1] in {"[", "{"}:
        try:
            value = decode_json(value.encode(), "choices")
        except BenchmarkError:
            return ()
    if isinstance(value, Mapping):
        value = [value[letter] for letter in sorted(value)]
    return tuple(str(entry) for entry in value) if isinstance(value, list | tuple) else ()


def as_notes(value: object) -> tuple[str, ...]:
    """Return ``quality_notes`` as texts: one text, a list, an object, or null."""
    entries = value if isinstance(value, list) else [value]
    texts = (entry if isinstance(entry, str) else _compact(entry) for entry in entries if entry is not None)
    return tuple(text for text in texts if text)


def is_sha256(text: str) -> bool:
    """Return whether a text is 64 lower-case hex digits."""
    return _SHA256.fullmatch(text) is not None


def errata_notes(errata: object, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what the errata say about each question, whatever their shape.

    An entry belongs to an id that it names in ``id``, ``ids`` or a like field, or that is its key.
    """
    known = frozenset(ids)
    found: dict[str, list[str]] = {}
    for question_id, note in _walk_errata(errata, known):
        texts = found.setdefault(question_id, [])
        if note not in texts:
            texts.append(note)
    return {question_id: tuple(texts) for question_id, texts in found.items()}


def _walk_errata(entry: object, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    if isinstance(entry, list):
        for part in entry:
            yield from _walk_errata(part, known)
    if not isinstance(entry, Mapping):
        return
    named = [as_id(entry.get(key)) for key in _ID_KEYS]
    for key in _ID_LIST_KEYS:
        listed = entry.get(key)
        named += [as_id(part) for part in listed] if isinstance(listed, list) else []
    for question_id in named:
        if question_id in known and question_id is not None:
            yield question_id, _note(entry)
    for key, part in entry.items():
        if key in known:
            yield key, _note(part)
        else:
            yield from _walk_errata(part, known)


def _note(entry: object) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, Mapping):
        for key in _NOTE_KEYS:
            if isinstance(entry.get(key), str):
                return str(entry[key])
    return _compact(entry)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _listings(content: object) -> Iterator[tuple[str, ...]]:
    """Yield every collection of names inside a JSON value: lists of text, keys, names of listed objects."""
    if isinstance(content, Mapping):
        yield tuple(content)
        for part in content.values():
            yield from _listings(part)
    elif isinstance(content, list):
        yield tuple(entry for entry in content if isinstance(entry, str))
        for key in _CONFIG_KEYS:
            yield tuple(
                entry[key] for entry in content if isinstance(entry, Mapping) and isinstance(entry.get(key), str)
            )
        for part in content:
            yield from _listings(part)


def _manifest_entries(content: object) -> Iterator[tuple[str, ManifestEntry]]:
    if isinstance(content, list):
        for entry in content:
            path = _first_text(entry, _PATH_KEYS) if isinstance(entry, Mapping) else None
            if path is not None:
                yield os.path.normpath(path), _manifest_entry(entry)
    elif isinstance(content, Mapping):
        for key, entry in content.items():
            if isinstance(entry, str) and is_sha256(entry):
                yield os.path.normpath(key), ManifestEntry(entry, None, None)
            elif isinstance(entry, Mapping) and ("sha256" in entry or "width" in entry):
                yield os.path.normpath(key), _manifest_entry(entry)
            else:
                yield from _manifest_entries(entry)


def _manifest_entry(entry: Mapping[str, object]) -> ManifestEntry:
    sha256 = entry.get("sha256")
    n_bytes = next((_whole(entry[key]) for key in _BYTES_KEYS if _whole(entry.get(key)) is not None), None)
    return ManifestEntry(sha256.lower() if isinstance(sha256, str) else None, n_bytes, as_size(entry))


def _first_text(entry: Mapping[str, object], keys: Sequence[str]) -> str | None:
    return next((text for text in (entry.get(key) for key in keys) if isinstance(text, str)), None)


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, Number) or value != int(value):
        return None
    return int(value)
