"""Confidence sequences by betting: bounds of a paired difference that hold at every moment, however often one looks."""

from math import log
from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import Floats

BETTING_METHOD = "betting confidence sequence by whole pictures"
BETTING_P = "betting, anytime-valid"
_MOST_STAKE = 0.75
_N_CANDIDATES = 2001


class Sequence(NamedTuple):
    """What is known at this moment, given everything up to it.

    Args:
        low: Lower bound of the difference.
        high: Upper bound.
        p: Two-sided p for no difference, valid at any moment.
        p_up: One-sided p against no difference or less.
        p_down: One-sided p against no difference or more.
    """

    low: float
    high: float
    p: float
    p_up: float
    p_down: float


def bet(sums: Floats, sizes: Floats, *, most: float, n_planned: int, alpha: float) -> Sequence:
    """Return the hedged capital confidence sequence of a difference, and its p, after the pictures so far.

    The estimand is the expected sum of differences of a picture over its expected number of questions, E[T]/E[m]: the
    same mean over questions that is printed, and not the mean over pictures. For every candidate d one bets on
    (T − d·m)/(2·most), which lies in [−1, 1] and has mean 0 if d is true, with stakes that only the pictures before
    decide; the capital then exceeds 2/alpha at some moment with a probability of at most alpha/2 a side. Pictures of
    unequal size are bet on in proportion to their size, so where one picture holds most questions little is found.

    Args:
        sums: (n_pictures,) sum of the differences of each picture's questions, in the order of asking.
        sizes: (n_pictures,) number of these questions.
        most: Most questions that any planned picture has; each sum lies within ±most.
        n_planned: Pictures planned: where the stakes are to find most.
        alpha: 1 − coverage over all moments together.

    Example:
        >>> found = bet(np.array([1.0, 1, 0, 1] * 20), np.ones(80), most=1, n_planned=80, alpha=0.05)
        >>> found.low > 0.5 and found.high > 0.75 and found.p < 1e-6
        True

    References:
        Waudby-Smith & Ramdas (2024), https://doi.org/10.1093/jrsssb/qkad009 (hedged capital, equations 21 to 27).
    """
    if not len(sums):
        return Sequence(-1.0, 1.0, 1.0, 1.0, 1.0)
    candidates = np.linspace(-1.0, 1.0, _N_CANDIDATES)
    stakes = _stakes(sums / (2.0 * most), n_planned, alpha)
    up, down = _largest_capital(sums, sizes, candidates, stakes, most)
    bound = log(2.0 / alpha)
    is_open = np.flatnonzero((up < bound) & (down < bound))
    zero = _N_CANDIDATES // 2
    p_up, p_down = (float(np.exp(-max(capital[zero], 0.0))) for capital in (up, down))
    step = float(candidates[1] - candidates[0])
    if not is_open.size:  # every difference is refuted at some moment: nothing is known
        return Sequence(-1.0, 1.0, 1.0, 1.0, 1.0)
    low = max(-1.0, float(candidates[is_open[0]]) - (step if is_open[0] else 0.0))
    high = min(1.0, float(candidates[is_open[-1]]) + (step if is_open[-1] < _N_CANDIDATES - 1 else 0.0))
    return Sequence(low, high, min(1.0, 2.0 * min(p_up, p_down)), p_up, p_down)


def _stakes(scaled: Floats, n_planned: int, alpha: float) -> Floats:
    """Return √(2 ln(2/α)/(n·σ²)) for each picture, σ² the variance of the pictures before it; scaled to ±½."""
    count = np.arange(1, len(scaled) + 1)
    shifted = scaled + 0.5
    means = (0.5 + np.cumsum(shifted)) / (count + 1)
    variances = (0.25 + np.cumsum((shifted - means) ** 2)) / (count + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(2.0 * log(2.0 / alpha) / (n_planned * before)), dtype=np.float64)


def _largest_capital(
    sums: Floats, sizes: Floats, candidates: Floats, stakes: Floats, most: float
) -> tuple[Floats, Floats]:
    """Return the logarithm of the largest capital so far against each candidate, betting that it is too low, too high.

    A stake is at most ¾ of what could be lost at once.
    """
    gains = (sums[:, None] - candidates[None, :] * sizes[:, None]) / (2.0 * most)
    with np.errstate(divide="ignore"):
        up_most, down_most = 2.0 * _MOST_STAKE / (1.0 + candidates), 2.0 * _MOST_STAKE / (1.0 - candidates)
    up = np.cumsum(np.log1p(np.minimum(stakes[:, None], up_most) * gains), axis=0)
    down = np.cumsum(np.log1p(-np.minimum(stakes[:, None], down_most) * gains), axis=0)
    return up.max(axis=0), down.max(axis=0)
