"""Small copies of pictures for the eye, of any size in bounded memory; no model is ever sent one."""

from pathlib import Path

import numpy as np
from PIL import Image

from eyechart.errors import GeometryError, ImageError
from eyechart.images.decode import MAX_HELD_PIXELS, decode
from eyechart.images.giga import LargeImage
from eyechart.images.pixels import WHITE, Pixels
from eyechart.images.probe import describe_form
from eyechart.schema import Box, Size


def fit_size(size: Size, longest_side: int) -> Size:
    """Return the size of a picture shrunk so that its longer side fits; small pictures keep theirs.

    Args:
        size: In pixels.
        longest_side: At least 1.

    Example:
        >>> fit_size(Size(35_503, 26_627), 1000), fit_size(Size(40, 30), 1000)
        (Size(width=1000, height=750), Size(width=40, height=30))
    """
    factor = min(1.0, longest_side / max(size))
    return Size(max(1, round(size.width * factor)), max(1, round(size.height * factor)))


def thumbnail(path: Path, longest_side: int, region: Box | None = None) -> Pixels:
    """Return a small copy of a picture or of a region of it, for display alone.

    Large files are shrunk while they are read, so the pixels depend on the libraries and on the size of the file: a
    view that is asked about is made by the named resamplers instead. EXIF orientation is not applied, as in
    ``decode@1``; transparency is laid on white.

    Args:
        path: The picture.
        longest_side: Longest side of the copy, at least 1.
        region: Integer box inside the picture; all of it if None.

    Returns:
        (height, width, 3) uint8 RGB.

    Raises:
        ImageError: If the file cannot be read, or has no RGB values.
        GeometryError: If the region is not inside the picture, or the side is below 1.
    """
    if longest_side < 1:
        raise GeometryError(f"a thumbnail of {longest_side} pixels", hint="give a side of at least 1")
    form = describe_form(path)
    if region is not None:
        pixels = LargeImage(path).region(region).pixels if form.size.n_px > MAX_HELD_PIXELS else _region(path, region)
        return _shrunk(Image.fromarray(pixels), longest_side)
    if form.size.n_px <= MAX_HELD_PIXELS:
        return _shrunk(decode(path).image, longest_side)
    return _shrunk_while_read(path, fit_size(form.size, longest_side))


def _region(path: Path, region: Box) -> Pixels:
    return decode(path).region(region)


def _shrunk(image: Image.Image, longest_side: int) -> Pixels:
    size = fit_size(Size(*image.size), longest_side)
    small = image if image.size == tuple(size) else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    return np.array(small)


def _shrunk_while_read(path: Path, size: Size) -> Pixels:
    import pyvips  # deferred: loads libvips

    pyvips.cache_set_max(0)
    try:
        small = pyvips.Image.thumbnail(
            str(path), size.width, height=size.height, size="force", no_rotate=True, fail_on="warning"
        )
        small = small.colourspace("srgb")
        if small.hasalpha():
            small = small.flatten(background=[WHITE] * 3)
        return np.array(small.cast("uchar").extract_band(0, n=3).numpy())
    except pyvips.Error as error:
        reason = " ".join(str(error).split())
        raise ImageError(f"{path}: libvips cannot shrink it ({reason})", hint="the file may be damaged") from error
