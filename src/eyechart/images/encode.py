"""From pixels to the bytes of a file: lossless PNG by default, JPEG only where it is asked for."""

from io import BytesIO
from typing import Literal

from PIL import Image, features

from eyechart.errors import UsageError
from eyechart.images.compose import check_composition, compose, kept_pixels
from eyechart.images.deflate import deflate_name
from eyechart.images.pixels import Pixels, PixelSource, as_decoded
from eyechart.images.png import png_pieces
from eyechart.images.resample import DEFAULT_RESAMPLER, resampler_library
from eyechart.schema import Box, Composition, Renderer, Size, Value

Subsampling = Literal["4:4:4", "4:2:2", "4:2:0"]
MAX_JPEG_QUALITY = 100


class JpegSettings(Value, frozen=True):
    """How a picture is encoded as JPEG: a factor of the experiment, so both are always explicit and recorded."""

    quality: int = 95
    subsampling: Subsampling = "4:4:4"


def encode_png(pixels: Pixels) -> bytes:
    """Return (height, width, 3) uint8 pixels as a PNG file.

    Example:
        >>> import numpy as np
        >>> encode_png(np.zeros((2, 3, 3), np.uint8))[1:4]
        b'PNG'
    """
    height, width, _ = pixels.shape
    return b"".join(png_pieces(Size(width, height), (0, 0), pixels))


def encode_png_on_white(canvas: Size, offset: tuple[int, int], pixels: Pixels) -> bytes:
    """Return a PNG of ``pixels`` at ``offset`` on a white canvas, without making the canvas.

    Args:
        canvas: Size of the picture.
        offset: Where the top-left corner of ``pixels`` lies.
        pixels: (height, width, 3) uint8; (0, 0, 3) for a white page.

    Raises:
        GeometryError: If the pixels do not fit the canvas.

    Example:
        >>> import numpy as np
        >>> len(encode_png_on_white(Size(10_000, 10_000), (5, 5), np.zeros((2, 2, 3), np.uint8))) < 500_000
        True
    """
    _check_fit(canvas, offset, pixels)
    return b"".join(png_pieces(canvas, offset, pixels))


def encode_composition(source: PixelSource, geometry: Composition, resampler: str = DEFAULT_RESAMPLER) -> bytes:
    """Return a composition as a PNG file; decoding it gives exactly ``compose(source, geometry, resampler)``.

    A composition that is not resized goes straight from the original's pixels to the file.

    Args:
        source: The original, decoded, or its pixels as (height, width, 3) uint8.
        geometry: What is kept, where it lies, and the final size.
        resampler: Used only if the composition is resized.

    Raises:
        GeometryError: If the composition does not fit the original or its canvas.
        UsageError: If the resampler is unknown.
    """
    canvas, offset, pixels = flat_parts(source, geometry, resampler)
    return b"".join(png_pieces(canvas, offset, pixels))


def flat_parts(
    source: PixelSource, geometry: Composition, resampler: str = DEFAULT_RESAMPLER
) -> tuple[Size, tuple[int, int], Pixels]:
    """Return a composition as canvas, offset and the pixels that are not white by construction.

    Raises:
        GeometryError: If the composition does not fit the original or its canvas.
        UsageError: If the resampler is unknown.
    """
    if geometry.resized is not None or geometry.enlarged is not None:
        return geometry.size, (0, 0), compose(source, geometry, resampler)
    decoded = as_decoded(source)
    check_composition(geometry, decoded.size)
    return geometry.canvas, geometry.offset, kept_pixels(decoded, geometry)


def encode_jpeg(pixels: Pixels, quality: int, subsampling: Subsampling) -> bytes:
    r"""Return (height, width, 3) uint8 pixels as a baseline JPEG by libjpeg-turbo's accurate DCT.

    JPEG disturbs white and the pixels around every edge, so it is never a default.

    Raises:
        UsageError: If the quality is not 1 to 100.

    Example:
        >>> import numpy as np
        >>> encode_jpeg(np.zeros((8, 8, 3), np.uint8), 95, "4:4:4")[:2]
        b'\xff\xd8'
    """
    return encode_image_jpeg(Image.fromarray(pixels), quality, subsampling)


def encode_image_jpeg(image: Image.Image, quality: int, subsampling: Subsampling) -> bytes:
    """Return a Pillow image of mode RGB as ``encode_jpeg`` does its pixels.

    Raises:
        UsageError: If the quality is not 1 to 100.
    """
    if not 1 <= quality <= MAX_JPEG_QUALITY:
        raise UsageError(f"JPEG quality {quality}", hint="give a quality from 1 to 100")
    stream = BytesIO()
    image.save(stream, "JPEG", quality=quality, subsampling=subsampling)
    return stream.getvalue()


def renderer(resampler: str | None = None, jpeg: JpegSettings | None = None) -> Renderer:
    """Return the libraries that draw and encode here, for the record; no part of any key.

    Args:
        resampler: Name of the resampler, None where nothing was resampled.
        jpeg: The JPEG settings, None for PNG.

    Example:
        >>> renderer("pillow-box@1").library
        'Pillow'
    """
    if jpeg is None:
        encoder = f"png rgb8 filter=sub, {deflate_name()}"
    else:
        encoder = f"jpeg quality={jpeg.quality} subsampling={jpeg.subsampling}, {_jpeg_library()}"
    library, release = resampler_library(resampler or DEFAULT_RESAMPLER)
    return Renderer(library=library, version=release, resampler=resampler, encoder=encoder)


def _jpeg_library() -> str:
    return f"libjpeg-turbo {features.version_feature('libjpeg_turbo')}"


def _check_fit(canvas: Size, offset: tuple[int, int], pixels: Pixels) -> None:
    height, width, _ = pixels.shape
    kept = Box(0, 0, width, height) if pixels.size else None
    check_composition(Composition(canvas, kept, offset), Size(max(1, width), max(1, height)))
