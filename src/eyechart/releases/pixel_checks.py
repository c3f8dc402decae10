"""Whether a view shows its original's pixels, to the bit where neither file is lossy."""

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from PIL import Image

from eyechart.errors import GeometryError
from eyechart.geometry import GeometryPolicy, clip, grow_area, integer_box, intersect, translate, union, whole
from eyechart.images.pixels import WHITE, DecodedImage, Pixels
from eyechart.releases.large_pictures import COARSE_PX, LargePicture, check_white, compare_large
from eyechart.schema import Blank, Box, Crop, Downsample, Size, TargetOnly, View, Whiteground

# Levels 0–255. A re-encoded crop of a photograph differs by about 1, of pure noise by about 6, another picture by 40.
MAX_LOSSY_LEVELS = 16.0
# Two kernels agree on block means to a few levels, whatever their sharpness.
MAX_COARSE_LEVELS = 12.0
# JPEG disturbs white up to a block and its chroma neighbour away from the edge of what is kept (sum.md 1.5).
WHITE_RING_PX = 16
MIN_LOSSY_WHITE = 250


AnyPicture = DecodedImage | LargePicture
"""A picture of which regions can be had, decoded at once or read as it is needed."""


def check_pixels(
    view: View | None,
    shown: AnyPicture,
    original: AnyPicture,
    *,
    crop: Box | None,
    targets: tuple[Box, ...],
    is_lossy: bool,
) -> Iterator[tuple[str, str]]:
    """Yield what in a view's pixels is not its original's, as (code, message).

    Nothing is yielded for views whose row does not tell what they keep, or in whole pixels.

    Args:
        view: The view, None where nothing tells.
        shown: The view's picture.
        original: The original's picture.
        crop: The row's ``crop_box_original``.
        targets: The target, clipped, in original pixels; then the box of the source where it leaves the image.
        is_lossy: Whether the view's file is JPEG; then a difference is a mean, not one pixel.
    """
    if isinstance(view, Downsample):
        yield from _coarse_faults(shown, original)
    elif isinstance(view, Blank):
        if _has_colour(shown):
            yield "not_white", "a blank view shows something"
    elif isinstance(view, Crop | Whiteground | TargetOnly):
        region = whole(original.size) if view == TargetOnly(None) else crop
        if region is None or not _is_integer(region) or intersect(region, whole(original.size)) != region:
            return
        offset = _offset(view, region)
        surely, possibly = _kept_boxes(view, region, targets, original.size)
        if surely is None or possibly is None:
            return
        if isinstance(shown, LargePicture):
            if isinstance(original, LargePicture):
                moved = translate(possibly, -offset[0], -offset[1])
                yield from compare_large(shown, original, surely, offset, MAX_LOSSY_LEVELS if is_lossy else None)
                yield from _white_around(shown, moved, is_lossy=is_lossy)
        else:
            yield from _kept_faults(shown.pixels, original, surely, offset, is_lossy=is_lossy)
            yield from _white_faults(shown.pixels, translate(possibly, -offset[0], -offset[1]), is_lossy=is_lossy)


def _has_colour(shown: AnyPicture) -> bool:
    if isinstance(shown, LargePicture):
        return bool(np.any(shown.coarse != WHITE))
    return bool(np.any(shown.pixels != WHITE))


def _white_around(shown: LargePicture, kept: Box, *, is_lossy: bool) -> Iterator[tuple[str, str]]:
    ring, least = (WHITE_RING_PX, MIN_LOSSY_WHITE) if is_lossy else (0, WHITE)
    wide = Box(kept.x0 - ring, kept.y0 - ring, kept.x1 + ring, kept.y1 + ring)
    yield from check_white(shown, clip(wide, shown.size), least)


def _offset(view: Crop | Whiteground | TargetOnly, region: Box) -> tuple[int, int]:
    """Return which original pixel is the view's top-left corner."""
    is_full_canvas = isinstance(view, Whiteground)
    return (0, 0) if is_full_canvas else (int(region.x0), int(region.y0))


def _kept_boxes(
    view: Crop | Whiteground | TargetOnly, region: Box, targets: tuple[Box, ...], image: Size
) -> tuple[Box | None, Box | None]:
    """Return the original pixels that the view keeps for certain, and those it may keep.

    They differ where a target has fractions, because the release does not tell how it rounded, and where the source's
    box leaves the image, because it may have been moved inside.
    """
    if not isinstance(view, TargetOnly):
        return region, region
    if not targets:
        return None, None
    target = targets[0]
    inner = Box(*np.ceil(target[:2]).astype(int).tolist(), *np.floor(target[2:]).astype(int).tolist())
    widest = (integer_box(target, "outward"), *(_moved_inside(source, image) for source in targets[1:]))
    outer = intersect(union(tuple(box for box in widest if box is not None)), region)
    if inner.width <= 0 or inner.height <= 0:
        return None, None
    return intersect(inner, region), outer


def _moved_inside(source: Box, image: Size) -> Box | None:
    try:
        return grow_area(source, 1.0, image, GeometryPolicy(border="shift"))
    except GeometryError:
        return None  # such a box is a fault of its row


def _kept_faults(
    pixels: Pixels, original: AnyPicture, kept: Box, offset: tuple[int, int], *, is_lossy: bool
) -> Iterator[tuple[str, str]]:
    expected = original.region(clip(kept, original.size))
    moved = translate(kept, -offset[0], -offset[1])
    shown = _region(pixels, moved)
    if shown.shape != expected.shape:
        yield "pixels_differ", "the kept region does not fit the view"
    elif is_lossy:
        mean = float(np.mean(np.abs(shown.astype(np.int16) - expected)))
        if mean > MAX_LOSSY_LEVELS:
            yield "pixels_differ", f"by {mean:.1f} levels on average"
    elif not np.array_equal(shown, expected):
        n_px = int(np.count_nonzero(np.any(shown != expected, axis=2)))
        yield "pixels_differ", f"in {n_px} of {shown.shape[0] * shown.shape[1]} kept pixels"


def _white_faults(pixels: Pixels, kept: Box, *, is_lossy: bool) -> Iterator[tuple[str, str]]:
    """Yield whether pixels round a kept box are not white; bands above, below, left and right of it."""
    ring, least = (WHITE_RING_PX, MIN_LOSSY_WHITE) if is_lossy else (0, WHITE)
    x0, y0, x1, y1 = (int(edge) for edge in kept)
    x0, y0, x1, y1 = max(0, x0 - ring), max(0, y0 - ring), x1 + ring, y1 + ring
    bands = (pixels[:y0], pixels[y1:], pixels[y0:y1, :x0], pixels[y0:y1, x1:])
    n_px = sum(
        int(np.count_nonzero(np.any(band < least, axis=2))) for band in bands if band.size and band.min() < least
    )
    if n_px:
        yield "not_white", f"{n_px} pixels"


def _coarse_faults(shown: AnyPicture, original: AnyPicture) -> Iterator[tuple[str, str]]:
    """Compare block means, which do not depend on the resampling kernel; views below 16 pixels a side are left out."""
    if min(shown.size) < COARSE_PX:
        return
    if isinstance(original, LargePicture):
        expected = original.coarse
    else:
        if original not in _COARSE_ORIGINALS:
            _COARSE_ORIGINALS[original] = _coarse(original)
        expected = _COARSE_ORIGINALS[original]
    mean = float(np.mean(np.abs(_coarse(shown) - expected)))
    if mean > MAX_COARSE_LEVELS:
        yield "pixels_differ", f"by {mean:.1f} levels on average over a {COARSE_PX}×{COARSE_PX} grid"


# One original is compared with many downsamples; it is forgotten with the picture.
_COARSE_ORIGINALS: WeakKeyDictionary[DecodedImage, npt.NDArray[np.int16]] = WeakKeyDictionary()


def _coarse(picture: AnyPicture) -> npt.NDArray[np.int16]:
    if isinstance(picture, LargePicture):
        return picture.coarse
    small = picture.image.resize(Size(COARSE_PX, COARSE_PX), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.int16)


def _region(pixels: Pixels, box: Box) -> Pixels:
    x0, y0, x1, y1 = (int(edge) for edge in box)
    return pixels[max(0, y0) : y1, max(0, x0) : x1]


def _is_integer(box: Box) -> bool:
    return all(float(edge).is_integer() for edge in box)
