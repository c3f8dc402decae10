"""What a picture file is, read from its header alone."""

import errno
import struct
from collections.abc import Callable
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from PIL import (
    BmpImagePlugin,
    ExifTags,
    GifImagePlugin,
    Image,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from eyechart.errors import ImageError, UnavailableImageError
from eyechart.images.hash import file_sha256
from eyechart.images.png_header import PngHeader, read_png_header
from eyechart.schema import ImageRef, Size, Value

# The plugins are called directly: Image.open would count pixels against a process-wide limit already at the header.
_PLUGINS: dict[str, Callable[[BinaryIO], ImageFile.ImageFile]] = {
    "image/bmp": BmpImagePlugin.BmpImageFile,
    "image/gif": GifImagePlugin.GifImageFile,
    "image/jpeg": JpegImagePlugin.JpegImageFile,
    "image/png": PngImagePlugin.PngImageFile,
    "image/tiff": TiffImagePlugin.TiffImageFile,
    "image/webp": WebPImagePlugin.WebPImageFile,
}

# What Pillow's parsers raise on damaged files; there is no common base class.
PILLOW_FAULTS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    EOFError,
    ArithmeticError,
    AttributeError,
    MemoryError,
    RuntimeError,
    struct.error,
)

BYTE_BITS = 8
_HEAD_BYTES = 16
# EXIF 2.32, 4.6.5.A; the last four exchange width and height.
_ORIENTATIONS = range(1, 9)
_SIDEWAYS = range(5, 9)
_BITS_PER_SAMPLE = 258
_TILE_WIDTH = 322
# Writers of pyramids round a halved odd side up or down.
_MAX_ODD = 2
_ALPHA_MODES = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
# What the system says of a seek to a place that only a damaged header names; every other number is the disk's.
_ERRNOS_OF_CONTENT = frozenset({errno.EINVAL, errno.EOVERFLOW, errno.EFBIG})
_TIFF_MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


class ImageForm(Value, frozen=True):
    """How a picture is stored, from its header.

    Args:
        size: Stored size in pixels, before any EXIF rotation.
        media_type: By content, never by file name.
        mode: Pillow's name of the stored pixel layout, such as ``RGB``, ``P``, ``I;16`` or ``CMYK``.
        bits: Bits per channel.
        exif_orientation: 1 to 8; 1 if none is stored.
        has_icc: Whether a colour profile is embedded.
        has_alpha: Whether any transparency is stored, also as a palette entry or a colour key.
        n_frames: Frames of an animation, or pages.
        is_progressive: Whether a JPEG is progressive or a PNG interlaced.
        has_gamma: Whether a PNG asks for another colour treatment than sRGB without a profile.
        is_tiled: Whether a TIFF is stored in tiles, so that any region can be read by itself.
        is_complete: False if the end of a PNG is missing; other kinds show it only when they are decoded.
    """

    size: Size
    media_type: str
    mode: str
    bits: int = 8
    exif_orientation: int = 1
    has_icc: bool = False
    has_alpha: bool = False
    n_frames: int = 1
    is_progressive: bool = False
    has_gamma: bool = False
    is_complete: bool = True
    is_tiled: bool = False
    is_pyramid: bool = False

    @property
    def is_animated(self) -> bool:
        """Whether there is more than one frame or page; smaller copies of the first page are none."""
        return self.n_frames > 1 and not self.is_pyramid

    @property
    def is_cmyk(self) -> bool:
        """Whether the pixels are inks, which have no RGB values without a profile."""
        return self.mode == "CMYK"

    @property
    def is_plain(self) -> bool:
        """Whether it holds 8-bit RGB or grey and nothing that changes them: profile, gamma, transparency, frames."""
        is_changed = self.has_icc or self.has_alpha or self.has_gamma or self.is_animated
        return self.mode in {"RGB", "L"} and self.bits == BYTE_BITS and not is_changed

    @property
    def is_sixteen_bit(self) -> bool:
        """Whether a channel has more than the 8 bits that are kept."""
        return self.bits > BYTE_BITS


def sniff_media_type(head: bytes) -> str | None:
    """Return the media type that the first 16 bytes of a file show, None if it is not a picture read here.

    Example:
        >>> sniff_media_type(b"GIF89a"), sniff_media_type(b"%PDF-1.7")
        ('image/gif', None)
    """
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(_TIFF_MAGIC):
        return "image/tiff"
    return "image/bmp" if head.startswith(b"BM") else None


def probe_image(path: Path) -> ImageRef:
    """Return what names a picture file: content hash, stored size, media type and length.

    Only the header is parsed; the pixels are not decoded, so a truncated file passes here.

    Raises:
        ImageError: If the file cannot be read or is not a picture.
    """
    return name_image(path, describe_form(path))


def name_image(path: Path, form: ImageForm) -> ImageRef:
    """Return what names a picture file whose header was read already.

    Raises:
        ImageError: If the file cannot be read.
    """
    sha256, n_bytes = file_sha256(path)
    return ImageRef(
        file_sha256=sha256,
        size=form.size,
        media_type=form.media_type,
        n_bytes=n_bytes,
        exif_orientation=form.exif_orientation,
        is_plain=form.is_plain,
    )


def header_size(path: Path) -> Size:
    """Return the stored size of a picture in pixels, from its header.

    Raises:
        ImageError: If the file cannot be read or is not a picture.
    """
    return _size_and_type(path)[0]


def describe_form(path: Path) -> ImageForm:
    """Return how a picture is stored, from its header.

    Raises:
        ImageError: If the file cannot be read or is not a picture.
    """
    return describe_stream(path, str(path))


def describe_stream(source: Path | bytes, place: str) -> ImageForm:
    """Return how a picture is stored, given its path or its encoded bytes; ``place`` names it in errors.

    Raises:
        ImageError: If it cannot be read or is not a picture.
    """
    with open_stream(source, place) as stream:
        header = open_header(stream, place)
        media_type = header.get_format_mimetype() or ""
        if media_type == "image/png":
            stream.seek(0)
            return _png_form(read_png_header(stream, place), header)
        try:
            return _pillow_form(header, media_type)
        except PILLOW_FAULTS as error:  # counting frames walks through the file
            raise _damaged(place, media_type, error) from error


def embedded_profile(path: Path) -> bytes | None:
    """Return the colour profile that a picture carries, None if it carries none.

    Raises:
        ImageError: If the file cannot be read or is not a picture.
    """
    with open_stream(path, str(path)) as stream:
        profile = open_header(stream, str(path)).info.get("icc_profile")
        return profile if isinstance(profile, bytes) else None


def open_header(stream: BinaryIO, place: str) -> ImageFile.ImageFile:
    """Return Pillow's lazy image of an open file, header parsed, whatever its number of pixels.

    Raises:
        ImageError: If the content is not a picture read here, or its header is damaged.
    """
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    media_type = sniff_media_type(head)
    if not head:
        raise ImageError(
            f"{place}: not a picture that can be read (it has 0 bytes)", hint="the file is damaged; fetch it again"
        )
    if media_type is None:
        what = _other_kind(head)
        raise ImageError(
            f"{place}: not a picture that can be read ({f'it is {what}' if what else f'it begins with {head[:8]!r}'})",
            hint="JPEG, PNG, WebP, GIF, TIFF and BMP are read; convert the file first",
        )
    try:
        header = _PLUGINS[media_type](stream)
    except PILLOW_FAULTS as error:
        raise _damaged(place, media_type, error) from error
    if min(header.size) < 1:
        raise ImageError(f"{place}: a picture of {header.width}×{header.height} pixels", hint="the file is damaged")
    return header


def _other_kind(head: bytes) -> str | None:
    """Return what a file is by its first bytes, of the kinds that people take for pictures that are read; else None."""
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return "an AVIF picture" if brand in {b"avif", b"avis"} else "a HEIC picture" if brand in _HEIC else None
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return next((what for start, what in _BY_BEGINNING if text.startswith(start)), None)


_BY_BEGINNING = (
    (b"<svg", "an SVG drawing"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"version https://", "a pointer of Git LFS"),
)
# Brands of ISO/IEC 23008-12, annex B.
_HEIC = frozenset({b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"})


def stored_orientation(header: ImageFile.ImageFile) -> int:
    """Return the EXIF orientation 1 to 8 that a header carries, 1 if it carries none that can be read."""
    try:
        # A PNG's Exif chunk may lie behind the pixels, where Pillow would decode to find it; see png_header.
        exif = header.info.get("exif") if header.format == "PNG" else header.getexif()
        if isinstance(exif, bytes):
            exif = read_exif(exif)
        orientation = exif.get(ExifTags.Base.Orientation, 1) if exif else 1
    except PILLOW_FAULTS:
        return 1
    return orientation if orientation in _ORIENTATIONS else 1


def read_exif(block: bytes) -> Image.Exif:
    """Return the tags of an Exif block, with or without its prefix ``Exif`` and two zero bytes."""
    exif = Image.Exif()
    exif.load(block)
    return exif


def stored_size(header: ImageFile.ImageFile) -> Size:
    """Return the size of the stored pixels: Pillow reports a TIFF's after its rotation."""
    width, height = header.size
    if header.format == "TIFF" and stored_orientation(header) in _SIDEWAYS:
        return Size(height, width)
    return Size(width, height)


def open_stream(source: Path | bytes, place: str) -> BinaryIO:
    """Return encoded bytes, or a file opened for reading, as a stream to close.

    Raises:
        UnavailableImageError: If the file cannot be opened.
    """
    if isinstance(source, bytes):
        return BytesIO(source)
    try:
        return source.open("rb")
    except OSError as error:
        raise UnavailableImageError(
            f"{place}: cannot read ({error.strerror})", hint="check the path and its permissions"
        ) from error


def picture_error(place: str, what: str, error: Exception) -> ImageError:
    """Return the error for a picture that a library failed on: the picture's own fault, or this machine's.

    Example:
        >>> type(picture_error("a.png", "cannot decode", OSError("image file is truncated"))).__name__
        'ImageError'
        >>> type(picture_error("a.png", "cannot decode", OSError(errno.EIO, "Input/output error"))).__name__
        'UnavailableImageError'
    """
    is_of_machine = isinstance(error, OSError) and error.errno is not None and error.errno not in _ERRNOS_OF_CONTENT
    if isinstance(error, MemoryError):
        return UnavailableImageError(f"{place}: {what} (out of memory)", hint="free some memory and run again")
    if is_of_machine:
        return UnavailableImageError(f"{place}: {what} ({error})", hint="check the disk and run again")
    return ImageError(f"{place}: {what} ({error})", hint="the file is damaged; fetch it again")


def _damaged(place: str, media_type: str, error: Exception) -> ImageError:
    return picture_error(place, f"damaged {media_type} header", error)


def _size_and_type(path: Path) -> tuple[Size, str]:
    with open_stream(path, str(path)) as stream:
        header = open_header(stream, str(path))
        return stored_size(header), header.get_format_mimetype() or ""


def _png_form(png: PngHeader, header: ImageFile.ImageFile) -> ImageForm:
    orientation = 1
    if png.exif is not None:
        header.info["exif"] = png.exif
        orientation = stored_orientation(header)
    return ImageForm(
        size=Size(header.width, header.height),
        media_type="image/png",
        mode=header.mode,
        bits=png.bits,
        exif_orientation=orientation,
        has_icc=png.has_icc,
        has_alpha=png.has_alpha,
        n_frames=png.n_frames,
        is_progressive=png.is_interlaced,
        has_gamma=png.has_gamma,
        is_complete=png.is_complete,
    )


def _pillow_form(header: ImageFile.ImageFile, media_type: str) -> ImageForm:
    return ImageForm(
        size=stored_size(header),
        media_type=media_type,
        mode=header.mode,
        bits=_bits(header),
        exif_orientation=stored_orientation(header),
        has_icc=bool(header.info.get("icc_profile")),
        has_alpha=header.mode in _ALPHA_MODES or "transparency" in header.info,
        n_frames=getattr(header, "n_frames", 1),
        is_progressive=bool(header.info.get("progressive")),
        is_tiled=isinstance(header, TiffImagePlugin.TiffImageFile) and _TILE_WIDTH in header.tag_v2,
        is_pyramid=isinstance(header, TiffImagePlugin.TiffImageFile) and _is_pyramid(header),
    )


def _is_pyramid(header: TiffImagePlugin.TiffImageFile) -> bool:
    """Whether the further pages of a TIFF are copies of the one before, each at half its sides."""
    n_pages = header.n_frames
    if n_pages == 1:
        return False
    sizes = []
    for page in range(n_pages):
        header.seek(page)
        sizes.append(stored_size(header))
    header.seek(0)
    return all(
        abs(2 * small.width - large.width) <= _MAX_ODD and abs(2 * small.height - large.height) <= _MAX_ODD
        for large, small in pairwise(sizes)
    )


def _bits(header: ImageFile.ImageFile) -> int:
    if isinstance(header, TiffImagePlugin.TiffImageFile):
        bits = header.tag_v2.get(_BITS_PER_SAMPLE, (1,))
        return max(bits) if isinstance(bits, tuple) else int(bits)
    return 1 if header.mode == "1" else 8
