"""Under which policy pictures leave: as they are, fitted to the model's grid, or within a budget of pixels."""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from eyechart.errors import UsageError
from eyechart.geometry import scale_box
from eyechart.schema import Box, Composition, GridComposition, Size, Value
from eyechart.seen.fitting import budget_size, fitted_size
from eyechart.seen.rules import Lookup

FitSize = Callable[[Size, int], Size]
"""From the size of a picture and the number of pictures in its request to the size that the model leaves alone."""

JpegQuality = Literal[75, 95]
"""75 is HRScene's own, with colour at half the resolution; 95 keeps colour whole."""

_BUDGET = re.compile(r"budget(?:@1)?[(:](\d+),(\d+)\)?")
_VERSION = "@1"
_QUALITIES: dict[str, JpegQuality] = {"jpeg75": 75, "jpeg95": 95}
_KNOWN = "native, fit or budget(MIN,MAX) in pixels, each with +jpeg95 or +jpeg75 if wanted"


class Transport(Value, frozen=True):
    """What is done to a view's picture before it leaves, and nothing else is.

    Args:
        kind: ``native`` sends the view as it is; ``fit`` resizes it to the size that the model leaves alone, so that
            what is sent is what is seen; ``budget`` keeps the number of pixels within bounds.
        min_px: Fewest pixels under ``budget``; smaller pictures are enlarged.
        max_px: Most pixels under ``budget``; larger pictures are shrunk.
        jpeg_quality: Every picture leaves as JPEG, and the model is given the pixels of that JPEG: 95 without colour
            subsampling, where a provider bounds bytes; 75 with 4:2:0, as HRScene stores its grids. None for no JPEG.
    """

    kind: Literal["native", "fit", "budget"] = "native"
    min_px: int = 0
    max_px: int | None = None
    jpeg_quality: JpegQuality | None = None

    @property
    def is_jpeg(self) -> bool:
        """Whether every picture leaves as JPEG."""
        return self.jpeg_quality is not None

    @property
    def id(self) -> str:
        """Name and version, which enter every recipe key.

        Example:
            >>> Transport().id, Transport("budget", 0, 1003520, jpeg_quality=95).id
            ('native@1', 'budget@1(0,1003520)+jpeg95@1')
        """
        bounds = f"({self.min_px},{self.max_px})" if self.kind == "budget" else ""
        jpeg = f"+jpeg{self.jpeg_quality}{_VERSION}" if self.is_jpeg else ""
        return f"{self.kind}{_VERSION}{bounds}{jpeg}"

    def resize(self, size: Size, n_pictures: int, fit: FitSize | None) -> Size:
        """Return the size at which a picture leaves.

        Raises:
            UsageError: If it is to be fitted to a grid that is not known.
        """
        if self.kind == "fit":
            if fit is None:
                raise no_grid("no rule was given")
            return fit(size, n_pictures)
        return size if self.kind == "native" else budget_size(size, self.min_px, self.max_px)


def parse_transport(text: str) -> Transport:
    """Return the policy that a text names: ``native``, ``fit``, ``budget(MIN,MAX)``, or ``budget:MIN,MAX``.

    ``+jpeg95`` or ``+jpeg75`` may follow; alone they stand for ``native`` as JPEG.

    Raises:
        UsageError: If it names none, or the bounds of a budget exclude every size.

    Example:
        >>> parse_transport("budget:65536,1003520").id, parse_transport("fit+jpeg95").id
        ('budget@1(65536,1003520)', 'fit@1+jpeg95@1')
    """
    name, quality = _split_jpeg(text.strip())
    bare = name.removesuffix(_VERSION)
    if bare == "native":
        return Transport("native", jpeg_quality=quality)
    if bare == "fit":
        return Transport("fit", jpeg_quality=quality)
    bounds = _BUDGET.fullmatch(name)
    if bounds is None:
        raise UsageError(f"unknown transport {text!r}", hint=f"known are {_KNOWN}")
    low, high = int(bounds[1]), int(bounds[2])
    if high < 1 or low > high:
        raise UsageError(f"transport {text!r} leaves no size", hint="budget(MIN,MAX) with MIN at most MAX, in pixels")
    return Transport("budget", low, high, quality)


def _split_jpeg(name: str) -> tuple[str, JpegQuality | None]:
    """Return what stands before the JPEG, and its quality."""
    before, _, last = name.rpartition("+")
    quality = _QUALITIES.get(last.removesuffix(_VERSION))
    return (name, None) if quality is None else (before or "native", quality)


def fit_of(lookup: Lookup, model: str) -> FitSize:
    """Return how pictures are fitted to a model's grid by its rule.

    Args:
        lookup: The model's rule.
        model: Its ``provider/name``, for errors.

    Raises:
        UsageError: If no rule is known, or the rule tells no sizes.
    """
    rule = lookup.rule
    if rule is None:
        raise no_grid(f"{model}: {lookup.reason}")

    def fit(size: Size, n_pictures: int) -> Size:
        fitted = fitted_size(rule, size, n_pictures)
        if fitted is None:
            raise no_grid(f"{model}: rule {rule.id} tells no sizes{f' ({rule.note})' if rule.note else ''}")
        return fitted

    return fit


def no_grid(reason: str) -> UsageError:
    """Return the error for a picture that cannot be fitted."""
    return UsageError(
        f"pictures cannot be fitted to the model's grid: {reason}",
        hint="give its rule with --rules FILE, or --transport 'budget(MIN,MAX)', or --transport native",
    )


def fit_geometry(geometry: Composition | GridComposition, size: Size) -> Composition | GridComposition:
    """Return a geometry whose finished picture has the given size; what a view left out never comes back.

    A view that is not resampled yet is resampled once. A downsampled view that must become larger along an axis is
    drawn at its own size first, so that the detail it lost stays lost.

    Example:
        >>> half = Composition(Size(800, 400), Box(0, 0, 800, 400), resized=Size(400, 200))
        >>> fit_geometry(half, Size(300, 150)).resized, fit_geometry(half, Size(600, 300)).enlarged
        (Size(width=300, height=150), Size(width=600, height=300))
    """
    if size == geometry.size:
        return geometry
    if isinstance(geometry, GridComposition):
        return msgspec.structs.replace(geometry, resized=size)
    if geometry.resized is None:
        return msgspec.structs.replace(geometry, resized=size, enlarged=None)
    least = Size(min(size.width, geometry.resized.width), min(size.height, geometry.resized.height))
    return msgspec.structs.replace(geometry, resized=least, enlarged=None if least == size else size)


def carry_target(target: Box | None, planned: Size, sent: Size) -> Box | None:
    """Return the target's box in the picture as it leaves."""
    return target if target is None or planned == sent else scale_box(target, planned, sent)
