"""Decoded originals kept in memory, so that all views of a picture cost one decode."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from eyechart.images.pixels import DecodedImage
from eyechart.schema import DecodePolicy


class DecodedCache:
    """The most recently used decoded pictures, up to a number of bytes.

    Pictures are named by the hash of their file and the decode policy. Safe to share between threads; two threads
    that miss the same picture at once both decode it.

    Args:
        max_bytes: Upper bound of the memory held; a picture larger than this is returned but not kept.

    Example:
        >>> import numpy as np
        >>> cache = DecodedCache(max_bytes=1 << 20)
        >>> picture = DecodedImage.from_pixels(np.zeros((4, 4, 3), np.uint8))
        >>> cache.get("ab12", DecodePolicy(), lambda: picture) is cache.get("ab12", DecodePolicy(), lambda: picture)
        True
        >>> cache.n_bytes
        112
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.n_bytes = 0
        self._pictures: OrderedDict[tuple[str, DecodePolicy], DecodedImage] = OrderedDict()
        self._lock = Lock()

    def get(self, file_sha256: str, policy: DecodePolicy, load: Callable[[], DecodedImage]) -> DecodedImage:
        """Return a picture from memory, or load and keep it, dropping the least recently used ones to make room.

        A kept picture has its array made, so that every region of it is a slice.
        """
        key = (file_sha256, policy)
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
                return self._pictures[key]
        picture = load()
        with self._lock:
            if key not in self._pictures and picture.n_bytes <= self.max_bytes:
                self._make_room(picture.n_bytes)
                _ = picture.pixels
                self._pictures[key] = picture
                self.n_bytes += picture.n_bytes
        return picture

    def _make_room(self, n_bytes: int) -> None:
        while self._pictures and self.n_bytes + n_bytes > self.max_bytes:
            _, dropped = self._pictures.popitem(last=False)
            self.n_bytes -= dropped.n_bytes
