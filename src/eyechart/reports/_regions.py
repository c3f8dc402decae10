"""The tables of needle grids: measures, regions, distances and shape, as words and digits."""

from collections.abc import Callable, Sequence

from eyechart.figures import (
    MISSING,
    format_contrast,
    format_count,
    format_estimate,
    format_level,
    format_p,
    format_percent,
)
from eyechart.reports._table import SIGNIFICANT, Column, Row, Table
from eyechart.schema import GridEffect, GridSummary, RegionCell, Summary

_Cell = Callable[[GridSummary], str]
_CURVATURE_NOTE = (
    "Curvature is positive for a decline that levels off, too, and a border effect looks like a U; read the border "
    "contrast beside it."
)
_MEASURE_NOTES = (
    "Perf: mean score over all regions. Size: Perf less that of the same base samples alone (1×1), points.",
    "Region: best region less mean of the regions, per base sample, then averaged.",
    "Region is unchanged if the regions of every base sample are shuffled: it does not say which region is better.",
    "Region grows with the number of regions; the version for 9 regions is comparable between grids.",
    "Region, std: standard deviation over regions per base sample, averaged.",
    "Region, map gap: best region of the heat map less its mean: a maximum, biased upward.",
    "Without positional effect: the map gap of a model that prefers no region; p shuffles regions in base samples.",
    "Cross-fitted: what the best region gains on base samples that did not choose it.",
    "Position SD: spread of the regions beyond noise, comparable between grids.",
)


def measure_table(grids: Sequence[GridSummary]) -> Table:
    """Return one row per measure and one column per grid: level, size, the readings of Region with their noise."""
    columns = (
        Column("measure", "measure", is_number=False),
        *(Column(f"g{index}", grid.name) for index, grid in enumerate(grids)),
    )
    rows = tuple(
        Row(name, "", (name, *(cell(grid) for grid in grids)))
        for name, cell in _measures()
        if any(cell(grid) != MISSING for grid in grids)
    )
    notes = (*_MEASURE_NOTES, *(f"{grid.name}: {note}." for grid in grids for note in grid.notes))
    return Table("Needle grids; brackets are 95 % intervals.", columns, rows if grids else (), notes)


def _measures() -> tuple[tuple[str, _Cell], ...]:
    return (
        ("base samples", lambda grid: format_count(grid.n_bases)),
        ("left out", lambda grid: format_count(grid.n_dropped)),
        ("Perf, %", lambda grid: MISSING if grid.perf is None else format_estimate(grid.perf)),
        (
            "Perf above chance, %",
            lambda grid: MISSING if grid.perf_corrected is None else format_estimate(grid.perf_corrected),
        ),
        ("Size, points", lambda grid: format_contrast(grid.size)),
        ("Size, p", lambda grid: format_p(None if grid.size is None else grid.size.p)),
        ("Region, points", lambda grid: MISSING if grid.region is None else format_estimate(grid.region)),
        (
            "Region for 9 regions, points",
            lambda grid: MISSING if grid.region_rarefied is None else format_estimate(grid.region_rarefied),
        ),
        ("Region, std, points", lambda grid: MISSING if grid.region_std is None else format_estimate(grid.region_std)),
        (
            "Region, map gap, points",
            lambda grid: MISSING if grid.region_map_gap is None else format_estimate(grid.region_map_gap),
        ),
        ("… without positional effect", lambda grid: _percent(grid.noise_floor)),
        ("… permutation p", lambda grid: format_p(grid.map_gap_p)),
        ("… cross-fitted, points", _cross_fitted),
        (
            "Position SD, points",
            lambda grid: MISSING if grid.position_sd is None else format_estimate(grid.position_sd),
        ),
        ("All regions alike, p", _omnibus),
        ("U over distance, p", lambda grid: format_p(grid.p_u)),
    )


def _percent(share: float | None) -> str:
    return MISSING if share is None else format_percent(share).replace("-", "−")


def _cross_fitted(grid: GridSummary) -> str:
    if grid.cross_fitted_gap is None:
        return MISSING
    return format_estimate(grid.cross_fitted_gap).replace("-", "−")


def _omnibus(grid: GridSummary) -> str:
    if grid.omnibus is None:
        return MISSING
    return f"{format_p(grid.omnibus_p)} ({grid.omnibus}, {grid.omnibus_df} df)"


def region_table(grid: GridSummary) -> Table:
    """Return the heat map of a grid as text: rows and columns as they lie, each region with interval, n if they differ.

    A star marks regions outside the family-wise band around the mean, where a dependence on the region is claimed.
    """
    columns = (
        Column("row", "row", is_number=False),
        *(Column(f"c{column}", f"column {column}") for column in range(grid.columns)),
    )
    counts = {cell.estimate.n_questions for cell in grid.cells if cell.estimate is not None}
    place = {(cell.row, cell.column): cell for cell in grid.cells}
    rows = tuple(
        Row(
            f"row {row}",
            "",
            (
                f"row {row}",
                *(
                    _region(place[row, column], has_n=len(counts) != 1, is_claimed=grid.claimed)
                    for column in range(grid.columns)
                ),
            ),
        )
        for row in range(grid.rows)
    )
    n = f"n = {format_count(counts.copy().pop())} base samples in every region" if len(counts) == 1 else "n differs"
    notes = (
        "Rows and columns count from 0, from the top left.",
        f"{SIGNIFICANT} differs from the mean of the regions, by a band that holds for all regions together.",
        "It stands only where a dependence on the region is claimed.",
    )
    return Table(f"Score in percent by region, {n}.", columns, rows, notes)


def _region(cell: RegionCell, *, has_n: bool, is_claimed: bool) -> str:
    if cell.estimate is None:
        return "not scored"
    n = f" n={format_count(cell.estimate.n_questions)}" if has_n else ""
    return f"{format_estimate(cell.estimate)}{n}{f' {SIGNIFICANT}' if cell.is_apart and is_claimed else ''}"


def distance_table(grid: GridSummary) -> Table:
    """Return the Manhattan curve: score by distance from the top left, n, and the band of no positional effect."""
    columns = tuple(
        Column(key, heading, is_number=key != "distance")
        for key, heading in (
            ("distance", "distance"),
            ("regions", "regions"),
            ("n", "scores"),
            ("score", f"score, % [{format_level(0.95)}]"),
            ("null", "without positional effect, %"),
        )
    )
    rows = tuple(
        Row(
            str(point.distance),
            "",
            (
                str(point.distance),
                str(point.n_regions),
                format_count(point.n_regions * point.estimate.n_questions),
                format_estimate(point.estimate),
                f"{format_percent(point.null_low)} to {format_percent(point.null_high)}",
            ),
        )
        for point in grid.curve
    )
    notes = (
        "Distance: rows plus columns from the top left region. The first and the last point rest on one region each.",
        "Without positional effect: regions shuffled within base samples; 95 % of such curves lie inside throughout.",
    )
    return Table("Score by Manhattan distance.", columns, rows, notes)


def shape_table(grid: GridSummary) -> Table:
    """Return the prespecified contrasts over regions."""
    columns = (
        Column("contrast", "contrast", is_number=False),
        Column("value", f"value [{format_level(0.95)}]"),
        Column("unit", "unit", is_number=False),
        Column("p", "p"),
    )
    rows = tuple(
        Row(effect.name, "", (effect.name, _effect(effect), effect.unit, format_p(effect.p))) for effect in grid.effects
    )
    notes = (
        "One number per base sample, one-sample t; p is not corrected here.",
        f"A U is claimed only if the score falls up to the diagonal and rises from there on: p = {format_p(grid.p_u)}.",
        _CURVATURE_NOTE,
    )
    return Table("Shape over the regions.", columns, rows, notes)


def _effect(effect: GridEffect) -> str:
    texts = [_signed(number) for number in (effect.value, effect.low, effect.high)]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def _signed(points: float) -> str:
    text = f"{100 * points:+.2f}"
    return "0.00" if text in {"+0.00", "-0.00"} else text.replace("-", "−")


def grid_tables(summary: Summary) -> tuple[tuple[str, str, Table], ...]:
    """Return slug, heading and table of everything about needle grids, in the order of the report."""
    if not summary.grids:
        return ()
    found = [("grids", "Needle grids", measure_table(summary.grids))]
    for grid in summary.grids:
        if len(grid.cells) > 1:
            found.append((f"regions-{grid.name}", f"Regions of {grid.name}", region_table(grid)))
            if grid.curve:
                found.append((f"distance-{grid.name}", f"Distance in {grid.name}", distance_table(grid)))
            if grid.effects:
                found.append((f"shape-{grid.name}", f"Shape of {grid.name}", shape_table(grid)))
    return tuple(found)
