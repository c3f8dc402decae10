"""Drawn views kept on disk for other runs, named by their pixels, within a bound of bytes."""

import contextlib
import hashlib
import os
from pathlib import Path
from threading import Lock

from eyechart.errors import StoreError, UsageError
from eyechart.runs.files import write_error

_N_NAME = 2


class ViewStore:
    """PNG bytes by pixel hash, found by recipe key; the least recently used go first when room is needed.

    Several processes may share a folder. What is damaged is drawn anew, and nothing in it decides an answer: the bytes
    are those that drawing gives.

    Args:
        folder: Where the views are kept.
        max_bytes: Bound of their bytes; a view larger than this is not kept.

    Raises:
        UsageError: If the bound is not above 0.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        if max_bytes <= 0:
            raise UsageError(f"a view store of {max_bytes} bytes keeps nothing", hint="for example --view-store-gb 20")
        self._folder, self._max_bytes = folder, max_bytes
        self._lock = Lock()
        self._n_bytes: int | None = None

    def get(self, recipe_key: str) -> bytes | None:
        """Return the bytes of a view, None if it is not there or damaged."""
        try:
            pixel_sha256, sha256 = self._name(recipe_key).read_text(encoding="ascii").split()
            path = self._content(pixel_sha256)
            content = path.read_bytes()
        except (OSError, ValueError, StoreError):
            return None
        if hashlib.sha256(content).hexdigest() != sha256:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return content

    def put(self, recipe_key: str, pixel_sha256: str, content: bytes) -> None:
        """Keep the bytes of a view.

        Raises:
            StoreError: If the disk refuses.
        """
        if len(content) > self._max_bytes:
            return
        path = self._content(pixel_sha256)
        with self._lock:
            self._make_room(len(content))
            try:
                is_new = not path.exists()
                _write(path, content)
                _write(self._name(recipe_key), f"{pixel_sha256} {hashlib.sha256(content).hexdigest()}".encode("ascii"))
            except OSError as error:
                raise write_error(path, error) from error
            self._n_bytes = (self._n_bytes or 0) + len(content) * is_new

    def _make_room(self, n_bytes: int) -> None:
        """Remove the least recently used views until there is room, and a tenth more."""
        if self._n_bytes is not None and self._n_bytes + n_bytes <= self._max_bytes:
            return
        kept = []
        for path in (self._folder / "pixels").glob("*/*.png"):
            with contextlib.suppress(OSError):  # another process may have removed it
                found = path.stat()
                kept.append((found.st_mtime_ns, found.st_size, path))
        total = sum(size for _, size, _ in kept)
        if total + n_bytes > self._max_bytes:
            goal = max(0, self._max_bytes - n_bytes - self._max_bytes // 10)
            for _, size, path in sorted(kept):
                if total <= goal:
                    break
                with contextlib.suppress(OSError):
                    path.unlink()
                total -= size
        self._n_bytes = total

    def _content(self, pixel_sha256: str) -> Path:
        if not (pixel_sha256.isalnum() and pixel_sha256.isascii()):
            raise StoreError(f"{pixel_sha256!r} is not a pixel hash", hint="remove the folder of the view store")
        return self._folder / "pixels" / pixel_sha256[:_N_NAME] / f"{pixel_sha256}.png"

    def _name(self, recipe_key: str) -> Path:
        return self._folder / "recipes" / recipe_key[:_N_NAME] / recipe_key


def _write(path: Path, content: bytes) -> None:
    """Write a file whole, so that a reader sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
