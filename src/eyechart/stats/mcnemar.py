"""The classical paired tests, which know no clusters: for comparison with other tools, and for power."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Floats
from eyechart.stats.sign_flip import fair_binomial

_BISECTIONS = 60


class McNemar(NamedTuple):
    """Two-sided p-values of McNemar's test in its four usual versions."""

    exact: float
    mid: float
    chi_square: float
    chi_square_corrected: float


def mcnemar(gained: int, lost: int) -> McNemar:
    """Test whether as many questions were gained as lost, taking all questions as independent.

    With several questions per image its true error rate reaches 14 %: the default is ``sign_flip.sign_flip``.

    Raises:
        StatisticsError: If a count is negative.

    Example:
        >>> round(mcnemar(1, 5).mid, 6)
        0.125

    References:
        Fagerland, Lydersen & Laake (2013), https://doi.org/10.1186/1471-2288-13-91
    """
    from scipy.special import chdtrc

    if min(gained, lost) < 0:
        raise StatisticsError(f"{gained} gained and {lost} lost are not counts", hint="count discordant questions")
    discordant = gained + lost
    if discordant == 0:
        return McNemar(1.0, 1.0, 1.0, 1.0)
    law = fair_binomial(discordant)
    low, at = float(law[: min(gained, lost) + 1].sum()), float(law[gained])
    exact = 1.0 if gained == lost else min(1.0, 2.0 * low)
    excess = abs(gained - lost)
    return McNemar(
        exact=exact,
        mid=1.0 - at / 2.0 if gained == lost else 2.0 * low - at,
        chi_square=float(chdtrc(1, excess**2 / discordant)),
        chi_square_corrected=float(chdtrc(1, max(excess - 1, 0) ** 2 / discordant)),
    )


def obuchowski(sums: Floats) -> float:
    """Return the clustered McNemar statistic (ΣT_g)²/ΣT_g², χ² with one degree of freedom; 0.0 without discordance.

    Args:
        sums: (n_clusters,) sums of paired differences per cluster.

    Example:
        >>> obuchowski(np.array([1.0, 1.0, -1.0]))
        0.3333333333333333

    References:
        Obuchowski (1998), https://doi.org/10.1002/(SICI)1097-0258(19980715)17:13<1495::AID-SIM863>3.0.CO;2-I
    """
    squares = float((sums**2).sum())
    return float(sums.sum()) ** 2 / squares if squares else 0.0


def tango(gained: int, lost: int, n_questions: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return Tango's score interval of the paired difference, taking all questions as independent.

    Raises:
        StatisticsError: If there are more discordant questions than questions, or none at all.

    Example:
        >>> low, high = tango(6, 17, 60)
        >>> round(low, 4), round(high, 4)
        (-0.3329, -0.0283)

    References:
        Tango (1998), https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B
    """
    from scipy.special import ndtri

    if not 0 < n_questions >= gained + lost:
        raise StatisticsError(f"{gained} + {lost} discordant of {n_questions} questions", hint="count questions once")
    critical = float(ndtri(0.5 + confidence / 2.0))
    observed = (gained - lost) / n_questions
    bounds = []
    for border in (-1.0, 1.0):
        inside, outside = observed, border
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2.0
            is_inside = abs(_score(gained, lost, n_questions, middle)) <= critical
            inside, outside = (middle, outside) if is_inside else (inside, middle)
        bounds.append(inside)
    return bounds[0], bounds[1]


def _score(gained: int, lost: int, n: int, difference: float) -> float:
    """Return the score statistic of the hypothesis that the difference has this value."""
    linear = (2 * n - gained + lost) * difference - gained - lost
    constant = -lost * difference * (1.0 - difference)
    root = (np.sqrt(linear**2 - 8.0 * n * constant) - linear) / (4.0 * n)
    variance = n * (2.0 * root + difference * (1.0 - difference))
    distance = gained - lost - n * difference
    if variance <= 0.0:
        return 0.0 if distance == 0.0 else float(np.copysign(np.inf, distance))
    return float(distance / np.sqrt(variance))
