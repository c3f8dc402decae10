"""A PNG writer for 8-bit RGB that streams, and does not make the canvas where a picture lies on white.

Lossless; the bytes depend on the pixels and on the deflate library, the pixels on nothing else.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from eyechart.images.deflate import (
    END_OF_STREAM,
    adler32,
    combine_adler32,
    crc32,
    independent_block,
    new_compressor,
    repeated_adler32,
)
from eyechart.images.pixels import WHITE, Pixels
from eyechart.schema import Size

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# zlib header: deflate with a 32 KiB window, fastest (RFC 1950, section 2.2).
_ZLIB_HEADER = b"\x78\x01"
# PNG filter types (PNG 3rd edition, 9.2).
_NONE, _SUB, _UP = 0, 1, 2
# Filtered rows are made in a buffer of about this size, which stays in the processor's cache.
_BAND_BYTES = 256 << 10
# Pre-deflated white comes in blocks of a power of two rows, at most about this size before deflate.
_WHITE_BYTES = 1 << 20


def png_pieces(canvas: Size, offset: tuple[int, int], pixels: Pixels) -> Iterator[bytes]:
    """Yield a PNG file piece by piece: ``pixels`` at ``offset`` on a white canvas.

    Only the rows that hold ``pixels`` are filtered and deflated; white rows are deflated once per width and repeated.

    Args:
        canvas: Size of the picture.
        offset: Where the top-left corner of ``pixels`` lies; all of it must lie inside the canvas.
        pixels: (height, width, 3) uint8; (0, 0, 3) for a white page; need not be contiguous.
    """
    yield _SIGNATURE + _chunk(b"IHDR", [struct.pack(">IIBBBBB", canvas.width, canvas.height, 8, 2, 0, 0, 0)])
    for pieces in _grouped(_zlib_stream(canvas, offset, pixels)):
        yield _chunk(b"IDAT", pieces)
    yield _chunk(b"IEND", [])


def png_of_rows(canvas: Size, parts: Iterable["DeflatedRows"]) -> Iterator[bytes]:
    """Yield a PNG file made of deflated rows, from top to bottom; they must fill the canvas."""
    yield _SIGNATURE + _chunk(b"IHDR", [struct.pack(">IIBBBBB", canvas.width, canvas.height, 8, 2, 0, 0, 0)])
    yield _chunk(b"IDAT", [_ZLIB_HEADER])
    checksum = 1
    for part in parts:
        yield part.chunk
        checksum = combine_adler32(checksum, part.adler32, part.n_bytes)
    yield _chunk(b"IDAT", [END_OF_STREAM + struct.pack(">I", checksum)])
    yield _chunk(b"IEND", [])


class DeflatedRows(NamedTuple):
    """Rows of a PNG, filtered and deflated on their own, so that they can stand in several files.

    Args:
        chunk: A whole IDAT chunk.
        adler32: Checksum of the filtered rows.
        n_bytes: Their length.
    """

    chunk: bytes
    adler32: int
    n_bytes: int


def deflate_rows(pixels: Pixels) -> DeflatedRows:
    """Return whole rows, (height, canvas width, 3) uint8, as a part of a PNG."""
    height, width, _ = pixels.shape
    compressor = new_compressor()
    pieces, checksum = [], 1
    for band in _filtered_bands(width, 0, pixels):
        checksum = adler32(band, checksum)
        pieces.append(compressor.compress(band))
    pieces.append(compressor.flush(zlib.Z_FULL_FLUSH))
    return DeflatedRows(_chunk(b"IDAT", pieces), checksum, height * (1 + 3 * width))


def _chunk(name: bytes, pieces: list[bytes]) -> bytes:
    content = b"".join(pieces)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", crc32(content, zlib.crc32(name)))


def _grouped(pieces: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Gather pieces to about 1 MiB, so that no chunk grows past what PNG allows."""
    group: list[bytes] = []
    n_bytes = 0
    for piece in pieces:
        group.append(piece)
        n_bytes += len(piece)
        if n_bytes >= _WHITE_BYTES:
            yield group
            group, n_bytes = [], 0
    yield group


def _zlib_stream(canvas: Size, offset: tuple[int, int], pixels: Pixels) -> Iterator[bytes]:
    top, bottom = offset[1], canvas.height - offset[1] - pixels.shape[0]
    checksum = 1
    yield _ZLIB_HEADER
    if top:
        yield from _white_rows(canvas.width, top)
        checksum = _white_adler32(canvas.width, top)
    if pixels.size:
        compressor = new_compressor()
        for band in _filtered_bands(canvas.width, offset[0], pixels):
            checksum = adler32(band, checksum)
            yield compressor.compress(band)
        yield compressor.flush(zlib.Z_FULL_FLUSH)
    if bottom:
        yield from _white_rows(canvas.width, bottom)
        n_bytes = bottom * (1 + 3 * canvas.width)
        checksum = combine_adler32(checksum, _white_adler32(canvas.width, bottom), n_bytes)
    yield END_OF_STREAM + struct.pack(">I", checksum)


def _filtered_bands(canvas_width: int, left: int, pixels: Pixels) -> Iterator[memoryview]:
    """Yield the rows that hold ``pixels``, each sample less the one a pixel to its left; the buffer is reused."""
    height, width, _ = pixels.shape
    n_rows = max(1, _BAND_BYTES // (1 + 3 * canvas_width))
    buffer = np.zeros((n_rows, 1 + 3 * canvas_width), np.uint8)
    buffer[:, 0] = _SUB
    begin, end = 1 + 3 * left, 1 + 3 * (left + width)
    before = np.uint8(0)
    if left:
        buffer[:, 1:4] = before = np.uint8(WHITE)
    for row in range(0, height, n_rows):
        rows = pixels[row : row + n_rows].reshape(-1, 3 * width)
        band = buffer[: len(rows)]
        np.subtract(rows[:, :3], before, out=band[:, begin : begin + 3])
        np.subtract(rows[:, 3:], rows[:, :-3], out=band[:, begin + 3 : end])
        if left + width < canvas_width:
            np.subtract(np.uint8(WHITE), rows[:, -3:], out=band[:, end : end + 3])
        yield band.reshape(-1).data


def _white_rows(width: int, n_rows: int) -> Iterator[bytes]:
    """Yield white rows as deflate blocks: one row as it is, the others as "no change from above"."""
    first, other = _white_scanlines(width)
    yield independent_block(first, 1)
    n_rows -= 1
    block_rows = 1 << max(0, (_WHITE_BYTES // len(other)).bit_length() - 1)
    while block_rows:
        n_blocks, n_rows = divmod(n_rows, block_rows)
        if n_blocks:
            yield independent_block(other, block_rows) * n_blocks
        block_rows >>= 1


def _white_adler32(width: int, n_rows: int) -> int:
    first, other = _white_scanlines(width)
    rest = repeated_adler32(other, n_rows - 1)
    return combine_adler32(zlib.adler32(first), rest, (n_rows - 1) * len(other))


def _white_scanlines(width: int) -> tuple[bytes, bytes]:
    return bytes([_NONE]) + bytes([WHITE]) * (3 * width), bytes([_UP]) + bytes(3 * width)
