"""The records of a leaderboard: cells, columns, rows, and how rows are grouped."""

from typing import Literal

from eyechart.schema import Value

OVERALL = "all"
RowKind = Literal["published", "own", "mean", "reference"]
CATEGORY_ORDER = ("daily", "research", "medical", "sub-img", "remote", "art", "paper", "urban")
_HEADINGS = {"sub-img": "Sub-Img", OVERALL: "All"}
_SMALL_B, _MEDIUM_B = 10.0, 50.0


class BoardCell(Value, frozen=True):
    """One score in percent (or points), with its interval and n where the answers are known."""

    percent: float
    low: float | None = None
    high: float | None = None
    n_questions: int | None = None


class BoardColumn(Value, frozen=True):
    """One column: ``key`` for programs, ``heading`` for readers, and whether a lower number is the better one."""

    key: str
    heading: str
    is_lower_better: bool = False


class BoardRow(Value, frozen=True):
    """One line of the board.

    ``rank`` orders by the point alone; ``best`` and ``worst`` are the places among the rows with known answers that the
    data allow (joint 95 %). References and means have neither and never enter a mean. ``is_partial`` says that datasets
    have no score, so that the overall score has other weights than those of the board; such a row has no rank.
    """

    name: str
    kind: RowKind
    group: str
    cells: dict[str, BoardCell]
    access: str | None = None
    params_b: float | None = None
    rank: int | None = None
    best: int | None = None
    worst: int | None = None
    is_partial: bool = False
    source: str = ""
    date: str = ""
    note: str = ""


class Board(Value, frozen=True):
    """A leaderboard: columns, rows in the order shown, and what must be said below it.

    With ``has_heat`` a page shades every cell by its place between the worst and the best of its column.
    """

    title: str
    benchmark: str
    split: str
    rule: str
    rule_text: str
    columns: tuple[BoardColumn, ...]
    rows: tuple[BoardRow, ...]
    notes: tuple[str, ...]
    has_heat: bool = False


def heading_of(key: str) -> str:
    """Return how a category is written.

    Example:
        >>> heading_of("sub-img"), heading_of("daily")
        ('Sub-Img', 'Daily')
    """
    return _HEADINGS.get(key, key.title())


def size_group(access: str | None, params_b: float | None) -> str:
    """Return the group of a model by its size.

    Example:
        >>> size_group("open", 8.29), size_group("closed", None)
        ('open, under 10B', 'closed')
    """
    if params_b is None:
        return access or "size unknown"
    size = "under 10B" if params_b < _SMALL_B else "10B to 50B" if params_b < _MEDIUM_B else "50B and more"
    return f"{access}, {size}" if access else size
