"""Perf, Size and Region of needle grids, published and own, on one board."""

from collections.abc import Sequence
from typing import NamedTuple

from eyechart.benchmarks._published import PublishedResults
from eyechart.errors import UsageError
from eyechart.runs.board import Board, BoardCell, BoardColumn, BoardRow, size_group
from eyechart.runs.cells import RunTable
from eyechart.runs.effects import named_views
from eyechart.runs.grid_alone import JudgedGrids, borrow_alone
from eyechart.runs.regions import summarise_grids
from eyechart.schema import GridSummary

_REGION_NOTE = (
    "Region: best region less mean of the regions, per base sample; it grows with the number of regions by itself and "
    "does not say which region is better (see the run's report)."
)
_MEASURES = ("perf", "size", "region")
_HEADINGS = {"perf": "Perf", "size": "Size", "region": "Region"}


class OwnGrids(NamedTuple):
    """The grids of a run: its name on the board, what was estimated, where it lies and when it was made."""

    name: str
    benchmark: str
    grids: tuple[GridSummary, ...]
    source: str
    date: str


def gather_grids(runs: Sequence[tuple[str, RunTable, str]]) -> tuple[OwnGrids, ...]:
    """Estimate the grids of runs, Size against 1×1 of another of them where need be.

    Args:
        runs: Name on the board, table and scorer id of each.
    """
    judged = [JudgedGrids(table, *table.scores(), named_views(table), scorer_id) for _, table, scorer_id in runs]
    return tuple(
        OwnGrids(
            name,
            one.table.run.benchmark.name,
            summarise_grids(*one, borrowed=borrow_alone(one, judged)),
            f"run {one.table.run.id}",
            one.table.run.created_at[:10],
        )
        for (name, _, _), one in zip(runs, judged, strict=True)
    )


def build_grid_board(published: PublishedResults, benchmark: str, own: Sequence[OwnGrids] = ()) -> Board:
    """Return the board of ``whitebackground``, or of ``complexgrid``, of which no table was published.

    There is no overall score and so no rank: a grid is another task at every size.

    Args:
        published: What was published about HRScene.
        benchmark: ``whitebackground`` or ``complexgrid``.
        own: Runs to show beside it.

    Raises:
        UsageError: If a run is of another benchmark, or there is nothing to show.
    """
    for run in own:
        if run.benchmark != benchmark:
            raise UsageError(f"run {run.name} asked {run.benchmark}, the board is of {benchmark}", hint="leave it out")
    rows = [*(_published_rows(published) if benchmark == "whitebackground" else ()), *(_own_row(run) for run in own)]
    if not rows:
        raise UsageError(f"nothing is published about {benchmark} by model", hint="name runs of your own")
    sides = sorted(
        {key.partition(" ")[0] for row in rows for key in row.cells}, key=lambda side: int(side.split("x")[0])
    )
    columns = [
        BoardColumn(f"{side} {measure}", f"{side} {_HEADINGS[measure]}", is_lower_better=measure == "region")
        for side in sides
        for measure in _MEASURES
        if any(f"{side} {measure}" in row.cells for row in rows)
    ]
    return Board(
        title=f"{benchmark}: Perf in percent, Size and Region in points",
        benchmark=benchmark,
        split="grids",
        rule="none",
        rule_text="every grid size stands for itself",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=_notes(published, benchmark, own),
        has_heat=True,
    )


def _published_rows(published: PublishedResults) -> tuple[BoardRow, ...]:
    """Return the published models, in their order; access and size come from the real-world board."""
    known = {row.model: row for rows in published.boards.values() for row in rows}
    cells: dict[str, dict[str, BoardCell]] = {}
    for one in published.grids:
        own = cells.setdefault(one.model, {})
        own[f"{one.grid} perf"] = BoardCell(one.perf)
        for measure, value in (("size", one.size), ("region", one.region)):
            if value is not None:
                own[f"{one.grid} {measure}"] = BoardCell(value)
    source = published.sources[published.grids[0].source] if published.grids else None
    return tuple(
        BoardRow(
            name=model,
            kind="published",
            group=size_group(known[model].access, known[model].params_b) if model in known else "size unknown",
            cells=own,
            access=known[model].access if model in known else None,
            params_b=known[model].params_b if model in known else None,
            source="" if source is None else source.name,
            date="" if source is None else source.date,
        )
        for model, own in cells.items()
    )


def _own_row(run: OwnGrids) -> BoardRow:
    cells: dict[str, BoardCell] = {}
    for grid in run.grids:
        side = f"{grid.rows}x{grid.columns}"
        for measure, one in (("perf", grid.perf), ("size", grid.size), ("region", grid.region)):
            if one is not None:
                low, high = (None if bound is None else 100 * bound for bound in (one.low, one.high))
                cells[f"{side} {measure}"] = BoardCell(100 * one.value, low, high, one.n_questions)
    return BoardRow(name=run.name, kind="own", group="own runs", cells=cells, source=run.source, date=run.date)


def _notes(published: PublishedResults, benchmark: str, own: Sequence[OwnGrids]) -> tuple[str, ...]:
    notes = ["Size: Perf less Perf at 1x1.", _REGION_NOTE]
    if benchmark == "whitebackground" and published.grids:
        source = published.sources[published.grids[0].source]
        notes.append(f"Source: {source.name}, {source.address}, {source.revision}, {source.date}. {source.note}")
        notes.append("Published Perf is cut to two decimals, not rounded.")
    notes += [
        f"{run.name}: Size of {grid.name} is against {grid.size.baseline}."
        for run in own
        for grid in run.grids
        if grid.size is not None and grid.size.baseline not in {one.name for one in run.grids}
    ]
    notes += [f"{run.name}: {grid.name}: {note}." for run in own for grid in run.grids for note in grid.notes]
    return tuple(notes)
