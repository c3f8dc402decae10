"""Where each line of a JSONL file stands, so that one record is read without the rest."""

from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from eyechart.runs.files import read_error
from eyechart.schema import AnyRecord, decode_record

Key = TypeVar("Key")


class Place(msgspec.Struct, frozen=True):
    """A line: its file, where it begins, its length in bytes, and its number from 1."""

    path: Path
    offset: int
    n_bytes: int
    line: int


class LineIndex(Generic[Key]):
    """The place of every line by the key of its record.

    Args:
        places: Place by key.
    """

    def __init__(self, places: dict[Key, Place]) -> None:
        self._places = places

    def read(self, key: Key, kind: type[AnyRecord]) -> AnyRecord | None:
        """Return one record, None if there is none of this key.

        Args:
            key: Its key.
            kind: Class of the record.

        Raises:
            StoreError: If the file cannot be read.
            SchemaError: If the line is damaged.
        """
        return self.read_many((key,), kind).get(key)

    def read_many(self, keys: Iterable[Key], kind: type[AnyRecord]) -> dict[Key, AnyRecord]:
        """Return the records of these keys, each file opened once; a key without a record is left out.

        Args:
            keys: Their keys.
            kind: Class of the records.

        Raises:
            StoreError: If a file cannot be read.
            SchemaError: If a line is damaged.
        """
        by_path: dict[Path, list[tuple[Key, Place]]] = {}
        for key in keys:
            place = self._places.get(key)
            if place is not None:
                by_path.setdefault(place.path, []).append((key, place))
        found: dict[Key, AnyRecord] = {}
        for path, wanted in by_path.items():
            texts = _read_lines(path, [place for _, place in wanted])
            for (key, place), text in zip(wanted, texts, strict=True):
                found[key] = decode_record(text, kind, f"{path}:{place.line}")
        return found


def _read_lines(path: Path, places: Iterable[Place]) -> list[bytes]:
    texts = []
    try:
        with path.open("rb", buffering=0) as file:
            for place in places:
                file.seek(place.offset)
                texts.append(file.read(place.n_bytes))
    except OSError as error:
        raise read_error(path, error) from error
    return texts


def read_places(path: Path) -> Iterable[tuple[Place, bytes]]:
    """Yield the place and the text of every line that was written whole.

    Raises:
        StoreError: If the file cannot be read.
    """
    offset = 0
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, 1):
                if text.endswith(b"\n"):
                    yield Place(path, offset, len(text), number), text
                offset += len(text)
    except OSError as error:
        raise read_error(path, error) from error
