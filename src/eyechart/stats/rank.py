"""Ranks as sets: what the data allow each model's place to be."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, Integers, check_confidence, check_scores
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.sign_flip import sign_flip
from eyechart.stats.small_samples import has_interval

_N_FLIPS = 1_999
_T_ROUNDING = 1e-5


class RankSets(NamedTuple):
    """Ranks that are compatible with the data, 1 = best.

    Args:
        value: (n_models,) mean scores on the questions that all models answered.
        best: (n_models,) 1 + number of models significantly better.
        worst: (n_models,) number of models less those significantly worse.
        p: (n_models, n_models) exact cluster sign-flip mid-p of each pair; 1.0 on the diagonal.
        p_adjusted: Same shape; p adjusted over all pairs (max-t step-down), never below ``p``.
        n_questions: Questions that all models answered.
    """

    value: Floats
    best: Integers
    worst: Integers
    p: Floats
    p_adjusted: Floats
    n_questions: int


def rank_models(
    values: Floats,
    present: Bools,
    clusters: Clusters,
    *,
    confidence: float = 0.95,
    n_flips: int = _N_FLIPS,
) -> RankSets:
    """Find every model's set of ranks with joint coverage.

    A pair (i, j) has t = |Σ_g (S_gi − S_gj)|/√(Σ_g (S_gi − S_gj)²) over the images g, which random signs of whole
    images leave centred on 0 if the two models are equal. The law of the largest t over all pairs comes from the same
    signs for all of them, and pairs are rejected step by step. Order models inside a set by name, not by decimals.

    Args:
        values: (n_questions, n_models) scores in [0, 1].
        present: Same shape; questions that a model lacks are left out for all.
        clusters: Grouping of the questions.
        confidence: Joint coverage of the sets, in (0, 1).
        n_flips: Random signs; the smallest adjusted p is 1/(n_flips + 1). They have a fixed seed.

    Returns:
        The sets; below 10 effective images nothing is told apart, and all p are 1.

    Raises:
        StatisticsError: If fewer than two clusters were answered by all models, or as ``check_scores``.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> scores = np.stack([np.ones(60), np.r_[np.ones(30), np.zeros(30)], np.ones(60)], axis=1)
        >>> sets = rank_models(scores, scores >= 0, find_clusters(list(range(60))))
        >>> list(zip(sets.best.tolist(), sets.worst.tolist()))
        [(1, 2), (3, 3), (1, 2)]

    References:
        Mogstad, Romano, Shaikh & Wilhelm (2024), https://doi.org/10.1093/restud/rdad006
        Romano & Wolf (2005), https://doi.org/10.1198/016214504000000539 (step-down)
        Canay, Romano & Shaikh (2017), https://doi.org/10.3982/ECTA13081 (sign changes of clusters)
    """
    check_confidence(confidence)
    scores, mask = check_scores(values, present)
    n_models = scores.shape[1]
    is_complete = np.asarray(mask.all(axis=1), dtype=np.bool_)
    all_sizes = cluster_sums(is_complete, clusters)
    is_used = all_sizes > 0.0
    sums = cluster_sums(np.where(is_complete[:, None], scores, 0.0), clusters)[is_used]
    sizes = all_sizes[is_used]
    if len(sizes) <= 1:
        raise StatisticsError(
            f"{len(sizes)} images were answered by all {n_models} models", hint="rank runs of the same questions"
        )
    value = sums.sum(axis=0) / sizes.sum()
    first, second = np.triu_indices(n_models, k=1)
    p, p_adjusted = np.ones((n_models, n_models)), np.ones((n_models, n_models))
    if has_interval(sizes) and len(first):
        raw = sign_flip(sums[:, first] - sums[:, second]).mid
        adjusted = np.maximum(_largest_t(sums, first, second, n_flips), raw)
        p[first, second] = p[second, first] = raw
        p_adjusted[first, second] = p_adjusted[second, first] = adjusted
    is_better = (p_adjusted <= 1.0 - confidence + 1e-12) & (value[:, None] > value[None, :])
    return RankSets(
        value=value,
        best=1 + np.count_nonzero(is_better, axis=0).astype(np.int64),
        worst=n_models - np.count_nonzero(is_better, axis=1).astype(np.int64),
        p=p,
        p_adjusted=p_adjusted,
        n_questions=int(sizes.sum()),
    )


def _largest_t(sums: Floats, first: Integers, second: Integers, n_flips: int) -> Floats:
    """Return p of every pair, adjusted by the law of the largest t among pairs not yet rejected (step-down)."""
    products = np.einsum("gi,gj->ij", sums, sums)  # small: BLAS threads would cost more than they save
    squares = np.diag(products)[first] + np.diag(products)[second] - 2.0 * products[first, second]
    # A pair whose answers agree on every image differs nowhere, whatever the signs.
    is_same = ~(sums[:, first] != sums[:, second]).any(axis=0)
    scale = np.where(is_same, 0.0, 1.0 / np.sqrt(np.where(is_same, 1.0, np.maximum(squares, 1e-300))))
    totals = sums.sum(axis=0)
    observed = np.abs(totals[first] - totals[second]) * scale
    order = np.argsort(observed, kind="stable")
    signs = np.random.default_rng(0).integers(0, 2, size=(n_flips, len(sums))) * 2.0 - 1.0
    # Whole rows are fast to take; float32 keeps 7 digits of the draws, far more than their number resolves.
    by_model = np.ascontiguousarray((signs @ sums).T, dtype=np.float32)
    largest = by_model[first[order]]
    largest -= by_model[second[order]]
    largest *= scale[order, None].astype(np.float32)
    np.abs(largest, out=largest)
    np.maximum.accumulate(largest, axis=0, out=largest)
    n_above = np.count_nonzero(largest >= (observed[order, None] - _T_ROUNDING).astype(np.float32), axis=1)
    stepped = np.maximum.accumulate(((1.0 + n_above) / (n_flips + 1.0))[::-1])[::-1]
    adjusted = np.empty(len(order))
    adjusted[order] = stepped
    return adjusted
