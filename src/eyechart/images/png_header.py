"""The chunks of a PNG file that decide how its pixels are meant, found without decompressing any."""

import struct
from typing import BinaryIO

from eyechart.errors import ImageError
from eyechart.schema import Value

_SIGNATURE_BYTES = 8
_CHUNK_OVERHEAD = 12
_COLOUR_TYPES_WITH_ALPHA = frozenset({4, 6})
# 1/2.2 in units of 1e-5: the gamma that writers store for sRGB (PNG 3rd edition, 11.3.2.2 and 11.3.2.5).
_SRGB_GAMMA = 45455
_NUMBER_BYTES = 4
_SMALL_CHUNKS = frozenset({b"IHDR", b"gAMA", b"acTL", b"eXIf"})


class PngHeader(Value, frozen=True):
    """What a PNG says about its pixels.

    Args:
        bits: Bits per channel as stored.
        colour_type: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha.
        is_interlaced: Whether it is stored in Adam7 passes.
        has_alpha: Whether it has an alpha channel or a transparency chunk.
        has_icc: Whether a colour profile is embedded.
        has_gamma: Whether a gamma other than sRGB's, or a cICP chunk, asks for another treatment without a profile.
        n_frames: Frames of an animated PNG, else 1.
        exif: The Exif block, wherever it lies in the file.
        is_complete: Whether the end chunk was found.
    """

    bits: int
    colour_type: int
    is_interlaced: bool
    has_alpha: bool
    has_icc: bool
    has_gamma: bool
    n_frames: int
    exif: bytes | None
    is_complete: bool


def read_png_header(stream: BinaryIO, place: str) -> PngHeader:
    """Walk over the chunks of a PNG, skipping their content.

    Args:
        stream: The file, positioned at its first byte; seekable.
        place: Names the file in errors.

    Raises:
        ImageError: If the first chunk is not an image header.
    """
    small, seen = _walk(stream)
    header = small.get(b"IHDR", b"")
    if len(header) != struct.calcsize(">IIBBBBB"):
        raise ImageError(f"{place}: a PNG without an image header", hint="the file is damaged; fetch it again")
    _, _, bits, colour_type, _, _, interlace = struct.unpack(">IIBBBBB", header)
    return PngHeader(
        bits=bits,
        colour_type=colour_type,
        is_interlaced=bool(interlace),
        has_alpha=colour_type in _COLOUR_TYPES_WITH_ALPHA or b"tRNS" in seen,
        has_icc=b"iCCP" in seen,
        has_gamma=b"cICP" in seen or (_first_number(small, b"gAMA") or _SRGB_GAMMA) != _SRGB_GAMMA,
        n_frames=_first_number(small, b"acTL") or 1,
        exif=small.get(b"eXIf"),
        is_complete=b"IEND" in seen,
    )


def _walk(stream: BinaryIO) -> tuple[dict[bytes, bytes], set[bytes]]:
    """Return the content of the small chunks, and the names of all complete chunks."""
    small: dict[bytes, bytes] = {}
    seen: set[bytes] = set()
    end = stream.seek(0, 2)
    position = _SIGNATURE_BYTES
    while position + _CHUNK_OVERHEAD <= end and b"IEND" not in seen:
        stream.seek(position)
        length, name = struct.unpack(">I4s", stream.read(8))
        position += length + _CHUNK_OVERHEAD
        if position > end:
            break
        seen.add(name)
        if name in _SMALL_CHUNKS:
            small.setdefault(name, stream.read(length))
    return small, seen


def _first_number(small: dict[bytes, bytes], name: bytes) -> int | None:
    content = small.get(name, b"")
    return int.from_bytes(content[:_NUMBER_BYTES], "big") if len(content) >= _NUMBER_BYTES else None
