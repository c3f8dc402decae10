"""Other intervals of a proportion: what other tools print, for comparison and for very few clusters."""

import numpy as np

from eyechart.stats.arrays import Floats, Integers, divide


def critical_t(degrees_of_freedom: Integers | Floats, confidence: float) -> Floats:
    """Return two-sided critical values of Student's t; infinite below one degree of freedom.

    Example:
        >>> round(float(critical_t(np.array(43), 0.95)), 4)
        2.0167
    """
    from scipy.special import stdtrit  # late: keeps the command line fast

    freedom = np.asarray(degrees_of_freedom, dtype=np.float64)
    quantile = stdtrit(np.maximum(freedom, 1.0), 0.5 + confidence / 2.0)
    return np.where(freedom >= 1.0, quantile, np.inf)


def wilson(value: Floats, n: Floats, critical: Floats) -> tuple[Floats, Floats]:
    """Return Wilson's score interval of proportions.

    Args:
        value: Proportions in [0, 1].
        n: Numbers of independent questions, not necessarily whole; 0 gives [0, 1].
        critical: Critical values, 1.96 for z at 95 %; infinite gives [0, 1].

    Returns:
        Lower and upper bounds inside [0, 1], exactly 0 or 1 where the proportion is.

    Example:
        >>> low, high = wilson(np.array(1.0), np.array(21.0), np.array(1.959964))
        >>> round(float(low), 4), float(high)
        (0.8454, 1.0)

    References:
        Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953
    """
    is_known = (n > 0.0) & np.isfinite(critical)
    size, t = np.where(is_known, n, 1.0), np.where(is_known, critical, 0.0)
    shrink = 1.0 + t**2 / size
    centre = (value + t**2 / (2.0 * size)) / shrink
    half = t / shrink * np.sqrt(value * (1.0 - value) / size + t**2 / (4.0 * size**2))
    low = np.where(value <= 0.0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(value >= 1.0, 1.0, np.minimum(centre + half, 1.0))
    return np.where(is_known, low, 0.0), np.where(is_known, high, 1.0)


def cluster_t(
    value: Floats, standard_error: Floats, n_clusters: Integers, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Return mean ± t(G−1)·SE: what most papers print. Its coverage falls to 25 % near 0 and 1, so never a default.

    Example:
        >>> low, high = cluster_t(np.array(0.5), np.array(0.1), np.array(44))
        >>> round(float(low), 4), round(float(high), 4)
        (0.2983, 0.7017)

    References:
        Miller (2024), https://arxiv.org/abs/2411.00640
    """
    half = critical_t(np.asarray(n_clusters) - 1, confidence) * standard_error
    return value - half, value + half


def logit_t(
    value: Floats, standard_error: Floats, n_clusters: Integers, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the t interval on the log-odds scale (R survey: ``svyciprop(method="logit")``); 0–1 where A is 0 or 1.

    Example:
        >>> low, high = logit_t(np.array(0.5), np.array(0.1), np.array(44))
        >>> round(float(low), 4), round(float(high), 4)
        (0.3086, 0.6914)
    """
    from scipy.special import expit, logit

    spread = value * (1.0 - value)
    is_inside = spread > 0.0
    centre = logit(np.where(is_inside, value, 0.5))
    half = critical_t(np.asarray(n_clusters) - 1, confidence) * divide(standard_error, spread, where_zero=0.0)
    return np.where(is_inside, expit(centre - half), 0.0), np.where(is_inside, expit(centre + half), 1.0)


def clopper_pearson(value: Floats, n: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the exact binomial interval: conservative at every size; ``n`` need not be whole.

    Example:
        >>> low, high = clopper_pearson(np.array(0.0), np.array(21.0))
        >>> float(low), round(float(high), 4)
        (0.0, 0.1611)

    References:
        Clopper & Pearson (1934), https://doi.org/10.1093/biomet/26.4.404
    """
    from scipy.special import betaincinv

    right = value * n
    wrong = n - right
    tail = (1.0 - confidence) / 2.0
    low = betaincinv(np.where(right > 0.0, right, 1.0), wrong + 1.0, tail)
    high = betaincinv(right + 1.0, np.where(wrong > 0.0, wrong, 1.0), 1.0 - tail)
    return np.where(right > 0.0, low, 0.0), np.where(wrong > 0.0, high, 1.0)


def jeffreys(value: Floats, n: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the equal-tailed Beta(½, ½) posterior interval, with bound 0 or 1 where the proportion is.

    Example:
        >>> low, high = jeffreys(np.array(0.0), np.array(21.0))
        >>> float(low), round(float(high), 4)
        (0.0, 0.1115)

    References:
        Brown, Cai & DasGupta (2001), https://doi.org/10.1214/ss/1009213286
    """
    from scipy.special import betaincinv

    right = value * n
    tail = (1.0 - confidence) / 2.0
    low = betaincinv(right + 0.5, n - right + 0.5, tail)
    high = betaincinv(right + 0.5, n - right + 0.5, 1.0 - tail)
    return np.where(value > 0.0, low, 0.0), np.where(value < 1.0, high, 1.0)


def korn_graubard(
    value: Floats, standard_error: Floats, n: Integers, n_clusters: Integers, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Return Clopper–Pearson on the effective n (R survey: ``svyciprop(method="beta")``): for fewer than 20 clusters.

    n_eff = A(1−A)/SE² · (t(n−1)/t(G−1))², not capped at n; n itself where A is 0 or 1, or the SE is 0.

    Example:
        >>> low, high = korn_graubard(np.array(0.9), np.array(0.05), np.array(60), np.array(12))
        >>> round(float(low), 3), round(float(high), 3)
        (0.734, 0.979)

    References:
        Korn & Graubard (1998), Survey Methodology 24, 193–201.
    """
    squeeze = critical_t(np.asarray(n) - 1, confidence) / critical_t(np.asarray(n_clusters) - 1, confidence)
    n_effective = divide(value * (1.0 - value), np.asarray(standard_error) ** 2, where_zero=0.0) * squeeze**2
    return clopper_pearson(value, np.where(n_effective > 0.0, n_effective, n), confidence=confidence)
