"""Looks at a run that is not finished: where they lie, and how much of the error rate each may spend."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from eyechart.errors import StatisticsError
from eyechart.schema import Contrast
from eyechart.stats.arrays import Floats
from eyechart.stats.conditions import MIN_QUESTIONS
from eyechart.stats.small_samples import MIN_EFFECTIVE_CLUSTERS

MOST_LOOKS = 50
# What is left for the end: with it one loses 2 to 5 points of power against a single look.
_LAST_SHARE = 0.7
# No look is worth its table below this.
_LEAST = 1e-6
_TWO = 2


class Look(NamedTuple):
    """One look.

    Args:
        n_pictures: It uses so many pictures, from the first in the order of asking.
        alpha: Error rate that it spends on its whole family.
    """

    n_pictures: int
    alpha: float


def information(sizes: Sequence[int]) -> Floats:
    """Return how much of the whole information the first 1, 2, … pictures hold, rising to 1.

    It is the number of effective pictures n²/Σm² of a beginning over that of all. A large picture lowers that number
    when it comes; no more counts than every longer beginning holds too, so that a look never lies before it would.

    Args:
        sizes: (n_pictures,) questions about each picture, in the order of asking.

    Example:
        >>> information([1, 1, 1, 1]).tolist()
        [0.25, 0.5, 0.75, 1.0]
    """
    found = np.asarray(sizes, dtype=np.float64)
    effective = np.cumsum(found) ** 2 / np.cumsum(found**2)
    lasting: Floats = np.minimum.accumulate(effective[::-1])[::-1] / effective[-1]
    return lasting


def plan_looks(sizes: Sequence[int], n_looks: int, alpha: float) -> tuple[Look, ...]:
    """Return looks at equal steps of information, the last one at everything, with what each spends of the error rate.

    The sum of what is spent is ``alpha``, so that all looks together hold it whatever their dependence is (Bonferroni).
    The last look has 70 % of it; the others share the rest in the shape of O'Brien and Fleming's bounds, so that early
    looks spend next to nothing. A look at too little for a test (fewer than 30 questions, or than 10 effective
    pictures), or with less than a millionth to spend, is none: it spends nothing and leaves its part to the next.

    Args:
        sizes: (n_pictures,) questions about each picture, in the order of asking.
        n_looks: How many looks.
        alpha: Error rate over all of them.

    Raises:
        StatisticsError: If there are fewer than 2 or more than 50 looks, or two of them would see the same.

    Example:
        >>> [look.n_pictures for look in plan_looks([1] * 80, 5, 0.05)]
        [16, 32, 48, 64, 80]
        >>> [round(look.alpha, 4) for look in plan_looks([1] * 80, 5, 0.05)]
        [0.0, 0.001, 0.005, 0.009, 0.035]

    References:
        Lan & DeMets (1983), https://doi.org/10.1093/biomet/70.3.659 (spending by information).
        O'Brien & Fleming (1979), https://doi.org/10.2307/2530245 (the shape).
    """
    from scipy.special import ndtr, ndtri  # late: scipy is slow to import

    if not _TWO <= n_looks <= MOST_LOOKS:
        raise StatisticsError(
            f"{n_looks} looks cannot be planned", hint=f"give 2 to {MOST_LOOKS}; without any the end is the only look"
        )
    shares = information(sizes)
    steps = np.arange(1, n_looks + 1) / n_looks
    ends = np.searchsorted(shares, steps - 1e-9) + 1
    ends[-1] = len(shares)
    if len(set(ends.tolist())) < n_looks:
        raise StatisticsError(
            f"{n_looks} looks at {len(shares)} pictures of so unequal weight would see the same twice",
            hint="plan fewer looks",
        )
    shape = 2.0 * ndtr(ndtri(alpha / 2.0) / np.sqrt(steps))
    spent = (1.0 - _LAST_SHARE) * alpha * shape / shape[-2]
    spent[-1] = alpha
    found = np.asarray(sizes, dtype=np.float64)
    questions, squares = np.cumsum(found)[ends - 1], np.cumsum(found**2)[ends - 1]
    is_usable = (questions >= MIN_QUESTIONS) & (questions**2 / squares >= MIN_EFFECTIVE_CLUSTERS)
    looks, before = [], 0.0
    for end, total, usable in zip(ends.tolist(), spent.tolist(), is_usable.tolist(), strict=True):
        is_taken = usable and total - before >= _LEAST
        looks.append(Look(end, total - before if is_taken else 0.0))
        before = total if is_taken else before
    return tuple(looks)


def over_looks(contrast: Contrast, number: int, n_looks: int, alpha: float, *, of: float) -> Contrast:
    """Return a contrast of one look with p and interval that hold over all looks together.

    Its interval covers 1 − the error rate of this look, so that the intervals of all looks cover together with what is
    left of that of the family. p is stretched alike: it lies below that of the family where it was below the look's.

    Args:
        contrast: Adjusted within its family, with an interval that covers 1 − ``alpha``.
        number: Which look, from 1.
        n_looks: Looks of the plan.
        alpha: Error rate of this look.
        of: Error rate of the family over all looks.

    Example:
        >>> one = Contrast(name="", condition="a", baseline="b", value=0.2, low=0.05, high=0.35, n_questions=80,
        ...     n_clusters=80, gained=24, lost=8, method="", p_adjusted=0.004, confidence=0.99)
        >>> found = over_looks(one, 2, 5, 0.01, of=0.05)
        >>> found.p_adjusted, found.confidence
        (0.02, 0.95)
    """
    stretched = {
        name: None if (p := getattr(contrast, name)) is None else min(1.0, p * of / alpha)
        for name in ("p_adjusted", "p_if_like_others")
    }
    return msgspec.structs.replace(
        contrast,
        **stretched,
        confidence=round(1.0 - of, 10),
        method=f"{contrast.method}, over {n_looks} looks",
        family=f"{contrast.family}, look {number} of {n_looks}",
    )
