"""How much a curve over resolutions moves: ACE, RCE and Spearman, each beside what a flat curve would give."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, check_scores, divide, mean_ranks
from eyechart.stats.bootstrap import percentile_interval, resample_ratios
from eyechart.stats.clusters import Clusters, cluster_sums


class CurveSummary(NamedTuple):
    """Movement of curves; every field has the shape of the leading axes.

    Args:
        ace: Σ|A_{l+1} − A_l|. At least |A_L − A_1|, with equality for a monotone curve.
        roughness: ACE − |A_L − A_1|: the movement that is not a net change.
        rce: ACE divided by the mean accuracy; 0.0 where that is 0.
        spearman: Rank correlation of level and accuracy; 0.0 for a constant curve.
        kendall: Kendall's τ-b of level and accuracy; 0.0 for a constant curve.
    """

    ace: Floats
    roughness: Floats
    rce: Floats
    spearman: Floats
    kendall: Floats


class CurveEstimate(NamedTuple):
    """The movement of one curve with its noise floor.

    Args:
        observed: Movement of the curve.
        floor: Mean (absolute) movement when levels are shuffled within every picture, in one order for all its
            questions: what a flat curve gives.
        excess_ace: ACE less its floor.
        ace_low: Lower bootstrap bound of ACE; biased upward like ACE itself.
        ace_high: Upper bootstrap bound.
        p_ace: Share of shuffles with an ACE at least as large.
        p_spearman: Share of shuffles with a |Spearman| at least as large.
        n_questions: Questions with a score at every level.
    """

    observed: CurveSummary
    floor: CurveSummary
    excess_ace: float
    ace_low: float
    ace_high: float
    p_ace: float
    p_spearman: float
    n_questions: int


def summarise_curves(curves: Floats, levels: Floats) -> CurveSummary:
    """Measure how much curves move along their last axis.

    Args:
        curves: (…, n_levels) accuracies.
        levels: (n_levels,) resolutions, in any order.

    Raises:
        StatisticsError: If there are fewer than two levels, or their number differs from the curve's.

    Example:
        >>> summary = summarise_curves(np.array([0.8, 0.9, 0.7]), np.array([1.0, 0.5, 0.25]))
        >>> round(float(summary.ace), 3), round(float(summary.roughness), 3)
        (0.3, 0.2)

    References:
        Res-Bench (2025), https://arxiv.org/abs/2510.16926 (ACE, RCE).
    """
    n_levels = np.size(levels)
    if n_levels <= 1 or curves.shape[-1] != n_levels:
        raise StatisticsError(
            f"curves of shape {curves.shape} over {n_levels} levels", hint="give one level per point, at least two"
        )
    ordered = curves[..., np.argsort(levels, kind="stable")]
    ace = measure_ace(curves, levels)
    net = np.abs(ordered[..., -1] - ordered[..., 0])
    return CurveSummary(
        ace=ace,
        roughness=ace - net,
        rce=divide(ace, ordered.mean(axis=-1), where_zero=0.0),
        spearman=_rank_correlation(ordered),
        kendall=_kendall(ordered),
    )


def estimate_curve(
    values: Floats,
    present: Bools,
    clusters: Clusters,
    levels: Floats,
    *,
    weights: Floats,
    rng: np.random.Generator,
    n_permutations: int = 199,
    confidence: float = 0.95,
) -> CurveEstimate:
    """Estimate how much one model's curve moves, beside what shuffled levels give.

    Args:
        values: (n_questions, n_levels) scores in [0, 1].
        present: Same shape; questions with a level missing are left out.
        clusters: Grouping of the questions.
        levels: (n_levels,) resolutions.
        weights: (n_resamples, n_clusters) from ``bootstrap.draw_weights``.
        rng: Source of the shuffles.
        n_permutations: Number of shuffles; the smallest p is 1/(n_permutations + 1).
        confidence: Coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: If no question has every level, or as ``summarise_curves``.

    Example:
        >>> from eyechart.stats.bootstrap import draw_weights
        >>> from eyechart.stats.clusters import find_clusters
        >>> rng, scores = np.random.default_rng(0), np.repeat([[1.0, 1, 0]], 40, axis=0)
        >>> estimate = estimate_curve(
        ...     scores, scores >= 0, find_clusters(list(range(40))), np.array([4, 2, 1]),
        ...     weights=draw_weights(40, rng), rng=rng,
        ... )
        >>> float(estimate.observed.ace), estimate.p_ace
        (1.0, 0.005)
    """
    scores, mask = check_scores(values, present)
    is_complete = np.asarray(mask.all(axis=-1), dtype=np.bool_)
    if len(scores.shape[1:]) != 1 or not is_complete.any():
        raise StatisticsError(
            f"no question of scores of shape {scores.shape} has an answer at every level",
            hint="finish the run, or leave out the incomplete level",
        )
    rows = scores[is_complete]
    observed = summarise_curves(rows.mean(axis=0), levels)
    sums = cluster_sums(np.where(is_complete[:, None], scores, 0.0), clusters)
    # Answers about one picture may move together, so its questions share one order of the levels.
    shuffled = np.stack([rng.permuted(sums, axis=1).sum(axis=0) / len(rows) for _ in range(n_permutations)])
    noise = summarise_curves(shuffled, levels)
    draws = resample_ratios(sums, cluster_sums(is_complete, clusters), weights)
    low, high = percentile_interval(measure_ace(draws, levels), confidence=confidence)
    floor = CurveSummary(*(np.asarray(np.abs(field).mean()) for field in noise))
    return CurveEstimate(
        observed=observed,
        floor=floor,
        excess_ace=float(observed.ace - floor.ace),
        ace_low=float(low),
        ace_high=float(high),
        p_ace=_share_at_least(noise.ace, observed.ace),
        p_spearman=_share_at_least(np.abs(noise.spearman), np.abs(observed.spearman)),
        n_questions=len(rows),
    )


def measure_ace(curves: Floats, levels: Floats) -> Floats:
    """Return Σ|A_{l+1} − A_l| along the last axis, levels sorted.

    Example:
        >>> round(float(measure_ace(np.array([0.8, 0.9, 0.7]), np.array([1.0, 0.5, 0.25]))), 3)
        0.3
    """
    ordered = curves[..., np.argsort(levels, kind="stable")]
    return np.asarray(np.abs(np.diff(ordered, axis=-1)).sum(axis=-1), dtype=np.float64)


def flat_ace(n_levels: int, n_questions: int, discordance: float) -> float:
    """Return the ACE to expect from a flat curve: (L−1)·√(2/π)·√(δ/n).

    Args:
        n_levels: Number of levels L.
        n_questions: Number of independent questions n, at least 1.
        discordance: Share of questions whose score differs between neighbouring levels.

    Example:
        >>> round(flat_ace(12, 700, 0.1), 3)
        0.105
    """
    return float((n_levels - 1) * np.sqrt(2.0 / np.pi * discordance / n_questions))


def _rank_correlation(ordered: Floats) -> Floats:
    """Return Spearman's correlation of position and value along the last axis, mean ranks for ties."""
    ranks = mean_ranks(np.round(ordered, 12))
    ranks = ranks - ranks.mean(axis=-1, keepdims=True)
    places = np.arange(ordered.shape[-1]) - (ordered.shape[-1] - 1) / 2.0
    spread = np.sqrt((ranks**2).sum(axis=-1) * (places**2).sum())
    return divide((ranks * places).sum(axis=-1), spread, where_zero=0.0)


def _kendall(ordered: Floats) -> Floats:
    """Return τ-b of position and value along the last axis."""
    values = np.round(ordered, 12)
    later, earlier = np.triu_indices(ordered.shape[-1], k=1)[::-1]
    signs = np.sign(values[..., later] - values[..., earlier])
    return divide(signs.sum(axis=-1), np.sqrt((signs**2).sum(axis=-1) * len(later)), where_zero=0.0)


def _share_at_least(noise: Floats, observed: Floats) -> float:
    return float((1 + (noise >= observed - 1e-9).sum()) / (len(noise) + 1))
