"""What is already built: the manifest of the last build and the journal of an interrupted one."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from eyechart.errors import StoreError
from eyechart.images.files import cannot_write, write_pieces
from eyechart.schema import NOT_JSON, Value

JOURNAL_NAME = ".eyechart-build.jsonl"


class BuiltImage(Value, frozen=True):
    """One finished image file: an entry of ``metadata/image_manifest.json``.

    Args:
        path: Path inside the release, with ``/``.
        sha256: Of the file.
        bytes: Length of the file.
        width: In pixels.
        height: In pixels.
        build_key: Hash of all that decided it.
    """

    path: str
    sha256: str
    bytes: int
    width: int
    height: int
    build_key: str


class Journal:
    """An append-only list of finished images, so that an interrupted build goes on where it stopped."""

    def __init__(self, out: Path) -> None:
        self._path = out / JOURNAL_NAME

    def read(self) -> dict[str, BuiltImage]:
        """Return the finished images by path; a torn last line is dropped."""
        if not self._path.is_file():
            return {}
        built: dict[str, BuiltImage] = {}
        for line in self._path.read_bytes().splitlines():
            try:
                image = msgspec.json.decode(line, type=BuiltImage)
            except NOT_JSON:  # the line that was being written when the build was stopped
                continue
            built[image.path] = image
        return built

    def append(self, images: Iterable[BuiltImage]) -> None:
        """Add finished images.

        Raises:
            StoreError: If the disk is full or the folder cannot be written.
        """
        lines = b"".join(b"\n" + msgspec.json.encode(image) for image in images)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as stream:
                stream.write(lines)
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def remove(self) -> None:
        """Delete the journal: the manifest now says the same."""
        self._path.unlink(missing_ok=True)


def read_built(out: Path) -> dict[str, BuiltImage]:
    """Return what earlier builds finished in this folder, by path; only files that still have their recorded length.

    Raises:
        StoreError: If the folder is not empty and holds no build.
    """
    manifest = out / "metadata" / "image_manifest.json"
    journal = Journal(out)
    if out.is_dir() and any(out.iterdir()) and not manifest.is_file() and not (out / JOURNAL_NAME).is_file():
        raise StoreError(f"{out} is not empty and holds no release", hint="give a new folder, or empty this one")
    built: dict[str, BuiltImage] = {}
    if manifest.is_file():
        try:
            entries = msgspec.json.decode(manifest.read_bytes(), type=list[BuiltImage])
        except NOT_JSON as error:
            raise StoreError(
                f"{manifest}: not written by eyechart build ({error})", hint="build into a new folder"
            ) from error
        built = {entry.path: entry for entry in entries}
    return {**built, **journal.read()}


def is_whole(out: Path, image: BuiltImage) -> bool:
    """Return whether the file is there with its recorded length; ``verify`` compares content."""
    path = out / image.path
    return path.is_file() and path.stat().st_size == image.bytes


def write_if_changed(path: Path, content: bytes) -> bool:
    """Write a file unless it holds the same bytes already.

    Returns:
        Whether it was written.

    Raises:
        StoreError: If the disk is full or the place cannot be written.
    """
    if path.is_file() and path.read_bytes() == content:
        return False
    write_pieces(path, [content])
    return True
