"""Box and size arithmetic: which pixels a view keeps and how large it becomes, from numbers alone."""

import math
from typing import Literal

from eyechart.errors import GeometryError
from eyechart.schema import Box, Number, Size, TargetPolicy, Value

BorderPolicy = Literal["clip", "shift"]
BoxRounding = Literal["outward", "nearest", "trunc"]
SizeRounding = Literal["half_up", "trunc", "half_even"]
TargetBasis = Literal["clipped", "source"]


class GeometryPolicy(Value, frozen=True):
    """The choices that sum.md leaves open, recorded with every run and release.

    Args:
        border: A grown box that leaves the image is cut (``clip``) or moved inside, then cut (``shift``).
        box_rounding: How float edges become integers; ``outward`` never cuts the target.
        size_rounding: How a downsampled side becomes an integer.
        target_basis: Grow from the box clipped at the border, or from the box as given.
    """

    border: BorderPolicy = "clip"
    box_rounding: BoxRounding = "outward"
    size_rounding: SizeRounding = "half_up"
    target_basis: TargetBasis = "clipped"


def clip(box: Box, image: Size) -> Box:
    """Cut a box at the image border.

    Raises:
        GeometryError: If nothing of the box lies inside the image.

    Example:
        >>> clip(Box(-7, 700, 120, 790), Size(1001, 777))
        Box(x0=0, y0=700, x1=120, y1=777)
    """
    clipped = Box(max(box.x0, 0), max(box.y0, 0), min(box.x1, image.width), min(box.y1, image.height))
    if clipped.x0 >= clipped.x1 or clipped.y0 >= clipped.y1:
        raise GeometryError(
            f"box {_text(box)} has no area inside the {image.width}×{image.height} image",
            hint="check that the box is xyxy in pixels, not xywh or 0–1",
        )
    return clipped


def check_area(box: Box) -> None:
    """Refuse a box without area, or with a coordinate that is not a finite number.

    Raises:
        GeometryError: If ``x1 <= x0``, ``y1 <= y0`` or a coordinate is not finite.
    """
    if not all(math.isfinite(edge) for edge in box):
        raise GeometryError(f"box {_text(box)} has a coordinate that is not a number", hint="give four finite numbers")
    if box.width <= 0 or box.height <= 0:
        raise GeometryError(f"box {_text(box)} has no area", hint="a box is x0 < x1 and y0 < y1, half-open, in pixels")


def union(boxes: tuple[Box, ...]) -> Box:
    """Return the smallest box around all boxes.

    Raises:
        GeometryError: If there is no box.
    """
    if not boxes:
        raise GeometryError("there is no target box", hint="give the question a target box, or leave this view out")
    return Box(
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
    )


def target_of(targets: tuple[Box, ...], policy: TargetPolicy) -> Box:
    """Return the one box a view is built on: the union of all targets, or the first.

    Raises:
        GeometryError: If there is no target.
    """
    return union(targets[:1] if policy == "first" else targets)


def integer_box(box: Box, rounding: BoxRounding) -> Box:
    """Round the edges of a box to integers; a box that vanishes becomes one pixel wide or high.

    ``outward`` takes floor and ceiling, ``nearest`` rounds halves up, ``trunc`` drops the fraction.

    Example:
        >>> integer_box(Box(0.2, 0.5, 3.2, 3.5), "outward"), integer_box(Box(0.2, 0.5, 3.2, 3.5), "nearest")
        (Box(x0=0, y0=0, x1=4, y1=4), Box(x0=0, y0=1, x1=3, y1=4))
    """
    if rounding == "outward":
        x0, y0, x1, y1 = math.floor(box.x0), math.floor(box.y0), math.ceil(box.x1), math.ceil(box.y1)
    elif rounding == "nearest":
        x0, y0, x1, y1 = (math.floor(edge + 0.5) for edge in box)
    else:
        x0, y0, x1, y1 = (math.trunc(edge) for edge in box)
    return Box(x0, y0, max(x1, x0 + 1), max(y1, y0 + 1))


def grow_area(box: Box, area_ratio: float, image: Size, policy: GeometryPolicy | None = None) -> Box:
    """Grow a box about its centre to a multiple of its area, as an integer box inside the image.

    Both sides grow by ``sqrt(area_ratio)``, so the aspect ratio holds until the image border cuts it.
    A ``shift`` happens before the edges are rounded, a ``clip`` after.

    Args:
        box: Target box in original-image pixels.
        area_ratio: Wanted area divided by the area of ``box``; at least 1.
        image: Size of the original image.
        policy: Border and rounding policy; default clip and outward.

    Returns:
        The grown box with integer edges, inside the image.

    Raises:
        GeometryError: If ``area_ratio`` is below 1 or not finite, or nothing of the box lies inside the image.

    Example:
        >>> grow_area(Box(40, 40, 60, 60), 4.0, Size(100, 100))
        Box(x0=30, y0=30, x1=70, y1=70)
    """
    policy = policy or GeometryPolicy()
    check_area(box)
    if not (math.isfinite(area_ratio) and area_ratio >= 1):
        raise GeometryError(f"area ratio {area_ratio} is below 1", hint="a crop keeps at least the target box")
    side = math.sqrt(area_ratio)
    x_margin, y_margin = box.width * (side - 1) / 2, box.height * (side - 1) / 2
    grown = Box(box.x0 - x_margin, box.y0 - y_margin, box.x1 + x_margin, box.y1 + y_margin)
    if policy.border == "shift":
        grown = _shift_inside(grown, image)
    grown = integer_box(grown, policy.box_rounding)
    return _clip_at_least_one_px(grown, image)


def downsampled_size(image: Size, linear_scale: float, rounding: SizeRounding = "half_up") -> Size:
    """Return the size after both sides are multiplied by a factor; each side is at least 1 px.

    Args:
        image: Size of the original image.
        linear_scale: Factor for width and height, in (0, 1].
        rounding: ``half_up`` is ``floor(x + 0.5)``, ``trunc`` is ``int(x)``, ``half_even`` is Python's ``round``.

    Raises:
        GeometryError: If the factor is outside (0, 1].

    Example:
        >>> downsampled_size(Size(2000, 1500), 0.9375)
        Size(width=1875, height=1406)
    """
    if not 0 < linear_scale <= 1:
        raise GeometryError(f"linear scale {linear_scale} is outside (0, 1]", hint="a downsample never enlarges")

    def rounded(side: int) -> int:
        wanted = side * linear_scale
        if rounding == "half_up":
            return max(1, math.floor(wanted + 0.5))
        return max(1, math.trunc(wanted) if rounding == "trunc" else round(wanted))

    return Size(rounded(image.width), rounded(image.height))


def scale_box(box: Box, original: Size, resized: Size) -> Box:
    """Carry a box into a resized picture by the real factor of each axis, without rounding.

    Example:
        >>> scale_box(Box(564, 142, 719, 299), Size(2000, 1500), Size(125, 94))
        Box(x0=35.25, y0=8.898666666666665, x1=44.9375, y1=18.737333333333332)
    """
    x_scale, y_scale = resized.width / original.width, resized.height / original.height
    return Box(box.x0 * x_scale, box.y0 * y_scale, box.x1 * x_scale, box.y1 * y_scale)


def translate(box: Box, x: Number, y: Number) -> Box:
    """Move a box by ``x`` and ``y`` pixels.

    Example:
        >>> translate(Box(5, 5, 8, 9), -5, -4)
        Box(x0=0, y0=1, x1=3, y1=5)
    """
    return Box(box.x0 + x, box.y0 + y, box.x1 + x, box.y1 + y)


def intersect(box: Box, other: Box) -> Box | None:
    """Return the part of ``box`` inside ``other``, or None where they do not overlap.

    Example:
        >>> intersect(Box(0, 0, 10, 10), Box(5, 5, 20, 8))
        Box(x0=5, y0=5, x1=10, y1=8)
    """
    part = Box(max(box.x0, other.x0), max(box.y0, other.y0), min(box.x1, other.x1), min(box.y1, other.y1))
    return part if part.x0 < part.x1 and part.y0 < part.y1 else None


def whole(image: Size) -> Box:
    """Return the box that covers a picture.

    Example:
        >>> whole(Size(4, 3))
        Box(x0=0, y0=0, x1=4, y1=3)
    """
    return Box(0, 0, image.width, image.height)


def rotate_box(box: Box, image: Size, exif_orientation: int) -> Box:
    """Carry a box along when a picture is turned upright by its EXIF orientation.

    Args:
        box: Box in stored pixels.
        image: Stored size.
        exif_orientation: EXIF tag 274, in 1–8.

    Raises:
        GeometryError: If the orientation is not in 1–8.

    Example:
        >>> rotate_box(Box(0, 0, 2, 1), Size(10, 5), 6)
        Box(x0=4, y0=0, x1=5, y1=2)

    References:
        Exif 2.32, tag 0x0112 (JEITA CP-3451).
    """
    if exif_orientation not in range(1, 9):
        raise GeometryError(f"EXIF orientation {exif_orientation} is not in 1–8", hint="use exif='ignore'")
    width, height = image
    x0, y0, x1, y1 = box
    mirrored, flipped = {2, 3}, {3, 4}
    if exif_orientation >= 5:  # noqa: PLR2004 -- orientations 5 to 8 swap the axes
        x0, y0, x1, y1 = y0, x0, y1, x1
        width, height = height, width
        mirrored, flipped = {6, 7}, {7, 8}
    if exif_orientation in mirrored:
        x0, x1 = width - x1, width - x0
    if exif_orientation in flipped:
        y0, y1 = height - y1, height - y0
    return Box(x0, y0, x1, y1)


def _shift_inside(box: Box, image: Size) -> Box:
    """Move a box inside the image without changing its size; a larger box keeps its top-left corner at 0."""
    x = -box.x0 if box.x0 < 0 else min(0, image.width - box.x1)
    y = -box.y0 if box.y0 < 0 else min(0, image.height - box.y1)
    return translate(box, max(x, -box.x0), max(y, -box.y0))


def _clip_at_least_one_px(box: Box, image: Size) -> Box:
    """Clip an integer box, keeping at least one pixel when a thin box was rounded to the border."""
    x0 = min(max(box.x0, 0), image.width - 1)
    y0 = min(max(box.y0, 0), image.height - 1)
    return Box(x0, y0, max(x0 + 1, min(box.x1, image.width)), max(y0 + 1, min(box.y1, image.height)))


def _text(box: Box) -> str:
    return "(" + ", ".join(f"{edge:g}" for edge in box) + ")"
