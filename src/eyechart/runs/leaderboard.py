"""Published results and own runs on one board: one averaging rule, ranks as the data allow, groups by model size."""

from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np

from eyechart.benchmarks._published import PublishedResults, PublishedRow
from eyechart.errors import UsageError
from eyechart.runs.board import (
    CATEGORY_ORDER,
    OVERALL,
    Board,
    BoardCell,
    BoardColumn,
    BoardRow,
    heading_of,
    size_group,
)
from eyechart.runs.compare import ANSWERED_TO_PLACE, MAX_T, adjust_pairs, places_of
from eyechart.runs.own_rows import OwnRun, check_run, own_row, whole_bounds, whole_scores
from eyechart.stats.averages import LABELS, Rule, average_categories
from eyechart.stats.claims import decide_all
from eyechart.stats.conditions import ScoreTable, contrasts_between
from eyechart.stats.missing import ScoreBounds
from eyechart.stats.rank import rank_models

_TWO = 2


def build_board(
    published: PublishedResults, split: str, rule: Rule = "size_weighted", own: Sequence[OwnRun] = ()
) -> Board:
    """Return the board of one split.

    Args:
        published: What was published about the benchmark.
        split: Split of the board; every own run must have been made on it.
        rule: How categories and the overall score are averaged.
        own: Runs to show beside the published rows.

    Raises:
        UsageError: If nothing is published of the split and no run is given, or a run is of another benchmark or split,
            or its answers are hidden.
    """
    if split not in published.boards and not own:
        raise UsageError(
            f"nothing is published about split {split!r} of {published.benchmark}",
            hint=f"--split {' or '.join(published.boards)}, or name runs of your own",
        )
    for run in own:
        check_run(run, published, split)
    rows = [_published_row(row, published, rule) for row in published.boards.get(split, ())]
    mean = _mean_row(rows)
    made = [own_row(run, published, rule) for run in own]
    placed, place_note = with_places([row for row, _ in made], own)
    ranked = rank_rows([*rows, *placed])
    references = [_reference_row(row, published, rule) for row in published.references] if rows else []
    return Board(
        title=f"{published.benchmark}, split {split}",
        benchmark=published.benchmark,
        split=split,
        rule=rule,
        rule_text=LABELS[rule],
        columns=tuple(BoardColumn(key, heading_of(key)) for key in (OVERALL, *_categories(published))),
        rows=(*ranked, *([mean] if mean is not None else []), *references),
        notes=(
            *_board_notes(published, split, rule),
            *(place_note,) * bool(place_note),
            *(note for _, own_notes in made for note in own_notes),
        ),
    )


def _categories(published: PublishedResults) -> tuple[str, ...]:
    known = [name for name in CATEGORY_ORDER if name in published.weights]
    return (*known, *(name for name in published.weights if name not in known))


def _published_row(row: PublishedRow, published: PublishedResults, rule: Rule) -> BoardRow:
    """Return a published model; its overall score is the published one under the rule that it was made with."""
    cells = {name: BoardCell(score) for name, score in row.scores.items()}
    if rule == "size_weighted":
        cells[OVERALL] = BoardCell(row.all)
    elif rule == "macro_category":
        cells[OVERALL] = BoardCell(average_categories(row.scores, rule, published.weights))
    source = published.sources[row.source]
    return BoardRow(
        name=row.model,
        kind="published",
        group=size_group(row.access, row.params_b),
        cells=cells,
        access=row.access,
        params_b=row.params_b,
        source=source.name,
        date=source.date,
        note=row.note,
    )


def _reference_row(row: PublishedRow, published: PublishedResults, rule: Rule) -> BoardRow:
    """Return people or guessing, averaged by the rule of the board and not as published."""
    cells = {name: BoardCell(score) for name, score in row.scores.items()}
    if rule in {"size_weighted", "macro_category"}:
        cells[OVERALL] = BoardCell(average_categories(row.scores, rule, published.weights))
    source = published.sources[row.source]
    return BoardRow(
        name=row.model, kind="reference", group="references", cells=cells, source=source.name, date=source.date,
        note=row.note,
    )  # fmt: skip


def _mean_row(rows: Sequence[BoardRow]) -> BoardRow | None:
    """Return the mean of the published models, None without any."""
    if not rows:
        return None
    keys = [key for key in rows[0].cells if all(key in row.cells for row in rows)]
    cells = {key: BoardCell(sum(row.cells[key].percent for row in rows) / len(rows)) for key in keys}
    return BoardRow(name=f"mean of the {len(rows)} published models", kind="mean", group="references", cells=cells)


def rank_rows(rows: Sequence[BoardRow], key: str = OVERALL) -> tuple[BoardRow, ...]:
    """Return rows from the best score of a column down, equal scores sharing a rank; rows without rank come last.

    Args:
        rows: Models; a row without the column, or a partial one, gets no rank.
        key: The column.
    """

    def has_rank(row: BoardRow) -> bool:
        return key in row.cells and not row.is_partial

    def score(row: BoardRow) -> float:
        return round(row.cells[key].percent, 9) if key in row.cells else -1.0

    ordered = sorted(rows, key=lambda row: (not has_rank(row), -score(row), row.name))
    scores = [score(row) for row in ordered if has_rank(row)]
    return tuple(
        msgspec.structs.replace(row, rank=1 + scores.index(score(row))) if has_rank(row) else row for row in ordered
    )


def with_places(rows: Sequence[BoardRow], own: Sequence[OwnRun]) -> tuple[tuple[BoardRow, ...], str]:
    """Return own rows with the places that their answers allow, and a note; on questions that all placed runs answered.

    Runs that lack more than a tenth of the answers are not placed: they would leave little to compare the others on.
    """
    scored = [whole_scores(run) for run in own]
    placed = [index for index, (_, present) in enumerate(scored) if present.mean() >= ANSWERED_TO_PLACE]
    if len(placed) < _TWO:
        return tuple(rows), ""
    at = {index: {question.id: row for row, question in enumerate(own[index].table.questions)} for index in placed}
    first = placed[0]
    ids = [name for name in at[first] if all(name in at[index] for index in placed)]
    shape = (len(ids), len(placed))
    places = [[at[index][name] for index in placed] for name in ids]
    values = np.array([[scored[k][0][row] for k, row in zip(placed, own_rows, strict=True)] for own_rows in places])
    present = np.array([[scored[k][1][row] for k, row in zip(placed, own_rows, strict=True)] for own_rows in places])
    values, present = values.reshape(shape), present.reshape(shape).astype(np.bool_)
    groups = [own[first].table.questions[at[first][name]].image_group for name in ids]
    if len({group for group, answered in zip(groups, present, strict=True) if answered.all()}) < _TWO:
        return tuple(rows), "The own runs share too few answered questions to place them."
    names = [str(index) for index in placed]
    rows_of = zip(placed, zip(*places, strict=True), strict=True)
    bounds = [whole_bounds(own[index]).at(np.array(own_rows)) for index, own_rows in rows_of]
    filled = ScoreBounds(
        lowest=np.stack([one.lowest for one in bounds], axis=1),
        highest=np.stack([one.highest for one in bounds], axis=1),
        asked=np.stack([one.asked for one in bounds], axis=1),
    )
    complete = np.repeat(present.all(axis=1, keepdims=True), len(placed), axis=1)
    table = ScoreTable(values, complete, groups, tuple(names), filled=filled)
    sets = rank_models(values, complete, table.clusters)
    pairs = contrasts_between(table, list(combinations(names, 2)))
    is_finished = all(own[index].table.is_finished for index in placed)
    decided = decide_all(adjust_pairs(pairs, names, sets, MAX_T), "exploratory" if is_finished else "interim")
    if not any(one.claimed for one in decided):
        why = "no two of them can be told apart" if is_finished else "not all of them are finished"
        return tuple(rows), f"The own runs have no places: {why}."
    allowed = places_of(names, decided)
    found = list(rows)
    for name, index in zip(names, placed, strict=True):
        best, worst = allowed[name]
        found[index] = msgspec.structs.replace(rows[index], best=best, worst=worst)
    return tuple(found), (
        f"Place: where the answers allow each own run to stand among {len(placed)} own runs, all together with 95 % "
        f"confidence, by plain accuracy on the {sets.n_questions} questions that all of them answered."
    )


def _board_notes(published: PublishedResults, split: str, rule: Rule) -> tuple[str, ...]:
    """Say how the board is averaged, what a rank is worth, and where the published rows come from."""
    notes = [f"Averaging rule {rule}: {LABELS[rule]}."]
    rows = published.boards.get(split, ())
    if not rows:
        return (*notes, f"Nothing is published about split {split}.")
    if rule in {"micro", "macro_dataset"}:
        notes.append(f"Published rows have no overall score by {rule}: their datasets were not published.")
    if rule == "macro_category":
        notes.append("The overall score of published rows is computed from their published categories.")
    notes.append("Rank: by the point alone; published rows have no item data, so no interval and no place.")
    n = published.splits.get(split)
    keys = dict.fromkeys((*(row.source for row in rows), *(row.source for row in published.references)))
    named = [published.sources[key] for key in keys]
    notes += [f"Source: {one.name}, {one.address}, {one.revision}, {one.date}. {one.note}".strip() for one in named]
    notes += [f"{row.model}: {row.note}" for row in published.references if row.note]
    return (*notes, *((f"The split has {n} questions.",) if n else ()))
