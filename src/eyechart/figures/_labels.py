"""Short words beside markers, each on the side where it covers fewest markers and no word before it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from eyechart.figures._style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Right below first, since accuracy mostly rises to the right.
_SIDES = (("left", "top"), ("right", "bottom"), ("left", "bottom"), ("right", "top"))
_GAP, _MARKER = 4.0, 2.4  # points, from the middle of a marker
_LETTER_WIDTH, _LETTER_HEIGHT = 0.64, 1.1  # of the size of the font


class Label(NamedTuple):
    """A word and the place in data that it names."""

    x: float
    y: float
    text: str


class _Area(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: "_Area") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.bottom < other.top and other.bottom < self.top
        )

    def holds(self, other: "_Area") -> bool:
        return self.left <= other.left and other.right <= self.right and self.bottom <= other.bottom


def write_labels(axes: "Axes", labels: Sequence[Label], markers: Sequence[tuple[float, float]]) -> None:
    """Write every label beside its place.

    Args:
        axes: Where to write; its limits and scales must be set.
        labels: What to write, the first has the first choice.
        markers: Where markers stand, in data.
    """
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size="small").get_size_in_points()
    frame = _Area(*_points(axes, axes.get_xlim()[0], axes.get_ylim()[0]), *_points(axes, axes.get_xlim()[1], 1.0))
    taken = [_around(*_points(axes, x, y)) for x, y in markers]
    for label in labels:
        x, y = _points(axes, label.x, label.y)
        width, height = _LETTER_WIDTH * size * len(label.text), _LETTER_HEIGHT * size
        areas = [_beside(x, y, width, height, side) for side in _SIDES]
        costs = [sum(area.meets(other) for other in taken) + 9 * (not frame.holds(area)) for area in areas]
        best = costs.index(min(costs))
        taken.append(areas[best])
        across, up = _SIDES[best]
        axes.annotate(
            label.text, xy=(label.x, label.y),
            xytext=(_GAP if across == "left" else -_GAP, _GAP if up == "bottom" else -_GAP),
            textcoords="offset points", fontsize="small", color=INK, ha=across, va=up, zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.3},
        )  # fmt: skip


def _points(axes: "Axes", x: float, y: float) -> tuple[float, float]:
    """Return a place in data as points (1/72 inch) from the lower left of the figure."""
    across, up = axes.transData.transform((x, y))
    return across * 72 / axes.figure.dpi, up * 72 / axes.figure.dpi


def _around(x: float, y: float) -> _Area:
    return _Area(x - _MARKER, y - _MARKER, x + _MARKER, y + _MARKER)


def _beside(x: float, y: float, width: float, height: float, side: tuple[str, str]) -> _Area:
    left = x + _GAP if side[0] == "left" else x - _GAP - width
    bottom = y + _GAP if side[1] == "bottom" else y - _GAP - height
    return _Area(left, bottom, left + width, bottom + height)
