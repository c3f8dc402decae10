"""From a planned composition to its pixels: slices, a white canvas, a resize."""

import numpy as np

from eyechart.errors import GeometryError
from eyechart.images.pixels import WHITE, Pixels, PixelSource, as_decoded
from eyechart.images.resample import DEFAULT_RESAMPLER, resample
from eyechart.schema import Box, Composition, Size


def compose(source: PixelSource, geometry: Composition, resampler: str = DEFAULT_RESAMPLER) -> Pixels:
    """Return the pixels of a composition.

    Kept pixels are the original's, to the bit; all else is white (255, 255, 255). Resizing comes last.

    Args:
        source: The original, decoded, or its pixels as (height, width, 3) uint8.
        geometry: What is kept, where it lies, and the final size.
        resampler: Used only if the composition is resized.

    Returns:
        (height, width, 3) uint8 of ``geometry.size``; may be read-only or a view of the original.

    Raises:
        GeometryError: If ``kept`` is not an integer box inside the original, or does not fit the canvas.
        UsageError: If the resampler is unknown.

    Example:
        >>> grey = np.full((4, 6, 3), 9, np.uint8)
        >>> page = compose(grey, Composition(Size(6, 4), Box(1, 1, 3, 2), (1, 1)))
        >>> page[:, :, 0].tolist()[:2]
        [[255, 255, 255, 255, 255, 255], [255, 9, 9, 255, 255, 255]]
    """
    decoded = as_decoded(source)
    check_composition(geometry, decoded.size)
    if geometry.resized is not None and is_whole(geometry, decoded.size):
        shrunk = np.asarray(resample(decoded.image, geometry.resized, resampler))
    else:
        kept = kept_pixels(source, geometry)
        canvas = lay_on_white(geometry.canvas, geometry.offset, kept)
        shrunk = canvas if geometry.resized is None else resize(canvas, geometry.resized, resampler)
    return shrunk if geometry.enlarged is None else resize(shrunk, geometry.enlarged, resampler)


def resize(pixels: Pixels, size: Size, resampler: str = DEFAULT_RESAMPLER) -> Pixels:
    """Resize (height, width, 3) uint8 pixels; see ``eyechart.images.resample`` for the names.

    Raises:
        UsageError: If the resampler is unknown.

    Example:
        >>> resize(np.zeros((8, 8, 3), np.uint8), Size(3, 2)).shape
        (2, 3, 3)
    """
    return np.asarray(resample(as_decoded(pixels).image, size, resampler))


def kept_pixels(source: PixelSource, geometry: Composition) -> Pixels:
    """Return the part of the original that a composition keeps, (0, 0, 3) if it keeps none; may be a view."""
    if geometry.kept is None:
        return np.empty((0, 0, 3), np.uint8)
    return as_decoded(source).region(geometry.kept)


def is_whole(geometry: Composition, original: Size) -> bool:
    """Whether the canvas is the whole original, before any resize."""
    return geometry.canvas == original and geometry.kept == Box(0, 0, *original) and geometry.offset == (0, 0)


def check_composition(geometry: Composition, original: Size) -> None:
    """Refuse a composition that cannot be made from an original of this size.

    Raises:
        GeometryError: If ``kept`` is not an integer box inside the original, or does not fit the canvas.
    """
    if min(geometry.size) < 1 or min(geometry.canvas) < 1:
        raise GeometryError(f"no picture of {geometry.size} pixels on a canvas of {geometry.canvas}")
    if geometry.kept is None:
        return
    x0, y0, x1, y1 = geometry.kept
    is_integer = all(float(edge).is_integer() for edge in geometry.kept)
    if not (is_integer and 0 <= x0 < x1 <= original.width and 0 <= y0 < y1 <= original.height):
        raise GeometryError(
            f"kept box {tuple(geometry.kept)} is not an integer box inside the "
            f"{original.width}×{original.height} original",
            hint="was the picture rotated or replaced after the views were planned?",
        )
    left, top = geometry.offset
    if left < 0 or top < 0 or left + x1 - x0 > geometry.canvas.width or top + y1 - y0 > geometry.canvas.height:
        raise GeometryError(
            f"kept box {tuple(geometry.kept)} at {geometry.offset} does not fit the canvas {tuple(geometry.canvas)}"
        )


def lay_on_white(canvas: Size, offset: tuple[int, int], pixels: Pixels) -> Pixels:
    """Return pixels at ``offset`` on a white canvas; the pixels themselves if they fill it."""
    height, width, _ = pixels.shape
    if (width, height) == tuple(canvas):
        return pixels
    page = np.empty((canvas.height, canvas.width, 3), np.uint8)
    page.fill(WHITE)
    left, top = offset
    page[top : top + height, left : left + width] = pixels
    return page
