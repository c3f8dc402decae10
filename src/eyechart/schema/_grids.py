"""What needle grids give, region by region."""

from typing import Literal

from eyechart.schema._base import Value
from eyechart.schema._estimates import Contrast, Estimate, Standing


class RegionCell(Value, frozen=True):
    """One region of a needle grid; rows and columns count from 0.

    ``difference`` is its mean less that of all regions, ``half_width`` of a band that holds for all regions together.
    ``n_scored`` counts every base sample scored here, complete or not.
    """

    row: int
    column: int
    n_scored: int
    estimate: Estimate | None = None
    difference: float | None = None
    half_width: float | None = None
    is_apart: bool = False


class DistancePoint(Value, frozen=True):
    """The mean score of the regions at one Manhattan distance from the top left region.

    ``null_low`` and ``null_high`` bound the whole curve of a model without any positional effect.
    """

    distance: int
    n_regions: int
    estimate: Estimate
    null_low: float
    null_high: float


class GridEffect(Value, frozen=True):
    """A prespecified contrast over the regions of a square grid, one number per base sample: value, interval and p."""

    name: str
    value: float
    low: float
    high: float
    p: float
    unit: str
    n_bases: int


class GridSummary(Value, frozen=True):
    """One needle grid of a run, on the base samples that are scored in every region.

    ``region`` is the mean over base samples of best region less mean (the published Region; it does not know which
    region is better and grows with their number), ``region_rarefied`` the same as if there were 9 regions,
    ``region_std`` the mean over base samples of the standard deviation over regions, ``region_map_gap`` the best region
    of the heat map less its mean. ``noise_floor`` is the map gap to expect without any positional effect, ``map_gap_p``
    its permutation p, ``cross_fitted_gap`` what the best region gains on base samples that did not choose it.
    ``size`` is the grid less the same base samples alone (1×1). ``notes`` say what was left out and why.
    ``map_gap_p_adjusted`` is ``map_gap_p`` corrected within the headline family of the report, and ``claimed`` whether
    a dependence on the region is claimed; ``standing`` is that of ``Contrast``.
    """

    name: str
    style: Literal["white", "captioned"]
    rows: int
    columns: int
    n_asked: int
    n_bases: int
    n_dropped: int
    cells: tuple[RegionCell, ...]
    perf: Estimate | None = None
    chance: float | None = None
    perf_corrected: Estimate | None = None
    size: Contrast | None = None
    region: Estimate | None = None
    region_rarefied: Estimate | None = None
    region_std: Estimate | None = None
    region_map_gap: Estimate | None = None
    noise_floor: float | None = None
    map_gap_p: float | None = None
    cross_fitted_gap: Estimate | None = None
    position_sd: Estimate | None = None
    omnibus: str | None = None
    omnibus_statistic: float | None = None
    omnibus_df: int | None = None
    omnibus_p: float | None = None
    curve: tuple[DistancePoint, ...] = ()
    effects: tuple[GridEffect, ...] = ()
    p_u: float | None = None
    map_gap_p_adjusted: float | None = None
    claimed: bool = False
    standing: Standing | None = None
    notes: tuple[str, ...] = ()
