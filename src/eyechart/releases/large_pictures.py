"""Pictures of a release that are too large to decode at once, compared in bounded memory."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from eyechart.geometry import intersect, translate, union, whole
from eyechart.images.giga import LargeImage
from eyechart.images.pixels import DecodedImage, Pixels
from eyechart.images.thumbnail import draw_thumbnail
from eyechart.schema import Box

COARSE_PX = 16
"""Side of the grid of block means on which two resamplers agree."""

# What views show of the original is read once and kept, up to this many pixels.
MAX_KEPT_PX = 64_000_000
_THUMBNAIL_PX = 512


class LargePicture:
    """A picture read from its top as often as needed; once to its end when it is opened.

    Args:
        path: The file.
        place: Names it in errors.
        wanted: Regions that will be asked for, so that near ones are read together.

    Raises:
        ImageError: If it is damaged, or is not a single picture.
    """

    def __init__(self, path: Path, place: str, wanted: Sequence[Box] = ()) -> None:
        self.image = LargeImage(path, place=place)
        self.size = self.source_size = self.image.size
        self._wanted = tuple(box for box in wanted if box.area <= MAX_KEPT_PX)
        # Of a large picture only a pass to its end shows that it is whole.
        thumbnail = Image.open(BytesIO(draw_thumbnail(path, _THUMBNAIL_PX))).convert("RGB")
        self.coarse: npt.NDArray[np.int16] = np.asarray(
            thumbnail.resize((COARSE_PX, COARSE_PX), Image.Resampling.BOX), dtype=np.int16
        )

    def region(self, box: Box) -> Pixels:
        """Return the pixels inside an integer box, (height, width, 3) uint8.

        Raises:
            ImageError: If the region is damaged or has more than 178,956,970 pixels.
        """
        if self._around is not None and intersect(box, self._around) == box:
            return self._kept.region(translate(box, -self._around.x0, -self._around.y0))
        return self.image.region(box).pixels

    @cached_property
    def _around(self) -> Box | None:
        around = union(self._wanted) if self._wanted else None
        return around if around is not None and around.area <= MAX_KEPT_PX else None

    @cached_property
    def _kept(self) -> DecodedImage:
        assert self._around is not None  # noqa: S101 -- see region
        return self.image.region(self._around)


def compare_large(
    shown: LargePicture, original: LargePicture, kept: Box, offset: tuple[int, int], max_lossy_levels: float | None
) -> Iterator[tuple[str, str]]:
    """Yield where a region of the original differs from the same region of a view, as (code, message).

    Args:
        shown: The view's picture.
        original: The original.
        kept: The region, in pixels of the original.
        offset: Which pixel of the original is the view's top-left corner.
        max_lossy_levels: Mean difference that a lossy file may have; None if both must be equal.
    """
    moved = translate(kept, -offset[0], -offset[1])
    if intersect(moved, whole(shown.size)) != moved:
        yield "pixels_differ", "the kept region does not fit the view"
    elif not (shown.image.is_plain and original.image.is_plain):
        yield "too_large", "its transparency, colour profile or inks"
    else:
        mean, largest = shown.image.levels_apart(moved, original.image, kept)
        if largest and (max_lossy_levels is None or mean > max_lossy_levels):
            yield "pixels_differ", f"by up to {largest} levels, {mean:.1f} on average"


def check_white(shown: LargePicture, kept: Box, least: int) -> Iterator[tuple[str, str]]:
    """Yield whether a pixel outside a box is darker than a level, as (code, message)."""
    if shown.image.is_plain:
        darkest = shown.image.darkest_outside(kept)
        if darkest < least:
            yield "not_white", f"down to level {darkest}"
