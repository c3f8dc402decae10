"""Falling curves without a formula, and the scale at which a curve has lost half."""

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Floats


def fit_falling(curves: Floats, weights: Floats) -> Floats:
    """Fit the closest non-increasing curve, any number of curves at once (pool adjacent violators).

    Computed as min over a ≤ i of max over b ≥ i of the weighted mean of a…b: no loop over curves.

    Args:
        curves: (…, n_levels) values in the order in which they should fall.
        weights: Positive weights, broadcastable to ``curves``.

    Returns:
        (…, n_levels) non-increasing, with the same weighted mean.

    Raises:
        StatisticsError: If a weight is not positive.

    Example:
        >>> fit_falling(np.array([0.8, 0.9, 0.5]), np.ones(3)).round(2).tolist()
        [0.85, 0.85, 0.5]

    References:
        Robertson, Wright & Dykstra (1988), Order Restricted Statistical Inference, section 1.4.
    """
    loads = np.broadcast_to(np.asarray(weights, dtype=np.float64), curves.shape)
    if not (loads > 0.0).all():
        raise StatisticsError("a level has no weight", hint="leave out levels without any answer")
    fitted = np.full(curves.shape, np.inf)
    for first in range(curves.shape[-1]):
        totals = np.cumsum(loads[..., first:] * curves[..., first:], axis=-1)
        means = totals / np.cumsum(loads[..., first:], axis=-1)
        best = np.maximum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]
        fitted[..., first:] = np.minimum(fitted[..., first:], best)
    return fitted


def find_crossing(curves: Floats, levels: Floats, fraction: float = 0.5) -> Floats:
    """Return where falling curves first reach a fraction of their first value, linear between levels.

    Args:
        curves: (…, n_levels) non-increasing.
        levels: (n_levels,) positions in the order of the curve, such as log₂ scale, falling.
        fraction: Share of the first value, in (0, 1).

    Returns:
        (…) positions; −inf where the level is never reached; the first position where the first value is ≤ 0.

    Raises:
        StatisticsError: If the fraction lies outside (0, 1), or the levels do not fall.

    Example:
        >>> float(find_crossing(np.array([0.8, 0.6, 0.2]), np.array([0.0, -1.0, -2.0])))
        -1.5
    """
    if not 0.0 < fraction < 1.0 or not (np.diff(levels) < 0.0).all():
        raise StatisticsError(
            f"fraction {fraction} of a curve over levels {levels.tolist()}",
            hint="the fraction lies between 0 and 1, and levels fall from the best view on",
        )
    goal = fraction * curves[..., :1]
    is_reached = curves <= goal + 1e-12
    index = is_reached.argmax(axis=-1)
    before = np.maximum(index - 1, 0)
    upper = np.take_along_axis(curves, before[..., None], axis=-1)[..., 0]
    lower = np.take_along_axis(curves, index[..., None], axis=-1)[..., 0]
    gap = upper - lower
    share = np.divide(upper - goal[..., 0], gap, out=np.ones_like(gap), where=gap > 0.0)
    crossing = levels[before] + np.clip(share, 0.0, 1.0) * (levels[index] - levels[before])
    return np.where(is_reached.any(axis=-1), crossing, -np.inf)
