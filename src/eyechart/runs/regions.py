"""What a run says about the regions of its needle grids: level, size, three readings of Region, curve and shape."""

from collections.abc import Mapping

import msgspec
import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.runs.grid_alone import Alone, JudgedGrids, own_alone
from eyechart.runs.grid_scores import FEWEST_BASES, GridScores, Layout, find_grids, grid_notes, take_scores
from eyechart.schema import Contrast, DistancePoint, Estimate, GridEffect, GridSummary, RegionCell, View
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.bootstrap import draw_weights
from eyechart.stats.clusters import Clusters, cluster_sums, find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.conditions import can_test, with_p
from eyechart.stats.intervals import critical_t, wilson
from eyechart.stats.manhattan import GridShape, Shape, distance_weights, estimate_shape, null_band
from eyechart.stats.missing import ScoreBounds, bounds_from, worst_case
from eyechart.stats.paired import DIFFERENCE_METHOD, estimate_differences
from eyechart.stats.position_spread import SPREAD_METHOD, spread_interval
from eyechart.stats.proportion import (
    PROPORTION_METHOD,
    ProportionTable,
    estimate_pooled,
    estimate_proportions,
    mean_variance,
)
from eyechart.stats.region import (
    CellBand,
    RegionSummary,
    band_cells,
    cross_fitted_gains,
    rarefied_sample_gaps,
    sample_sds,
    summarise_regions,
)
from eyechart.stats.sign_flip import sign_flip
from eyechart.stats.small_samples import has_interval, printed_bounds

MEAN_METHOD = "mean over base samples, t(G-1) over pictures"
GAP_METHOD = "largest bounds of the family-wise band over regions; the value itself is biased upward"
RAREFIED_CELLS = 9
_SEED = 0


def summarise_grids(
    table: RunTable,
    values: Floats,
    present: Bools,
    views: Mapping[str, View],
    scorer_id: str,
    *,
    borrowed: Alone | None = None,
) -> tuple[GridSummary, ...]:
    """Return every needle grid of a run, smallest first, each on its complete base samples.

    Args:
        table: The run.
        values: (n_questions, n_conditions) scores in [0, 1].
        present: Same shape, True where there is a score.
        views: Condition → view, of the conditions that are plain views.
        scorer_id: Scorer of the scores.
        borrowed: Base samples alone (1×1) of other runs, for styles that this one did not ask alone.
    """
    layouts = find_grids(table.conditions, views)
    scored = {layout: take_scores(layout, table, values, present) for layout in layouts}
    own = own_alone(JudgedGrids(table, values, present, views, scorer_id))
    alone = {**(borrowed or {}), **own}
    return tuple(
        _summarise(layout, scored[layout], table, scorer_id, alone.get(layout.view.style)) for layout in layouts
    )


def _summarise(
    layout: Layout, scored: GridScores, table: RunTable, scorer_id: str, alone: tuple[str, GridScores] | None
) -> GridSummary:
    """Return one grid; without two complete base samples only what each region scored, with its own n."""
    n_bases = int(scored.is_complete.sum())
    grid = GridSummary(
        name=layout.name,
        style=layout.view.style,
        rows=layout.view.rows,
        columns=layout.view.columns,
        n_asked=len(scored.values),
        n_bases=n_bases,
        n_dropped=len(scored.values) - n_bases,
        cells=_cells(layout, scored, scorer_id),
        chance=1.0 / len(layout.columns) if layout.view.style == "captioned" else None,
        notes=grid_notes(layout, scored, table),
    )
    if n_bases < FEWEST_BASES:
        return grid
    perf = _perf(scored, layout.name, scorer_id)
    grid = msgspec.structs.replace(
        grid,
        perf=perf,
        perf_corrected=None if grid.chance is None else _above_chance(perf, grid.chance),
        size=None if alone is None or layout.is_alone else _size(layout.name, scored, *alone, scorer_id),
    )
    return grid if layout.is_alone else _with_regions(grid, scored, scorer_id)


def _with_regions(grid: GridSummary, scored: GridScores, scorer_id: str) -> GridSummary:
    """Return the grid with what compares its regions."""
    rows, clusters = scored.rows, scored.clusters
    found = summarise_regions(rows, np.ones(rows.shape, dtype=np.bool_), rng=np.random.default_rng(_SEED))
    is_binary = bool(np.isin(rows, (0.0, 1.0)).all())
    shape = estimate_shape(rows, grid.rows) if grid.rows == grid.columns else None

    def mean(name: str, numbers: Floats) -> Estimate:
        return _mean(name, grid.name, numbers, clusters, scorer_id)

    n_cells = rows.shape[1]
    region_std = mean("region_std", sample_sds(rows))
    band = None
    if clusters.n_clusters >= FEWEST_BASES:
        band = band_cells(rows, clusters, weights=draw_weights(clusters.n_clusters, np.random.default_rng(_SEED)))
    return msgspec.structs.replace(
        grid,
        region=mean("region", rarefied_sample_gaps(rows, n_cells)),
        region_rarefied=(
            mean(f"region rarefied to {RAREFIED_CELLS}", rarefied_sample_gaps(rows, RAREFIED_CELLS))
            if n_cells >= RAREFIED_CELLS
            else None
        ),
        region_std=region_std,
        region_map_gap=_map_gap(grid.name, found, band, clusters, scorer_id),
        noise_floor=found.noise_floor,
        map_gap_p=found.p,
        cross_fitted_gap=_gain(grid.name, rows, clusters, scorer_id),
        position_sd=_spread(grid.name, found.position_sd, rows, clusters, region_std),
        omnibus="Cochran's Q" if is_binary else "Friedman's test",
        omnibus_statistic=found.omnibus.statistic,
        omnibus_df=found.omnibus.degrees_of_freedom,
        omnibus_p=found.omnibus.p,
        cells=grid.cells if band is None else _banded(grid.cells, band),
        curve=_curve(grid, found, rows, clusters, scorer_id),
        effects=() if shape is None else _effects(shape),
        p_u=None if shape is None else shape.p_u,
    )


def _cells(layout: Layout, scored: GridScores, scorer_id: str) -> tuple[RegionCell, ...]:
    """Return every region: on complete base samples, or on its own where fewer than two are complete."""
    is_whole = int(scored.is_complete.sum()) >= FEWEST_BASES
    used = np.repeat(scored.is_complete[:, None], scored.values.shape[1], axis=1) if is_whole else scored.present
    values = np.where(used, scored.values, 0.0)
    numbers = estimate_proportions(values, used, find_clusters(list(scored.groups)))
    n_scored = scored.present.sum(axis=0)
    return tuple(
        RegionCell(
            row=index // layout.view.columns,
            column=index % layout.view.columns,
            n_scored=int(n_scored[index]),
            estimate=(
                _estimate("score", f"{layout.name}_r{index // layout.view.columns}_c{index % layout.view.columns}",
                          ProportionTable(*(field[index] for field in numbers)), scorer_id)
                if numbers.n_questions[index] > 0
                else None
            ),
        )
        for index in range(scored.values.shape[1])
    )  # fmt: skip


def _banded(cells: tuple[RegionCell, ...], band: CellBand) -> tuple[RegionCell, ...]:
    """Return the regions with their difference from the mean and the band that holds for all of them together."""
    return tuple(
        msgspec.structs.replace(
            cell,
            difference=float(band.difference[index]),
            half_width=float(band.half_width[index]),
            is_apart=bool(band.is_apart[index]),
        )
        for index, cell in enumerate(cells)
    )


def _perf(scored: GridScores, name: str, scorer_id: str) -> Estimate:
    """Return the mean score over regions, all regions of a base sample in one cluster."""
    rows = scored.rows
    numbers = estimate_pooled(rows, np.ones(rows.shape, dtype=np.bool_), scored.clusters)
    return _estimate("perf", name, numbers, scorer_id)


def _above_chance(perf: Estimate, chance: float) -> Estimate:
    """Return (Perf − chance)/(1 − chance): 0 is pointing at random, so grids of all sizes compare."""
    bounds = (None if bound is None else (bound - chance) / (1.0 - chance) for bound in (perf.low, perf.high))
    value, (low, high) = (perf.value - chance) / (1.0 - chance), bounds
    return msgspec.structs.replace(perf, name="perf above chance", value=value, low=low, high=high, chance=chance)


def _size(name: str, scored: GridScores, alone_name: str, alone: GridScores, scorer_id: str) -> Contrast | None:
    """Return grid less 1×1 on the base samples that are complete in both; negative is a drop."""
    both = np.asarray(scored.is_complete & alone.is_complete, dtype=np.bool_)
    if not both.any():
        return None
    change = np.where(both, scored.values.mean(axis=1) - alone.values[:, 0], 0.0)
    clusters = find_clusters(list(scored.groups))
    numbers = estimate_differences(change, both, clusters)
    n_questions, (low, high) = int(numbers.n_questions), printed_bounds(numbers)
    flips = sign_flip(cluster_sums(change, clusters))
    grid, whole = (bounds_from(one.values, one.present) for one in (scored, alone))
    smallest = grid.lowest.mean(axis=1) - whole.highest[:, 0]
    largest = grid.highest.mean(axis=1) - whole.lowest[:, 0]
    gap = ScoreBounds(smallest, largest, np.ones(len(both), dtype=np.bool_))
    worst = worst_case(gap, clusters, numbers.value, flips.mid, numbers.n_questions)
    contrast = Contrast(
        name="size",
        condition=name,
        baseline=alone_name,
        value=float(numbers.value),
        low=low,
        high=high,
        n_questions=n_questions,
        n_clusters=int(numbers.n_clusters),
        gained=int(numbers.gained),
        lost=int(numbers.lost),
        method=DIFFERENCE_METHOD,
        n_missing=len(both) - n_questions,
        scorer=scorer_id,
    )
    return with_p(contrast, flips, worst)


def _mean(name: str, condition: str, numbers: Floats, clusters: Clusters, scorer_id: str) -> Estimate:
    """Return the mean of one number per base sample, by t over pictures; Wilson where all are equal."""
    sums, sizes = cluster_sums(numbers, clusters), clusters.sizes.astype(np.float64)
    value = float(numbers.mean())
    variance = float(mean_variance(sums, sizes, np.asarray(value)))
    critical = critical_t(np.array(clusters.n_clusters - 1), 0.95)
    half = float(critical * np.sqrt(variance)) if variance > 0.0 else 0.0
    low, high = max(0.0, value - half), min(1.0, value + half)
    if not 0.0 < half < np.inf:
        bounds = wilson(np.array(value), np.array(float(clusters.n_clusters)), critical)
        low, high = float(bounds[0]), float(bounds[1])
    is_enough = bool(has_interval(sizes))
    return Estimate(
        name=name,
        condition=condition,
        value=value,
        low=low if is_enough else None,
        high=high if is_enough else None,
        n_questions=len(numbers),
        n_clusters=clusters.n_clusters,
        method=MEAN_METHOD,
        scorer=scorer_id,
        warnings=() if can_test(len(numbers), has_interval=is_enough) else (Code.TINY_GROUP,),
    )


def _gain(name: str, rows: Floats, clusters: Clusters, scorer_id: str) -> Estimate:
    """Return what the best region gains on base samples that did not choose it, by the interval of differences."""
    gains = cross_fitted_gains(rows, rng=np.random.default_rng(_SEED))
    numbers = estimate_differences(gains, np.ones(len(gains), dtype=np.bool_), clusters)
    n_questions, (low, high) = int(numbers.n_questions), printed_bounds(numbers)
    return Estimate(
        name="cross-fitted gap",
        condition=name,
        value=float(numbers.value),
        low=low,
        high=high,
        n_questions=n_questions,
        n_clusters=int(numbers.n_clusters),
        method=f"{DIFFERENCE_METHOD}; 10 folds",
        scorer=scorer_id,
        warnings=() if can_test(n_questions, has_interval=low is not None) else (Code.TINY_GROUP,),
    )


def _spread(name: str, value: float, rows: Floats, clusters: Clusters, region_std: Estimate) -> Estimate:
    """Return the spread of the regions beyond noise; it is at most the mean spread within base samples."""
    low, high = None, None
    if region_std.high is not None:
        low, high = spread_interval(rows, clusters, most=region_std.high)
        low, high = min(low, value), max(high, value)
    return msgspec.structs.replace(
        region_std,
        name="position SD",
        condition=name,
        value=value,
        low=low,
        high=high,
        method=SPREAD_METHOD,
    )


def _map_gap(name: str, found: RegionSummary, band: CellBand | None, clusters: Clusters, scorer_id: str) -> Estimate:
    """Return the best region of the heat map less its mean, beside which the noise floor must stand.

    Where all regions lie in their bands together, the largest of them lies between the largest bounds.
    """
    low = 0.0 if band is None else max(0.0, float((band.difference - band.half_width).max()))
    high = 1.0 if band is None else min(1.0, float((band.difference + band.half_width).max()))
    is_enough = bool(has_interval(clusters.sizes.astype(np.float64)))
    return Estimate(
        name="region_map_gap",
        condition=name,
        value=found.gap,
        low=low if is_enough else None,
        high=high if is_enough else None,
        n_questions=found.n_bases,
        n_clusters=clusters.n_clusters,
        method=GAP_METHOD,
        scorer=scorer_id,
        warnings=() if can_test(found.n_bases, has_interval=is_enough) else (Code.TINY_GROUP,),
    )


def _curve(
    grid: GridSummary, found: RegionSummary, rows: Floats, clusters: Clusters, scorer_id: str
) -> tuple[DistancePoint, ...]:
    """Return the score by Manhattan distance from the top left region, with the band of no positional effect."""
    weights = distance_weights(grid.rows, grid.columns)
    low, high = null_band(found.shuffled_means, weights)
    points = []
    for distance, own in enumerate(weights):
        values = rows[:, own > 0.0]
        numbers = estimate_pooled(values, np.ones(values.shape, dtype=np.bool_), clusters)
        points.append(
            DistancePoint(
                distance=distance,
                n_regions=values.shape[1],
                estimate=_estimate("score by distance", f"{grid.name} distance {distance}", numbers, scorer_id),
                null_low=float(low[distance]),
                null_high=float(high[distance]),
            )
        )
    return tuple(points)


def _effects(shape: GridShape) -> tuple[GridEffect, ...]:
    """Return the prespecified contrasts over regions in the order of the report."""
    named: tuple[tuple[str, Shape | None, str], ...] = (
        ("slope over distance", shape.linear, "points per step"),
        ("curvature over distance", shape.quadratic, "points per step²"),
        ("slope up to the diagonal", shape.left, "points per step"),
        ("slope from the diagonal on", shape.right, "points per step"),
        ("border − interior", shape.border, "points"),
        ("curvature without the border", shape.quadratic_without_border, "points per step²"),
        ("slope over rows", shape.row, "points per row"),
        ("slope over columns", shape.column, "points per column"),
        ("slope in reading order", shape.raster, "points per region"),
    )
    return tuple(
        GridEffect(name, one.value, one.low, one.high, one.p, unit, one.n_bases)
        for name, one, unit in named
        if one is not None
    )


def _estimate(name: str, condition: str, numbers: ProportionTable, scorer_id: str) -> Estimate:
    n_questions, (low, high) = int(numbers.n_questions), printed_bounds(numbers)
    return Estimate(
        name=name,
        condition=condition,
        value=float(numbers.value),
        low=low,
        high=high,
        n_questions=n_questions,
        n_clusters=int(numbers.n_clusters),
        method=PROPORTION_METHOD,
        n_effective=float(numbers.n_effective),
        scorer=scorer_id,
        warnings=() if can_test(n_questions, has_interval=low is not None) else (Code.TINY_GROUP,),
    )
