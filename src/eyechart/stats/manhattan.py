"""Shapes over a grid: slopes, the U over Manhattan distance, the border, and the drop with size."""

import math
from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Floats, check_confidence, divide
from eyechart.stats.intervals import critical_t

_ROUNDING = 1e-12


class Shape(NamedTuple):
    """One number per base sample, averaged: the mean, a t interval, and t with two-sided p.

    Args:
        value: Mean over base samples.
        low: Lower bound.
        high: Upper bound.
        t: value/SE; 0.0 where the numbers are all 0, ±inf where they are all equal.
        p: Two-sided p of the one-sample t test.
        n_bases: Base samples.
    """

    value: float
    low: float
    high: float
    t: float
    p: float
    n_bases: int

    def one_sided(self, sign: int) -> float:
        """Return the p of the hypothesis that the value has this sign, +1 or −1."""
        return self.p / 2.0 if self.t * sign > 0.0 else 1.0 - self.p / 2.0


class GridShape(NamedTuple):
    """What the score does over the cells, with d = row + column and g rows and columns.

    Args:
        linear: Slope over d, per step.
        quadratic: Curvature: coefficient of d² beside d. Positive for monotone saturation too, so it proves no U.
        left: Slope over the cells with d ≤ g−1.
        right: Slope over the cells with d ≥ g−1.
        border: Border cells less interior cells; None where there is no interior.
        row: Slope over rows.
        column: Slope over columns.
        raster: Slope over the reading order.
        quadratic_without_border: Curvature after taking out a border effect; None where there is no interior.
        p_u: p of the claim "U": the larger of the one-sided p of left < 0 and right > 0 (intersection–union).
    """

    linear: Shape
    quadratic: Shape
    left: Shape
    right: Shape
    border: Shape | None
    row: Shape
    column: Shape
    raster: Shape
    quadratic_without_border: Shape | None
    p_u: float


def estimate_shape(rows: Floats, n_rows: int, *, confidence: float = 0.95) -> GridShape:
    """Estimate prespecified contrasts over a square grid, one number per base sample.

    Args:
        rows: (n_bases, n_rows²) complete scores, cells in reading order.
        n_rows: Rows and columns g of the grid, at least 2.
        confidence: Coverage of the intervals, in (0, 1).

    Raises:
        StatisticsError: If the grid is not square, or there are fewer than two base samples.

    Example:
        >>> valley = np.tile([1.0, 0.5, 0, 0.5, 0, 0.5, 0, 0.5, 1.0], (12, 1)) + np.eye(12, 9) / 9
        >>> estimate_shape(valley, 3).p_u < 0.05
        True

    References:
        Simonsohn (2018), https://doi.org/10.1177/2515245918805755 (two lines; the breakpoint g−1 is fixed here).
    """
    if len(rows.shape) <= 1 or rows.shape[1] != n_rows**2 or n_rows <= 1:
        raise StatisticsError(
            f"scores of shape {rows.shape} on a {n_rows}×{n_rows} grid", hint="give g² cells per base"
        )
    row, column = (index.ravel().astype(np.float64) for index in np.indices((n_rows, n_rows)))
    distance = row + column
    turn = n_rows - 1
    is_border = (row == 0) | (row == turn) | (column == 0) | (column == turn)
    has_interior = not is_border.all()

    def shape(weights: Floats) -> Shape:
        return mean_shape(rows @ weights, confidence=confidence)

    left = shape(_slope(distance, where=distance <= turn))
    right = shape(_slope(distance, where=distance >= turn))
    border = is_border / is_border.sum() - ~is_border / max((~is_border).sum(), 1)
    return GridShape(
        linear=shape(_slope(distance)),
        quadratic=shape(_coefficient(distance**2, distance)),
        left=left,
        right=right,
        border=shape(border) if has_interior else None,
        row=shape(_slope(row)),
        column=shape(_slope(column)),
        raster=shape(_slope(row * n_rows + column)),
        quadratic_without_border=(
            shape(_coefficient(distance**2, distance, is_border.astype(np.float64))) if has_interior else None
        ),
        p_u=max(left.one_sided(-1), right.one_sided(1)),
    )


def distance_weights(n_rows: int, n_columns: int) -> Floats:
    """Return weights that turn cell scores into means at each Manhattan distance row + column, counted from 0.

    Args:
        n_rows: Rows of the grid.
        n_columns: Columns of the grid.

    Returns:
        (n_rows + n_columns − 1, n_rows·n_columns); each row sums to 1 over the cells at that distance.

    Raises:
        StatisticsError: If a side is below 1.

    Example:
        >>> distance_weights(2, 2).tolist()
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]
        >>> np.count_nonzero(distance_weights(5, 5), axis=1).tolist()
        [1, 2, 3, 4, 5, 4, 3, 2, 1]
    """
    if min(n_rows, n_columns) < 1:
        raise StatisticsError(f"a grid of {n_rows}×{n_columns} cells", hint="give at least one row and column")
    row, column = (index.ravel() for index in np.indices((n_rows, n_columns)))
    is_at = np.arange(n_rows + n_columns - 1)[:, None] == (row + column)[None, :]
    return np.asarray(is_at / is_at.sum(axis=1, keepdims=True), dtype=np.float64)


def null_band(shuffled_means: Floats, weights: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Bound the whole curve of a model without positional effect: the largest deviation over all points stays inside.

    Args:
        shuffled_means: (n_permutations, n_cells) from ``region.shuffled_cell_means``.
        weights: (n_points, n_cells) from ``distance_weights``.
        confidence: Joint coverage, in (0, 1).

    Returns:
        Lower and upper bounds, (n_points,) each, cut at 0 and 1.

    Raises:
        StatisticsError: If the confidence is outside (0, 1).

    Example:
        >>> low, high = null_band(np.full((9, 4), 0.5), distance_weights(2, 2))
        >>> low.tolist() == high.tolist() == [0.5, 0.5, 0.5]
        True
    """
    check_confidence(confidence)
    curves = shuffled_means @ weights.T
    centre = float(shuffled_means.mean())  # shuffling keeps the mean of every base sample
    spread = curves.std(axis=0)
    largest = divide(np.abs(curves - centre), np.broadcast_to(spread, curves.shape), where_zero=0.0).max(axis=1)
    half = float(np.quantile(largest, confidence, method="higher")) * spread
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def estimate_size_drop(rows: Floats, alone: Floats, *, confidence: float = 0.95) -> Shape:
    """Estimate how much lower the same base samples score on the grid than alone (1×1).

    Do not select base samples that were right alone: that makes a drop by regression to the mean.

    Args:
        rows: (n_bases, n_cells) complete scores on the grid.
        alone: (n_bases,) scores of the same base samples at 1×1.
        confidence: Coverage of the interval, in (0, 1).

    Returns:
        The mean of 1×1 score less grid mean: positive for a drop.

    Raises:
        StatisticsError: If the numbers of base samples differ or are below two.

    Example:
        >>> estimate_size_drop(np.eye(4), np.ones(4)).value
        0.75
    """
    if np.shape(alone) != (len(rows),):
        raise StatisticsError(f"{np.size(alone)} scores at 1×1 for {len(rows)} base samples", hint="pair them by base")
    return mean_shape(alone - rows.mean(axis=1), confidence=confidence)


def mean_shape(numbers: Floats, *, confidence: float = 0.95) -> Shape:
    """Test whether independent numbers, one per base sample, have mean 0 (one-sample t).

    Raises:
        StatisticsError: If there are fewer than two.

    Example:
        >>> round(mean_shape(np.array([1.0, 2.0, 3.0])).p, 4)
        0.0742
    """
    from scipy.special import stdtr

    n = len(numbers)
    if n <= 1:
        raise StatisticsError(f"{n} base samples have no variance", hint="use at least 20 base samples")
    mean, error = float(numbers.mean()), float(numbers.std(ddof=1)) / math.sqrt(n)
    if error <= _ROUNDING * max(1.0, abs(mean)):  # equal numbers
        error, mean = 0.0, mean if abs(mean) > _ROUNDING else 0.0
    t = mean / error if error else math.copysign(math.inf, mean) if mean else 0.0
    half = float(critical_t(np.array(n - 1), confidence)) * error
    return Shape(mean, mean - half, mean + half, t, float(2.0 * stdtr(n - 1, -abs(t))), n)


def _slope(positions: Floats, where: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] | None = None) -> Floats:
    """Return weights that turn cell scores into the least-squares slope over positions, inside ``where``."""
    inside = np.ones(positions.shape, dtype=np.bool_) if where is None else where
    centred = np.where(inside, positions - positions[inside].mean(), 0.0)
    return np.asarray(centred / (centred**2).sum(), dtype=np.float64)


def _coefficient(regressor: Floats, *others: Floats) -> Floats:
    """Return weights that give the least-squares coefficient of a regressor beside others and a constant."""
    design = np.stack([regressor, np.ones(regressor.shape), *others], axis=1)
    return np.asarray(np.linalg.pinv(design)[0], dtype=np.float64)
