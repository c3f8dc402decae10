"""Confidence sequences by betting: bounds of a paired difference that hold at every moment, however often one looks."""

from collections.abc import Mapping
from math import log
from typing import NamedTuple

import msgspec
import numpy as np

from eyechart.schema import Contrast
from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats
from eyechart.stats.conditions import ScoreTable
from eyechart.stats.missing import gap_bounds
from eyechart.stats.paired import subtract

BETTING_METHOD = "confidence sequence by betting, at every moment"
BETTING_P = "betting, at every moment"
# Bets of several sizes at once, since nobody knows the effect: the best of them differs from effect ÷ discordance by
# less than a factor of 1.4, and what is won by it is divided by their number.
_STAKES = np.geomspace(0.02, 0.95, 12)
_N_HALVINGS = 40


class Bet(NamedTuple):
    """What is known at this moment, given everything up to it: bounds of a difference, and two-sided p for none."""

    low: float
    high: float
    p: float


def bet(sums: Floats, sizes: Floats, *, most: int, alpha: float) -> Bet:
    """Return the confidence sequence of a difference and its p after the pictures so far.

    The estimand is the expected sum of differences of a picture over its expected number of questions, E[T]/E[m]: the
    same mean over questions that is printed, and not the mean over pictures. For a candidate d one bets that it is too
    low, on (T − d·m)/(most·(1 + d)), which is at least −1 and has mean 0 if d is true, with several fixed stakes λ at
    once; by Ville's inequality the mean capital Π(1 + λ·…) ever exceeds 2/alpha with a probability of at most alpha/2.
    The same for too high. Capital falls in d and rises in every T, so bounds are found by halving, and the worst
    filling of missing answers is the one with every T at its lowest. Pictures of unequal size are bet on in proportion
    to their size, so where one picture holds most questions little is found.

    Args:
        sums: (n_pictures,) sum of the differences of each picture's questions, in the order of asking.
        sizes: (n_pictures,) number of these questions.
        most: Most questions that any planned picture has, also of those not asked yet.
        alpha: 1 − coverage over all moments together.

    Example:
        >>> found = bet(np.array([1.0, 1, 0, 1] * 20), np.ones(80), most=1, alpha=0.05)
        >>> 0.5 < found.low < 0.75 < found.high, found.p < 1e-6
        (True, True)
        >>> bet(np.zeros(0), np.zeros(0), most=1, alpha=0.05)
        Bet(low=-1.0, high=1.0, p=1.0)

    References:
        Waudby-Smith & Ramdas (2024), https://doi.org/10.1093/jrsssb/qkad009 (capital as evidence; fixed stakes here).
        Ville (1939), http://www.numdam.org/item/THESE_1939__218__1_0 (the inequality).
    """
    bound = log(2.0 / alpha)
    low, high = _lowest(sums, sizes, most, bound), -_lowest(-sums, sizes, most, bound)
    if low > high:  # every difference is refuted at some moment: nothing is known
        return Bet(-1.0, 1.0, 1.0)
    capital = max(_log_capital(0.0, sums, sizes, most), _log_capital(0.0, -sums, sizes, most))
    return Bet(low, high, min(1.0, 2.0 * float(np.exp(-capital))))


def _lowest(sums: Floats, sizes: Floats, most: int, bound: float) -> float:
    """Return the smallest difference that betting it is too low has not refuted."""
    refuted, open_ = -1.0, 1.0
    for _ in range(_N_HALVINGS):
        middle = (refuted + open_) / 2.0
        if _log_capital(middle, sums, sizes, most) >= bound:
            refuted = middle
        else:
            open_ = middle
    return refuted


def _log_capital(candidate: float, sums: Floats, sizes: Floats, most: int) -> float:
    """Return the logarithm of the largest mean capital so far of betting that a candidate is too low; 0 or more."""
    if not len(sums):
        return 0.0
    gains = (sums - candidate * sizes) / (most * (1.0 + candidate))
    capital = np.cumsum(np.log1p(_STAKES[:, None] * gains), axis=1)
    return max(0.0, float(np.max(np.logaddexp.reduce(capital, axis=0))) - log(len(_STAKES)))


def with_bet(contrast: Contrast, scores: ScoreTable, place: Mapping[str, int], *, most: int) -> Contrast:
    """Return a contrast with interval and p that hold at every moment; one that may not be tested stays as it is.

    Args:
        contrast: A contrast of two conditions of the table, not adjusted yet.
        scores: The scores behind it: everything from the first picture to this moment.
        place: Picture → its place in the order of asking, from 0.
        most: See ``bet``.
    """
    if contrast.p is None:
        return contrast
    alpha = round(1.0 - contrast.confidence, 10)
    columns = np.array([scores.column(contrast.condition)]), np.array([scores.column(contrast.baseline)])
    change, both = (found[:, 0] for found in subtract(scores.values, scores.present, *columns))
    gap = gap_bounds(scores.bounds, *columns)
    at = np.array([place[name] for name in scores.image_groups])

    def summed(values: Floats | Bools) -> Floats:
        return np.bincount(at, weights=values, minlength=len(place)).astype(np.float64)

    found = bet(summed(change), summed(both), most=most, alpha=alpha)
    sign = 1.0 if contrast.value > SCORE_ROUNDING else -1.0
    against = summed((gap.lowest if sign > 0.0 else -gap.highest)[:, 0])
    worst = 2.0 * float(np.exp(-_log_capital(0.0, against, summed(gap.asked[:, 0]), most)))
    return msgspec.structs.replace(
        contrast,
        low=found.low,
        high=found.high,
        p=found.p,
        p_worst=min(1.0, max(worst, found.p)),
        method=BETTING_METHOD,
        p_method=BETTING_P,
        detectable=None,
    )
