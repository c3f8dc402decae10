"""Captions of grid cells, composed from a bundled glyph atlas, so that no font renderer decides a pixel."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from eyechart.errors import GeometryError
from eyechart.images.decode import decode
from eyechart.images.pixels import WHITE, Pixels
from eyechart.schema import Size

CAPTION_ATLAS = "dejavu-sans-bold-30@1"
"""Name and version of the atlas: DejaVu Sans Bold 2.37 at 30 px, each glyph as FreeType draws it by itself."""

_ATLAS = Path(__file__).with_name("caption_glyphs.png")
# The row of the atlas that stands on the baseline.
_BASELINE_ROW = 23
# Advances are in 1/64 px, as fonts give them; DejaVu Sans Bold has no kerning between these characters.
_UNITS = 64
_SPACE_UNITS = 668


class _Glyph(NamedTuple):
    x: int
    width: int
    bearing: int
    advance: int


_GLYPHS = {
    ",": _Glyph(0, 8, 1, 729),
    "0": _Glyph(8, 19, 1, 1336),
    "1": _Glyph(27, 16, 3, 1336),
    "2": _Glyph(43, 17, 2, 1336),
    "3": _Glyph(60, 17, 2, 1336),
    "4": _Glyph(77, 19, 1, 1336),
    "5": _Glyph(96, 17, 2, 1336),
    "6": _Glyph(113, 19, 1, 1336),
    "7": _Glyph(132, 17, 2, 1336),
    "8": _Glyph(149, 18, 1, 1336),
    "9": _Glyph(167, 18, 1, 1336),
    "c": _Glyph(185, 15, 1, 1138),
    "l": _Glyph(200, 6, 2, 658),
    "m": _Glyph(206, 27, 2, 2001),
    "n": _Glyph(233, 18, 2, 1367),
    "o": _Glyph(251, 19, 1, 1319),
    "r": _Glyph(270, 13, 2, 947),
    "u": _Glyph(283, 17, 2, 1367),
    "w": _Glyph(300, 26, 1, 1774),
}


def cell_caption(row: int, column: int) -> str:
    """Return the caption of a cell; the cell is counted from 0, its caption from 1.

    Example:
        >>> cell_caption(0, 9)
        'row 1, column 10'
    """
    return f"row {row + 1}, column {column + 1}"


def caption_width(text: str) -> float:
    """Return how far a caption advances, in pixels.

    Raises:
        GeometryError: If the atlas has no glyph for a character.

    Example:
        >>> caption_width("row 1, column 1")
        270.234375
    """
    return sum(_advance(character) for character in text) / _UNITS


def draw_caption(text: str, band: Size, baseline: int) -> Pixels:
    """Return a white band with a caption in black, centred to half a pixel.

    Args:
        text: Digits, comma, spaces and the letters of "row" and "column".
        band: Size of the band.
        baseline: Row of the band that the letters stand on.

    Returns:
        (height, width, 3) uint8.

    Raises:
        GeometryError: If the text does not fit the band, or the atlas has no glyph for a character.

    Example:
        >>> draw_caption("row 1, column 1", Size(488, 40), 31).shape
        (40, 488, 3)
    """
    left = int((band.width - caption_width(text)) / 2 + 0.5)
    atlas = _coverage()
    top = baseline - _BASELINE_ROW
    if left < 0 or top < 0 or top + len(atlas) > band.height:
        raise GeometryError(f"caption {text!r} does not fit {band.width}×{band.height} pixels")
    ink = np.zeros((band.height, band.width), np.uint8)
    units = 0
    for character in text:
        glyph = _GLYPHS.get(character)
        if glyph is not None:
            x = left + (units + _UNITS // 2) // _UNITS + glyph.bearing
            area = ink[top : top + len(atlas), x : x + glyph.width]
            np.maximum(area, atlas[:, glyph.x : glyph.x + glyph.width], out=area)
        units += _advance(character)
    return np.repeat((WHITE - ink)[:, :, np.newaxis], 3, axis=2)


def _advance(character: str) -> int:
    if character == " ":
        return _SPACE_UNITS
    if character not in _GLYPHS:
        raise GeometryError(f"no glyph for {character!r} in captions", hint="captions read: row 1, column 1")
    return _GLYPHS[character].advance


@cache
def _coverage() -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
    """Return how much of each pixel of the atlas a glyph covers, 0 to 255."""
    return np.ascontiguousarray(decode(_ATLAS).pixels[:, :, 0])
