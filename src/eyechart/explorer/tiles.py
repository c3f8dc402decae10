"""Pictures cut into tiles when a reader zooms into them, whatever their size, in bounded memory."""

import io
import tempfile
from collections import OrderedDict
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from PIL import Image

from eyechart.errors import UsageError
from eyechart.images.pixels import WHITE, Pixels
from eyechart.images.resample import DEFAULT_RESAMPLER, resample
from eyechart.kinds import Benchmark
from eyechart.runs.pictures import PictureSource
from eyechart.schema import Composition, Picture, Size

if TYPE_CHECKING:
    import pyvips

TILE_PX = 512
MAX_DRAWN_PIXELS = 64_000_000
"""A larger view is never drawn as a whole: its pixels alone would be 192 MB, and half as much again for its levels."""
_LEVEL_BYTES, _DECODED_BYTES, _DRAWN_BYTES = 256 << 20, 192 << 20, 64 << 20
_N_LARGE_AT_ONCE = 2


class TileShape(msgspec.Struct, frozen=True):
    """How a picture is cut: its full size, and the level at which one tile pixel is one picture pixel."""

    size: Size
    max_level: int


def tile_shape(size: Size) -> TileShape:
    """Return the pyramid of a picture: level ``max_level`` is the picture, each level below it half of that.

    Example:
        >>> tile_shape(Size(3600, 1110)).max_level
        12
    """
    return TileShape(size, (max(size) - 1).bit_length())


class TileCutter:
    """Cuts tiles of 512 px from the pictures of a benchmark.

    A picture is drawn once and kept with its reduced levels while there is room. A picture too large to be drawn is
    read through a tiled copy of its file, made once in a temporary folder. May be used by several threads: one picture
    is drawn or copied at a time, so that many tiles asked at once need no more memory than one.

    Args:
        benchmark: Where the files are.
        max_bytes: Bound of the levels kept in memory.
    """

    def __init__(self, benchmark: Benchmark, *, max_bytes: int = _LEVEL_BYTES) -> None:
        self._benchmark = benchmark
        self._source = PictureSource(benchmark, max_decoded_bytes=_DECODED_BYTES, max_drawn_bytes=_DRAWN_BYTES)
        self._levels = _LevelCache(max_bytes)
        self._large: dict[str, _LargeTiles] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="eyechart-tiles-")
        self._lock, self._copying = Lock(), Lock()
        self._reading = BoundedSemaphore(_N_LARGE_AT_ONCE)

    def close(self) -> None:
        """Remove the temporary folder."""
        self._folder.cleanup()

    def tile(self, picture: Picture, seen: Size | None, level: int, column: int, row: int) -> bytes:
        """Return one tile as PNG.

        Args:
            picture: Which picture.
            seen: Resampled to this size first, as the model saw it; None for the picture as it was sent.
            level: 0 to ``tile_shape(size).max_level``.
            column: From 0, from the left.
            row: From 0, from the top.

        Raises:
            UsageError: If there is no such tile.
            ImageError: If the file cannot be read, or is not the one that was planned.
        """
        size = seen or picture.size
        shape = tile_shape(size)
        reduction = shape.max_level - level
        if reduction < 0 or level < 0:
            raise UsageError(f"there is no level {level}", hint=f"levels are 0 to {shape.max_level}")
        width, height = -(-size.width >> reduction), -(-size.height >> reduction)
        x0, y0 = column * TILE_PX, row * TILE_PX
        if not (0 <= x0 < width and 0 <= y0 < height):
            raise UsageError(f"there is no tile {column}, {row} at level {level}", hint="tiles are counted from 0")
        x1, y1 = min(x0 + TILE_PX, width), min(y0 + TILE_PX, height)
        if is_too_large(picture):
            return _png(self._read_large(picture, size, reduction, (x0, y0, x1, y1)))
        return _png(self._reduced(picture, seen, reduction)[y0:y1, x0:x1])

    def thumbnail(self, picture: Picture, seen: Size | None, max_side_px: int) -> Pixels:
        """Return a whole picture, no side above ``max_side_px``; its own pixels where it is small enough.

        Args:
            picture: Which picture.
            seen: As in ``tile``.
            max_side_px: Longest side.

        Raises:
            ImageError: If the file cannot be read, or is not the one that was planned.
        """
        size = seen or picture.size
        reduction = 0
        while max(size) > 2 * max_side_px << reduction:
            reduction += 1
        if is_too_large(picture):
            whole = (0, 0, -(-size.width >> reduction), -(-size.height >> reduction))
            pixels = self._read_large(picture, size, reduction, whole)
        else:
            pixels = self._reduced(picture, seen, reduction)
        height, width = pixels.shape[:2]
        scale = min(1.0, max_side_px / max(width, height))
        if scale == 1.0:
            return pixels
        target = Size(max(1, round(width * scale)), max(1, round(height * scale)))
        return np.asarray(resample(Image.fromarray(pixels), target, DEFAULT_RESAMPLER))

    def thumbnail_png(self, picture: Picture, seen: Size | None, max_side_px: int) -> bytes:
        """Return ``thumbnail`` as PNG."""
        return _png(self.thumbnail(picture, seen, max_side_px))

    def _reduced(self, picture: Picture, seen: Size | None, reduction: int) -> Pixels:
        """Return a picture halved ``reduction`` times, shape (height, width, 3)."""
        key = (picture.recipe_key, seen)
        with self._lock:
            levels = self._levels.get(key)
            if levels is None:
                pixels = self._source.draw(picture)
                if seen is not None and seen != picture.size:
                    pixels = np.asarray(resample(Image.fromarray(pixels), seen, DEFAULT_RESAMPLER))
                levels = [pixels]
            while len(levels) <= reduction:
                levels.append(np.asarray(Image.fromarray(levels[-1]).reduce(2)))
            self._levels.put(key, levels)
            return levels[reduction]

    def _read_large(self, picture: Picture, size: Size, reduction: int, box: tuple[int, int, int, int]) -> Pixels:
        """Return a part of a view that is too large to be drawn; the first one of a file waits for its copy."""
        with self._copying:
            key = picture.image.file_sha256
            if key not in self._large:
                path = self._benchmark.image_path(picture.image)
                self._large[key] = _LargeTiles(path, Path(self._folder.name) / f"{key}.tif")
            large = self._large[key]
        with self._reading:
            return large.region(picture, size, reduction, box)


def is_too_large(picture: Picture) -> bool:
    """Whether drawing a view whole would take too much memory, so that it is read in parts; a grid is always drawn.

    A small crop of a large file is drawn to its very pixels; shrinking such a file would hold too much of it at once.
    """
    geometry = picture.recipe.geometry
    if not isinstance(geometry, Composition):
        return False
    is_shrunk = geometry.resized is not None and picture.image.size.n_px > MAX_DRAWN_PIXELS
    return is_shrunk or picture.size.n_px > MAX_DRAWN_PIXELS


class _LevelCache:
    """Levels of the pictures used last, bounded in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[tuple[str, Size | None], list[Pixels]] = OrderedDict()

    def get(self, key: tuple[str, Size | None]) -> list[Pixels] | None:
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def put(self, key: tuple[str, Size | None], levels: list[Pixels]) -> None:
        self._entries[key] = levels
        self._entries.move_to_end(key)
        while len(self._entries) > 1 and self._n_bytes() > self._max_bytes:
            self._entries.popitem(last=False)

    def _n_bytes(self) -> int:
        return sum(level.nbytes for levels in self._entries.values() for level in levels)


class _LargeTiles:
    """Regions of a file of any size at halved scales, from a tiled pyramid that is made at once and kept on disk.

    The pyramid is a JPEG-compressed copy for looking; what models are sent never comes from it.
    """

    def __init__(self, path: Path, copy: Path) -> None:
        self._levels = _write_pyramid(path, copy)

    def region(self, picture: Picture, size: Size, reduction: int, box: tuple[int, int, int, int]) -> Pixels:
        """Return pixels of a view at a halved scale, white where the view is white.

        Args:
            picture: The view.
            size: Its size as shown before it is halved: as it was sent, or as the model saw it.
            reduction: How often it is halved.
            box: x0, y0, x1, y1 in the halved view.
        """
        geometry = picture.recipe.geometry
        assert isinstance(geometry, Composition)  # noqa: S101 -- see is_too_large
        x0, y0, x1, y1 = box
        page = np.full((y1 - y0, x1 - x0, 3), WHITE, np.uint8)
        kept = geometry.kept
        if kept is None:
            return page
        across, down = (shown / whole / (1 << reduction) for shown, whole in zip(size, geometry.canvas, strict=True))
        # Where the kept pixels begin and end, in the halved view.
        left, top = geometry.offset[0] * across, geometry.offset[1] * down
        cut_x0, cut_y0 = max(x0, round(left)), max(y0, round(top))
        cut_x1, cut_y1 = min(x1, round(left + kept.width * across)), min(y1, round(top + kept.height * down))
        if cut_x1 <= cut_x0 or cut_y1 <= cut_y0:
            return page
        origin = (kept.x0 - geometry.offset[0], kept.y0 - geometry.offset[1])
        edges = (
            cut_x0 / across + origin[0],
            cut_y0 / down + origin[1],
            cut_x1 / across + origin[0],
            cut_y1 / down + origin[1],
        )
        part = self._read(edges, Size(cut_x1 - cut_x0, cut_y1 - cut_y0))
        page[cut_y0 - y0 : cut_y1 - y0, cut_x0 - x0 : cut_x1 - x0] = part
        return page

    def _read(self, edges: tuple[float, float, float, float], size: Size) -> Pixels:
        """Return a region of the file at a size, from the smallest level that has enough pixels."""
        levels = self._levels
        wanted = (edges[2] - edges[0]) / size.width
        index = max(0, min(len(levels) - 1, int(np.floor(np.log2(max(wanted, 1.0))))))
        level = levels[index]
        # A pixel of a level stands for exactly two by two of the level above; of odd sides the last one is dropped.
        scale = 1 / (1 << index)
        x0, y0 = min(int(edges[0] * scale), level.width - 1), min(int(edges[1] * scale), level.height - 1)
        x1 = min(max(round(edges[2] * scale), x0 + 1), level.width)
        y1 = min(max(round(edges[3] * scale), y0 + 1), level.height)
        cut = level.crop(x0, y0, x1 - x0, y1 - y0)
        pixels = np.frombuffer(cut.write_to_memory(), np.uint8).reshape(y1 - y0, x1 - x0, 3)
        return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))


def _write_pyramid(path: Path, copy: Path) -> "list[pyvips.Image]":
    """Write a tiled pyramid of a file, reading it once from its top, and return its levels, the whole first."""
    import pyvips  # deferred: few pictures need it

    whole = pyvips.Image.new_from_file(str(path), access="sequential", fail_on="warning")
    if whole.hasalpha():
        whole = whole.flatten(background=[WHITE, WHITE, WHITE])
    whole.colourspace("srgb").cast("uchar").tiffsave(
        str(copy), tile=True, pyramid=True, compression="jpeg", Q=90, bigtiff=True,
        tile_width=TILE_PX, tile_height=TILE_PX,
    )  # fmt: skip
    n_pages = int(str(pyvips.Image.new_from_file(str(copy)).get("n-pages")))
    return [pyvips.Image.new_from_file(str(copy), page=page, access="random") for page in range(n_pages)]


def _png(pixels: Pixels) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(stream, "PNG", compress_level=1)
    return stream.getvalue()
