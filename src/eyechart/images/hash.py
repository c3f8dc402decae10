"""Names by content: of files, and of pixels whatever file they are in."""

import hashlib
import struct
from pathlib import Path

import numpy as np

from eyechart.errors import UnavailableImageError
from eyechart.images.pixels import WHITE, Pixels
from eyechart.schema import Size

_BLOCK_BYTES = 1 << 20


def file_sha256(path: Path) -> tuple[str, int]:
    """Return the SHA-256 of a file as lower-case hex, and its length in bytes; read in blocks of 1 MiB.

    Raises:
        UnavailableImageError: If the file cannot be read.
    """
    digest, n_bytes = hashlib.sha256(), 0
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
                n_bytes += len(block)
    except OSError as error:
        raise UnavailableImageError(
            f"{path}: cannot read ({error.strerror})", hint="check the path and its permissions"
        ) from error
    return digest.hexdigest(), n_bytes


def pixel_sha256(pixels: Pixels) -> str:
    r"""Return the SHA-256 of a picture's pixels, as lower-case hex.

    Hashed are the three ASCII bytes ``RGB``, width and height as two little-endian unsigned 32-bit integers, and the
    samples row by row from the top, three bytes a pixel in the order red, green, blue, without padding. Encoders,
    metadata and file formats do not enter, so any lossless copy has the same hash.

    Args:
        pixels: (height, width, 3) uint8.

    Example:
        >>> layout = b"RGB" + b"\2\0\0\0" + b"\1\0\0\0" + bytes(6)
        >>> pixel_sha256(np.zeros((1, 2, 3), np.uint8)) == hashlib.sha256(layout).hexdigest()
        True
    """
    height, width, _ = pixels.shape
    digest = _begin(Size(width, height))
    for row in range(0, height, _rows_at_once(width)):
        digest.update(np.ascontiguousarray(pixels[row : row + _rows_at_once(width)]).data)
    return digest.hexdigest()


def pixel_sha256_on_white(canvas: Size, offset: tuple[int, int], pixels: Pixels) -> str:
    """Return ``pixel_sha256`` of a picture at ``offset`` on a white canvas, without making the canvas.

    The picture must lie inside the canvas.

    Example:
        >>> page = np.full((3, 4, 3), 255, np.uint8); page[1, 2] = 7
        >>> pixel_sha256_on_white(Size(4, 3), (2, 1), page[1:2, 2:3]) == pixel_sha256(page)
        True
    """
    height, width, _ = pixels.shape
    left, top = offset
    digest = _begin(canvas)
    rows_at_once = _rows_at_once(canvas.width)
    band = np.full((rows_at_once, canvas.width, 3), WHITE, np.uint8)
    white = band.tobytes()
    _update_white(digest, white, top * canvas.width * 3)
    for row in range(0, height, rows_at_once):
        part = pixels[row : row + rows_at_once]
        band[: len(part), left : left + width] = part
        digest.update(band[: len(part)].data)
    _update_white(digest, white, (canvas.height - top - height) * canvas.width * 3)
    return digest.hexdigest()


def _begin(size: Size) -> "hashlib._Hash":
    return hashlib.sha256(b"RGB" + struct.pack("<II", size.width, size.height))


def _rows_at_once(width: int) -> int:
    return max(1, _BLOCK_BYTES // (3 * width))


def _update_white(digest: "hashlib._Hash", white: bytes, n_bytes: int) -> None:
    whole, rest = divmod(n_bytes, len(white))
    for _ in range(whole):
        digest.update(white)
    digest.update(white[:rest])
