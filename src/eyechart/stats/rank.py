"""Ranks as sets: what the data allow each model's place to be."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, Integers, check_confidence, check_scores
from eyechart.stats.bootstrap import resample_ratios
from eyechart.stats.clusters import Clusters, cluster_sums

# Identical models differ with variance 0 up to rounding.
_VARIANCE_ROUNDING = 1e-20
_T_ROUNDING = 1e-5


class RankSets(NamedTuple):
    """Ranks that are compatible with the data, 1 = best.

    Args:
        value: (n_models,) mean scores on the questions that all models answered.
        best: (n_models,) 1 + number of models significantly better.
        worst: (n_models,) number of models less those significantly worse.
        p_adjusted: (n_models, n_models) p of each pair, adjusted over all pairs (max-t step-down); 1.0 on the diagonal.
        n_questions: Questions that all models answered.
    """

    value: Floats
    best: Integers
    worst: Integers
    p_adjusted: Floats
    n_questions: int


def rank_models(
    values: Floats,
    present: Bools,
    clusters: Clusters,
    *,
    weights: Floats,
    confidence: float = 0.95,
) -> RankSets:
    """Find every model's set of ranks with joint coverage.

    All pairs are compared by t = difference / CR1 error; the law of the largest |t| comes from the cluster bootstrap,
    and pairs are rejected step by step (Romano–Wolf). Order models inside a set by name, not by decimals.

    Args:
        values: (n_questions, n_models) scores in [0, 1].
        present: Same shape; questions that a model lacks are left out for all.
        clusters: Grouping of the questions.
        weights: (n_resamples, n_clusters) from ``bootstrap.draw_weights``; the smallest p is 1/(n_resamples + 1).
        confidence: Joint coverage of the sets, in (0, 1).

    Raises:
        StatisticsError: If fewer than two clusters were answered by all models, or as ``check_scores``.

    Example:
        >>> from eyechart.stats.bootstrap import draw_weights
        >>> from eyechart.stats.clusters import find_clusters
        >>> scores = np.stack([np.ones(60), np.r_[np.ones(30), np.zeros(30)], np.ones(60)], axis=1)
        >>> weights = draw_weights(60, np.random.default_rng(0))
        >>> sets = rank_models(scores, scores >= 0, find_clusters(list(range(60))), weights=weights)
        >>> list(zip(sets.best.tolist(), sets.worst.tolist()))
        [(1, 2), (3, 3), (1, 2)]

    References:
        Mogstad, Romano, Shaikh & Wilhelm (2024), https://doi.org/10.1093/restud/rdad006
        Romano & Wolf (2005), https://doi.org/10.1198/016214504000000539
    """
    check_confidence(confidence)
    scores, mask = check_scores(values, present)
    is_complete = np.asarray(mask.all(axis=1), dtype=np.bool_)
    all_sizes = cluster_sums(is_complete, clusters)
    is_used = all_sizes > 0.0
    sums = cluster_sums(np.where(is_complete[:, None], scores, 0.0), clusters)[is_used]
    sizes = all_sizes[is_used]
    if len(sizes) <= 1:
        raise StatisticsError(
            f"{len(sizes)} images were answered by all {scores.shape[1]} models", hint="rank runs of the same questions"
        )
    value = sums.sum(axis=0) / sizes.sum()
    noise = resample_ratios(sums, sizes, weights[:, is_used]) - value
    p_adjusted = _pair_p(value, covariance_of_means(sums, sizes), noise)
    is_better = (p_adjusted <= 1.0 - confidence + 1e-12) & (value[:, None] > value[None, :])
    return RankSets(
        value=value,
        best=1 + np.count_nonzero(is_better, axis=0).astype(np.int64),
        worst=len(value) - np.count_nonzero(is_better, axis=1).astype(np.int64),
        p_adjusted=p_adjusted,
        n_questions=int(sizes.sum()),
    )


def covariance_of_means(sums: Floats, sizes: Floats) -> Floats:
    """Return the CR1 covariance of means over the same questions: G/(G−1)·Σ e_g e_gᵀ/n².

    Args:
        sums: (n_clusters, n_columns) sums per cluster.
        sizes: (n_clusters,) positive numbers of questions; at least two clusters.

    Example:
        >>> covariance_of_means(np.eye(2), np.ones(2)).tolist()
        [[0.25, -0.25], [-0.25, 0.25]]
    """
    n_clusters, n = len(sizes), sizes.sum()
    residuals = sums - sizes[:, None] * (sums.sum(axis=0) / n)
    products = np.einsum("gi,gj->ij", residuals, residuals)  # small: BLAS threads would cost more than they save
    return np.asarray(n_clusters / (n_clusters - 1) * products / n**2, dtype=np.float64)


def _pair_p(value: Floats, covariance: Floats, noise: Floats) -> Floats:
    """Return p of every pair, adjusted by the law of the largest |t| among pairs not yet rejected (step-down)."""
    first, second = np.triu_indices(len(value), k=1)
    variances = np.diag(covariance)
    squares = variances[first] + variances[second] - 2.0 * covariance[first, second]
    scale = np.where(squares > _VARIANCE_ROUNDING, 1.0 / np.sqrt(np.maximum(squares, _VARIANCE_ROUNDING)), 0.0)
    observed = np.abs(value[first] - value[second]) * scale
    order = np.argsort(observed, kind="stable")
    first, second, observed = first[order], second[order], observed[order]
    # Whole rows are fast to take; float32 keeps 7 digits of the draws, far more than their number resolves.
    by_model = np.ascontiguousarray(noise.T, dtype=np.float32)
    largest = by_model[first]
    largest -= by_model[second]
    largest *= scale[order, None].astype(np.float32)
    np.abs(largest, out=largest)
    np.maximum.accumulate(largest, axis=0, out=largest)
    n_above = np.count_nonzero(largest >= (observed[:, None] - _T_ROUNDING).astype(np.float32), axis=1)
    p = np.maximum.accumulate(((1.0 + n_above) / (len(noise) + 1.0))[::-1])[::-1]
    p_adjusted = np.ones(covariance.shape)
    p_adjusted[first, second] = p_adjusted[second, first] = p
    return p_adjusted
