"""The base samples alone (1×1) of another run, for the Size of grids whose own run did not ask them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.runs.grid_scores import GridScores, find_grids, take_scores
from eyechart.schema import Run, View
from eyechart.stats.arrays import Bools, Floats

Alone = Mapping[str, tuple[str, GridScores]]
"""Style → name and scores of the base samples alone."""


class JudgedGrids(NamedTuple):
    """A run under one scorer: its table, (n_questions, n_conditions) scores and where there is one, and its views."""

    table: RunTable
    values: Floats
    present: Bools
    views: Mapping[str, View]
    scorer_id: str


def own_alone(judged: JudgedGrids) -> dict[str, tuple[str, GridScores]]:
    """Return the base samples that a run asked alone, by style."""
    return {
        layout.view.style: (layout.name, take_scores(layout, judged.table, judged.values, judged.present))
        for layout in find_grids(judged.table.conditions, judged.views)
        if layout.is_alone and not layout.view.distractor_seed
    }


def borrow_alone(judged: JudgedGrids, others: Sequence[JudgedGrids]) -> dict[str, tuple[str, GridScores]]:
    """Return what other runs asked alone, in the order of this run's base samples; the first run that fits is taken.

    A run fits if all but its grids is the same: needles, model, prompt, sampling, pixels, transport and scorer.
    """
    found: dict[str, tuple[str, GridScores]] = {}
    for other in others:
        if other.scorer_id == judged.scorer_id and is_same_but_for_grids(judged.table.run, other.table.run):
            for style, (name, scored) in own_alone(other).items():
                found.setdefault(style, (f"{name} of run {other.table.run.id}", _aligned(judged, other, scored)))
    return found


def is_same_but_for_grids(run: Run, other: Run) -> bool:
    """Whether two runs asked one model about the same needles in the same way."""
    return _setting(run) == _setting(other)


def _setting(run: Run) -> tuple[object, ...]:
    return (
        (run.benchmark.name, run.benchmark.revision, run.model, run.sampling, run.prompt_id),
        (run.decode, run.resampler, run.transport, run.n_repeats),
    )


def _aligned(judged: JudgedGrids, other: JudgedGrids, scored: GridScores) -> GridScores:
    """Return the scores in the order of this run's base samples; those that the other run lacks are incomplete."""
    row_of = {question.id: row for row, question in enumerate(other.table.questions)}
    rows = [row_of.get(question.id) for question in judged.table.questions]
    has = np.array([row is not None for row in rows], dtype=np.bool_)
    taken = np.array([0 if row is None else row for row in rows], dtype=np.intp)
    return GridScores(
        np.where(has[:, None], scored.values[taken], 0.0),
        np.asarray(scored.present[taken] & has[:, None], dtype=np.bool_),
        np.asarray(scored.is_complete[taken] & has, dtype=np.bool_),
        judged.table.image_groups,
    )
