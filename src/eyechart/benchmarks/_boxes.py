"""Declared box conventions: four numbers to a half-open xyxy box in pixels, and whether the declaration can be true."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from eyechart.benchmarks._cells import SpelledFloat, in_text, is_absent, shown, stored
from eyechart.errors import BenchmarkError
from eyechart.schema import Box, Number, Size

BoxFormat = Literal[
    "xyxy",
    "xywh",
    "unit",
    "unit_xywh",
    "cxcywh",
    "unit_cxcywh",
    "thousandths",
    "yxyx_thousandths",
    "percent",
    "percent_xywh",
]
"""How four numbers are a box.

``xyxy``, ``xywh`` and ``cxcywh`` (centre and sides) in pixels; ``unit`` (xyxy), ``unit_xywh`` and ``unit_cxcywh`` as
fractions of width and height; ``percent`` (xyxy) and ``percent_xywh`` (as Label Studio writes them) as 0–100 of them;
``thousandths`` (xyxy, as Qwen writes them) and ``yxyx_thousandths`` (as Gemini does) as 0–1000.
"""

NAMED_FORMATS: dict[str, BoxFormat] = {
    f"{name}{form.replace('_', '')}": "unit" if form == "unit_xyxy" else form
    for form in (*get_args(BoxFormat), "unit_xyxy")
    for name in ("box", "boxes", "bbox", "bboxes")
}
"""Columns whose name says the format of their boxes, such as ``box_xywh``, without case, blanks, ``_`` and ``-``."""

MAX_SHARE_ACROSS_BORDER = 0.05
# A fraction may run over the border a little; four hundred is not a fraction.
_UNIT_RANGE = (-1.0, 2.0)
_HUNDRED, _THOUSAND = 100, 1000
_LARGEST = 2**53  # above, not every whole number is a float
_N_EDGES = 4
# Names of edges, and whether the last two are sides.
_EDGES: tuple[tuple[tuple[str, str, str, str], BoxFormat], ...] = (
    (("x", "y", "width", "height"), "xywh"),
    (("x", "y", "w", "h"), "xywh"),
    (("left", "top", "width", "height"), "xywh"),
    (("x0", "y0", "x1", "y1"), "xyxy"),
    (("x1", "y1", "x2", "y2"), "xyxy"),
    (("xmin", "ymin", "xmax", "ymax"), "xyxy"),
    (("left", "top", "right", "bottom"), "xyxy"),
    (("xtl", "ytl", "xbr", "ybr"), "xyxy"),
)
EDGE_NAMES = tuple(names for names, _ in _EDGES)
"""Names of the four numbers of a box, as files write them, in small letters and without ``_``."""
_TAGGED = re.compile(r"\(\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\)\s*,\s*\(\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\)")
_N_POINTS = 3

_UNITS = frozenset({"unit", "unit_xywh", "unit_cxcywh"})
_THOUSANDTHS = frozenset({"thousandths", "yxyx_thousandths"})
_PERCENT = frozenset({"percent", "percent_xywh"})
_BY_SIDES = frozenset({"xywh", "unit_xywh", "cxcywh", "unit_cxcywh", "percent_xywh"})

Quad = tuple[Number, Number, Number, Number]


class CellBoxes(NamedTuple):
    """The boxes in a cell, their format if cell or column says it, and whether they were drawn around polygons.

    ``is_named`` is whether it is the column that says the format.
    """

    quads: tuple[Quad, ...]
    convention: BoxFormat | None = None
    is_polygon: bool = False
    is_named: bool = False


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
    if is_absent(cell):
        return ()
    boxes = cell if isinstance(cell, list) and all(isinstance(entry, list | tuple) for entry in cell) else [cell]
    quads = tuple(quad for quad in map(_quad, boxes) if quad is not None)
    if len(quads) != len(boxes):
        raise _no_box(cell, place)
    return quads


def read_boxes_in(cell: object, place: str) -> CellBoxes:
    """Read the box cell of one row in any of its forms: numbers, named edges, or polygons.

    Args:
        cell: Four numbers or several times four, as ``parse_quads``; an object with named edges, or a list of them; a
            polygon as a list of points or of six and more numbers.
        place: File and row.

    Raises:
        BenchmarkError: If the cell holds anything else.

    Example:
        >>> read_boxes_in({"x": 8, "y": 8, "width": 16, "height": 12}, "q.jsonl:1")
        CellBoxes(quads=((8, 8, 16, 12),), convention='xywh', is_polygon=False, is_named=False)
        >>> read_boxes_in([[1, 1], [5, 2], [3, 9]], "q.jsonl:1")
        CellBoxes(quads=((1, 1, 5, 9),), convention='xyxy', is_polygon=True, is_named=False)
    """
    if isinstance(cell, str):
        cell = _from_text(cell)
    if isinstance(cell, list) and (quad := _quad(cell)) is not None:
        return CellBoxes((quad,))
    entries = [cell] if isinstance(cell, Mapping) else cell
    if isinstance(entries, list | tuple) and entries and all(isinstance(entry, Mapping) for entry in entries):
        named = [_by_edges(entry, place) for entry in entries if isinstance(entry, Mapping)]
        if len({convention for _, convention in named}) > 1:
            raise _no_box(cell, place)
        return CellBoxes(tuple(quad for quad, _ in named), named[0][1])
    polygon = _around(entries)
    if polygon is not None:
        return CellBoxes((polygon,), "xyxy", is_polygon=True)
    return CellBoxes(parse_quads(cell, place))


def _by_edges(entry: Mapping[str, object], place: str) -> tuple[Quad, BoxFormat]:
    cells = {str(name).casefold().replace("_", ""): cell for name, cell in entry.items()}
    if not is_absent(turn := cells.get("rotation")) and turn != 0:
        raise BenchmarkError(
            f"{place}: box {shown(entry)} is turned by {shown(turn)} degrees",
            hint="boxes stand upright: give the box around it, or its corners as a list of points",
        )
    if {"x", "y", "width", "height"} <= set(cells) and ("originalwidth" in cells or "rectanglelabels" in cells):
        quad = _quad([cells[name] for name in ("x", "y", "width", "height")])
        if quad is not None:
            return quad, "percent_xywh"  # Label Studio counts in percent of the sides
    for names, convention in _EDGES:
        if set(names) <= set(cells):
            quad = _quad([cells[name] for name in names])
            if quad is not None:
                return quad, convention
    raise _no_box(entry, place)


def _around(entries: object) -> Quad | None:
    """Return the box around a polygon: a list of points, or of six and more numbers; None for anything else."""
    if not isinstance(entries, list | tuple):
        return None
    if len(entries) >= 2 * _N_POINTS and len(entries) % 2 == 0 and all(map(_is_number, entries)):
        points = list(zip(entries[::2], entries[1::2], strict=True))
    elif len(entries) >= _N_POINTS and all(
        isinstance(entry, list | tuple) and len(entry) == 2 and all(map(_is_number, entry))  # noqa: PLR2004 -- x and y
        for entry in entries
    ):
        points = [(entry[0], entry[1]) for entry in entries]
    else:
        return None
    xs, ys = zip(*points, strict=True)
    return (min(xs), min(ys), max(xs), max(ys))


def _no_box(cell: object, place: str) -> BenchmarkError:
    return BenchmarkError(
        f"{place}: box {shown(cell)} is not four finite numbers",
        hint="write [x0, y0, x1, y1], a list of such boxes, or an object with named edges",
    )


def to_xyxy(quad: Quad, convention: BoxFormat, image: Size) -> Box:
    """Convert four numbers to a half-open box in pixels, neither clipped nor rounded.

    Example:
        >>> to_xyxy((10, 20, 5, 5), "xywh", Size(100, 50)), to_xyxy((0.1, 0, 0.5, 1), "unit", Size(100, 50))
        (Box(x0=10, y0=20, x1=15, y1=25), Box(x0=10.0, y0=0, x1=50.0, y1=50))
    """
    first, second, third, fourth = quad
    if convention == "yxyx_thousandths":
        first, second, third, fourth = second, first, fourth, third
    if convention in {"cxcywh", "unit_cxcywh"}:
        first, second = first - third / 2, second - fourth / 2
    if convention in _BY_SIDES:
        third, fourth = first + third, second + fourth
    if convention in _THOUSANDTHS or convention in _PERCENT:
        whole = _HUNDRED if convention in _PERCENT else _THOUSAND
        across, down = image.width / whole, image.height / whole
        return Box(first * across, second * down, third * across, fourth * down)
    if convention in _UNITS:
        return Box(first * image.width, second * image.height, third * image.width, fourth * image.height)
    return Box(first, second, third, fourth)


def fault_of(given: GivenBox, convention: BoxFormat) -> str | None:
    """Return why a box is impossible under a convention, None if it is possible."""
    box = to_xyxy(given.quad, convention, given.image)
    if convention in _UNITS and not all(_UNIT_RANGE[0] <= edge <= _UNIT_RANGE[1] for edge in given.quad):
        return "is not a fraction of the picture"
    if convention in _THOUSANDTHS and not all(-_THOUSAND <= edge <= 2 * _THOUSAND for edge in given.quad):
        return "is not counted in thousandths of the picture"
    if convention in _PERCENT and not all(-_HUNDRED <= edge <= 2 * _HUNDRED for edge in given.quad):
        return "is not counted in percent of the picture"
    if box.width <= 0 or box.height <= 0:
        return "has no area"
    if not _overlaps(box, given.image):
        return f"lies outside the {given.image.width}×{given.image.height} picture"
    return None


def crosses_border(box: Box, image: Size) -> bool:
    """Return whether part of a box lies outside the picture."""
    return box.x0 < 0 or box.y0 < 0 or box.x1 > image.width or box.y1 > image.height


def check_convention(boxes: Sequence[GivenBox], convention: BoxFormat, *, is_declared: bool = True) -> tuple[str, ...]:
    """Refuse a declared convention that some row makes impossible, and warn where another one fits better.

    A warning is given when another convention keeps every box inside its picture while this one puts more than
    5 % of the boxes across the border, or makes every box smaller than a pixel.

    Args:
        boxes: The boxes.
        convention: How they are read.
        is_declared: Whether the user said so; else boxes that are all smaller than a pixel are refused.

    Returns:
        Warnings for the user, none or one.

    Raises:
        BenchmarkError: If a box is impossible; the message names the first one.
    """
    boxes = [given for given in boxes if given.image.n_px]  # nothing is known of a picture that cannot be read
    for given in boxes:
        fault = fault_of(given, convention)
        if fault is not None:
            fitting = _fitting(boxes, convention)
            better = f"box format {fitting[0]} fits every row" if fitting else "half-open, x0 < x1 and y0 < y1"
            raise BenchmarkError(
                f"{given.place}: box {_text(given.quad)} read as {convention} {fault}",
                hint=f"{better}; check the declared box format",
            )
    pixel_boxes = [to_xyxy(given.quad, convention, given.image) for given in boxes]
    n_across = sum(crosses_border(box, given.image) for box, given in zip(pixel_boxes, boxes, strict=True))
    are_many_across = n_across > MAX_SHARE_ACROSS_BORDER * len(boxes)
    if not are_many_across and not _all_within_a_pixel(pixel_boxes):
        return ()
    fitting = _fitting(boxes, convention)
    if fitting and are_many_across:
        return (
            f"{n_across} of {len(boxes)} boxes read as {convention} cross the border; read as {fitting[0]} none does",
        )
    told = f"all {len(boxes)} boxes read as {convention} are smaller than a pixel; {' and '.join(fitting[:1])} fits too"
    if fitting and not is_declared:
        raise BenchmarkError(
            f"{boxes[0].place}: {told}", hint=f"--option box_format={fitting[0]}, or box_format={convention} in pixels"
        )
    return (told,) if fitting else ()


def _fitting(boxes: Sequence[GivenBox], convention: BoxFormat) -> list[BoxFormat]:
    """Return the other conventions under which every box is possible and inside its picture."""
    return [other for other in get_args(BoxFormat) if other != convention and _fits(boxes, other)]


def _fits(boxes: Sequence[GivenBox], convention: BoxFormat) -> bool:
    """Return whether every box is possible, inside its picture, and not all are mere specks (fractions as pixels)."""
    pixel_boxes = [to_xyxy(given.quad, convention, given.image) for given in boxes]
    return not _all_within_a_pixel(pixel_boxes) and all(
        fault_of(given, convention) is None and not crosses_border(box, given.image)
        for given, box in zip(boxes, pixel_boxes, strict=True)
    )


def _all_within_a_pixel(boxes: Sequence[Box]) -> bool:
    return all(box.x1 - box.x0 <= 1 and box.y1 - box.y0 <= 1 for box in boxes)


def _overlaps(box: Box, image: Size) -> bool:
    return box.x0 < image.width and box.y0 < image.height and box.x1 > 0 and box.y1 > 0


def _from_text(cell: str) -> object:
    """Read a text cell as JSON or as plain numbers; a text that is neither comes back as it is."""
    text = cell.strip()
    if not text:
        return None
    if text[0] in "[{(" and "<box>" not in text:
        written = in_text(text)
        return cell if written is None else stored(written)
    tagged = _TAGGED.findall(text)
    if "<box>" in text and tagged:
        return [[_number(edge) for edge in edges] for edges in tagged]
    try:
        return [[_number(part) for part in re.split(r"[,\s]+", box.strip())] for box in text.split(";") if box.strip()]
    except ValueError:
        return cell


def _number(text: str) -> Number:
    value = float(text)
    return int(value) if value.is_integer() else value


def _is_number(cell: object) -> bool:
    if isinstance(cell, float):
        return math.isfinite(cell)
    return isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) <= _LARGEST


def _quad(entry: object) -> Quad | None:
    if not isinstance(entry, list | tuple) or len(entry) != _N_EDGES:
        return None
    first, second, third, fourth = entry
    if not (_is_number(first) and _is_number(second) and _is_number(third) and _is_number(fourth)):
        return None
    first, second, third, fourth = (float(edge) if isinstance(edge, SpelledFloat) else edge for edge in entry)
    return (first, second, third, fourth)


def _text(quad: Quad) -> str:
    return "(" + ", ".join(f"{edge:g}" for edge in quad) + ")"
