"""How small a picture may become before half of what the model can see is lost."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, Integers, check_scores, divide
from eyechart.stats.bootstrap import percentile_interval, resample_ratios
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.isotonic import find_crossing, fit_falling

# A curve that loses less than this per octave around its threshold does not identify it (specification 2.4).
_FLAT_PER_OCTAVE = 0.05


class Threshold(NamedTuple):
    """Where the chance-corrected curve falls to a fraction of its first value; fields have the shape of the models.

    Args:
        log2_value: log₂ of the scale, or of pixels; −inf means "below the smallest level".
        log2_low: Lower bound; may be −inf.
        log2_high: Upper bound; may be −inf.
        curve: (…, n_levels) monotone chance-corrected accuracies, from the largest level down.
        log2_levels: (n_levels,) the levels, falling.
        is_defined: Whether the accuracy at the largest level lies above chance; if not, there is no threshold.
        is_flat: Whether the curve falls by less than 5 points in the octave above, around or below the threshold, so
            that it lies on or beside a plateau; print quarter and three-quarter thresholds too.
        fraction: The fraction asked for.
    """

    log2_value: Floats
    log2_low: Floats
    log2_high: Floats
    curve: Floats
    log2_levels: Floats
    is_defined: Bools
    is_flat: Bools
    fraction: float


def estimate_threshold(
    values: Floats,
    present: Bools,
    chance: Floats,
    clusters: Clusters,
    log2_scales: Floats,
    *,
    weights: Floats,
    fraction: float = 0.5,
    confidence: float = 0.95,
) -> Threshold:
    """Estimate the scale at which a fraction of the chance-corrected accuracy is left.

    κ per level, closest non-increasing curve, linear interpolation in log₂ scale, cluster bootstrap percentiles.

    Args:
        values: (n_questions, …, n_levels) scores in [0, 1]; the axes between are models.
        present: Same shape, True where there is a score.
        chance: (n_questions,) guess rates in [0, 1).
        clusters: Grouping of the questions.
        log2_scales: (n_levels,) distinct log₂ of the linear scales, in any order.
        weights: (n_resamples, n_clusters) from ``bootstrap.draw_weights``.
        fraction: Share of κ at the largest scale, in (0, 1).
        confidence: Coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: If shapes differ, a level has no answer, or as ``check_scores``.

    Example:
        >>> from eyechart.stats.bootstrap import draw_weights
        >>> from eyechart.stats.clusters import find_clusters
        >>> scores = np.repeat([[1.0, 1, 0, 0]], 40, axis=0)
        >>> threshold = estimate_threshold(
        ...     scores, scores >= 0, np.zeros(40), find_clusters(list(range(40))), np.log2([1, 0.5, 0.25, 0.125]),
        ...     weights=draw_weights(40, np.random.default_rng(0)),
        ... )
        >>> float(threshold.log2_value)
        -1.5
    """
    scores, mask = check_scores(values, present)
    if scores.shape[-1:] != np.shape(log2_scales) or scores.shape[:1] != np.shape(chance):
        raise StatisticsError(
            f"scores of shape {scores.shape} for {np.size(log2_scales)} levels and {np.size(chance)} guess rates",
            hint="questions are the first axis, levels the last",
        )
    guesses = np.asarray(chance, dtype=np.float64).reshape(-1, *[1] * (scores.ndim - 1))
    order = np.argsort(-np.asarray(log2_scales, dtype=np.float64), kind="stable")
    tops = cluster_sums(np.where(mask, scores - guesses, 0.0)[..., order], clusters)
    bottoms = cluster_sums(np.where(mask, 1.0 - guesses, 0.0)[..., order], clusters)
    levels = np.asarray(log2_scales, dtype=np.float64)[order]
    return _threshold(tops, bottoms, levels, weights, fraction, confidence)


def check_sizes(target_px: Floats, scores: Floats, mask: Bools) -> None:
    """Refuse sizes of targets that do not belong to scores.

    Raises:
        StatisticsError: If the shapes differ, or a size is not positive where there is a score.
    """
    if np.shape(target_px) != scores.shape or not (np.asarray(target_px)[mask] > 0.0).all():
        raise StatisticsError(
            f"target sizes of shape {np.shape(target_px)} for scores of shape {scores.shape}, or not positive",
            hint="leave out answers whose target size is unknown",
        )


def half_octaves(log2_px: Floats, mask: Bools, min_answers: int = 30) -> Integers:
    """Return the bin of each answer, 0 for the largest pixels; a bin holds at least ``min_answers`` of them."""
    steps = np.floor(log2_px * 2.0).astype(np.int64)
    bins = np.full(steps.shape, -1, dtype=np.int64)
    current, held = 0, 0
    for step in np.unique(steps[mask])[::-1]:
        is_step = mask & (steps == step)
        if held >= min_answers:
            current, held = current + 1, 0
        bins[is_step] = current
        held += int(is_step.sum())
    if 0 < held < min_answers and current > 0:
        bins[bins == current] = current - 1
    return bins


def _threshold(
    tops: Floats, bottoms: Floats, levels: Floats, weights: Floats, fraction: float, confidence: float
) -> Threshold:
    """Return the threshold of curves Σtops/Σbottoms over falling levels."""
    draws = resample_ratios(tops, bottoms, weights)
    answers = bottoms.sum(axis=0)
    curve = fit_falling(divide(tops.sum(axis=0), answers, where_zero=0.0), answers)
    value = find_crossing(curve, levels, fraction)
    low, high = percentile_interval(find_crossing(fit_falling(draws, answers), levels, fraction), confidence=confidence)
    first_low, _ = percentile_interval(draws[..., 0], confidence=confidence)
    at_value = [_value_at(curve, levels, value + shift) for shift in (1.0, 0.5, 0.0, -0.5, -1.0)]
    below = np.where(value - 1.0 >= levels[-1], at_value[2] - at_value[4], np.inf)  # else the curve ends there
    drop = np.minimum(np.minimum(at_value[0] - at_value[2], at_value[1] - at_value[3]), below)
    return Threshold(
        log2_value=value,
        log2_low=low,
        log2_high=high,
        curve=curve,
        log2_levels=levels,
        is_defined=np.asarray(first_low > 0.0),
        is_flat=np.asarray(np.isfinite(value) & (drop < _FLAT_PER_OCTAVE)),
        fraction=fraction,
    )


def _value_at(curves: Floats, levels: Floats, positions: Floats) -> Floats:
    """Return curves at positions, constant beyond their ends."""
    rows = curves.reshape(-1, curves.shape[-1])
    wanted = np.where(np.isfinite(positions), positions, levels[-1]).reshape(-1)
    values = [np.interp(where, levels[::-1], row[::-1]) for where, row in zip(wanted, rows, strict=True)]
    return np.array(values).reshape(np.shape(positions))
