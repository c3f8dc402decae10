"""The scores of a run of one's own by dataset, category and overall, as a leaderboard shows them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eyechart.benchmarks._published import PublishedResults
from eyechart.errors import UsageError
from eyechart.runs.board import OVERALL, BoardCell, BoardRow
from eyechart.runs.cells import RunTable
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.averages import AverageTable, Group, Rule, estimate_average, weigh_datasets
from eyechart.stats.missing import ScoreBounds, bounds_from

_MOST_NAMES = 5
_WHOLE = "original"


class OwnRun(NamedTuple):
    """A run to put on a board: its name there, its answers, and the date of its making.

    ``scores`` are those of ``table.scores()``, where they are known already.
    """

    name: str
    table: RunTable
    date: str
    scores: tuple[Floats, Bools] | None = None


def check_run(run: OwnRun, published: PublishedResults, split: str) -> None:
    """Refuse a run that does not belong on the board of a split.

    Raises:
        UsageError: If it is of another benchmark or split, or its right answers are hidden.
    """
    made = run.table.run.benchmark
    own_split = made.options.get("split")
    if made.name != published.benchmark:
        raise UsageError(
            f"run {run.name} asked {made.name}, the board is of {published.benchmark}",
            hint="leave it out",
        )
    if own_split is not None and str(own_split) != split:
        raise UsageError(
            f"run {run.name} asked split {own_split}, the board is of {split}", hint=f"--split {own_split}"
        )
    if not any(question.answer is not None for question in run.table.questions):
        raise UsageError(
            f"run {run.name}: the right answers of split {own_split or split} are hidden, so it has no accuracy",
            hint="eyechart export evalai RUN writes the file that the benchmark's server scores",
        )


def has_whole_picture(table: RunTable) -> bool:
    """Whether a run asked about the whole picture, or under a single view that stands for it."""
    return _WHOLE in table.conditions or len(table.conditions) == 1


def whole_scores(run: OwnRun) -> tuple[Floats, Bools]:
    """Return (n_questions,) scores on the whole picture, and where there is one.

    Raises:
        UsageError: If the run has neither a view ``original`` nor a single other one.
    """
    table = run.table
    if not has_whole_picture(table):
        raise UsageError(
            f"run {table.run.id} has no view original among {', '.join(table.conditions[:_MOST_NAMES])}",
            hint="a leaderboard shows accuracy on the whole picture: run it with --views original",
        )
    column = table.conditions.index(_WHOLE) if _WHOLE in table.conditions else 0
    values, present = table.scores() if run.scores is None else run.scores
    return values[:, column], present[:, column]


def whole_bounds(run: OwnRun) -> ScoreBounds:
    """Return bounds of the (n_questions,) scores on the whole picture, whatever the missing answers are."""
    column = run.table.conditions.index(_WHOLE) if _WHOLE in run.table.conditions else 0
    if run.scores is not None:
        values, present = run.scores
        return bounds_from(values[:, column], present[:, column])
    return run.table.bounds().at((slice(None), column))


def own_row(run: OwnRun, published: PublishedResults, rule: Rule) -> tuple[BoardRow, tuple[str, ...]]:
    """Return the row of a run, and what must be said of it; what cannot be averaged by the rule is left out."""
    values, present = whole_scores(run)
    datasets = [question.source or "" for question in run.table.questions]
    labels = np.asarray(datasets)
    known = {one.name: Group(one.name, one.category, one.n) for one in published.datasets}
    counts = {name: int((present & (labels == name)).sum()) for name in known}
    scored = [group for name, group in known.items() if counts[name]]

    def cell(groups: Sequence[Group]) -> BoardCell:
        weights = weigh_datasets(groups, [counts[one.dataset] for one in groups], rule, published.weights)
        named = {one.dataset: float(weight) for one, weight in zip(groups, weights, strict=True)}
        return _cell(estimate_average(values, present, run.table.image_groups, datasets, named))

    cells = {
        category: cell([one for one in scored if one.category == category])
        for category in dict.fromkeys(one.category for one in scored)
    }
    if rule == "micro" and present.any():
        alike = ["" for _ in datasets]
        cells[OVERALL] = _cell(estimate_average(values, present, run.table.image_groups, alike, {"": 1.0}))
    elif scored:
        cells[OVERALL] = cell(scored)
    row = BoardRow(
        name=run.name,
        kind="own",
        group="own runs",
        cells=cells,
        is_partial=rule != "micro" and len(scored) < len(known),
        source=f"run {run.table.run.id}",
        date=run.date,
    )
    lacking = [name for name in known if not counts[name]]
    return row, _notes(run, set(datasets) - set(known), lacking, present, has_rank=not row.is_partial)


def _cell(numbers: AverageTable) -> BoardCell:
    if not numbers.has_interval:
        return BoardCell(100 * numbers.value, n_questions=numbers.n_questions)
    return BoardCell(100 * numbers.value, 100 * numbers.low, 100 * numbers.high, numbers.n_questions)


def _notes(
    run: OwnRun, unknown: set[str], lacking: Sequence[str], present: Bools, *, has_rank: bool
) -> tuple[str, ...]:
    """Say which datasets and answers a row does not hold."""
    sources = {question.source for question in run.table.questions}
    notes = []
    if sources <= unknown | {None}:
        notes.append("no category score, because its questions name no known dataset: give a map from id to dataset")
    else:
        if unknown:
            named = ", ".join(sorted(unknown - {""})) or "none is named"
            notes.append(f"questions of no known dataset are left out ({named})")
        if lacking:
            more = " and more" if len(lacking) > _MOST_NAMES else ""
            listed = ", ".join(lacking[:_MOST_NAMES])
            effect = "no score" if has_rank else "no score and no weight, so it has no rank"
            notes.append(f"{len(lacking)} datasets have {effect} ({listed}{more})")
    n_missing = int((~present).sum())
    if n_missing:
        notes.append(f"{n_missing} of {len(present)} answers are missing and left out")
    return tuple(f"{run.name}: {note}." for note in notes)
