"""A leaderboard as one HTML file that sorts by a click, loads nothing, and runs one script known by its hash."""

import base64
import hashlib
from importlib.resources import files

import msgspec

from eyechart.figures import MISSING
from eyechart.reports._board import BEST_NOTE, LEAD, TAIL, BoardLine, board_lines, format_score, heat_of, shown_lead
from eyechart.reports._printable import printable
from eyechart.runs.board import Board, BoardCell
from eyechart.schema import Value

_WORDS = frozenset({"model", "access", "group", *TAIL})


class HtmlColumn(Value, frozen=True):
    """One heading."""

    key: str
    heading: str
    is_number: bool


class HtmlCell(Value, frozen=True):
    """One cell: what is read, what it is sorted by, and what stands small below it."""

    key: str
    text: str
    value: str
    classes: str = ""
    detail: str = ""
    heat: float | None = None


class HtmlRow(Value, frozen=True):
    """One row."""

    kind: str
    cells: tuple[HtmlCell, ...]


class HtmlBoard(Value, frozen=True):
    """A board as a page prints it: title and averaging rule, headings, rows, and the notes below."""

    title: str
    rule: str
    rule_text: str
    has_heat: bool
    best_note: str
    columns: tuple[HtmlColumn, ...]
    rows: tuple[HtmlRow, ...]
    notes: tuple[str, ...]


def board_table(board: Board) -> HtmlBoard:
    """Return the cells of a board for a page; what is not known is a dash and sorts last."""
    lead = [name for name, is_shown in zip(LEAD, shown_lead(board), strict=True) if is_shown]
    return HtmlBoard(
        title=board.title,
        rule=board.rule,
        rule_text=board.rule_text,
        has_heat=board.has_heat,
        best_note=BEST_NOTE,
        columns=(
            *(HtmlColumn(name, "billions" if name == "B" else name, name not in _WORDS) for name in lead),
            *(HtmlColumn(column.key, column.heading, is_number=True) for column in board.columns),
            *(HtmlColumn(name, name, is_number=False) for name in ("group", *TAIL)),
        ),
        rows=tuple(_row(line, board, lead) for line in board_lines(board)),
        notes=board.notes,
    )


def html_board(board: Board) -> str:
    """Return the page; every text of the board is escaped, and no script but ours can run."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # deferred: only pages need it

    environment = Environment(
        loader=PackageLoader("eyechart.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    script = (files("eyechart.reports") / "templates" / "board.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("board.html.jinja").render(
        table=board_table(board), script=script, script_hash=f"sha256-{digest}"
    )


def _row(line: BoardLine, board: Board, lead: list[str]) -> HtmlRow:
    texts = dict(zip(LEAD, line.lead, strict=True))
    cells = [
        HtmlCell(name, texts[name] or MISSING, _lead_value(name, line), "" if name not in _WORDS else "text")
        for name in lead
    ]
    for column, mark in zip(board.columns, line.marks, strict=True):
        cell = line.row.cells.get(column.key)
        classes = " ".join(
            name for name, holds in (("best", mark.is_best), ("group-best", mark.is_group_best)) if holds
        )
        heat = heat_of(board, column, cell)
        cells.append(msgspec.structs.replace(_score(column.key, cell, classes), heat=heat))
    tail = zip(("group", *TAIL), (line.row.group, *line.tail), strict=True)
    cells += [HtmlCell(name, text or MISSING, text, f"text {name}") for name, text in tail]
    return HtmlRow(line.row.kind, tuple(cells))


def _lead_value(name: str, line: BoardLine) -> str:
    row = line.row
    numbers = {"rank": row.rank, "place": row.best, "B": row.params_b}
    if name in numbers:
        return "" if numbers[name] is None else f"{numbers[name]}"
    return dict(zip(LEAD, line.lead, strict=True))[name]


def _score(key: str, cell: BoardCell | None, classes: str) -> HtmlCell:
    if cell is None:
        return HtmlCell(key, MISSING, "", classes)
    detail = "" if cell.n_questions is None else f"too few pictures, n = {cell.n_questions}"
    if cell.low is not None and cell.high is not None:
        detail = f"{cell.low:.1f} to {cell.high:.1f}" + (
            "" if cell.n_questions is None else f", n = {cell.n_questions}"
        )
    return HtmlCell(key, format_score(cell.percent), f"{cell.percent:.6f}", classes, detail)
