"""What a study can detect, and how many questions it needs."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.sign_flip import fair_binomial

_BISECTIONS = 60


class Design(NamedTuple):
    """What is promised of a test.

    Args:
        alpha: Two-sided error rate of the family.
        power: Chance to detect the effect.
        n_comparisons: Size of the family; the first step of Holm's correction tests at alpha/n_comparisons.
        variance_inflation: Factor by which clusters inflate the variance of the difference (deff).
    """

    alpha: float = 0.05
    power: float = 0.8
    n_comparisons: int = 1
    variance_inflation: float = 1.0

    @property
    def level(self) -> float:
        """Error rate of a single test."""
        return self.alpha / self.n_comparisons


DEFAULT_DESIGN = Design()


def detectable_difference(n_questions: int, discordance: float, design: Design = DEFAULT_DESIGN) -> float | None:
    """Return the smallest paired difference that is detected with the wanted power, by the normal approximation.

    Solves Δ = (z_{a/2}√δ + z_b√(δ−Δ²))·√(deff/n).

    Args:
        n_questions: Number of questions.
        discordance: Share δ of questions whose score differs between the two sides, in (0, 1].
        design: What is promised.

    Returns:
        The difference in (0, δ), or None where no difference can be detected: Δ never exceeds δ.

    Raises:
        StatisticsError: If a number is out of range.

    Example:
        >>> round(detectable_difference(700, 0.1), 4)
        0.0334
        >>> detectable_difference(115, 0.05) is None
        True

    References:
        Connor (1987), https://doi.org/10.2307/2531961
    """
    _check(n_questions, discordance, design)
    low, high = 0.0, discordance
    if _shortfall(high, n_questions, discordance, design) > 0.0:
        return None
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _shortfall(middle, n_questions, discordance, design) > 0.0 else (low, middle)
    return high if high < discordance else None


def questions_needed(difference: float, discordance: float, design: Design = DEFAULT_DESIGN) -> int:
    """Return how many questions detect a paired difference: ((z_{a/2}√δ + z_b√(δ−Δ²))/Δ)²·deff, rounded up.

    Args:
        difference: The difference Δ to detect, its size in (0, δ].
        discordance: Share δ of questions whose score differs, in (0, 1].
        design: What is promised.

    Raises:
        StatisticsError: If the difference is 0 or exceeds the discordance, or a number is out of range.

    Example:
        >>> questions_needed(0.05, 0.2)
        626
    """
    _check(1, discordance, design)
    if not 0.0 < abs(difference) <= discordance:
        raise StatisticsError(
            f"difference {difference} with discordance {discordance}", hint="a difference never exceeds the discordance"
        )
    needed = _reach(abs(difference), discordance, design) ** 2 / difference**2 * design.variance_inflation
    return int(np.ceil(needed - 1e-9))


def exact_power(n_questions: int, discordance: float, difference: float, level: float = 0.05) -> float:
    """Return the power of McNemar's mid-p test by enumerating all outcomes of independent questions.

    Args:
        n_questions: Number of questions.
        discordance: Share δ of questions whose score differs, in (0, 1].
        difference: The true difference, at most δ in size.
        level: Two-sided error rate.

    Raises:
        StatisticsError: If a number is out of range.

    Example:
        >>> round(exact_power(700, 0.1, 0.0332), 3)
        0.801
    """
    return _power_of(_rejections(n_questions, discordance, level), discordance, difference)


def exact_detectable_difference(n_questions: int, discordance: float, design: Design = DEFAULT_DESIGN) -> float | None:
    """Return the smallest difference that McNemar's mid-p test detects, by enumeration of independent questions.

    Args:
        n_questions: Number of questions.
        discordance: Share δ of questions whose score differs, in (0, 1].
        design: What is promised; ``variance_inflation`` divides the number of questions.

    Returns:
        The difference, or None where even Δ = δ is not detected.

    Raises:
        StatisticsError: If a number is out of range.

    Example:
        >>> round(exact_detectable_difference(57, 0.2), 4)
        0.1552
    """
    _check(n_questions, discordance, design)
    n_effective = max(1, int(n_questions / design.variance_inflation))
    rejections = _rejections(n_effective, discordance, design.level)
    if _power_of(rejections, discordance, discordance) < design.power:
        return None
    low, high = 0.0, discordance
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _power_of(rejections, discordance, middle) < design.power else (low, middle)
    return high


def discordance_from(accuracy: float, other: float, covariance: float = 0.0) -> float:
    """Return the discordance of two binary scores: p₁(1−p₂) + p₂(1−p₁) − 2·covariance.

    Example:
        >>> round(discordance_from(0.8, 0.7, 0.1), 3)
        0.18
    """
    return accuracy * (1.0 - other) + other * (1.0 - accuracy) - 2.0 * covariance


def bases_needed(target: float, within_sd: float, n_cells: int) -> int:
    """Return how many base samples push the noise floor of the regional gap below half a target.

    B ≥ (2·e_K·σ_w/target)², with e_K the expected maximum of K standard normals.

    Args:
        target: Regional divergence that matters, in (0, 1].
        within_sd: Standard deviation of the scores of one base sample over cells.
        n_cells: Number of cells K, at least 2.

    Raises:
        StatisticsError: If the target is not positive.

    Example:
        >>> bases_needed(0.05, 0.35, 25)
        758
    """
    from eyechart.stats.region import expected_maximum

    if target <= 0.0:
        raise StatisticsError(f"target {target} is not positive", hint="name the gap that would matter")
    return int(np.ceil((2.0 * expected_maximum(n_cells) * within_sd / target) ** 2))


def _reach(difference: float, discordance: float, design: Design) -> float:
    """Return z_{a/2}√δ + z_b√(δ−Δ²)."""
    from scipy.special import ndtri

    spread = np.sqrt(max(discordance - difference**2, 0.0))
    return float(ndtri(1.0 - design.level / 2.0) * np.sqrt(discordance) + ndtri(design.power) * spread)


def _shortfall(difference: float, n_questions: int, discordance: float, design: Design) -> float:
    return (
        _reach(difference, discordance, design) * float(np.sqrt(design.variance_inflation / n_questions)) - difference
    )


def _rejections(n_questions: int, discordance: float, level: float) -> list[tuple[float, int, int]]:
    """Return per number of discordant questions: its probability, itself, and the most lost ones that still reject."""
    from scipy.special import bdtr

    counts = np.arange(n_questions + 1)
    cumulative = bdtr(counts.astype(np.float64), n_questions, discordance)
    probabilities = np.diff(cumulative, prepend=0.0)
    rejections = []
    for n_discordant in counts[probabilities > 1e-14].tolist():  # noqa: PLR2004 - what is left out changes no digit
        law = fair_binomial(n_discordant)
        below = np.cumsum(law[: n_discordant // 2 + 1])
        mid = 2.0 * below - law[: n_discordant // 2 + 1]
        is_rejected = (mid <= level) & (2 * np.arange(mid.size) < n_discordant)
        rejections.append((float(probabilities[n_discordant]), n_discordant, int(is_rejected.sum()) - 1))
    return rejections


def _power_of(rejections: list[tuple[float, int, int]], discordance: float, difference: float) -> float:
    """Return the probability to reject, given where each number of discordant questions rejects."""
    from scipy.special import bdtr

    table = np.array([row for row in rejections if row[2] >= 0]).reshape(-1, 3)
    share = min(1.0, (discordance + abs(difference)) / (2.0 * discordance))
    tails = bdtr(table[:, 2], table[:, 1].astype(np.int64), 1.0 - share) + bdtr(
        table[:, 2], table[:, 1].astype(np.int64), share
    )
    return float((table[:, 0] * tails).sum())


def _check(n_questions: int, discordance: float, design: Design) -> None:
    is_valid = n_questions >= 1 and 0.0 < discordance <= 1.0 and design.n_comparisons >= 1
    if not (is_valid and 0.0 < design.alpha < 1.0 and 0.0 < design.power < 1.0 and design.variance_inflation > 0.0):
        raise StatisticsError(
            f"{n_questions} questions with discordance {discordance} under {design}",
            hint="shares lie between 0 and 1, counts are at least 1",
        )
