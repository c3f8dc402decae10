"""What needle grids add to the contrasts, rules and sentences of a run: one claim per grid, not one per region."""

from collections.abc import Iterable, Sequence

import msgspec

from eyechart.runs.findings import CANNOT_TELL, CONDITIONAL
from eyechart.runs.grid_rows import region_ids
from eyechart.schema import Estimate, Finding, GridSummary
from eyechart.stats.findings import Finding as Rule

REGION_GAP = "REGION_GAP"


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

    A preference is claimed only where the permutation p of the map gap, corrected within the headline family of the
    report, lies below 0.05, on at least 30 base samples about 10 pictures of equal weight, none left out.
    """
    return tuple(
        _finding(grid, grid.region_map_gap, grid.map_gap_p_adjusted)
        for grid in grids
        if grid.region_map_gap is not None and grid.map_gap_p_adjusted is not None and grid.standing != "interim"
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
    scored = [cell for cell in grid.cells if cell.estimate is not None]
    best = max(scored, key=lambda cell: cell.estimate.value if cell.estimate is not None else 0.0)
    claim = f"the score depends on the region, best at row {best.row}, column {best.column}"
    if grid.standing == "conditional":
        left_out = f"{grid.n_dropped} base samples with missing answers are left out"
        return Finding(CONDITIONAL, f"{grid.name}: if the missing answers are like the others, {claim}: {numbers}; "
                       f"{left_out}.")  # fmt: skip
    if not grid.claimed:
        return Finding(CANNOT_TELL, f"{grid.name}: the regions cannot be told apart: {numbers}.")
    gain = 0.0 if grid.cross_fitted_gap is None else 100 * grid.cross_fitted_gap.value
    return Finding(
        REGION_GAP,
        f"{grid.name}: {claim}: {numbers}; chosen on other base samples the best region gains {gain:.1f} points.",
    )


def _p(p: float) -> str:
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"  # noqa: PLR2004 -- the smallest p of 999 shuffles
