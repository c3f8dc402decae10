"""A leaderboard as words and digits, with its best cells, for terminal, Markdown and LaTeX."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from eyechart.figures import MISSING, NO_INTERVAL, format_count
from eyechart.reports._latex_float import column_widths, is_wide, join_sentences, latex_float, split_blocks, tabular
from eyechart.reports._markup import escape_latex, escape_markdown
from eyechart.reports._printable import printable
from eyechart.runs.board import Board, BoardCell, BoardColumn, BoardRow

_RANKED = frozenset({"published", "own"})
_BEST, _GROUP_BEST = "*", "°"
# Shades a cell only where the paper has loaded a package that can; dark letters stay readable on the darkest shade.
_HEAT_MACRO = (
    "% \\usepackage[table]{xcolor} shades the cells from the worst to the best of their column.\n"
    "\\providecommand{\\eyechartheat}[2]{\\ifcsname cellcolor\\endcsname\\cellcolor{blue!#1}\\fi#2}"
)
_DARKEST = 38
_FROM = {"published": "published", "own": "own run", "reference": "published", "mean": ""}


class Marks(NamedTuple):
    """Whether a cell is the best of the board, and the best of its group."""

    is_best: bool = False
    is_group_best: bool = False


class BoardLine(NamedTuple):
    """One row ready to print: its cells before the scores, the scores with their marks, and its group."""

    row: BoardRow
    lead: tuple[str, ...]
    scores: tuple[str, ...]
    marks: tuple[Marks, ...]
    tail: tuple[str, ...]


BEST_NOTE = "Bold: best of the board. Underlined: best of its group. Means and references never are."
LEAD = ("rank", "place", "model", "access", "B")
TAIL = ("source", "date")


def format_score(percent: float) -> str:
    """Write a percentage with two decimals, halves away from zero as published tables do.

    Example:
        >>> format_score(36.635), format_score(64.715)
        ('36.64', '64.72')
    """
    return str(Decimal(repr(round(percent, 9))).quantize(Decimal("0.01"), ROUND_HALF_UP)).replace("-", "−")


def format_cell(cell: BoardCell | None) -> str:
    """Write a score with its interval and n where they are known.

    Example:
        >>> format_cell(BoardCell(61.85)), format_cell(BoardCell(50.0, 40.0, 60.0, 96)), format_cell(None)
        ('61.85', '50.00 [40.0, 60.0] n=96', '–')
        >>> format_cell(BoardCell(50.0, n_questions=6))
        '50.00 [too few pictures] n=6'
    """
    if cell is None:
        return MISSING
    n = "" if cell.n_questions is None else f" n={format_count(cell.n_questions)}"
    if cell.low is None or cell.high is None:
        return format_score(cell.percent) + (n and f" {NO_INTERVAL}{n}")
    return f"{format_score(cell.percent)} [{cell.low:.1f}, {cell.high:.1f}]{n}"


def board_lines(board: Board, *, is_grouped: bool = False) -> tuple[BoardLine, ...]:
    """Return the rows in the order shown: as ranked, or group by group, references last."""
    rows = list(board.rows)
    if is_grouped:
        groups = list(dict.fromkeys(sorted((row.group for row in rows if row.kind in _RANKED), key=_group_order)))
        ranked = [row for group in groups for row in rows if row.group == group and row.kind in _RANKED]
        rows = [*ranked, *(row for row in rows if row.kind not in _RANKED)]
    best = {column.key: _best(column, board.rows) for column in board.columns}
    by_group: dict[str, dict[str, float | None]] = {}
    for group in {row.group for row in rows}:
        own = [row for row in board.rows if row.group == group]
        by_group[group] = {column.key: _best(column, own) for column in board.columns}
    return tuple(_line(row, board.columns, best, by_group[row.group]) for row in rows)


def _group_order(group: str) -> tuple[int, str]:
    known = ("closed", "open, 50B and more", "open, 10B to 50B", "open, under 10B", "own runs")
    return (known.index(group) if group in known else len(known), group)


def _best(column: BoardColumn, rows: Sequence[BoardRow]) -> float | None:
    """Return the best score of a column among models, None without any."""
    scores = [row.cells[column.key].percent for row in rows if _may_be_best(row) and column.key in row.cells]
    if not scores:
        return None
    return min(scores) if column.is_lower_better else max(scores)


def _line(
    row: BoardRow,
    columns: Sequence[BoardColumn],
    best: dict[str, float | None],
    group_best: dict[str, float | None],
) -> BoardLine:
    place = "" if row.best is None or row.worst is None else f"{row.best}–{row.worst}"
    place = str(row.best) if row.best is not None and row.best == row.worst else place
    marks = tuple(_mark(row, column.key, best[column.key], group_best[column.key]) for column in columns)
    return BoardLine(
        row=row,
        lead=(
            "" if row.rank is None else str(row.rank),
            place if row.kind == "own" else "",
            row.name,
            row.access or "",
            "" if row.params_b is None else f"{row.params_b:g}",
        ),
        scores=tuple(format_cell(row.cells.get(column.key)) for column in columns),
        marks=marks,
        tail=(row.source, row.date),
    )


def _may_be_best(row: BoardRow) -> bool:
    return row.kind in _RANKED and not row.is_partial


def _mark(row: BoardRow, key: str, best: float | None, group_best: float | None) -> Marks:
    if not _may_be_best(row) or key not in row.cells:
        return Marks()
    percent = row.cells[key].percent
    return Marks(is_best=percent == best, is_group_best=percent == group_best)


def heat_of(board: Board, column: BoardColumn, cell: BoardCell | None) -> float | None:
    """Return where a score lies between the worst (0) and the best (1) of its column, None on a board without heat."""
    scores = [row.cells[column.key].percent for row in board.rows if column.key in row.cells]
    if not board.has_heat or cell is None or min(scores) == max(scores):
        return None
    share = (cell.percent - min(scores)) / (max(scores) - min(scores))
    return round(1.0 - share if column.is_lower_better else share, 3)


def shown_lead(board: Board) -> tuple[bool, ...]:
    """Return which of the leading columns a board fills."""
    lines = board_lines(board)
    return tuple(any(line.lead[index] for line in lines) for index in range(len(LEAD)))


def text_rows(board: Board, *, is_grouped: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return headings (``>`` for right-aligned) and cells for a terminal; * marks the best, ° the best of its group."""
    shown = shown_lead(board)
    headings = [f">{name}" if name in {"rank", "place", "B"} else name for name in LEAD]
    columns = [
        *(name for name, is_shown in zip(headings, shown, strict=True) if is_shown),
        *(f">{column.heading}" for column in board.columns),
        "from",
    ]
    rows = []
    for line in board_lines(board, is_grouped=is_grouped):
        lead = [cell for cell, is_shown in zip(line.lead, shown, strict=True) if is_shown]
        cells = [line.row.cells.get(column.key) for column in board.columns]
        scores = [
            f"{MISSING if cell is None else format_score(cell.percent)}{_plain_mark(mark)}"
            for cell, mark in zip(cells, line.marks, strict=True)
        ]
        rows.append([*lead, *scores, " ".join(part for part in (_FROM[line.row.kind], line.row.date) if part)])
    return columns, rows


def board_title(board: Board) -> str:
    """Return the title with unit and averaging rule."""
    if board.has_heat:
        return f"{board.title}; {board.rule_text}"
    return f"{board.title}, percent; {board.rule}: {board.rule_text}"


def interval_rows(board: Board) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of a second table: interval and n of the own runs.

    Terminals are too narrow to hold them beside the scores.
    """
    columns = ["interval, % and n", *(f">{column.heading}" for column in board.columns)]
    rows = []
    for row in board.rows:
        if row.kind == "own":
            cells = [row.cells.get(column.key) for column in board.columns]
            rows.append([row.name, *(_interval(cell) for cell in cells)])
    return columns, rows


def _interval(cell: BoardCell | None) -> str:
    if cell is None or cell.n_questions is None:
        return MISSING
    if cell.low is None or cell.high is None:
        return f"too few pictures, {cell.n_questions}"
    return f"{cell.low:.0f} to {cell.high:.0f}, {cell.n_questions}".replace("-", "−")


def text_board(board: Board, *, is_grouped: bool = False) -> str:
    """Return the board as aligned text with its title above and its notes below."""
    title = board_title(board)
    columns, rows = text_rows(board, is_grouped=is_grouped)
    lines = [title, *_aligned(columns, rows)]
    columns, rows = interval_rows(board)
    lines += ["", *_aligned(columns, rows), ""] if rows else []
    marks = f"{_BEST} best of the board, {_GROUP_BEST} best of its group; means and references never are"
    return "\n".join(printable(line) for line in (*lines, marks, *board.notes)) + "\n"


def _aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [[column.lstrip(">") for column in columns], *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    return [
        "  ".join(
            cell.rjust(width) if column.startswith(">") else cell.ljust(width)
            for column, cell, width in zip(columns, line, widths, strict=True)
        ).rstrip()
        for line in lines
    ]


def _plain_mark(mark: Marks) -> str:
    return _BEST if mark.is_best else _GROUP_BEST if mark.is_group_best else " "


def markdown_board(board: Board, *, is_grouped: bool = True) -> str:
    """Return the board as Markdown: best in bold, best of its group underlined."""
    shown = shown_lead(board)
    lead = [name for name, is_shown in zip(LEAD, shown, strict=True) if is_shown]
    headings = [*lead, *(column.heading for column in board.columns), "group", *TAIL]
    numbers = {*(column.heading for column in board.columns), "rank", "place", "B"}
    lines = [
        f"**{escape_markdown(board_title(board))}**",
        "",
        f"| {' | '.join(escape_markdown(heading) for heading in headings)} |",
        f"| {' | '.join('---:' if heading in numbers else ':---' for heading in headings)} |",
    ]
    for line in board_lines(board, is_grouped=is_grouped):
        cells = [escape_markdown(cell) for cell, is_shown in zip(line.lead, shown, strict=True) if is_shown]
        for score, mark in zip(line.scores, line.marks, strict=True):
            text = escape_markdown(score)
            text = f"<ins>{text}</ins>" if mark.is_group_best else text
            cells.append(f"**{text}**" if mark.is_best else text)
        cells += [escape_markdown(cell) for cell in (line.row.group, *line.tail)]
        lines.append(f"| {' | '.join(cells)} |")
    notes = [
        "Bold: best of the board. Underlined: best of its group. Means and references are in neither.",
        *board.notes,
    ]
    return "\n".join([*lines, "", *(f"- {escape_markdown(note)}" for note in notes)]) + "\n"


def latex_board(board: Board, *, is_grouped: bool = True) -> str:
    r"""Return the board as a LaTeX table that needs no package: best in ``\textbf``, group best ``\underline``.

    Cells of a board with heat are shaded in papers that load ``colortbl``, as ``\usepackage[table]{xcolor}`` does.
    """
    shown = shown_lead(board)
    lead = [name for name, is_shown in zip(LEAD, shown, strict=True) if is_shown]
    kinds = [*("r" if name in {"rank", "place", "B"} else "l" for name in lead), *("r" for _ in board.columns)]
    headings = [*lead, *(column.heading for column in board.columns)]
    rows, plain = [], [headings]
    for line in board_lines(board, is_grouped=is_grouped):
        own = [cell for cell, is_shown in zip(line.lead, shown, strict=True) if is_shown]
        scores = [
            _latex_score(score, mark, heat_of(board, column, line.row.cells.get(column.key)))
            for score, mark, column in zip(line.scores, line.marks, board.columns, strict=True)
        ]
        rows.append((line.row.group, [*map(escape_latex, own), *scores]))
        plain.append([*own, *line.scores])
    tabulars = []
    for block in split_blocks(column_widths(plain), len(rows), lead.index("model") + 1):
        lines = ["\\hline", _latex_line([escape_latex(headings[at]) for at in block])]
        for (group, cells), (before, _) in zip(rows, [("", []), *rows], strict=False):
            if is_grouped and group != before:
                lines += ["\\hline", f"\\multicolumn{{{len(block)}}}{{l}}{{\\emph{{{escape_latex(group)}}}}} \\\\"]
            lines.append(_latex_line([cells[at] for at in block]))
        tabulars.append(tabular("".join(kinds[at] for at in block), [*lines, "\\hline"]))
    return latex_float(
        escape_latex(
            join_sentences([f"{board_title(board)}. Bold: best; underlined: best of its group.", *board.notes])
        ),
        f"tab:{board.benchmark}-{board.split}",
        tabulars,
        is_wide=is_wide(column_widths(plain)),
        macros=[_HEAT_MACRO] if board.has_heat else [],
    )


def _latex_line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _latex_score(score: str, mark: Marks, heat: float | None) -> str:
    """Return a score with its marks, in a shaded cell if it has heat."""
    text = escape_latex(score)
    text = f"\\underline{{{text}}}" if mark.is_group_best else text
    text = f"\\textbf{{{text}}}" if mark.is_best else text
    return text if heat is None else f"\\eyechartheat{{{round(_DARKEST * heat)}}}{{{text}}}"
