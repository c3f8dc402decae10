"""The exact test of a paired difference: flip the sign of whole clusters."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats, Integers

_N_FLIPS = 4999

# Beyond this many steps of the common denominator, sampling is faster than convolution (specification, section 2.1).
_MAX_TOTAL = 100_000
_MAX_DENOMINATOR = 1000
_STEP_ROUNDING = 1e-6
_MAX_TABLED_WIDTH = 12
_MAX_REMEMBERED_TOTAL = 2048


class SignFlipTable(NamedTuple):
    """Two-sided p-values; every field has the shape of the trailing axes of the cluster sums.

    Args:
        exact: P(|sum| ≥ observed): valid at every size, conservative.
        mid: ``exact`` less half the probability of the observed value: the default. 1.0 if every cluster sum is 0.
        is_exact: Whether all sign patterns were counted, or a sample of them.
    """

    exact: Floats
    mid: Floats
    is_exact: Bools


def name_p_method(*, is_exact: bool) -> str:
    """Return how a record names the p of ``sign_flip`` with its default number of flips.

    Example:
        >>> name_p_method(is_exact=True)
        'cluster sign-flip mid-p, exact'
    """
    return "cluster sign-flip mid-p, " + ("exact" if is_exact else f"{_N_FLIPS} Monte-Carlo flips")


def sign_flip(sums: Floats, *, n_flips: int = _N_FLIPS, rng: np.random.Generator | None = None) -> SignFlipTable:
    """Test whether cluster sums of paired differences are symmetric about 0.

    If the two conditions are exchangeable within an image, the signs of the cluster sums T_g are independent fair
    coins given |T_g|. The law of ΣT_g under these flips is the convolution of one binomial per distinct |T_g|.
    With every |T_g| at most 1 this is McNemar's test. Fractional scores are multiplied by their common denominator;
    where none up to 1000 is found, or the total exceeds 100,000 steps, random flips are drawn instead.

    Args:
        sums: (n_clusters, …) sums of differences per cluster.
        n_flips: Random flips where sampling is needed; the smallest p is then 1/(n_flips + 1).
        rng: Source of the random flips; None uses a fixed seed, so that a report never changes by itself. All
            trailing indices share the same flips, so their order does not matter.

    Returns:
        Exact and mid p-values.

    Example:
        >>> table = sign_flip(np.array([1.0, 1, 1, 1, 1, -1]))
        >>> round(float(table.exact), 6), round(float(table.mid), 6)
        (0.21875, 0.125)

    References:
        Fagerland, Lydersen & Laake (2013), https://doi.org/10.1186/1471-2288-13-91 (mid-p).
        Canay, Romano & Shaikh (2017), https://doi.org/10.3982/ECTA13081 (sign changes of clusters).
    """
    shape = np.shape(sums)[1:]
    columns = np.asarray(sums, dtype=np.float64).reshape(len(sums), math.prod(shape))
    exact, mid = np.ones(columns.shape[1]), np.ones(columns.shape[1])
    is_exact = np.zeros(columns.shape[1], dtype=np.bool_)
    whole = np.rint(columns)
    is_whole = np.abs(columns - whole).max(axis=0, initial=0.0) <= SCORE_ROUNDING
    widest = int(np.abs(whole[:, is_whole]).max(initial=0.0))
    is_narrow = is_whole & (widest <= _MAX_TABLED_WIDTH)
    if is_narrow.any():
        exact[is_narrow], mid[is_narrow] = _count_in_table(whole[:, is_narrow].astype(np.int64), widest)
        is_exact[is_narrow] = True
    for index in np.flatnonzero(~is_narrow):
        steps = _in_steps(columns[:, index])
        if steps is not None:
            widths, counts = np.unique(np.abs(steps[steps != 0]), return_counts=True)
            exact[index], mid[index] = _count_patterns(widths, counts, abs(int(steps.sum())))
            is_exact[index] = True
    if not is_exact.all():
        generator = np.random.default_rng(0) if rng is None else rng
        exact[~is_exact], mid[~is_exact] = _sample_patterns(columns[:, ~is_exact], n_flips, generator)
    return SignFlipTable(exact=exact.reshape(shape), mid=mid.reshape(shape), is_exact=is_exact.reshape(shape))


def _count_in_table(steps: Integers, widest: int) -> tuple[Floats, Floats]:
    """Return exact and mid p of every column of small whole numbers, counting each distinct case once."""
    sizes = np.abs(steps)
    widths = np.arange(1, widest + 1)
    cases = np.stack([*(np.count_nonzero(sizes == width, axis=0) for width in widths), np.abs(steps.sum(axis=0))])
    distinct, index = np.unique(cases, axis=1, return_inverse=True)
    results = [_count_patterns(widths[case[:-1] > 0], case[:-1][case[:-1] > 0], int(case[-1])) for case in distinct.T]
    table = np.array(results, dtype=np.float64).reshape(-1, 2)[np.ravel(index)]
    return table[:, 0], table[:, 1]


def _in_steps(column: Floats) -> Integers | None:
    """Return a column as whole multiples of its common denominator, or None if it has no small one."""
    distinct = np.unique(np.abs(column))
    for denominator in range(1, _MAX_DENOMINATOR + 1):
        scaled = distinct * denominator
        if (np.abs(scaled - np.rint(scaled)) <= _STEP_ROUNDING).all():
            steps = np.rint(column * denominator).astype(np.int64)
            return steps if int(np.abs(steps).sum()) <= _MAX_TOTAL else None
    return None


def _count_patterns(widths: Integers, counts: Integers, observed: int) -> tuple[float, float]:
    """Return exact and mid p of |Σ ±width| ≥ observed, ``counts`` fair coins of each width."""
    if widths.size == 0:
        return 1.0, 1.0
    total = int((widths * counts).sum())
    coins = tuple(widths.tolist()), tuple(counts.tolist())
    law, above = _remembered_law(*coins) if total <= _MAX_REMEMBERED_TOTAL else _plus_law(*coins)
    first = (total + observed) // 2  # sum = 2·plus − total, of the same parity as observed
    if observed == 0:
        return 1.0, 1.0 - float(law[first]) / 2.0
    return min(1.0, 2.0 * float(law[first] + above[first])), min(1.0, float(law[first] + 2.0 * above[first]))


def _plus_law(widths: tuple[int, ...], counts: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the law of the sum of the widths whose coin shows plus, and the probability of more than each value."""
    law = np.ones(1)
    for width, count in sorted(zip(widths, counts, strict=True), key=lambda pair: -pair[1]):
        coins = np.zeros(width * count + 1)
        coins[::width] = fair_binomial(count)
        law = _convolve(law, coins, width)
    return law, np.append(np.cumsum(law[:0:-1])[::-1], 0.0)


# The pairs of 30 models under 29 views share most of their laws.
_remembered_law = lru_cache(maxsize=2048)(_plus_law)


def _convolve(law: Floats, coins: Floats, width: int) -> Floats:
    """Convolve two laws, the second with mass at multiples of ``width`` only; never loses the relative precision."""
    if width == 1:
        return np.convolve(law, coins)
    result = np.zeros(law.size + coins.size - 1)
    for start in range(0, coins.size, width):
        result[start : start + law.size] += coins[start] * law
    return result


@lru_cache(maxsize=4096)
def fair_binomial(count: int) -> Floats:
    """Return the law of the number of heads among ``count`` fair coins, as a read-only array.

    Computed by the ratio of neighbours from the mode outwards, so that tails keep their relative precision.

    Example:
        >>> fair_binomial(2).tolist()
        [0.25, 0.5, 0.25]
    """
    mode = count // 2
    above = np.arange(mode, count, dtype=np.float64)
    right = np.concatenate([[1.0], np.cumprod((count - above) / (above + 1.0))])
    left = right[1:] if count % 2 == 0 else right[2:]  # an odd count has two modes
    law: Floats = np.concatenate([left[::-1], right])
    law /= law.sum()
    law.flags.writeable = False
    return law


def _sample_patterns(columns: Floats, n_flips: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return exact and mid p from random sign patterns, the observed pattern counted as one of them."""
    observed = np.abs(columns.sum(axis=0))
    tolerance = SCORE_ROUNDING * np.maximum(1.0, observed)
    n_above, n_equal = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    for first in range(0, n_flips, 500):
        signs = rng.integers(0, 2, size=(min(500, n_flips - first), len(columns))) * 2.0 - 1.0
        excess = np.abs(signs @ columns) - observed
        n_above += (excess > tolerance).sum(axis=0)
        n_equal += (np.abs(excess) <= tolerance).sum(axis=0)
    return (1.0 + n_above + n_equal) / (n_flips + 1.0), (1.0 + n_above + n_equal / 2.0) / (n_flips + 1.0)
