"""Whether a picture file is whole, as far as a glance tells: at its ends and checksums, without decoding any pixel."""

import io
import zlib
from pathlib import Path
from typing import BinaryIO

from PIL import TiffImagePlugin

from eyechart.errors import UnavailableImageError
from eyechart.images.probe import PILLOW_FAULTS

_ENDS = {"image/jpeg": b"\xff\xd9", "image/png": b"IEND\xaeB`\x82"}
_TAIL_BYTES = 1 << 16
_BLOCK_BYTES, _MOST_SUMMED_BYTES = 1 << 20, 16 << 20
# Markers of a JPEG that stand alone, and the one after which the scan begins (ITU-T T.81, table B.1).
_ALONE = frozenset({0x01, *range(0xD0, 0xDA)})
_SCAN, _FILL = 0xDA, 0xFF
_GIF_END = 0x3B
# Offsets and lengths of strips, and of tiles (TIFF 6.0).
_PARTS_OF_TIFF = ((273, 279), (324, 325))


def has_end(content: bytes, media_type: str) -> bool:
    r"""Whether the bytes end as a whole file of this type does; False also where something follows the end.

    So a file that is sent as it is need not be decoded: a glance at a few bytes, and for a PNG the checksums of its
    chunks. What ends otherwise may still be whole: decode it to know.

    Example:
        >>> has_end(b"...\xff\xd9", "image/jpeg"), has_end(b"...", "image/jpeg")
        (True, False)
    """
    if media_type == "image/webp":
        # RIFF counts what follows its length field, and pads an odd length.
        n_bytes = int.from_bytes(content[4:8], "little") + 8
        return len(content) in {n_bytes, n_bytes + n_bytes % 2}
    end = _ENDS.get(media_type)
    has_mark = end is not None and content.endswith(end)
    return has_mark and (media_type != "image/png" or _has_whole_chunks(io.BytesIO(content), len(content)))


def seems_damaged(source: Path | bytes, media_type: str) -> bool:
    r"""Return whether something is missing at the end of a file, or a checksum is wrong; decode it to be sure.

    A few bytes are read; of a PNG of up to 16 MiB all, for its checksums. False tells nothing else of the middle.

    Args:
        source: A path, or the encoded bytes.
        media_type: What it is by its content.

    Raises:
        UnavailableImageError: If it cannot be read.

    Example:
        >>> seems_damaged(b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp")
        True
    """
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
            n_bytes = stream.seek(0, io.SEEK_END)
            stream.seek(0)
            return _is_short(stream, n_bytes, media_type)
    except OSError as error:
        name = "picture" if isinstance(source, bytes) else source.name
        raise UnavailableImageError(
            f"{name}: cannot read ({error.strerror})", hint="check the path and its permissions"
        ) from error


def _is_short(stream: BinaryIO, n_bytes: int, media_type: str) -> bool:
    match media_type:
        case "image/png":  # whether its end is there, its header tells
            is_whole = n_bytes > _MOST_SUMMED_BYTES or _has_whole_chunks(stream, n_bytes)
        case "image/jpeg":
            is_whole = _has_end_of_jpeg(stream, n_bytes)
        case "image/tiff":
            is_whole = _end_of_tiff(stream) <= n_bytes
        case "image/webp":
            is_whole = int.from_bytes(stream.read(8)[4:], "little") + 8 <= n_bytes
        case "image/bmp":
            is_whole = int.from_bytes(stream.read(6)[2:], "little") <= n_bytes
        case "image/gif":
            stream.seek(-1, io.SEEK_END)
            is_whole = stream.read(1)[0] == _GIF_END
        case _:
            is_whole = True
    return not is_whole


def _end_of_tiff(stream: BinaryIO) -> int:
    """Return where the last strip or tile of the first page ends, as its header tells; 0 where it tells nothing."""
    try:
        tags = TiffImagePlugin.TiffImageFile(stream).tag_v2
        ends = [
            offset + length
            for offsets, lengths in _PARTS_OF_TIFF
            for offset, length in zip(tags.get(offsets, ()), tags.get(lengths, ()), strict=False)
        ]
    except PILLOW_FAULTS:
        return 0
    return max(ends, default=0)


def _has_end_of_jpeg(stream: BinaryIO, n_bytes: int) -> bool:
    """Whether an end mark stands among the last bytes, behind the begin of the scan; one before is a thumbnail's."""
    begin = _begin_of_scan(stream)
    stream.seek(max(begin, n_bytes - _TAIL_BYTES))
    return b"\xff\xd9" in stream.read()


def _begin_of_scan(stream: BinaryIO) -> int:
    """Return where the first scan of a JPEG begins, as far as its segments can be followed."""
    stream.seek(2)
    while True:
        at = stream.tell()
        lead = stream.read(2)
        if len(lead) < 2 or lead[0] != _FILL:  # noqa: PLR2004 -- the two bytes of a marker
            return at
        if lead[1] == _FILL:
            stream.seek(at + 1)
        elif lead[1] not in _ALONE:
            n_bytes = int.from_bytes(stream.read(2), "big")
            stream.seek(at + 2 + n_bytes)
            if lead[1] == _SCAN:
                return at + 2 + n_bytes


def _has_whole_chunks(stream: BinaryIO, n_bytes: int) -> bool:
    """Whether each chunk of a PNG has the checksum that it tells, up to its last; what follows that does not count."""
    at = 8  # after the signature
    while at < n_bytes:
        stream.seek(at)
        head = stream.read(8)
        n_left = int.from_bytes(head[:4], "big")
        at += 12 + n_left  # length, type, content; then the checksum
        if len(head) < 8 or at > n_bytes:  # noqa: PLR2004 -- length and type
            return False
        checksum = zlib.crc32(head[4:])
        while n_left and (block := stream.read(min(n_left, _BLOCK_BYTES))):
            checksum = zlib.crc32(block, checksum)
            n_left -= len(block)
        if n_left or checksum != int.from_bytes(stream.read(4), "big"):
            return False
        if head[4:] == b"IEND":
            return True
    return False
