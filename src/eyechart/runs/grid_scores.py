"""Which conditions of a run make up a needle grid, and the scores of its base samples in every region."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.schema import Grid, View
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.clusters import Clusters, find_clusters

FEWEST_BASES = 2
_MOST_NAMES = 5


class Layout(NamedTuple):
    """One grid of a run: its look, and the column of every region that was asked, in reading order."""

    view: Grid
    columns: tuple[int | None, ...]

    @property
    def name(self) -> str:
        """The ids of its views without the region."""
        seed = f"_s{self.view.distractor_seed}" if self.view.distractor_seed else ""
        return f"grid_{self.view.style}_{self.view.rows}x{self.view.columns}{seed}"

    @property
    def is_alone(self) -> bool:
        """Whether the needle fills the whole picture (1×1)."""
        return len(self.columns) == 1


class GridScores(NamedTuple):
    """The scores of one grid: all of them, and the complete base samples."""

    values: Floats
    present: Bools
    is_complete: Bools
    groups: Sequence[str]

    @property
    def rows(self) -> Floats:
        """(n_complete, n_regions) scores of the complete base samples."""
        return self.values[self.is_complete]

    @property
    def clusters(self) -> Clusters:
        """The complete base samples grouped by picture."""
        return find_clusters([group for group, is_used in zip(self.groups, self.is_complete, strict=True) if is_used])


def find_grids(conditions: Sequence[str], views: Mapping[str, View]) -> tuple[Layout, ...]:
    """Return the grids that the conditions make up, smallest first; a region that was not asked has no column."""
    found: dict[tuple[str, int, int, int], dict[int, int]] = {}
    for column, name in enumerate(conditions):
        view = views.get(name)
        if isinstance(view, Grid):
            key = (view.style, view.rows, view.columns, view.distractor_seed)
            found.setdefault(key, {})[view.row * view.columns + view.column] = column
    ordered = sorted(found, key=lambda key: (key[0], key[1] * key[2], key[3]))
    return tuple(
        Layout(
            Grid(style="white" if style == "white" else "captioned", rows=rows, columns=columns, row=0, column=0,
                 distractor_seed=seed),
            tuple(found[style, rows, columns, seed].get(cell) for cell in range(rows * columns)),
        )
        for style, rows, columns, seed in ordered
    )  # fmt: skip


def take_scores(layout: Layout, table: RunTable, values: Floats, present: Bools) -> GridScores:
    """Return the scores of one grid, regions in reading order.

    Args:
        layout: The grid.
        table: The run.
        values: (n_questions, n_conditions) scores in [0, 1].
        present: Same shape, True where there is a score.
    """
    shape = (len(table.questions), len(layout.columns))
    own, mask = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    for cell, column in enumerate(layout.columns):
        if column is not None:
            own[:, cell], mask[:, cell] = np.where(present[:, column], values[:, column], 0.0), present[:, column]
    return GridScores(own, mask, np.asarray(mask.all(axis=1), dtype=np.bool_), table.image_groups)


def grid_notes(layout: Layout, scored: GridScores, table: RunTable) -> tuple[str, ...]:
    """Say which base samples are left out, and why nothing is estimated where nothing is."""
    notes = []
    n_asked, n_bases = len(scored.values), int(scored.is_complete.sum())
    missing = [index for index, column in enumerate(layout.columns) if column is None]
    if missing:
        places = ", ".join(f"r{cell // layout.view.columns}_c{cell % layout.view.columns}" for cell in missing[:5])
        notes.append(f"{len(missing)} of {len(layout.columns)} regions were not asked: {places}")
    if n_bases < n_asked:
        names = [table.questions[row].id for row in np.flatnonzero(~scored.is_complete)]
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        gaps = int((~scored.present[~scored.is_complete]).sum())
        notes.append(
            f"{len(names)} of {n_asked} base samples lack a score in at least one region ({gaps} scores in all) and "
            f"are left out: {', '.join(names[:_MOST_NAMES])}{more}"
        )
    if n_bases < FEWEST_BASES:
        complete = "no base sample is" if n_bases == 0 else "1 base sample is"
        notes.append(f"{complete} complete, so regions are not compared; each shows what it scored, with its n")
    return tuple(notes)
