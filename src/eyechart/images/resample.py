"""Named resamplers: each name with its version stands for one algorithm and so for exact pixels."""

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from PIL import Image

from eyechart.errors import MissingDependencyError, UsageError
from eyechart.schema import Size

if TYPE_CHECKING:  # libvips is loaded when it is first used
    import pyvips

DEFAULT_RESAMPLER = "pillow-lanczos@1"
VIPS_RESAMPLER = "vips-lanczos3@1"
# Shrinks by whole numbers with a box first, to at least twice the wanted size. libvips rounds its weights to 1/4096, so
# that its exact kernel darkens flat grey by 1 % at 16 times and 3 % at 64; it also needs 1.1 GB to squeeze 35,503 px to
# 448, against 260 MB.
VIPS_PRESHRINK = "vips-lanczos3-preshrink@1"
VIPS_RESAMPLERS = (VIPS_RESAMPLER, VIPS_PRESHRINK)
_GAPS = {VIPS_RESAMPLER: 0.0, VIPS_PRESHRINK: 2.0}


def check_resampler(name: str) -> None:
    """Refuse a resampler that does not exist or is not installed, before any picture is read.

    Raises:
        UsageError: If the name is unknown; the hint names a near one.
        MissingDependencyError: If its library is not installed.

    Example:
        >>> check_resampler("pillow-lanzcos@1")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        eyechart.errors.UsageError: unknown resampler 'pillow-lanzcos@1'
        hint: did you mean pillow-lanczos@1? known: pillow-lanczos@1, ...
    """
    if name not in RESAMPLERS:
        near = get_close_matches(name, RESAMPLERS, n=1)
        guess = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"unknown resampler {name!r}", hint=f"{guess}known: {', '.join(RESAMPLERS)}")
    if name.startswith("cykooz") and find_spec("cykooz_resizer") is None:
        raise MissingDependencyError("cykooz-resizer", "fast")


def resample(image: Image.Image, size: Size, resampler: str = DEFAULT_RESAMPLER) -> Image.Image:
    """Resize a picture with an antialiasing kernel, in gamma space, always from the full picture.

    Args:
        image: Pillow image of mode RGB.
        size: New size in pixels; both sides at least 1.
        resampler: A name from ``RESAMPLERS``.

    Returns:
        A Pillow image of mode RGB; ``image`` itself if it has that size already.

    Raises:
        UsageError: If the name is unknown.
        MissingDependencyError: If its library is not installed.
    """
    check_resampler(resampler)
    return image if image.size == tuple(size) else RESAMPLERS[resampler](image, size)


def resampler_library(name: str) -> tuple[str, str]:
    """Return the library behind a resampler, and its installed version.

    Example:
        >>> resampler_library("pillow-box@1")[0]
        'Pillow'
    """
    if name in VIPS_RESAMPLERS:
        import pyvips

        return "libvips", ".".join(str(pyvips.version(part)) for part in range(3))
    library = "cykooz-resizer" if name.startswith("cykooz") else "Pillow"
    return library, version(library)


def _lanczos(image: Image.Image, size: Size) -> Image.Image:
    # reducing_gap stays off: Pillow 13 changed reduce(), while resize() has given the same bits since 9.5.
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=None)


def _bicubic(image: Image.Image, size: Size) -> Image.Image:
    return image.resize(size, Image.Resampling.BICUBIC, reducing_gap=None)


def _box(image: Image.Image, size: Size) -> Image.Image:
    return image.resize(size, Image.Resampling.BOX, reducing_gap=None)


def _cykooz_lanczos3(image: Image.Image, size: Size) -> Image.Image:
    import cykooz_resizer

    options = cykooz_resizer.ResizeOptions(
        resize_alg=cykooz_resizer.ResizeAlg.convolution(cykooz_resizer.FilterType.lanczos3)
    )
    resized = Image.new("RGB", size)
    cykooz_resizer.Resizer().resize_pil(image, resized, options)
    return resized


def _vips(image: Image.Image, size: Size, resampler: str) -> Image.Image:
    import pyvips

    source = pyvips.Image.new_from_memory(image.tobytes(), image.width, image.height, 3, "uchar")
    return Image.frombuffer("RGB", size, vips_resize(source, size, resampler).write_to_memory(), "raw", "RGB", 0, 1)


def vips_resize(picture: "pyvips.Image", size: Size, resampler: str = VIPS_RESAMPLER) -> "pyvips.Image":
    """Return a libvips picture resized by the Lanczos kernel, exactly or after a shrink by whole numbers.

    Args:
        picture: The picture.
        size: Wanted size; the aspect ratio need not hold.
        resampler: One of ``VIPS_RESAMPLERS``.
    """
    return picture.resize(
        size.width / picture.width, vscale=size.height / picture.height, kernel="lanczos3", gap=_GAPS[resampler]
    )


RESAMPLERS: dict[str, Callable[[Image.Image, Size], Image.Image]] = {
    "pillow-lanczos@1": _lanczos,
    "pillow-bicubic@1": _bicubic,
    "pillow-box@1": _box,
    # The same kernel as pillow-lanczos@1 with other rounding: 8 to 18 % of the samples differ, mostly by 1.
    "cykooz-lanczos3@1": _cykooz_lanczos3,
    # For pictures too large to decode at once; also for small ones, so that a comparison can use one.
    VIPS_RESAMPLER: partial(_vips, resampler=VIPS_RESAMPLER),
    # For very strong shrinking of such pictures in bounded memory.
    VIPS_PRESHRINK: partial(_vips, resampler=VIPS_PRESHRINK),
}
"""Name and algorithm version to function. A change of any pixel needs a new version."""
