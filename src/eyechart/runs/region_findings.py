"""What needle grids add to the contrasts, rules and sentences of a run: one claim per grid, not one per region."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from eyechart.runs.findings import CANNOT_TELL
from eyechart.runs.grid_rows import region_ids
from eyechart.schema import Contrast, Estimate, Finding, GridSummary
from eyechart.stats.corrections import adjust
from eyechart.stats.findings import Finding as Rule

REGION_GAP = "REGION_GAP"
_LEVEL = 0.05


def size_contrasts(grids: Iterable[GridSummary]) -> tuple[Contrast, ...]:
    """Return the contrasts with 1×1, p adjusted by Holm over the sizes."""
    sizes = [grid.size for grid in grids if grid.size is not None]
    tested = [one for one in sizes if one.p is not None]
    adjusted = iter(adjust(np.array([one.p for one in tested], dtype=np.float64), "holm").tolist())
    family = f"{len(tested)} grid size{'' if len(tested) == 1 else 's'}"
    return tuple(
        one
        if one.p is None
        else msgspec.structs.replace(one, p_adjusted=next(adjusted), correction="holm", family=family)
        for one in sizes
    )


def widen_rules(rules: Iterable[Rule], grids: Sequence[GridSummary]) -> tuple[Rule, ...]:
    """Return the rules, those about a region concerning its grid too."""
    grid_of = {name: grid.name for grid in grids for name in region_ids(grid)}
    return tuple(
        msgspec.structs.replace(
            rule,
            conditions=(
                *rule.conditions,
                *dict.fromkeys(grid_of[name] for name in rule.conditions if name in grid_of),
            ),
        )
        for rule in rules
    )


def find_regions(grids: Sequence[GridSummary]) -> tuple[Finding, ...]:
    """Return one sentence per grid: whether a region is preferred, beside what chance alone would show.

    A preference is claimed only where the permutation p of the map gap, corrected by Holm over the grids, lies below
    0.05, on at least 30 base samples about 10 pictures of equal weight.
    """
    tested = [grid for grid in grids if grid.map_gap_p is not None]
    p = adjust(np.array([grid.map_gap_p for grid in tested], dtype=np.float64), "holm").tolist()
    return tuple(
        _finding(grid, grid.region_map_gap, float(own))
        for grid, own in zip(tested, p, strict=True)
        if grid.region_map_gap is not None
    )


def _finding(grid: GridSummary, map_gap: Estimate, p: float) -> Finding:
    gap = map_gap.value
    numbers = (
        f"the best region lies {100 * gap:.1f} points above the mean of all {len(grid.cells)}, "
        f"{100 * (grid.noise_floor or 0.0):.1f} are expected without any positional effect, "
        f"permutation p {_p(p)}, n = {grid.n_bases} base samples"
    )
    if map_gap.warnings:
        return Finding(CANNOT_TELL, f"{grid.name}: too few base samples to compare regions: {numbers}.")
    if p >= _LEVEL:
        return Finding(CANNOT_TELL, f"{grid.name}: the regions cannot be told apart: {numbers}.")
    scored = [cell for cell in grid.cells if cell.estimate is not None]
    best = max(scored, key=lambda cell: cell.estimate.value if cell.estimate is not None else 0.0)
    gain = 0.0 if grid.cross_fitted_gap is None else 100 * grid.cross_fitted_gap.value
    return Finding(
        REGION_GAP,
        f"{grid.name}: the score depends on the region, best at row {best.row}, column {best.column}: {numbers}; "
        f"chosen on other base samples the best region gains {gain:.1f} points.",
    )


def _p(p: float) -> str:
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"  # noqa: PLR2004 -- the smallest p of 999 shuffles
