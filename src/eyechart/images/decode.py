"""One policy by which every picture file becomes pixels (``decode@1``)."""

import hashlib
from pathlib import Path

from PIL import Image, ImageFile

from eyechart.errors import ImageError, UnavailableImageError, UsageError
from eyechart.images.colour import NO_PROFILE, NO_PROFILE_HINT, check_has_rgb, to_srgb
from eyechart.images.ends import seems_damaged
from eyechart.images.hash import file_sha256
from eyechart.images.pixels import DecodedImage
from eyechart.images.probe import PILLOW_FAULTS, ImageForm, describe_stream, open_header, open_stream, picture_error
from eyechart.schema import DecodePolicy, ImageRef, Size

DECODE_VERSION = "decode@1"

# Twice Pillow's default warning threshold: the size above which it speaks of a decompression bomb.
MAX_DECODED_PIXELS = 178_956_970

MAX_HELD_PIXELS = 64_000_000
"""Above this, callers do not hold a picture's file in memory beside its pixels."""

NOTES = {
    "alpha_flattened": "transparency was laid on the matte",
    "exif_orientation_applied": "pixels were rotated by the EXIF orientation, and boxes must be too",
    "exif_orientation_ignored": "the file asks to be shown rotated; its stored pixels were kept",
    "gamma_ignored": "a PNG gamma or cICP chunk was not applied",
    "grey_expanded": "grey was repeated in three channels",
    "icc_converted": "an embedded colour profile was converted to sRGB",
    "icc_srgb_dropped": "the embedded profile is sRGB, so no pixel was changed",
    "icc_unusable_ignored": "the embedded profile is damaged or of another colour space and was ignored",
    "palette_expanded": "palette indices were replaced by their colours",
    "sixteen_bit_reduced": "16-bit samples were reduced by >> 8",
}
"""What can stand in ``DecodedImage.notes``, and what it means."""

_STANDING_MEDIA_TYPES = frozenset({"image/jpeg", "image/png", "image/webp"})

# What an EXIF orientation asks a viewer to do (EXIF 2.32, 4.6.5.A), and what undoes it.
_APPLY_ORIENTATION = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_UNDO_ORIENTATION = {**_APPLY_ORIENTATION, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}


def decode(source: Path | bytes, policy: DecodePolicy | None = None, place: str = "") -> DecodedImage:
    """Decode a picture by the decode policy.

    EXIF orientation is not applied unless the policy says so; alpha is laid on the matte; palette and grey become
    RGB; 16-bit samples are shifted right by 8; an embedded profile is converted to sRGB. A bit error inside a JPEG
    scan cannot be seen here: compare file hashes for that.

    Args:
        source: A path, or the encoded bytes.
        policy: The options; ``decode@1`` with its defaults if None.
        place: Names the picture in errors; the path if empty.

    Raises:
        ImageError: If the file cannot be read, is not a picture, is truncated, animated, CMYK without a profile, of a
            pixel kind without RGB values, or has more than 178,956,970 pixels.
        UsageError: If the policy's version is not known.

    Example:
        >>> from io import BytesIO
        >>> stream = BytesIO()
        >>> Image.new("LA", (2, 1), (0, 0)).save(stream, "PNG")
        >>> decoded = decode(stream.getvalue())
        >>> decoded.pixels[0, 0].tolist(), decoded.notes
        ([255, 255, 255], ('alpha_flattened', 'grey_expanded'))
    """
    policy = policy or DecodePolicy()
    if policy.version != DECODE_VERSION:
        raise UsageError(f"unknown decode policy {policy.version!r}", hint=f"this eyechart knows {DECODE_VERSION}")
    place = place or (str(source) if isinstance(source, Path) else "picture")
    form = describe_stream(source, place)
    check_decodable(form, place)
    if form.size.n_px > MAX_DECODED_PIXELS:
        raise ImageError(
            f"{place}: {form.size.width}×{form.size.height} = {form.size.n_px:,} pixels, more than "
            f"{MAX_DECODED_PIXELS:,} are not decoded at once",
            hint="make it smaller, or build its views in bounded memory with eyechart build or eyechart.images.giga",
        )
    image = _load(source, place)
    image, orientation_notes = _orient(image, form, policy)
    rgb, notes = to_srgb(image, form, policy.matte, place)
    if form.has_gamma:
        notes.append("gamma_ignored")
    return DecodedImage(rgb, tuple(sorted([*notes, *orientation_notes])), form.size)


def is_standing(form: ImageForm) -> bool:
    """Whether a file's own bytes may be sent: any decoder gives the pixels of ``decode@1`` for them.

    So it is 8-bit RGB or grey, JPEG, PNG or WebP, with no orientation, profile, gamma, transparency or second frame,
    and no larger than what is decoded at once. Whether the file is whole is another question: ``images.ends``.

    Example:
        >>> from eyechart.schema import Size
        >>> is_standing(ImageForm(Size(8, 8), "image/jpeg", "RGB"))
        True
        >>> is_standing(ImageForm(Size(8, 8), "image/jpeg", "RGB", exif_orientation=6))
        False
    """
    is_one_of_ours = form.media_type in _STANDING_MEDIA_TYPES and form.size.n_px <= MAX_DECODED_PIXELS
    return is_one_of_ours and form.is_plain and form.exif_orientation == 1


def check_decodable(form: ImageForm, place: str) -> None:
    """Refuse what no policy option can make one picture of.

    Raises:
        ImageError: If there is more than one frame or page, a PNG has no end, CMYK has no profile, or the pixels have
            no RGB values.
    """
    check_has_rgb(form.mode, place)
    if form.mode == "CMYK" and not form.has_icc:
        raise ImageError(f"{place}: {NO_PROFILE}", hint=NO_PROFILE_HINT)
    if not form.is_complete:
        raise ImageError(
            f"{place}: truncated, the end of the PNG is missing", hint="the file is damaged; fetch it again"
        )
    if form.is_animated:
        kind = "pages" if form.media_type == "image/tiff" else "frames"
        raise ImageError(
            f"{place}: {form.n_frames} {kind}, and one picture is needed",
            hint="save the one that is meant as a PNG",
        )
    if form.mode in {"L", "RGB"} and form.is_sixteen_bit and form.has_alpha:
        raise ImageError(
            f"{place}: 16-bit RGB with a transparent colour cannot be reduced to 8 bits unambiguously",
            hint="export the picture with an alpha channel or without transparency",
        )


def examine(source: Path | bytes, place: str) -> tuple[ImageRef, ImageForm | None]:
    """Return what names a picture, and how it is stored; a picture that its header rules out is named with its fault.

    Only the header is parsed, and a glance is cast at the rest (``images.ends``); where that finds an end missing, the
    picture is decoded to know. What is damaged in its middle may pass.

    Args:
        source: A path, or the encoded bytes.
        place: Names the picture in its fault; it is stored with the question, so it should not be an absolute path.

    Returns:
        The name, and the form; None where the file cannot be read or is not a picture, so that its size is not known.

    Example:
        >>> image, form = examine(b"%PDF-1.7", "a.png")
        >>> image.size, form, image.fault
        (Size(width=0, height=0), None, "a.png: not a picture that can be read (it begins with b'%PDF-1.7')")
    """
    try:
        sha256, n_bytes = _hashed(source)
    except UnavailableImageError as error:
        return unread_image(error.message), None
    try:
        form = describe_stream(source, place)
    except UnavailableImageError as error:
        return unread_image(error.message), None
    except ImageError as error:
        return unread_image(error.message, sha256, n_bytes), None
    fault = None
    try:
        check_decodable(form, place)
        if form.size.n_px <= MAX_HELD_PIXELS and seems_damaged(source, form.media_type):
            _load(source, place)
    except UnavailableImageError as error:
        return unread_image(error.message), None
    except ImageError as error:
        fault = error.message
    image = ImageRef(
        file_sha256=sha256,
        size=form.size,
        media_type=form.media_type,
        n_bytes=n_bytes,
        exif_orientation=form.exif_orientation,
        is_plain=form.is_plain,
        fault=fault,
    )
    return image, form


def unread_image(fault: str, file_sha256: str = "", n_bytes: int | None = None) -> ImageRef:
    """Return what stands for a picture of which nothing but its fault is known."""
    return ImageRef(file_sha256=file_sha256, size=Size(0, 0), media_type="", n_bytes=n_bytes, fault=fault)


def _hashed(source: Path | bytes) -> tuple[str, int]:
    return (hashlib.sha256(source).hexdigest(), len(source)) if isinstance(source, bytes) else file_sha256(source)


def _load(source: Path | bytes, place: str) -> Image.Image:
    """Return the decoded picture; a file is read as it is decoded, never held whole beside its pixels."""
    if ImageFile.LOAD_TRUNCATED_IMAGES:
        raise UnavailableImageError(
            f"{place}: Pillow was told to accept truncated files in this process",
            hint="leave PIL.ImageFile.LOAD_TRUNCATED_IMAGES at False",
        )
    with open_stream(source, place) as stream:
        image = open_header(stream, place)
        try:
            image.load()
        except PILLOW_FAULTS as error:
            raise picture_error(place, "cannot decode", error) from error
        return image


def _orient(image: Image.Image, form: ImageForm, policy: DecodePolicy) -> tuple[Image.Image, list[str]]:
    """Return the picture with stored pixels, or rotated by EXIF if the policy says so."""
    orientation = form.exif_orientation
    if orientation == 1:
        return image, []
    # Pillow rotates TIFF files by itself while loading.
    is_rotated = image.format == "TIFF"
    if policy.exif == "apply":
        rotated = image if is_rotated else image.transpose(_APPLY_ORIENTATION[orientation])
        return rotated, ["exif_orientation_applied"]
    stored = image.transpose(_UNDO_ORIENTATION[orientation]) if is_rotated else image
    return stored, ["exif_orientation_ignored"]
