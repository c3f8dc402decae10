"""From any stored pixel layout to 8-bit sRGB: the colour half of the decode policy."""

from io import BytesIO

import numpy as np
from PIL import Image, ImageCms

from eyechart.errors import ImageError
from eyechart.images.probe import ImageForm

_GREY_MODES = frozenset({"1", "L"})
_SIXTEEN_BIT_MODES = frozenset({"I;16", "I;16B", "I;16L"})
_STRAIGHT_ALPHA = {"La": "LA", "RGBa": "RGBA"}
NO_PROFILE = "CMYK without a usable colour profile has no defined RGB values"
NO_PROFILE_HINT = "convert the picture to sRGB with the profile of its press"
_DIRECT_MODES = frozenset({"1", "L", "RGB", "CMYK", "LA", "RGBA"})
_READ_MODES = _DIRECT_MODES | _SIXTEEN_BIT_MODES | _STRAIGHT_ALPHA.keys() | {"P", "PA", "YCbCr"}
_PROFILE_SPACES = {"GRAY": "L", "RGB ": "RGB", "CMYK": "CMYK"}
# A profile that moves no channel of the probe colours by more than this is sRGB under another name; converting
# would only add rounding.
_SAME_AS_SRGB = 1
_PROBE_LEVELS = 9
_KEY_FACTORS = {2: 255 // 3, 4: 255 // 15}


def check_has_rgb(mode: str, place: str) -> None:
    """Refuse a stored pixel layout that has no 8-bit RGB values, whatever else the file says.

    Args:
        mode: Pillow's name of the layout, such as ``F`` for floats.
        place: Names the picture in errors.

    Raises:
        ImageError: If it has none.
    """
    if mode not in _READ_MODES:
        raise ImageError(
            f"{place}: pixels of kind {mode} have no defined 8-bit RGB values",
            hint="export the picture as 8-bit or 16-bit RGB",
        )


def to_srgb(
    image: Image.Image, form: ImageForm, matte: tuple[int, int, int], place: str
) -> tuple[Image.Image, list[str]]:
    """Return a loaded picture as 8-bit sRGB on a matte, and notes on what that took.

    The order is fixed: reduce to 8 bits (``>> 8``), separate the alpha channel, expand palettes, convert by the
    embedded profile, and lay the result on the matte.

    Args:
        image: Fully loaded Pillow image of any mode.
        form: Its header.
        matte: Colour under transparency, RGB, 0 to 255.
        place: Names the picture in errors.

    Raises:
        ImageError: If the pixels have no defined RGB values (inks without a profile, floats, 32-bit integers).
    """
    notes: list[str] = []
    colour, alpha = _separate(image, form, notes, place)
    rgb = _convert_by_profile(colour, image.info.get("icc_profile"), notes, place)
    if alpha is None:
        return rgb, notes
    notes.append("alpha_flattened")
    flat = Image.new("RGB", rgb.size, matte)
    flat.paste(rgb, mask=alpha)
    return flat, notes


def _separate(
    image: Image.Image, form: ImageForm, notes: list[str], place: str
) -> tuple[Image.Image, Image.Image | None]:
    """Split a picture into a colour part of mode L, RGB or CMYK, and an alpha channel of mode L or None."""
    if form.is_sixteen_bit:
        notes.append("sixteen_bit_reduced")
    key = image.info.get("transparency") if image.mode not in {"P", "PA"} else None
    if image.mode in {"P", "PA"}:
        notes.append("palette_expanded")
        image = image.convert("RGBA" if form.has_alpha or image.has_transparency_data else "RGB")
    elif image.mode in _SIXTEEN_BIT_MODES:
        return _sixteen_bit_grey(image, key)
    elif image.mode in _STRAIGHT_ALPHA:
        image = image.convert(_STRAIGHT_ALPHA[image.mode])
    elif image.mode == "YCbCr":
        image = image.convert("RGB")
    check_has_rgb(image.mode, place)
    if image.mode in {"LA", "RGBA"}:
        *colours, alpha = image.split()
        return (Image.merge("RGB", colours) if len(colours) > 1 else colours[0]), alpha
    return image, None if key is None else _keyed_alpha(image, key, form)


def _sixteen_bit_grey(image: Image.Image, key: object) -> tuple[Image.Image, Image.Image | None]:
    samples = np.asarray(image)
    grey = Image.fromarray((samples >> 8).astype(np.uint8))
    # The key names a 16-bit value, so it is compared before the low bits go.
    return grey, None if key is None else Image.fromarray(np.where(samples == key, 0, 255).astype(np.uint8))


def _keyed_alpha(image: Image.Image, key: object, form: ImageForm) -> Image.Image:
    """Return the alpha channel of a PNG colour key: the pixels of exactly that colour are transparent."""
    samples = np.asarray(image.convert("L") if image.mode == "1" else image).reshape(image.height, image.width, -1)
    # Pillow widens 2- and 4-bit grey to 8 bits, but gives their key as stored.
    is_key = (samples == np.asarray(key) * _KEY_FACTORS.get(form.bits, 1)).all(axis=2)
    return Image.fromarray(np.where(is_key, 0, 255).astype(np.uint8))


def _convert_by_profile(colour: Image.Image, profile: object, notes: list[str], place: str) -> Image.Image:
    if colour.mode in _GREY_MODES:
        notes.append("grey_expanded")
    if colour.mode == "1":
        colour = colour.convert("L")
    if isinstance(profile, bytes) and profile:
        converted = _transformed(colour, profile, notes, place)
        if converted is not None:
            return converted
    if colour.mode == "CMYK":
        raise ImageError(f"{place}: {NO_PROFILE}", hint=NO_PROFILE_HINT)
    return colour if colour.mode == "RGB" else colour.convert("RGB")


def _transformed(colour: Image.Image, profile: bytes, notes: list[str], place: str) -> Image.Image | None:
    """Return the picture converted to sRGB, or None if the profile does not fit its pixels."""
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        mode = _PROFILE_SPACES.get(source.profile.xcolor_space)
        if mode == "RGB" and colour.mode == "L":
            colour = colour.convert("RGB")
        if mode != colour.mode:
            notes.append("icc_unusable_ignored")
            return None
        transform = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), mode, "RGB")
        if mode != "CMYK" and _is_identity(transform, mode):
            notes.append("icc_srgb_dropped")
            return colour.convert("RGB")
        converted = ImageCms.applyTransform(colour, transform)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        notes.append("icc_unusable_ignored")
        return None
    if converted is None:
        raise ImageError(f"{place}: the colour profile could not be applied", hint="convert the picture to sRGB")
    notes.append("icc_converted")
    return converted


def _is_identity(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    """Whether a profile moves none of the probe colours: a grey ramp, and for RGB a 9×9×9 lattice."""
    ramp = np.arange(256, dtype=np.uint8)
    if mode == "L":
        before, probe = np.stack([ramp] * 3, axis=1)[None], Image.fromarray(ramp[None])
    else:
        levels = np.linspace(0, 255, _PROBE_LEVELS).astype(np.uint8)
        lattice = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(1, -1, 3)
        before = np.concatenate([np.stack([ramp] * 3, axis=1)[None], lattice], axis=1)
        probe = Image.fromarray(before)
    after = ImageCms.applyTransform(probe, transform)
    return after is not None and bool(np.abs(np.asarray(after).astype(int) - before).max() <= _SAME_AS_SRGB)
