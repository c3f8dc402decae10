"""Declared box conventions: four numbers to a half-open xyxy box in pixels, and whether the declaration can be true."""

import json
import math
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from eyechart.errors import BenchmarkError
from eyechart.schema import Box, Number, Size

BoxFormat = Literal["xyxy", "xywh", "unit", "unit_xywh"]
"""``xyxy`` and ``xywh`` in pixels; ``unit`` (xyxy) and ``unit_xywh`` as fractions of width and height."""

MAX_SHARE_ACROSS_BORDER = 0.05
# A fraction may run over the border a little; four hundred is no fraction.
_UNIT_RANGE = (-1.0, 2.0)
_N_EDGES = 4

Quad = tuple[Number, Number, Number, Number]


class GivenBox(NamedTuple):
    """Four numbers as a file gives them, with the picture they lie on and the place to name in an error."""

    quad: Quad
    image: Size
    place: str


def parse_quads(cell: object, place: str) -> tuple[Quad, ...]:
    """Read the box cell of one row: none, four numbers, or several times four.

    Lists may be nested; text is JSON, or numbers split by commas or blanks with ``;`` between boxes.

    Raises:
        BenchmarkError: If the cell holds anything else.

    Example:
        >>> parse_quads([1, 2, 3, 4], "q.jsonl:1"), parse_quads("1,2,3,4; 5,6,7.5,8", "q.csv:2")
        (((1, 2, 3, 4),), ((1, 2, 3, 4), (5, 6, 7.5, 8)))
    """
    if isinstance(cell, str):
        cell = _from_text(cell)
    if cell is None or cell == []:
        return ()
    boxes = cell if isinstance(cell, list) and all(isinstance(entry, list) for entry in cell) else [cell]
    quads = tuple(quad for quad in map(_quad, boxes) if quad is not None)
    if len(quads) != len(boxes):
        raise BenchmarkError(
            f"{place}: box {cell!r} is not four finite numbers",
            hint="write [x0, y0, x1, y1], or a list of such boxes",
        )
    return quads


def to_xyxy(quad: Quad, convention: BoxFormat, image: Size) -> Box:
    """Convert four numbers to a half-open box in pixels, neither clipped nor rounded.

    Example:
        >>> to_xyxy((10, 20, 5, 5), "xywh", Size(100, 50)), to_xyxy((0.1, 0, 0.5, 1), "unit", Size(100, 50))
        (Box(x0=10, y0=20, x1=15, y1=25), Box(x0=10.0, y0=0, x1=50.0, y1=50))
    """
    first, second, third, fourth = quad
    if convention in {"xywh", "unit_xywh"}:
        third, fourth = first + third, second + fourth
    if convention in {"unit", "unit_xywh"}:
        return Box(first * image.width, second * image.height, third * image.width, fourth * image.height)
    return Box(first, second, third, fourth)


def fault_of(given: GivenBox, convention: BoxFormat) -> str | None:
    """Return why a box is impossible under a convention, None if it is possible."""
    box = to_xyxy(given.quad, convention, given.image)
    if convention in {"unit", "unit_xywh"} and not all(_UNIT_RANGE[0] <= edge <= _UNIT_RANGE[1] for edge in given.quad):
        return "is no fraction of the picture"
    if box.width <= 0 or box.height <= 0:
        return "has no area"
    if not _overlaps(box, given.image):
        return f"lies outside the {given.image.width}×{given.image.height} picture"
    return None


def crosses_border(box: Box, image: Size) -> bool:
    """Return whether part of a box lies outside the picture."""
    return box.x0 < 0 or box.y0 < 0 or box.x1 > image.width or box.y1 > image.height


def check_convention(boxes: Sequence[GivenBox], convention: BoxFormat) -> tuple[str, ...]:
    """Refuse a declared convention that some row makes impossible, and warn where another one fits better.

    A warning is given when another convention keeps every box inside its picture while this one puts more than
    5 % of the boxes across the border, or makes every box smaller than a pixel.

    Returns:
        Warnings for the user, none or one.

    Raises:
        BenchmarkError: If a box is impossible; the message names the first one.
    """
    boxes = [given for given in boxes if given.image.n_px]  # nothing is known of a picture that cannot be read
    fitting = [other for other in get_args(BoxFormat) if other != convention and _fits(boxes, other)]
    for given in boxes:
        fault = fault_of(given, convention)
        if fault is not None:
            better = f"box format {fitting[0]} fits every row" if fitting else "half-open, x0 < x1 and y0 < y1"
            raise BenchmarkError(
                f"{given.place}: box {_text(given.quad)} read as {convention} {fault}",
                hint=f"{better}; check the declared box format",
            )
    pixel_boxes = [to_xyxy(given.quad, convention, given.image) for given in boxes]
    n_across = sum(crosses_border(box, given.image) for box, given in zip(pixel_boxes, boxes, strict=True))
    if fitting and n_across > MAX_SHARE_ACROSS_BORDER * len(boxes):
        return (
            f"{n_across} of {len(boxes)} boxes read as {convention} cross the border; read as {fitting[0]} none does",
        )
    if fitting and _all_within_a_pixel(pixel_boxes):
        return (f"all {len(boxes)} boxes read as {convention} are smaller than a pixel; {fitting[0]} fits too",)
    return ()


def _fits(boxes: Sequence[GivenBox], convention: BoxFormat) -> bool:
    """Return whether every box is possible, inside its picture, and not all are mere specks (fractions as pixels)."""
    pixel_boxes = [to_xyxy(given.quad, convention, given.image) for given in boxes]
    return not _all_within_a_pixel(pixel_boxes) and all(
        fault_of(given, convention) is None and not crosses_border(box, given.image)
        for given, box in zip(boxes, pixel_boxes, strict=True)
    )


def _all_within_a_pixel(boxes: Sequence[Box]) -> bool:
    return all(max(box.width, box.height) <= 1 for box in boxes)


def _overlaps(box: Box, image: Size) -> bool:
    return box.x0 < image.width and box.y0 < image.height and box.x1 > 0 and box.y1 > 0


def _from_text(cell: str) -> object:
    """Read a text cell as JSON or as plain numbers; a text that is neither comes back as it is."""
    text = cell.strip()
    if not text:
        return None
    try:
        if text.startswith("["):
            return json.loads(text)
        return [[_number(part) for part in re.split(r"[,\s]+", box.strip())] for box in text.split(";") if box.strip()]
    except ValueError:
        return cell


def _number(text: str) -> Number:
    value = float(text)
    return int(value) if value.is_integer() else value


def _quad(entry: object) -> Quad | None:
    if not isinstance(entry, list | tuple) or len(entry) != _N_EDGES:
        return None
    if not all(isinstance(edge, int | float) and not isinstance(edge, bool) and math.isfinite(edge) for edge in entry):
        return None
    first, second, third, fourth = entry
    return (first, second, third, fourth)


def _text(quad: Quad) -> str:
    return "(" + ", ".join(f"{edge:g}" for edge in quad) + ")"
