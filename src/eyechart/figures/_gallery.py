"""One example question per category with its picture."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from eyechart.errors import UsageError
from eyechart.figures._style import INK, MUTED, drawing_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = 3
_WIDTH_IN = 7.0
_ROW_IN = 2.75
_CHARACTERS = 46
_MOST_LINES = 9


class Example(NamedTuple):
    """A question to show: its category, words, options, the size of its picture, and a small copy of that."""

    category: str
    question_id: str
    text: str
    choices: tuple[str, ...]
    size: tuple[int, int]
    thumbnail: npt.NDArray[np.uint8]


def draw_gallery(examples: Sequence[Example], title: str) -> "Figure":
    """Draw the examples in rows of three, two columns of a paper wide. The right option is not marked.

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

    n_rows = -(-len(examples) // _COLUMNS)
    with drawing_style(None):
        figure = Figure(figsize=(_WIDTH_IN, 0.35 + _ROW_IN * n_rows), facecolor="white", layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, fontsize=8)
        layout = figure.add_gridspec(2 * n_rows, _COLUMNS, height_ratios=[1.5, 1.25] * n_rows)
        for index, example in enumerate(examples):
            row, column = divmod(index, _COLUMNS)
            picture = figure.add_subplot(layout[2 * row, column])
            picture.imshow(example.thumbnail, interpolation="nearest")
            picture.set_xticks([])
            picture.set_yticks([])
            for spine in picture.spines.values():
                spine.set_visible(True)
                spine.set_linewidth(0.4)
            picture.set_title(f"{example.category} · {example.size[0]}×{example.size[1]}", fontsize=6.5, color=MUTED)
            words = figure.add_subplot(layout[2 * row + 1, column])
            words.set_axis_off()
            words.text(0.0, 1.0, _words(example), ha="left", va="top", fontsize=5.5, color=INK, linespacing=1.25)
    return figure


def describe_gallery(examples: Sequence[Example]) -> str:
    """Say every example in words."""
    return " ".join(
        f"{example.category} ({example.question_id}, {example.size[0]}×{example.size[1]} pixels): "
        f"{' '.join(example.text.split())}"
        for example in examples
    )


def _words(example: Example) -> str:
    """Return question and options, wrapped, and cut where there are too many lines."""
    lines = textwrap.wrap(" ".join(example.text.split()), _CHARACTERS)
    for index, choice in enumerate(example.choices):
        lines += textwrap.wrap(f"({chr(ord('A') + index)}) {' '.join(choice.split())}", _CHARACTERS)
    return "\n".join(lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "…"])
