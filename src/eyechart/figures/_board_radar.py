"""Several rows of a leaderboard on one wheel of categories."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyechart.errors import UsageError
from eyechart.figures._numbers import format_count, format_label
from eyechart.figures._style import ACCENT, INK, MUTED, LineStyle, drawing_style, take_axes
from eyechart.figures._wheel import CHANCE_LOOK, draw_outline, draw_spoke, draw_wheel
from eyechart.registry import unknown_name
from eyechart.runs.board import OVERALL, Board, BoardCell, BoardColumn, BoardRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOP, _BOTTOM, _SIDE = 1.2, -1.22, 1.6
_ROW, _NOTE = 0.13, 0.3
_INCHES_PER_UNIT = 1.03
_FEWEST_CATEGORIES = 3
_CHANCE = "Random"
# Colour, marker and dashes each tell a line apart alone; colours as in ``_style``, dark enough for white paper.
_LOOKS = (
    LineStyle(ACCENT, "o", "-"),
    LineStyle("#b34700", "s", "--"),
    LineStyle("#00705a", "^", ":"),
    LineStyle("#8a3a76", "v", "-."),
    LineStyle("#7a5c00", "D", (0, (7, 2))),
    LineStyle("#3b4ba8", "P", (0, (5, 1, 1, 1, 1, 1))),
    LineStyle(MUTED, "X", (0, (2, 1))),
)
_HUMAN_LOOK = LineStyle(INK, "*", "-")
MOST_ROWS = len(_LOOKS)


def choose_rows(board: Board, names: Sequence[str] = ()) -> tuple[BoardRow, ...]:
    """Return the named rows, or own runs and then the best published ones; people and guessing come besides.

    Args:
        board: The board.
        names: Names of models on it.

    Raises:
        UsageError: If a name is not on the board, or there are more rows than lines that can be told apart.
    """
    ranked = [row for row in board.rows if row.kind in {"own", "published"}]
    by_name = {row.name: row for row in board.rows if row.kind != "mean"}
    for name in names:
        if name not in by_name:
            raise unknown_name("row of the board", name, tuple(by_name))
    own = [row for row in ranked if row.kind == "own"]
    others = [by_name[name] for name in names if by_name[name].kind != "own"]
    if not names:
        others = [row for row in ranked if row.kind == "published"][: max(0, MOST_ROWS - 1 - len(own))]
    chosen = [*own, *(row for row in others if row.kind == "published")]
    if len(chosen) > MOST_ROWS:
        raise UsageError(
            f"{len(chosen)} models are too many for one wheel", hint=f"name at most {MOST_ROWS}, own runs included"
        )
    return (*chosen, *(row for row in board.rows if row.kind == "reference"))


def draw_board_radar(board: Board, rows: Sequence[BoardRow], axes: object | None = None) -> "Axes":
    """Draw every row as an outline from 0 % in the middle to 100 % at the rim; own runs have intervals as spokes.

    Args:
        board: The board, which names the categories.
        rows: Its rows to draw, see ``choose_rows``.
        axes: matplotlib axes of the author, or None.

    Raises:
        UsageError: If ``axes`` is not matplotlib axes, or the board has fewer than three categories.
    """
    columns = _categories(board)
    with drawing_style(axes):
        lowest = _BOTTOM - _ROW * (-(-len(rows) // 2)) - _NOTE
        target = take_axes(axes, (_TOP - lowest) * _INCHES_PER_UNIT)
        draw_wheel(target, [column.heading for column in columns])
        looks = iter(_LOOKS)
        for row in rows:
            is_reference = row.kind == "reference"
            look = CHANCE_LOOK if row.name == _CHANCE else _HUMAN_LOOK if is_reference else next(looks)
            cells = [row.cells.get(column.key) for column in columns]
            draw_outline(target, [_share(cell) for cell in cells], look, format_label(row.name))
            for place, cell in enumerate(cells):
                if cell is not None and cell.low is not None and cell.high is not None:
                    draw_spoke(target, place, len(columns), (cell.low / 100, cell.high / 100), look.colour)
        target.set_xlim(-_SIDE, _SIDE)
        target.set_ylim(lowest, _TOP)
        target.legend(
            loc="upper center", bbox_to_anchor=(0.0, _BOTTOM), bbox_transform=target.transData, ncols=2, frameon=False,
            fontsize=6.0, borderaxespad=0.0, handlelength=3.0,
        )  # fmt: skip
        target.text(0.0, lowest, "\n".join(_notes(board, rows)), ha="center", va="bottom", fontsize=5.5, color=MUTED)
    return target


def describe_board_radar(board: Board, rows: Sequence[BoardRow]) -> str:
    """Say every score of every row, with the interval and n of own runs."""
    columns = _categories(board)
    said = [
        f"{row.name}: "
        + ", ".join(f"{column.heading} {_say(row.cells.get(column.key))}" for column in columns)
        + (f" ({row.note})" if row.note else "")
        for row in rows
    ]
    return f"Score in percent by category, {board.title}, {board.rule_text}. {'. '.join(said)}."


def _categories(board: Board) -> tuple[BoardColumn, ...]:
    columns = tuple(column for column in board.columns if column.key != OVERALL)
    if len(columns) < _FEWEST_CATEGORIES or board.has_heat:
        raise UsageError(f"{board.title} has no categories to draw", hint="eyechart draw radar hrscene")
    return columns


def _share(cell: BoardCell | None) -> float | None:
    return None if cell is None else cell.percent / 100


def _say(cell: BoardCell | None) -> str:
    if cell is None:
        return "not scored"
    n = "" if cell.n_questions is None else f", n = {format_count(cell.n_questions)}"
    if cell.low is None or cell.high is None:
        return f"{cell.percent:.1f}" + (n and f" [too few pictures{n}]")
    return f"{cell.percent:.1f} [{cell.low:.1f}, {cell.high:.1f}{n}]"


def _notes(board: Board, rows: Sequence[BoardRow]) -> list[str]:
    counts = [cell.n_questions for row in rows for cell in row.cells.values() if cell.n_questions is not None]
    n = f"own runs: n = {min(counts)} to {max(counts)} a category or in all, 95 % intervals; " if counts else ""
    return [
        f"{board.title}, %; {board.rule.replace('_', ' ')}",
        f"{n}published scores come without intervals; the area means nothing",
    ]
