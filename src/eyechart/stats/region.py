"""Whether a model prefers a region of the picture, told apart from the noise of a maximum."""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats, Integers, check_confidence, check_scores, divide
from eyechart.stats.bootstrap import resample_ratios
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.omnibus import Omnibus, cochran_q, friedman


class RegionSummary(NamedTuple):
    """Positional preference of one model on one grid: print all of it, never the gap alone.

    Args:
        cell_means: (n_cells,) mean score per cell.
        gap: RD_map = best cell less the mean of the cells.
        noise_floor: e_K·τ, the gap to expect without any positional effect.
        p: Share of shuffles of cells within base samples with a gap at least as large.
        shuffled_means: (n_permutations, n_cells) cell means of those shuffles, for bands of what a flat model gives.
        cross_fitted_gap: What the best cell gains on base samples that did not choose it; never biased upward.
        position_sd: √max(0, Var(cell means) − τ²): comparable between grid sizes.
        sample_gap: RD_sample, mean over base samples of best cell less mean: instability, blind to which cell.
        rarefied_gap: RD_sample as if every grid had 9 cells; None for fewer.
        omnibus: Cochran's Q for scores of 0 and 1, else Friedman.
        n_bases: Complete base samples.
        n_dropped: Base samples left out because a cell is missing.
    """

    cell_means: Floats
    gap: float
    noise_floor: float
    p: float
    shuffled_means: Floats
    cross_fitted_gap: float
    position_sd: float
    sample_gap: float
    rarefied_gap: float | None
    omnibus: Omnibus
    n_bases: int
    n_dropped: int


_RAREFIED_CELLS = 9
_MOST_LEVELS = 6


def summarise_regions(
    values: Floats, present: Bools, *, rng: np.random.Generator, n_permutations: int = 999
) -> RegionSummary:
    """Summarise a grid on its complete base samples.

    Args:
        values: (n_bases, n_cells) scores in [0, 1]: one base sample shown in every cell.
        present: Same shape; base samples with a cell missing are left out, so that a partial run gives no fake gap.
        rng: Source of the shuffles.
        n_permutations: Number of shuffles; the smallest p is 1/(n_permutations + 1).

    Raises:
        StatisticsError: If fewer than two base samples are complete, there are fewer than two cells, or a score lies
            outside [0, 1].

    Example:
        >>> scores = np.tile([1.0, 0.0, 0.0, 0.0], (30, 1))
        >>> summary = summarise_regions(scores, scores >= 0, rng=np.random.default_rng(0), n_permutations=99)
        >>> summary.gap, summary.cross_fitted_gap, summary.p
        (0.75, 0.75, 0.01)
    """
    rows, n_dropped = complete_bases(values, present)
    everywhere = np.ones(rows.shape, dtype=np.bool_)
    is_binary = bool(np.isin(rows, (0.0, 1.0)).all())
    n_cells = rows.shape[1]
    shuffled = shuffled_cell_means(rows, rng=rng, n_permutations=n_permutations)
    return RegionSummary(
        cell_means=rows.mean(axis=0),
        gap=_gap(rows.mean(axis=0)),
        noise_floor=expected_maximum(n_cells) * float(np.sqrt(noise_variance(rows))),
        p=_p_above(_gaps(shuffled), _gap(rows.mean(axis=0))),
        shuffled_means=shuffled,
        cross_fitted_gap=cross_fitted_gap(rows, rng=rng),
        position_sd=position_sd(rows),
        sample_gap=rarefied_sample_gap(rows, n_cells),
        rarefied_gap=rarefied_sample_gap(rows, _RAREFIED_CELLS) if n_cells >= _RAREFIED_CELLS else None,
        omnibus=cochran_q(rows, everywhere) if is_binary else friedman(rows, everywhere),
        n_bases=len(rows),
        n_dropped=n_dropped,
    )


def complete_bases(values: Floats, present: Bools) -> tuple[Floats, int]:
    """Return the base samples with a score in every cell, and how many were left out.

    Raises:
        StatisticsError: If fewer than two remain, there are fewer than two cells, or a score lies outside [0, 1].

    Example:
        >>> complete_bases(np.ones((3, 2)), np.array([[True, True], [True, False], [True, True]]))[1]
        1
    """
    scores, mask = check_scores(values, present)
    if len(scores.shape[1:]) != 1 or scores.shape[1] <= 1:
        raise StatisticsError(f"grid scores of shape {scores.shape}", hint="give (n_bases, n_cells), at least 2 cells")
    rows = scores[mask.all(axis=1)]
    if len(rows) <= 1:
        raise StatisticsError(
            f"{len(rows)} of {len(scores)} base samples have every cell", hint="finish the run: a grid needs all cells"
        )
    return rows, len(scores) - len(rows)


@cache
def expected_maximum(n_cells: int) -> float:
    """Return e_K, the expected maximum of K independent standard normals, by quadrature.

    Args:
        n_cells: K, at least 1.

    Raises:
        StatisticsError: If K is below 1.

    Example:
        >>> round(expected_maximum(9), 3)
        1.485
    """
    from scipy.special import ndtr

    if n_cells < 1:
        raise StatisticsError(f"a grid of {n_cells} cells has no best one", hint="count rows times columns")
    positive = np.linspace(0.0, 10.0, 20001)
    # E max = ∫₀^∞ (1 − F^K) − ∫_{−∞}^0 F^K, with F the normal law
    gap = 1.0 - ndtr(positive) ** n_cells - ndtr(-positive) ** n_cells
    return float(np.trapezoid(gap, positive))


def noise_variance(rows: Floats) -> float:
    """Return τ²: the variance of a cell mean from the answers' instability within base samples.

    τ² = Σ_b s_b²/B², s_b² the variance over cells with divisor K−1 (for binary scores K/(K−1)·p̂(1−p̂)).

    Args:
        rows: (n_bases, n_cells) complete scores.

    Example:
        >>> noise_variance(np.array([[1.0, 0.0], [1.0, 1.0]]))
        0.125
    """
    return float(rows.var(axis=1, ddof=1).sum()) / len(rows) ** 2


def position_sd(rows: Floats) -> float:
    """Return √max(0, Var_j(X_j) − τ²): the spread of true cell means, almost unbiased.

    Args:
        rows: (n_bases, n_cells) complete scores.

    Example:
        >>> position_sd(np.tile([1.0, 0.0], (9, 1)))
        0.6666666666666666
    """
    return float(np.sqrt(max(0.0, float(rows.mean(axis=0).var(ddof=1)) - noise_variance(rows))))


def gap_p(rows: Floats, *, rng: np.random.Generator, n_permutations: int = 999) -> float:
    """Return the permutation p of the regional gap: cells shuffled within every base sample.

    Args:
        rows: (n_bases, n_cells) complete scores.
        rng: Source of the shuffles.
        n_permutations: Number of shuffles.

    Example:
        >>> gap_p(np.ones((5, 4)), rng=np.random.default_rng(0), n_permutations=9)
        1.0
    """
    return _p_above(shuffled_gaps(rows, rng=rng, n_permutations=n_permutations), _gap(rows.mean(axis=0)))


def shuffled_gaps(rows: Floats, *, rng: np.random.Generator, n_permutations: int = 999) -> Floats:
    """Return gaps after shuffling cells within base samples; their mean is the exact noise floor.

    Args:
        rows: (n_bases, n_cells) complete scores.
        rng: Source of the shuffles.
        n_permutations: Number of shuffles.

    Returns:
        (n_permutations,) gaps.

    Example:
        >>> shuffled_gaps(np.ones((5, 4)), rng=np.random.default_rng(0), n_permutations=2).tolist()
        [0.0, 0.0]
    """
    return _gaps(shuffled_cell_means(rows, rng=rng, n_permutations=n_permutations))


def shuffled_cell_means(rows: Floats, *, rng: np.random.Generator, n_permutations: int = 999) -> Floats:
    """Return the cell means after shuffling cells within base samples: the maps of a model without positional effect.

    Args:
        rows: (n_bases, n_cells) complete scores.
        rng: Source of the shuffles.
        n_permutations: Number of shuffles.

    Returns:
        (n_permutations, n_cells) means in [0, 1].

    Example:
        >>> shuffled_cell_means(np.ones((5, 4)), rng=np.random.default_rng(0), n_permutations=2).shape
        (2, 4)
    """
    levels = np.unique(rows)
    if len(levels) > _MOST_LEVELS:
        return np.stack([rng.permuted(rows, axis=1).mean(axis=0) for _ in range(n_permutations)])
    return np.stack([_shuffled_means(rows, levels, rng) for _ in range(n_permutations)])


def _shuffled_means(rows: Floats, levels: Floats, rng: np.random.Generator) -> Floats:
    """Return the cell means of one shuffle, three times as fast where there are few distinct scores.

    Cells are ranked by random keys within each base sample; the cells of its n lowest keys get its n highest scores.
    Two equal keys among 2³² in one base sample are too rare to matter.
    """
    keys = rng.integers(0, 1 << 32, size=rows.shape, dtype=np.uint32)
    ordered = np.sort(keys, axis=1)
    bases = np.arange(len(rows))
    means = np.full(rows.shape[1], float(levels[0]))
    for lower, level in pairwise(levels.tolist()):
        n_above = np.count_nonzero(rows >= level, axis=1)
        is_all = n_above == rows.shape[1]
        limits = ordered[bases, np.where(is_all, 0, n_above)]
        means += (level - lower) * ((keys < limits[:, None]) | is_all[:, None]).mean(axis=0)
    return means


def cross_fitted_gap(rows: Floats, *, rng: np.random.Generator, n_folds: int = 10) -> float:
    """Return what the best cell gains on base samples that took no part in choosing it.

    Args:
        rows: (n_bases, n_cells) complete scores, at least two bases.
        rng: Source of the split into folds.
        n_folds: Number of folds; at most one per base sample is used.

    Returns:
        Mean over base samples of the chosen cell less all cells. Tied best cells share the gain.

    Example:
        >>> cross_fitted_gap(np.tile([1.0, 0.0], (9, 1)), rng=np.random.default_rng(0))
        0.5
    """
    folds = rng.permutation(len(rows)) % min(n_folds, len(rows))
    gain = 0.0
    for fold in np.unique(folds):
        is_held = folds == fold
        means = rows[~is_held].mean(axis=0)
        chosen = means >= means.max() - SCORE_ROUNDING
        gain += float((rows[is_held][:, chosen].mean(axis=1) - rows[is_held].mean(axis=1)).sum())
    return gain / len(rows)


def rarefied_sample_gap(rows: Floats, n_drawn: int) -> float:
    """Return RD_sample with the maximum over ``n_drawn`` cells drawn without replacement, comparable between grids.

    Mean over base samples of Σ_j s_(j)·C(j−1, k−1)/C(K, k) − mean; with k = K the published RD_sample.

    Args:
        rows: (n_bases, n_cells) complete scores.
        n_drawn: k in 1…K.

    Raises:
        StatisticsError: If ``n_drawn`` is outside 1…K.

    Example:
        >>> rarefied_sample_gap(np.array([[1.0, 0.0, 0.0]]), 1)
        0.0
    """
    return float(rarefied_sample_gaps(rows, n_drawn).mean()) + 0.0


def rarefied_sample_gaps(rows: Floats, n_drawn: int) -> Floats:
    """Return the gap of every base sample whose mean is ``rarefied_sample_gap``.

    Args:
        rows: (n_bases, n_cells) complete scores.
        n_drawn: k in 1…K.

    Returns:
        (n_bases,) gaps in [0, 1].

    Raises:
        StatisticsError: If ``n_drawn`` is outside 1…K.

    Example:
        >>> rarefied_sample_gaps(np.array([[1.0, 0.0], [1.0, 1.0]]), 2).tolist()
        [0.5, 0.0]
    """
    from scipy.special import comb

    n_cells = rows.shape[1]
    if not 1 <= n_drawn <= n_cells:
        raise StatisticsError(f"cannot draw {n_drawn} of {n_cells} cells", hint="compare grids at the smaller size")
    weights = comb(np.arange(n_cells), n_drawn - 1) / comb(n_cells, n_drawn)
    gaps: Floats = np.maximum(np.sort(rows, axis=1) @ weights - rows.mean(axis=1), 0.0)
    return gaps


def sample_sds(rows: Floats) -> Floats:
    """Return the standard deviation over cells of every base sample, divisor K; its mean is the third Region.

    Args:
        rows: (n_bases, n_cells) complete scores.

    Returns:
        (n_bases,) in [0, 0.5].

    Example:
        >>> sample_sds(np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
        [0.5, 0.0]
    """
    return np.asarray(rows.std(axis=1), dtype=np.float64)


class CellBand(NamedTuple):
    """Cells against the model's own mean, with a band that holds for all cells together.

    Args:
        difference: (n_cells,) cell mean less the mean of the cells.
        half_width: (n_cells,) simultaneous half-width.
        is_apart: (n_cells,) whether the band of the cell excludes 0.
    """

    difference: Floats
    half_width: Floats
    is_apart: Bools


def band_cells(rows: Floats, clusters: Clusters, *, weights: Floats, confidence: float = 0.95) -> CellBand:
    """Compare every cell with the mean of all cells, family-wise (maximum |t| over cells, cluster bootstrap).

    Args:
        rows: (n_bases, n_cells) complete scores.
        clusters: Grouping of the base samples by image, at least two images.
        weights: (n_resamples, n_clusters) from ``bootstrap.draw_weights``.
        confidence: Joint coverage, in (0, 1).

    Raises:
        StatisticsError: If there are fewer than two clusters, or the confidence is outside (0, 1).

    Example:
        >>> from eyechart.stats.bootstrap import draw_weights
        >>> from eyechart.stats.clusters import find_clusters
        >>> weights = draw_weights(8, np.random.default_rng(0))
        >>> band_cells(np.ones((8, 4)), find_clusters(list(range(8))), weights=weights).is_apart.any()
        np.False_
    """
    check_confidence(confidence)
    if clusters.n_clusters <= 1:
        raise StatisticsError(f"{clusters.n_clusters} image under the grid", hint="use needles from several images")
    contrasts = rows - rows.mean(axis=1, keepdims=True)
    sums = cluster_sums(contrasts, clusters)
    sizes: Integers = clusters.sizes
    difference = contrasts.mean(axis=0)
    n_clusters = clusters.n_clusters
    squares = ((sums - sizes[:, None] * difference) ** 2).sum(axis=0)
    errors = np.sqrt(n_clusters / (n_clusters - 1) * squares) / len(rows)
    draws = resample_ratios(sums, sizes.astype(np.float64), weights)
    largest = np.abs(divide(draws - difference, errors, where_zero=0.0)).max(axis=1)
    half_width = float(np.quantile(largest, confidence, method="higher")) * errors
    return CellBand(difference, half_width, np.abs(difference) > half_width + SCORE_ROUNDING)


def _gap(cell_means: Floats) -> float:
    return float(cell_means.max() - cell_means.mean())


def _gaps(cell_means: Floats) -> Floats:
    return np.asarray(cell_means.max(axis=-1) - cell_means.mean(axis=-1), dtype=np.float64)


def _p_above(noise: Floats, observed: float) -> float:
    return float((1 + (noise >= observed - SCORE_ROUNDING).sum()) / (len(noise) + 1))
