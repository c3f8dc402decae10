"""Whether a new candidate is as good as an old one up to a margin: pass, fail or cannot tell, and with what chance."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.corrections import holm
from eyechart.stats.missing import ScoreBounds
from eyechart.stats.paired import bonett_price
from eyechart.stats.sign_flip import sign_flip
from eyechart.stats.small_samples import effective_clusters, has_interval

Verdict = Literal["pass", "fail", "cannot tell"]
_ALPHA = 0.05
# What a normal bound of a rare loss lacks: the exact upper bound of a Poisson count k is about
# k + 1.5 + 1.645·√(k + 2), and √(k + 2) is what the two pseudo-pictures of the interval give.
_RARE_LOSSES = 1.5
_POWER = 0.8
_N_DRAWS = 4_000
_MOST_QUESTIONS = 10_000_000


class GateTable(NamedTuple):
    """The numbers behind a verdict; every field has the shape of the trailing axes, the mean and then the views last.

    Args:
        lower: One-sided 95 % lower bound of new − old, every missing answer counted against the new one.
        upper: Upper bound of the two-sided 95 % interval, every missing answer counted for the new one.
        p_fail: Two-sided p that the difference lies below its limit, corrected by Holm over mean and views.
        missing: Share of questions of which an answer is missing on one side or both, in [0, 1].
        has_interval: Whether there are at least 10 effective pictures.
        limit: Difference that must not be undercut, at most 0.
    """

    lower: Floats
    upper: Floats
    p_fail: Floats
    missing: Floats
    has_interval: Bools
    limit: Floats

    def column(self, at: int) -> "GateTable":
        """Return the numbers of the mean or of one view alone, as a table of one column."""
        return GateTable(
            lower=self.lower[at : at + 1],
            upper=self.upper[at : at + 1],
            p_fail=self.p_fail[at : at + 1],
            missing=self.missing[at : at + 1],
            has_interval=self.has_interval[at : at + 1],
            limit=self.limit[at : at + 1],
        )


class GatePower(NamedTuple):
    """What a candidate without any loss can expect of the gate.

    Args:
        probability: That it passes with as many questions, in [0, 1].
        n_needed: Questions at which it passes with 80 %; None where no number of them reaches that.
        smallest_margin: Margin of the mean with which it passes with 80 % with as many questions.
        smallest_view_margin: The same for the views.
    """

    probability: float
    n_needed: int | None
    smallest_margin: float
    smallest_view_margin: float


class _Errors(NamedTuple):
    centre: Floats
    error: Floats
    freedom: Floats
    inflation: Floats


def gate_gaps(new: ScoreBounds, old: ScoreBounds) -> ScoreBounds:
    """Return bounds of new − old, first the mean over the views and then every view.

    An answer that only one side was asked for is missing on the other. With one view the mean is that view.

    Args:
        new: Bounds of (n_questions, …, n_views) scores.
        old: The same for the other side.

    Returns:
        (n_questions, …, 1 + n_views) bounds; (…, 1) with one view.

    Example:
        >>> there = ScoreBounds(np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 2), dtype=bool))
        >>> gone = ScoreBounds(np.zeros((1, 2)), np.ones((1, 2)), np.ones((1, 2), dtype=bool))
        >>> gate_gaps(gone, there).lowest.tolist()
        [[-1.0, -1.0, -1.0]]
    """
    asked = new.asked | old.asked
    new_low, old_low = (np.where(one.asked, one.lowest, 0.0) for one in (new, old))
    new_high, old_high = (np.where(one.asked, one.highest, 1.0) for one in (new, old))
    lowest, highest = np.where(asked, new_low - old_high, 0.0), np.where(asked, new_high - old_low, 0.0)
    if asked.shape[-1] == 1:
        return ScoreBounds(lowest, highest, asked)
    n_asked = np.count_nonzero(asked, axis=-1, keepdims=True)
    means = (one.sum(axis=-1, keepdims=True) / np.maximum(n_asked, 1) for one in (lowest, highest))
    mean_low, mean_high = means
    return ScoreBounds(
        np.concatenate([mean_low, lowest], axis=-1),
        np.concatenate([mean_high, highest], axis=-1),
        np.concatenate([np.asarray(n_asked > 0, dtype=np.bool_), asked], axis=-1),
    )


def judge_gate(gap: ScoreBounds, clusters: Clusters, limit: Floats) -> GateTable:
    """Return the bounds and p-values that decide a gate.

    Lower bound: the cautious Bonett–Price bound, less the weight of 1.5 questions times the inflation of the
    variance, without which a candidate that only loses, and rarely, would pass too often. p of failing: the larger of
    the t-test against the limit and the sign-flip test against 0, so that what fails is also lower in ``eyechart
    diff``.

    Args:
        gap: Bounds of (n_questions, …, n_columns) differences, see ``gate_gaps``.
        clusters: Grouping of the questions.
        limit: (n_columns,) differences that must not be undercut, at most 0.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> same = ScoreBounds(np.zeros((700, 1)), np.zeros((700, 1)), np.ones((700, 1), dtype=bool))
        >>> table = judge_gate(same, find_clusters(list(range(700))), np.array([-0.02]))
        >>> table.lower.round(4).item(), table.p_fail.item()
        (-0.0055, 1.0)
    """
    from scipy.special import stdtr, stdtrit

    against = _errors(gap.lowest, gap.asked, clusters)
    n = np.maximum(np.count_nonzero(gap.asked, axis=0), 1)
    half = stdtrit(against.freedom, 1.0 - _ALPHA) * against.error
    lower = np.maximum(against.centre - half - _RARE_LOSSES * against.inflation / n, -1.0)
    favour = _errors(gap.highest, gap.asked, clusters)
    upper = np.minimum(favour.centre + stdtrit(favour.freedom, 1.0 - _ALPHA / 2.0) * favour.error, 1.0)
    below = np.minimum(2.0 * stdtr(favour.freedom, (favour.centre - limit) / favour.error), 1.0)
    sums = cluster_sums(gap.highest, clusters)
    flips = np.where(sums.sum(axis=0) < -SCORE_ROUNDING, sign_flip(sums).mid, 1.0)
    p = np.maximum(below, flips).reshape(-1, np.shape(limit)[0])
    adjusted = np.array([holm(row) for row in p]).reshape(np.shape(below))
    missing = np.count_nonzero(gap.highest - gap.lowest > SCORE_ROUNDING, axis=0) / n
    is_enough = has_interval(cluster_sums(gap.asked, clusters))
    return GateTable(lower, upper, adjusted, missing, is_enough, np.broadcast_to(limit, np.shape(lower)))


def verdict_of(table: GateTable, max_missing: float) -> tuple[Verdict, str]:
    """Return the verdict on one candidate, and why it cannot be told where it cannot.

    Args:
        table: The numbers of one candidate, (n_columns,) each.
        max_missing: Largest share of questions without an answer under any view, in [0, 1].

    Example:
        >>> ones = np.ones(1)
        >>> verdict_of(GateTable(-0.01 * ones, 0.01 * ones, ones, 0.0 * ones, ones > 0, -0.02 * ones), 0.01)
        ('pass', '')
    """
    views = table.missing[1:] if len(table.missing) > 1 else table.missing
    if (views > max_missing + SCORE_ROUNDING).any():
        return "cannot tell", f"more than {100 * max_missing:g} % of the answers under a view are missing"
    if not table.has_interval.all():
        return "cannot tell", "there are too few pictures: fewer than 10 of equal weight"
    if (table.p_fail < _ALPHA).any():
        return "fail", ""
    if (table.lower > table.limit).all():
        return "pass", ""
    return "cannot tell", "the difference is not known well enough"


def foresee_gate(gap: ScoreBounds, clusters: Clusters, limit: Floats) -> GatePower:
    """Return with what chance a candidate without any loss passes, and how many questions or which margins it takes.

    The scatter of the differences, their correlation between views and the share of missing answers are those found;
    the true differences are 0. Cluster sizes stay as they are when the number of questions grows.

    Args:
        gap: Bounds of (n_questions, n_columns) differences.
        clusters: Grouping of the questions.
        limit: (n_columns,) differences that must not be undercut.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> change = np.tile([1.0, -1.0, *[0.0] * 18], 35)[:, None]
        >>> gap = ScoreBounds(change, change, np.ones((700, 1), dtype=bool))
        >>> found = foresee_gate(gap, find_clusters(list(range(700))), np.array([-0.02]))
        >>> 0.3 < found.probability < 0.5, found.n_needed > 1500
        (True, True)
    """
    found = _errors((gap.lowest + gap.highest) / 2.0, gap.asked, clusters)
    n = np.maximum(np.count_nonzero(gap.asked, axis=0), 1)
    is_known = gap.asked & (gap.highest - gap.lowest <= SCORE_ROUNDING)
    like_others = np.where(is_known, gap.lowest, 0.0).sum(axis=0) / np.maximum(np.count_nonzero(is_known, axis=0), 1)
    missing = np.maximum(like_others - gap.lowest.sum(axis=0) / n, 0.0)
    squares = np.maximum(found.error**2 * (n + 2.0) ** 2 - 2.0, 0.0)
    sums = cluster_sums((gap.lowest + gap.highest) / 2.0, clusters)
    residuals = sums - cluster_sums(gap.asked, clusters) * (sums.sum(axis=0) / n)
    lengths = np.sqrt((residuals**2).sum(axis=0))
    units = np.divide(residuals, lengths, out=np.zeros_like(residuals), where=lengths > 0.0)
    values, vectors = np.linalg.eigh(units.T @ units)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scatter = np.random.default_rng(0).standard_normal((_N_DRAWS, len(root))) @ root.T

    def needs(factor: float) -> Floats:
        """Return (n_draws, n_columns) margins that would just be kept with ``factor`` times as many questions."""
        from scipy.special import stdtrit

        count = n * factor
        error = np.sqrt(squares * factor + 2.0) / (count + 2.0)
        half = stdtrit(np.maximum(found.freedom * factor, 1.0), 1.0 - _ALPHA) * error
        moved = scatter * np.sqrt(squares * factor) / (count + 2.0)
        return np.asarray(half + _RARE_LOSSES * found.inflation / count + missing - moved)

    def chance(factor: float) -> float:
        return float((needs(factor) < -limit).all(axis=1).mean())

    here = needs(1.0)
    margin, view_margin = _smallest_margins(here)
    return GatePower(chance(1.0), _needed(chance, int(n.max())), margin, view_margin)


def _needed(chance: Callable[[float], float], n: int) -> int | None:
    """Return the fewest questions with which the chance is 80 %, None where even the most do not reach it."""
    low, high = 10.0 / n, _MOST_QUESTIONS / n
    if chance(high) < _POWER:
        return None
    while (high - low) * n > 1.0:
        middle = (low * high) ** 0.5 if high > 2.0 * low else (low + high) / 2.0
        low, high = (middle, high) if chance(middle) < _POWER else (low, middle)
    return int(np.ceil(high * n))


def _smallest_margins(needs: Floats) -> tuple[float, float]:
    """Return margins of the mean and of the views that 80 % of the draws keep together, at one common quantile."""
    low, high = _POWER, 1.0
    views = needs[:, 1:] if needs.shape[1] > 1 else needs

    def margins(level: float) -> tuple[float, float]:
        return float(np.quantile(needs[:, 0], level)), float(np.quantile(views, level, axis=0).max())

    for _ in range(12):
        middle = (low + high) / 2.0
        mean, view = margins(middle)
        kept = float(((needs[:, 0] <= mean) & (views <= view).all(axis=1)).mean())
        low, high = (middle, high) if kept < _POWER else (low, middle)
    return margins(high)


def _errors(differences: Floats, present: Bools, clusters: Clusters) -> _Errors:
    """Return centre and error of the Bonett–Price interval, and by what factor pictures inflate the variance."""
    centre, error, freedom = bonett_price(np.where(present, differences, 0.0), present, clusters)
    n = np.count_nonzero(present, axis=0)
    spread = ((np.asarray(differences) ** 2).sum(axis=0) + 2.0) / (n + 2.0) - centre**2
    largest = n / np.maximum(effective_clusters(cluster_sums(present, clusters)), 1.0)
    inflation = np.clip(error**2 * (n + 2.0) / spread, 1.0, np.maximum(largest, 1.0))
    return _Errors(centre, error, freedom, inflation)
