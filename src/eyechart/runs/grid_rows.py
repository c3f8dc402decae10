"""One row per needle grid in place of one per region, for tables and figures of all views."""

import msgspec

from eyechart.schema import ConditionSummary, GridSummary, RegionCell, Summary


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
