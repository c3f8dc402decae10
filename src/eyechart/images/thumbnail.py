"""Small pictures for people to look at: never sent to a model, so no recipe names them."""

from pathlib import Path
from typing import TYPE_CHECKING

from eyechart.errors import ImageError

if TYPE_CHECKING:  # libvips is loaded by the first thumbnail, not by the import
    import pyvips

_WHITE = 255
_N_ALPHA_BANDS = (2, 4)


def draw_thumbnail(path: Path, longest_side: int, *, as_jpeg: bool = False) -> bytes:
    """Return a picture shrunk to fit a square, as PNG or JPEG, in bounded memory whatever its size.

    Stored pixels are kept unturned, as everywhere; a picture that fits already keeps its size.

    Args:
        path: The picture.
        longest_side: In pixels, at least 1.
        as_jpeg: JPEG of quality 88 instead of PNG.

    Raises:
        ImageError: If the file cannot be read.
    """
    import pyvips  # deferred: it loads libvips

    try:
        small = pyvips.Image.thumbnail(
            str(path), longest_side, height=longest_side, size="down", no_rotate=True, fail_on="warning"
        )
        small = _as_rgb(small)
        encoded: bytes = (
            small.write_to_buffer(".jpg", Q=88, strip=True) if as_jpeg else small.write_to_buffer(".png", strip=True)
        )
    except pyvips.Error as error:
        detail = " ".join(str(error.detail or error).split())
        raise ImageError(f"{path}: no thumbnail can be made ({detail})", hint="is the file a whole picture?") from error
    return encoded


def _as_rgb(picture: "pyvips.Image") -> "pyvips.Image":
    if picture.bands in _N_ALPHA_BANDS:
        picture = picture.flatten(background=[_WHITE])
    return picture.colourspace("srgb").cast("uchar")
