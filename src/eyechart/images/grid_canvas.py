"""Grids of pictures with one needle: the other cells are composed and deflated once for all places of the needle."""

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock

import numpy as np
from PIL import Image

from eyechart.errors import GeometryError
from eyechart.images.captions import CAPTION_ATLAS, cell_caption, draw_caption
from eyechart.images.encode import JpegSettings, encode_image_jpeg
from eyechart.images.pixels import WHITE, Pixels, PixelSource, as_decoded
from eyechart.images.png import DeflatedRows, deflate_rows, png_of_rows, png_pieces
from eyechart.images.resample import DEFAULT_RESAMPLER, resample
from eyechart.schema import GridComposition, Size

HRSCENE_JPEG = JpegSettings(quality=75, subsampling="4:2:0")
"""How HRScene stores its grids."""

# Letters stand on the row 31 px below the picture: the published canvas has its text origin at y = 471 of 508, and the
# ascent of DejaVu Sans Bold at 30 px is 28.
_BASELINE_BELOW_PICTURE = 31
_Cell = tuple[int, int]


def squeeze_to_tile(source: PixelSource, tile: Size, resampler: str = DEFAULT_RESAMPLER) -> Pixels:
    """Return a picture at the size of a cell, its aspect ratio not kept; (tile height, tile width, 3) uint8.

    Example:
        >>> squeeze_to_tile(np.zeros((30, 40, 3), np.uint8), Size(8, 8)).shape
        (8, 8, 3)
    """
    decoded = as_decoded(source)
    return decoded.pixels if decoded.size == tile else np.asarray(resample(decoded.image, tile, resampler))


class GridCanvas:
    """A grid whose needle can stand in any cell; safe to share between threads.

    Distractors fill the other cells row by row, so a needle that moves on shifts those it passes by one cell, and every
    place shows the same pictures.

    Args:
        geometry: Any cell of the grid; row and column are given again with each picture.
        tiles: The distractors at the size of a cell, in order; none for a white grid.

    Raises:
        GeometryError: If their number is not that of the other cells, one has another size, or the captions are of an
            unknown atlas.

    Example:
        >>> small = GridComposition(Size(4, 4), "white", 2, 2, 0, 0, Size(2, 2), Size(2, 2))
        >>> GridCanvas(small, ()).draw(np.zeros((2, 2, 3), np.uint8), 1, 0)[:, :, 0].tolist()
        [[255, 255, 255, 255], [255, 255, 255, 255], [0, 0, 255, 255], [0, 0, 255, 255]]
    """

    def __init__(self, geometry: GridComposition, tiles: Sequence[Pixels]) -> None:
        self._check(geometry, tiles)
        self._geometry = geometry
        self._tiles = tuple(tiles)
        self._bands: dict[_Cell, DeflatedRows] = {}
        # One page is kept and only what differs between two places of the needle is drawn again. It is a Pillow image,
        # because making one from an array costs more than the JPEG.
        self._page: Image.Image | None = None
        self._standing: dict[_Cell, Pixels | None] = {}
        self._lock = Lock()

    def draw(self, needle: Pixels, row: int, column: int) -> Pixels:
        """Return the pixels of the grid with the needle in a cell.

        Args:
            needle: (tile height, tile width, 3) uint8.
            row: Row of the needle, from 0.
            column: Column of the needle, from 0.

        Returns:
            (canvas height, canvas width, 3) uint8, the caller's own.

        Raises:
            GeometryError: If the needle has another size, or there is no such cell.
        """
        self._check_needle(needle, row, column)
        with self._lock:
            return np.array(self._compose(needle, row, column))

    def encode_png(self, needle: Pixels, row: int, column: int) -> bytes:
        """Return the grid as a PNG file; rows of cells without the needle are deflated once.

        Raises:
            GeometryError: If the needle has another size, or there is no such cell.
        """
        self._check_needle(needle, row, column)
        geometry = self._geometry
        if not self._tiles and geometry.caption is None:
            return b"".join(png_pieces(geometry.canvas, geometry.corner(row, column), needle))
        parts = [
            deflate_rows(self._draw_band(other, self._row_of_cells(other, needle, (row, column))))
            if other == row
            else self._deflated(other, is_after=other > row)
            for other in range(geometry.rows)
        ]
        return b"".join(png_of_rows(geometry.canvas, parts))

    def encode_jpeg(self, needle: Pixels, row: int, column: int, settings: JpegSettings = HRSCENE_JPEG) -> bytes:
        """Return the grid as a JPEG file.

        Raises:
            GeometryError: If the needle has another size, or there is no such cell.
            UsageError: If the quality is not 1 to 100.
        """
        self._check_needle(needle, row, column)
        with self._lock:
            return encode_image_jpeg(self._compose(needle, row, column), settings.quality, settings.subsampling)

    def _compose(self, needle: Pixels, row: int, column: int) -> Image.Image:
        """Return the kept page with the needle in a cell, drawing only the cells that change."""
        geometry = self._geometry
        if self._page is None:
            self._page = Image.new("RGB", geometry.canvas, (WHITE, WHITE, WHITE))
            for other in range(geometry.rows):
                self._page.paste(Image.fromarray(self._draw_band(other, ())), (0, other * geometry.pitch.height))
        for other in range(geometry.rows):
            for place, tile in enumerate(self._row_of_cells(other, needle, (row, column))):
                if self._standing.get((other, place)) is not tile:
                    self._stand(self._page, (other, place), tile)
        return self._page

    def _stand(self, page: Image.Image, cell: _Cell, tile: Pixels | None) -> None:
        """Draw a picture, or white, into a cell of the kept page."""
        left, top = self._geometry.corner(*cell)
        width, height = self._geometry.tile
        if tile is None:
            page.paste((WHITE, WHITE, WHITE), (left, top, left + width, top + height))
        else:
            page.paste(Image.fromarray(tile), (left, top))
        self._standing[cell] = tile

    def _row_of_cells(self, row: int, needle: Pixels | None, at: _Cell) -> list[Pixels | None]:
        """Return the pictures of one row of cells; None for a white cell."""
        geometry = self._geometry
        stands_at = at[0] * geometry.columns + at[1]
        cells: list[Pixels | None] = []
        for column in range(geometry.columns):
            index = row * geometry.columns + column
            if index == stands_at:
                cells.append(needle)
            elif self._tiles:
                cells.append(self._tiles[index - (index > stands_at)])
            else:
                cells.append(None)
        return cells

    def _draw_band(self, row: int, cells: Sequence[Pixels | None]) -> Pixels:
        """Return one row of cells as (pitch height, canvas width, 3) uint8."""
        band = np.empty((self._geometry.pitch.height, self._geometry.canvas.width, 3), np.uint8)
        _draw_empty(band, self._geometry, row)
        width, height = self._geometry.tile
        for column, tile in enumerate(cells):
            if tile is not None:
                left, top = self._geometry.corner(0, column)
                band[top : top + height, left : left + width] = tile
        return band

    def _deflated(self, row: int, *, is_after: bool) -> DeflatedRows:
        """Return a row of cells before or after the needle's row, deflated when first asked for."""
        key = (row, int(is_after))
        with self._lock:
            if key not in self._bands:
                # The needle stands in the first row above, or in the last below: only before and after count.
                at = (0, 0) if is_after else (self._geometry.rows - 1, self._geometry.columns - 1)
                cells = self._row_of_cells(row, None, at)
                self._bands[key] = deflate_rows(self._draw_band(row, cells))
            return self._bands[key]

    def _check_needle(self, needle: Pixels, row: int, column: int) -> None:
        geometry = self._geometry
        if needle.shape != (geometry.tile.height, geometry.tile.width, 3):
            raise GeometryError(f"a needle of shape {needle.shape} does not fill a cell of {tuple(geometry.tile)} px")
        if not (0 <= row < geometry.rows and 0 <= column < geometry.columns):
            raise GeometryError(
                f"no cell at row {row}, column {column} of a {geometry.rows}×{geometry.columns} grid",
                hint="cells are counted from 0",
            )

    @staticmethod
    def _check(geometry: GridComposition, tiles: Sequence[Pixels]) -> None:
        n_others = geometry.rows * geometry.columns - 1 if geometry.style == "captioned" else 0
        if len(tiles) != n_others:
            raise GeometryError(f"{len(tiles)} distractors for the {n_others} other cells of a grid")
        if any(tile.shape != (geometry.tile.height, geometry.tile.width, 3) for tile in tiles):
            raise GeometryError(f"a distractor has not the size of a cell, {tuple(geometry.tile)} px")
        if geometry.caption not in {None, CAPTION_ATLAS}:
            raise GeometryError(
                f"unknown caption atlas {geometry.caption!r}", hint=f"this eyechart draws {CAPTION_ATLAS}"
            )


def _draw_empty(band: Pixels, geometry: GridComposition, row: int) -> None:
    """Fill one row of cells with white and, in a captioned grid, with the captions."""
    band.fill(WHITE)
    if geometry.caption is None:
        return
    below = geometry.corner(0, 0)[1] + geometry.tile.height
    strip = Size(geometry.pitch.width, geometry.pitch.height - below)
    for column in range(geometry.columns):
        left = column * strip.width
        band[below:, left : left + strip.width] = _caption_of(strip, row, column)


@lru_cache(maxsize=128)
def _caption_of(strip: Size, row: int, column: int) -> Pixels:
    return draw_caption(cell_caption(row, column), strip, _BASELINE_BELOW_PICTURE)
