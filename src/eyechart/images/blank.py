"""A white picture of any size as it would be sent to a model, for asking what becomes of sizes."""

from functools import lru_cache

import numpy as np

from eyechart.images.encode import encode_png_on_white
from eyechart.images.hash import pixel_sha256
from eyechart.images.pixels import Pixels
from eyechart.schema import Size


class BlankPicture:
    """A white picture. Its file is a few kilobytes whatever its size.

    Example:
        >>> BlankPicture(Size(4, 2)).pixels().shape
        (2, 4, 3)
    """

    media_type = "image/png"

    def __init__(self, size: Size) -> None:
        self.size = size

    @property
    def pixel_sha256(self) -> str:
        """Content key."""
        return pixel_sha256(self.pixels())

    def pixels(self) -> Pixels:
        """Return white, shape (height, width, 3), uint8."""
        return np.full((self.size.height, self.size.width, 3), 255, np.uint8)

    def encoded(self) -> bytes:
        """Return a PNG file."""
        return _white_png(self.size)


@lru_cache(maxsize=128)
def _white_png(size: Size) -> bytes:
    return encode_png_on_white(size, (0, 0), np.zeros((0, 0, 3), np.uint8))
