"""Summaries of needle grids and categories that never happened, for tests of figures and reports."""

import msgspec
from summaries import make_run, make_summary

from eyechart.runs.claiming import settle
from eyechart.runs.grid_rows import region_id
from eyechart.runs.region_findings import find_regions
from eyechart.schema import (
    ConditionSummary,
    Contrast,
    DistancePoint,
    Estimate,
    GridEffect,
    GridSummary,
    PictureGroup,
    RegionCell,
    Size,
    Summary,
)


def estimate(name, condition, value, n=40):
    return Estimate(
        name=name,
        condition=condition,
        value=value,
        low=max(0.0, value - 0.1),
        high=min(1.0, value + 0.1),
        n_questions=n,
        n_clusters=n,
        method="Wilson",
    )


def make_grid(size, name=None):
    name = name or f"grid_white_{size}x{size}"
    cells = tuple(
        RegionCell(row, column, 40, estimate("score", f"r{row}", 0.5 + row / 30), 0.01, 0.05, row > 1)
        for row in range(size)
        for column in range(size)
    )
    if size == 1:
        return GridSummary(name, "white", 1, 1, 40, 40, 0, cells, perf=estimate("perf", name, 0.9))
    return GridSummary(
        name,
        "white",
        size,
        size,
        n_asked=41,
        n_bases=40,
        n_dropped=1,
        cells=cells,
        perf=estimate("perf", name, 0.62),
        size=Contrast(
            name="size", condition=name, baseline="grid_white_1x1", value=-0.28, low=-0.4, high=-0.1, n_questions=40,
            n_clusters=40, gained=2, lost=30, method="Bonett", p=0.001, p_method="exact",
        ),
        region=estimate("region", name, 0.31),
        region_std=estimate("region_std", name, 0.22),
        region_map_gap=estimate("region_map_gap", name, 0.08),
        noise_floor=0.07,
        map_gap_p=0.43,
        cross_fitted_gap=msgspec.structs.replace(estimate("cross-fitted gap", name, 0.0), value=-0.01, low=-0.05),
        position_sd=estimate("position SD", name, 0.02),
        omnibus="Friedman's test",
        omnibus_df=size * size - 1,
        omnibus_p=0.2,
        curve=(DistancePoint(0, 1, estimate("score by distance", "d0", 0.7), 0.5, 0.8),),
        effects=(GridEffect("border − interior", -0.0123, -0.03, 0.01, 0.21, "points", 40),),
        p_u=0.9,
        notes=("1 of 41 base samples lack a score in at least one region (1 scores in all) and are left out: b7",),
    )  # fmt: skip


def grid_summary(*sizes) -> Summary:
    """A summary of a run that asked grids only."""
    grids = tuple(make_grid(size) for size in sizes)
    cells = [(grid, cell) for grid in grids for cell in grid.cells]
    views = [region_id(grid, cell) for grid, cell in cells]
    conditions = tuple(
        ConditionSummary(
            view, view, "grid", n_asked=41, n_answered=41, n_scored=40, n_missing=1, median_sent_size=Size(448, 448),
            reasons={"empty": 1},
        )
        for view in views
    )  # fmt: skip
    contrasts = tuple(grid.size for grid in grids if grid.size is not None)
    summary = msgspec.structs.replace(
        make_summary(),
        run=make_run(views),
        conditions=conditions,
        estimates=tuple(msgspec.structs.replace(cell.estimate, name="accuracy") for _, cell in cells),
        contrasts=contrasts,
        effects=(),
        decompositions=(),
        size_bands=(),
        chance=None,
        failures=(),
        warnings=(),
        grids=grids,
    )
    settled = settle(summary, "exploratory")
    return msgspec.structs.replace(settled, findings=find_regions(settled.grids))


def category_summary() -> Summary:
    """A summary with accuracies of eight categories, and pictures of ten datasets in them."""
    names = ("daily", "urban", "paper", "art", "remote", "sub-img", "medical", "research")
    breakdowns = tuple(
        msgspec.structs.replace(
            estimate("accuracy", "original", 0.3 + 0.06 * index, n=30 + index), subset=f"task: {name}", chance=0.2
        )
        for index, name in enumerate(names)
    )
    pictures = tuple(
        PictureGroup(f"{name.title()}_set", name, 30, 30 - index, (1e6, 2e6, 4e6 * (index + 1), 5e7, 6e7), 9e6)
        for index, name in enumerate(names)
    )
    more = (
        PictureGroup("PANDA", "urban", 300, 300, (3.4e8, 3.8e8, 4.4e8, 6e8, 9.45e8), 4.4e8),
        PictureGroup("HRVQA", "remote", 273, 273, (1048576.0,) * 5, 1048576.0),
    )
    return msgspec.structs.replace(make_summary(), breakdowns=breakdowns, pictures=(*pictures, *more))
