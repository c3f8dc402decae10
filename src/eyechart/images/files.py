"""Files that appear whole or not at all."""

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from eyechart.errors import StoreError, UnavailableImageError


def read_whole(path: Path, place: str = "") -> bytes:
    """Return the content of a file; ``place`` names it in errors, the path if empty.

    Raises:
        UnavailableImageError: If the file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnavailableImageError(
            f"{place or path}: cannot read ({error.strerror})", hint="check the path and its permissions"
        ) from error


def write_pieces(path: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    """Write a file from its pieces, under another name first, so that no reader ever sees a part of it.

    Missing folders are made. If anything fails, nothing is left behind and an older file of this name stays.

    Returns:
        SHA-256 of the file as lower-case hex, and its length in bytes.

    Raises:
        StoreError: If the disk is full or the place cannot be written.
    """
    digest, n_bytes = hashlib.sha256(), 0
    partial = _partial(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("wb", buffering=0) as stream:
                for piece in pieces:
                    _write_all(stream.fileno(), piece)
                    digest.update(piece)
                    n_bytes += len(piece)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    return digest.hexdigest(), n_bytes


def link_or_copy(source: Path, path: Path) -> None:
    """Make a second name for a file, or a copy where the file system has no hard links.

    Missing folders are made; an older file of this name is replaced whole.

    Raises:
        StoreError: If the disk is full or the place cannot be written.
    """
    partial = _partial(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            try:
                partial.hardlink_to(source)
            except OSError:
                shutil.copyfile(source, partial)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def _write_all(descriptor: int, piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def cannot_write(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that cannot be written, with what the reader can do about it."""
    is_full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    hint = "free some space and run again" if is_full else "check that the folder exists and can be written"
    return StoreError(f"{path}: cannot write ({error.strerror})", hint=hint)
