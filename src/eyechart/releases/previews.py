"""Small previews of planned views for people to look at, in bounded memory whatever the size of the original."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image

from eyechart.geometry import translate, union
from eyechart.images.giga import LargeImage
from eyechart.images.pixels import WHITE, DecodedImage
from eyechart.images.thumbnail import draw_thumbnail
from eyechart.schema import Box, Composition, Size

# Regions up to this many pixels are cut at full resolution; of larger ones a shrunk copy shows enough.
MAX_REGION_PX = 48_000_000
# A preview that is drawn larger than its picture would hide that there are few pixels.
_SHRUNK_FACTOR = 2


def draw_previews(path: Path, geometries: Sequence[Composition], longest_side: int) -> tuple[Image.Image, ...]:
    """Draw every view of one picture, each fitted into a square; views that fit already keep their size.

    The original is read at most twice: once shrunk, once for the regions of all small crops together. Downsampled views
    are resampled for display only.

    Args:
        path: The original.
        geometries: What each view shows.
        longest_side: Side of the square in pixels.

    Returns:
        One picture of mode RGB per view, in order.

    Raises:
        ImageError: If the original cannot be read.
    """
    source = _Source(path, longest_side, [one.kept for one in geometries if one.kept is not None])
    return tuple(_draw(source, geometry, longest_side) for geometry in geometries)


def preview_size(size: Size, longest_side: int) -> Size:
    """Return the size of a preview: that of the picture where it fits.

    Example:
        >>> preview_size(Size(2000, 1500), 640), preview_size(Size(125, 94), 640)
        (Size(width=640, height=480), Size(width=125, height=94))
    """
    factor = min(1.0, longest_side / max(size))
    return Size(max(1, round(size.width * factor)), max(1, round(size.height * factor)))


class _Source:
    """The two copies of an original that previews are cut from, each read when it is first needed."""

    def __init__(self, path: Path, longest_side: int, kept: Sequence[Box]) -> None:
        self._path = path
        self._side = longest_side
        self._large = LargeImage(path)
        near = tuple(box for box in kept if box.area <= MAX_REGION_PX)
        around = union(near) if near else None
        # Small boxes far apart span a large region; then each is read by itself.
        self._around = around if around is not None and around.area <= MAX_REGION_PX else None
        self._region: DecodedImage | None = None
        self._whole: Image.Image | None = None

    def cut(self, box: Box, size: Size) -> Image.Image:
        """Return the pixels of a box of the original at a size that is no larger."""
        if box.area > MAX_REGION_PX:
            whole, (width, height) = self._shrunk(), self._large.size
            x, y = whole.width / width, whole.height / height
            inside = (box.x0 * x, box.y0 * y, box.x1 * x, box.y1 * y)
            return whole.resize(size, Image.Resampling.LANCZOS, box=inside)
        if self._around is None:
            return self._large.region(box).image.resize(size, Image.Resampling.LANCZOS)
        if self._region is None:
            self._region = self._large.region(self._around)
        inside = translate(box, -self._around.x0, -self._around.y0)
        edges = (float(inside.x0), float(inside.y0), float(inside.x1), float(inside.y1))
        return self._region.image.resize(size, Image.Resampling.LANCZOS, box=edges)

    def _shrunk(self) -> Image.Image:
        if self._whole is None:
            encoded = draw_thumbnail(self._path, _SHRUNK_FACTOR * self._side)
            self._whole = Image.open(BytesIO(encoded)).convert("RGB")
        return self._whole


def _draw(source: _Source, geometry: Composition, longest_side: int) -> Image.Image:
    shown = preview_size(geometry.size, longest_side)
    page = Image.new("RGB", shown, (WHITE, WHITE, WHITE))
    if geometry.kept is None:
        return page
    x, y = shown.width / geometry.canvas.width, shown.height / geometry.canvas.height
    left, top = round(geometry.offset[0] * x), round(geometry.offset[1] * y)
    part = Size(max(1, round(geometry.kept.width * x)), max(1, round(geometry.kept.height * y)))
    page.paste(source.cut(geometry.kept, part), (left, top))
    return page
