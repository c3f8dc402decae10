"""Pixels in memory: the array type of this package, and a decoded picture that can give both array and Pillow image."""

from functools import cached_property

import numpy as np
import numpy.typing as npt
from PIL import Image

from eyechart.schema import Box, Size

Pixels = npt.NDArray[np.uint8]
"""(height, width, 3) uint8, RGB, C-contiguous unless said otherwise."""

WHITE = 255

# Pillow keeps RGB in 4 bytes a pixel; the array view of the same picture needs 3 more.
_PILLOW_BYTES_PER_PIXEL = 4
_ARRAY_BYTES_PER_PIXEL = 3
# Above this share of the picture one conversion of everything is cheaper than converting the region alone.
_LARGE_REGION = 4


class DecodedImage:
    """One picture decoded by the decode policy: 8-bit sRGB, and notes on what was done to get there.

    Array and Pillow image are each made from the other on first use, because converting costs as much as decoding
    and most views need a small region only. Treat the object as frozen: neither pixels nor image may be changed.

    Args:
        image: Pillow image of mode RGB, fully loaded.
        notes: What the decode policy found and did, such as ``alpha_flattened``; see ``eyechart.images.decode``.
        source_size: Size in stored pixels, before any EXIF rotation.

    Example:
        >>> decoded = DecodedImage.from_pixels(np.zeros((2, 3, 3), np.uint8))
        >>> decoded.size, decoded.region(Box(1, 0, 3, 2)).shape
        (Size(width=3, height=2), (2, 2, 3))
    """

    def __init__(self, image: Image.Image, notes: tuple[str, ...] = (), source_size: Size | None = None) -> None:
        self.notes = notes
        self.size = Size(image.width, image.height)
        # Written past the cached property, which makes it where only the array is known.
        self.__dict__["image"] = image
        self.source_size = source_size or self.size

    @classmethod
    def from_pixels(cls, pixels: Pixels, notes: tuple[str, ...] = ()) -> "DecodedImage":
        """Wrap an array of shape (height, width, 3), uint8; the array is kept, not copied."""
        decoded = cls.__new__(cls)
        decoded.notes = notes
        decoded.size = decoded.source_size = Size(pixels.shape[1], pixels.shape[0])
        decoded.__dict__["pixels"] = np.ascontiguousarray(pixels)
        return decoded

    @cached_property
    def image(self) -> Image.Image:
        """The picture as a Pillow image of mode RGB."""
        return Image.fromarray(self.pixels)

    @cached_property
    def pixels(self) -> Pixels:
        """The picture as (height, width, 3) uint8, RGB, C-contiguous, read-only."""
        return np.asarray(self.image)

    @property
    def n_bytes(self) -> int:
        """Upper bound of the memory this picture holds, in bytes, once both forms of it were asked for."""
        return self.size.n_px * (_PILLOW_BYTES_PER_PIXEL + _ARRAY_BYTES_PER_PIXEL)

    def region(self, box: Box) -> Pixels:
        """Return the pixels inside an integer box, as (box height, box width, 3) uint8; may be a view.

        The box is not checked here; ``eyechart.images.compose`` does.
        """
        x0, y0, x1, y1 = (int(edge) for edge in box)
        if "pixels" in self.__dict__ or (x1 - x0) * (y1 - y0) * _LARGE_REGION > self.size.n_px:
            return self.pixels[y0:y1, x0:x1]
        return np.asarray(self.image.crop((x0, y0, x1, y1)))


PixelSource = Pixels | DecodedImage


def as_decoded(source: PixelSource) -> DecodedImage:
    """Return a decoded picture, wrapping an array of shape (height, width, 3) uint8 if that is what was given.

    Example:
        >>> as_decoded(np.zeros((2, 3, 3), np.uint8)).size
        Size(width=3, height=2)
    """
    return source if isinstance(source, DecodedImage) else DecodedImage.from_pixels(source)
