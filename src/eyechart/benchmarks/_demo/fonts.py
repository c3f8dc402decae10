"""The one typeface of the demo: DejaVu Sans as matplotlib installs it, found without importing matplotlib."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from PIL import ImageFont

from eyechart.errors import MissingDependencyError

# Height of capitals and digits divided by the font size: 1493 of 2048 units (DejaVu Sans 2.37, OS/2 sCapHeight).
CAP_HEIGHT = 1493 / 2048


@cache
def font_of(text_px: float) -> ImageFont.FreeTypeFont:
    """Return the typeface whose capitals and digits are ``text_px`` pixels high.

    Raises:
        MissingDependencyError: If matplotlib is not installed.
    """
    # The basic layout engine needs no further library, so every machine spaces the letters in the same way.
    return ImageFont.truetype(font_path(), text_px / CAP_HEIGHT, layout_engine=ImageFont.Layout.BASIC)


def text_width(text: str, text_px: float) -> float:
    """Return how far a text advances, in pixels: all digits advance by the same.

    Example:
        >>> text_width("1111", 20) == text_width("8408", 20)
        True
    """
    return font_of(text_px).getlength(text)


@cache
def font_path() -> Path:
    """Return where the typeface lies.

    Raises:
        MissingDependencyError: If matplotlib is not installed.
    """
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise MissingDependencyError("matplotlib", "test")
    return Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
