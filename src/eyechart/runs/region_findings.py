"""What needle grids add to the sentences and tables of a run: one row and one claim per grid, not one per region."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from eyechart.runs.findings import CANNOT_TELL
from eyechart.schema import ConditionSummary, Contrast, Estimate, Finding, GridSummary, RegionCell, Summary
from eyechart.stats.corrections import adjust
from eyechart.stats.findings import Finding as Rule

REGION_GAP = "REGION_GAP"
_LEVEL = 0.05


def region_ids(grid: GridSummary) -> tuple[str, ...]:
    """Return the conditions of a grid's regions, in reading order."""
    return tuple(region_id(grid, cell) for cell in grid.cells)


def region_id(grid: GridSummary, cell: RegionCell) -> str:
    """Return the condition of one region.

    Example:
        >>> grid = GridSummary("grid_white_2x2_s7", "white", 2, 2, 0, 0, 0, (RegionCell(1, 0, 0),))
        >>> region_id(grid, grid.cells[0])
        'grid_white_2x2_r1_c0_s7'
    """
    stem, separator, seed = grid.name.partition("_s")
    return f"{stem}_r{cell.row}_c{cell.column}{separator}{seed}"


def size_contrasts(grids: Iterable[GridSummary]) -> tuple[Contrast, ...]:
    """Return the contrasts with 1×1, p adjusted by Holm over the sizes."""
    sizes = [grid.size for grid in grids if grid.size is not None]
    tested = [one for one in sizes if one.p is not None]
    adjusted = iter(adjust(np.array([one.p for one in tested], dtype=np.float64), "holm").tolist())
    family = f"holm over {len(tested)} grid size{'' if len(tested) == 1 else 's'}"
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
    0.05, on at least 30 base samples about 20 pictures.
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
    gain = 100 * (grid.cross_fitted_gap or 0.0)
    return Finding(
        REGION_GAP,
        f"{grid.name}: the score depends on the region, best at row {best.row}, column {best.column}: {numbers}; "
        f"chosen on other base samples the best region gains {gain:.1f} points.",
    )


def _p(p: float) -> str:
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"  # noqa: PLR2004 -- the smallest p of 999 shuffles


def collapse_grids(summary: Summary) -> Summary:
    """Return the summary with one condition per grid in place of one per region; the grids keep all regions.

    The accuracy of a grid is its Perf, its difference the contrast with 1×1.
    """
    known = {condition.condition: condition for condition in summary.conditions}
    grid_of = {name: grid for grid in summary.grids for name in region_ids(grid) if name in known}
    if not grid_of:
        return summary
    conditions: dict[str, ConditionSummary] = {}
    for condition in summary.conditions:
        grid = grid_of.get(condition.condition)
        name = condition.condition if grid is None else grid.name
        if name not in conditions:
            conditions[name] = msgspec.structs.replace(condition, condition=name)
        else:
            conditions[name] = _added(conditions[name], condition)
    perfs = tuple(
        msgspec.structs.replace(grid.perf, name="accuracy") for grid in summary.grids if grid.perf is not None
    )
    return msgspec.structs.replace(
        summary,
        conditions=tuple(conditions.values()),
        estimates=(*(one for one in summary.estimates if one.condition not in grid_of), *perfs),
    )


def _added(first: ConditionSummary, second: ConditionSummary) -> ConditionSummary:
    """Return the counts of two regions together; sizes are the same in all regions of a grid."""
    return msgspec.structs.replace(
        first,
        n_asked=first.n_asked + second.n_asked,
        n_answered=first.n_answered + second.n_answered,
        n_scored=first.n_scored + second.n_scored,
        n_missing=first.n_missing + second.n_missing,
        n_correct=first.n_correct + second.n_correct,
        accuracy_sum=None,
        states=_summed(first.states, second.states),
        reasons=_summed(first.reasons, second.reasons),
    )


def _summed(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in (*first, *(set(second) - set(first)))}
