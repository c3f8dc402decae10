"""Adjusting p-values for the number of comparisons in a named family."""

from typing import Literal, assert_never

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Floats

Correction = Literal["holm", "hochberg", "benjamini-hochberg", "benjamini-yekutieli", "bonferroni"]


def adjust(p_values: Floats, correction: Correction) -> Floats:
    """Adjust the p-values of one family by a named correction.

    ``holm`` is the default inside small confirmatory families, ``benjamini-hochberg`` for exploration.

    Args:
        p_values: (n_tests,) raw p-values in [0, 1], in any order.
        correction: Name of the correction.

    Returns:
        (n_tests,) adjusted p-values in the same order, at most 1.

    Raises:
        StatisticsError: If a p-value lies outside [0, 1].

    Example:
        >>> adjust(np.array([0.01, 0.04]), "holm").tolist()
        [0.02, 0.04]
    """
    match correction:
        case "holm":
            return holm(p_values)
        case "hochberg":
            return hochberg(p_values)
        case "benjamini-hochberg":
            return benjamini_hochberg(p_values)
        case "benjamini-yekutieli":
            return benjamini_yekutieli(p_values)
        case "bonferroni":
            return bonferroni(p_values)
        case _:
            assert_never(correction)


def bonferroni(p_values: Floats) -> Floats:
    """Multiply by the number of tests: valid always, never better than Holm.

    Example:
        >>> bonferroni(np.array([0.01, 0.6])).tolist()
        [0.02, 1.0]
    """
    p = _check(p_values)
    return np.minimum(p * p.size, 1.0)


def holm(p_values: Floats) -> Floats:
    """Adjust by Holm's step-down method: family-wise error under any dependence.

    Example:
        >>> holm(np.array([0.04, 0.01, 0.03])).tolist()
        [0.06, 0.03, 0.06]

    References:
        Holm (1979), https://www.jstor.org/stable/4615733
    """
    p = _check(p_values)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _restore(steps, order)


def hochberg(p_values: Floats) -> Floats:
    """Adjust by Hochberg's step-up method: family-wise error for independent or positively dependent tests.

    Example:
        >>> hochberg(np.array([0.04, 0.01, 0.03])).tolist()
        [0.04, 0.03, 0.04]

    References:
        Hochberg (1988), https://doi.org/10.1093/biomet/75.4.800
    """
    p = _check(p_values)
    return _step_up(p, np.arange(p.size, 0, -1, dtype=np.float64))


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Adjust for the false discovery rate of independent or positively dependent tests.

    Example:
        >>> benjamini_hochberg(np.array([0.04, 0.01, 0.03])).tolist()
        [0.04, 0.03, 0.04]

    References:
        Benjamini & Hochberg (1995), https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
    """
    p = _check(p_values)
    return _step_up(p, p.size / np.arange(1, p.size + 1))


def benjamini_yekutieli(p_values: Floats) -> Floats:
    """Adjust for the false discovery rate under any dependence.

    Example:
        >>> benjamini_yekutieli(np.array([0.04, 0.01])).tolist()
        [0.06, 0.03]

    References:
        Benjamini & Yekutieli (2001), https://doi.org/10.1214/aos/1013699998
    """
    p = _check(p_values)
    ranks = np.arange(1, p.size + 1)
    return _step_up(p, p.size * float((1.0 / ranks).sum()) / ranks)


def _step_up(p: Floats, factors: Floats) -> Floats:
    """Return running minima of p·factor from the largest p down."""
    order = np.argsort(p, kind="stable")
    steps = np.minimum.accumulate((p[order] * factors)[::-1])[::-1]
    return _restore(steps, order)


def _restore(steps: Floats, order: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
    """Put adjusted values back into the order of the tests."""
    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _check(p_values: Floats) -> Floats:
    """Refuse what is not a list of p-values."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0.0) & (p <= 1.0)).all():
        raise StatisticsError(f"p-values {p.tolist()} are not a flat list in 0–1", hint="leave out tests without a p")
    return p
