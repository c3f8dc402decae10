"""One example question per category with its picture."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from eyechart.errors import UsageError
from eyechart.figures._style import INK, MUTED, drawing_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEWEST_COLUMNS, _MOST_COLUMNS = 2, 3
_WIDTH_IN, _TITLE_IN = 7.0, 0.3
_TALLEST_PICTURE_IN = 1.6
_FONT_SIZE, _LINE_IN = 5.5, 0.098
_CHARACTERS_PER_INCH = 22
_MOST_LINES = 14


class Example(NamedTuple):
    """A question to show: its category, words, options, the size of its picture, and a small copy of that."""

    category: str
    question_id: str
    text: str
    choices: tuple[str, ...]
    size: tuple[int, int]
    thumbnail: npt.NDArray[np.uint8]


def draw_gallery(examples: Sequence[Example], title: str) -> "Figure":
    """Draw the examples in rows of up to three, two columns of a paper wide. The right option is not marked.

    Pictures of a row stand on one line, each above its category, size, question and options; a row is as high as its
    tallest picture and its longest text.

    Args:
        examples: At least one.
        title: Stands above.

    Raises:
        UsageError: If there is no example.
    """
    if not examples:
        raise UsageError("there is no question to show", hint="check the benchmark's data")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    n_columns = min(_MOST_COLUMNS, max(_FEWEST_COLUMNS, len(examples)))
    rows = [examples[start : start + n_columns] for start in range(0, len(examples), n_columns)]
    width = _WIDTH_IN / n_columns
    heights = [height for row in rows for height in _row_heights(row, width)]
    with drawing_style(None):
        figure = Figure(figsize=(_WIDTH_IN, _TITLE_IN + sum(heights)), facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, fontsize=8)
        layout = figure.add_gridspec(len(heights), n_columns, height_ratios=heights)
        for index, example in enumerate(examples):
            row, column = divmod(index, n_columns)
            _draw_picture(figure.add_subplot(layout[2 * row, column]), example)
            words = figure.add_subplot(layout[2 * row + 1, column])
            words.set_axis_off()
            heading = f"{example.category} · {example.size[0]}×{example.size[1]}"
            words.text(0.0, 1.0, heading, ha="left", va="top", fontsize=_FONT_SIZE, color=MUTED)
            words.annotate(
                "\n".join(_lines(example, width)), xy=(0.0, 1.0), xytext=(0.0, -1.15 * _LINE_IN * 72),
                textcoords="offset points", ha="left", va="top", fontsize=_FONT_SIZE, color=INK, linespacing=1.25,
            )  # fmt: skip
    return figure


def describe_gallery(examples: Sequence[Example]) -> str:
    """Say every example in words."""
    return " ".join(
        f"{example.category} ({example.question_id}, {example.size[0]}×{example.size[1]} pixels): "
        f"{' '.join(example.text.split())}"
        for example in examples
    )


def _row_heights(row: Sequence[Example], width_in: float) -> tuple[float, float]:
    """Return the heights of pictures and words of one row, in inches."""
    tallest = max(example.size[1] / example.size[0] for example in row) * width_in
    n_lines = max(len(_lines(example, width_in)) for example in row)
    return min(_TALLEST_PICTURE_IN, tallest), _LINE_IN * (n_lines + 2.5)


def _draw_picture(axes: "Axes", example: Example) -> None:
    """Draw the small copy with a thin edge, at the lower left of its place."""
    axes.imshow(example.thumbnail, interpolation="nearest")
    axes.set_anchor("SW")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.4)


def _lines(example: Example, width_in: float) -> list[str]:
    """Return question and options, wrapped, and cut where there are too many lines."""
    n_characters = int(_CHARACTERS_PER_INCH * width_in)
    lines = textwrap.wrap(" ".join(example.text.split()), n_characters)
    for index, choice in enumerate(example.choices):
        lines += textwrap.wrap(f"({chr(ord('A') + index)}) {' '.join(choice.split())}", n_characters)
    return lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "…"]
