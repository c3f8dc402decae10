"""A board of runs alone, for benchmarks of which no leaderboard was published: accuracy under every view."""

from collections.abc import Sequence
from typing import NamedTuple

from eyechart.errors import UsageError
from eyechart.runs.board import Board, BoardCell, BoardColumn, BoardRow
from eyechart.runs.leaderboard import rank_rows, with_places
from eyechart.runs.own_rows import OwnRun, has_whole_picture
from eyechart.schema import Estimate, Summary

_FIRST = "original"


class EstimatedRun(NamedTuple):
    """A run with its estimates."""

    own: OwnRun
    summary: Summary


def build_own_board(runs: Sequence[EstimatedRun]) -> Board:
    """Return the board of runs of one benchmark, ranked by accuracy on the whole picture.

    Args:
        runs: Runs of one benchmark; where none asked ``original``, the rank is by the first view of the first run.

    Raises:
        UsageError: If no run is given, or they asked different benchmarks.
    """
    if not runs:
        raise UsageError("there is no run to show", hint="name runs of your own")
    names = dict.fromkeys(one.own.table.run.benchmark.name for one in runs)
    if len(names) > 1:
        raise UsageError(f"the runs asked {' and '.join(names)}", hint="show one benchmark at a time")
    benchmark = next(iter(names))
    conditions = list(dict.fromkeys(name for one in runs for name in one.own.table.conditions))
    first = _FIRST if _FIRST in conditions else conditions[0]
    conditions.sort(key=lambda name: name != first)
    rows = [_row(one) for one in runs]
    can_place = all(has_whole_picture(one.own.table) for one in runs)
    placed, place_note = with_places(rows, [one.own for one in runs]) if can_place else (tuple(rows), "")
    guessing = _guessing_row(runs)
    return Board(
        title=f"{benchmark}: accuracy by view",
        benchmark=benchmark,
        split="own",
        rule="micro",
        rule_text="every question counts the same",
        columns=tuple(BoardColumn(name, name) for name in conditions),
        rows=(*rank_rows(placed, first), *((guessing,) if guessing is not None else ())),
        notes=tuple(note for note in (*_notes(runs, first), place_note) if note),
    )


def _row(one: EstimatedRun) -> BoardRow:
    cells = {estimate.condition: _cell(estimate) for estimate in _whole(one.summary)}
    own = one.own
    return BoardRow(
        name=own.name, kind="own", group="own runs", cells=cells, source=f"run {own.table.run.id}", date=own.date
    )


def _whole(summary: Summary) -> Sequence[Estimate]:
    return [one for one in summary.estimates if one.subset is None and one.n_questions]


def _cell(estimate: Estimate) -> BoardCell:
    low, high = (None if bound is None else 100 * bound for bound in (estimate.low, estimate.high))
    return BoardCell(100 * estimate.value, low, high, estimate.n_questions)


def _guessing_row(runs: Sequence[EstimatedRun]) -> BoardRow | None:
    """Return what guessing would get, None where no view has options; under a view, the first run that tells."""
    cells: dict[str, BoardCell] = {}
    for one in runs:
        for estimate in _whole(one.summary):
            if estimate.chance is not None:
                cells.setdefault(estimate.condition, BoardCell(100 * estimate.chance))
    if not cells:
        return None
    return BoardRow(
        name="Guessing", kind="reference", group="references", cells=cells, source="numbers of options", date=""
    )


def _notes(runs: Sequence[EstimatedRun], first: str) -> Sequence[str]:
    notes = [
        f"Rank: by the point under {first} alone; intervals are those of each run's report.",
        "Nothing is published about this benchmark by model, so the rows are runs of your own.",
    ]
    for one in runs:
        n_missing = sum(estimate.n_missing for estimate in _whole(one.summary))
        if n_missing:
            notes.append(f"{one.own.name}: {n_missing} answers are missing and left out.")
    return notes
