"""The smallest target that a model can still read, from all its answers pooled over the pixels it saw of the target."""

from typing import Literal, NamedTuple

import numpy as np

from eyechart.stats.arrays import Bools, Floats, check_scores, divide
from eyechart.stats.bootstrap import percentile_interval, resample_ratios
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.psychometric import PsychometricFit, fit_psychometric, misfit_p
from eyechart.stats.threshold import Threshold, check_sizes, estimate_threshold, half_octaves

AcuityStatus = Literal["estimated", "not reached", "not identified"]

# A curve needs three bands, and bands that differ by an octave at least from the smallest to the largest.
_FEWEST_BANDS, _LEAST_SPAN = 3, 1.0
_FEWEST_QUESTIONS, _FEWEST_CLUSTERS = 30, 20
_CEILING_BANDS = 4
_FITS = 0.05


class AcuityBands(NamedTuple):
    """The pooled answers by size of the target as it was seen, from the largest down.

    Args:
        log2_px: (n_bands,) mean log₂ of the shorter side in pixels.
        corrected: (n_bands,) chance-corrected accuracy.
        low: (n_bands,) lower bounds.
        high: (n_bands,) upper bounds.
        fitted: (n_bands,) the closest non-increasing curve.
        n_questions: (n_bands,) questions with an answer in the band.
    """

    log2_px: Floats
    corrected: Floats
    low: Floats
    high: Floats
    fitted: Floats
    n_questions: Floats


class AcuityEstimate(NamedTuple):
    """Where half of the chance-corrected plateau is left.

    Args:
        status: ``not reached`` where more than half is left even at the smallest targets, ``not identified`` where
            the answers do not tell; ``reason`` says why.
        reason: Why there is no estimate; empty if there is.
        log2_px: log₂ of the acuity in pixels, None unless estimated.
        low: log₂ of its lower bound, None where it lies below the smallest targets.
        high: log₂ of its upper bound, None where there is no estimate.
        bands: The curve behind it; None where there are too few answers for one.
        fit: A smooth curve over log₂ of multiples of the acuity, None unless it fits.
        fit_p: How often a curve of the smooth form lies as far off, None where none was fitted.
        n_questions: Questions with an answer to a target of known size.
        n_clusters: Their pictures.
    """

    status: AcuityStatus
    reason: str
    log2_px: float | None
    low: float | None
    high: float | None
    bands: AcuityBands | None
    fit: PsychometricFit | None
    fit_p: float | None
    n_questions: int
    n_clusters: int


def estimate_acuity(
    values: Floats,
    present: Bools,
    chance: Floats,
    clusters: Clusters,
    target_px: Floats,
    *,
    weights: Floats,
    confidence: float = 0.95,
) -> AcuityEstimate:
    """Estimate the size of target at which half of the chance-corrected plateau is left, or say why it is not known.

    Answers are pooled into bands of half an octave; within a band a question counts once, with its mean score. The
    plateau is the accuracy in the band of the largest targets. The curve is isotonic, the crossing linear in log₂
    pixels, the interval that of a cluster bootstrap.

    Args:
        values: (n_questions, n_views) scores in [0, 1] of one model.
        present: Same shape, True where there is a score and the target's size is known.
        chance: (n_questions,) guess rates in [0, 1).
        clusters: Grouping of the questions.
        target_px: (n_questions, n_views) positive where present: the shorter side in pixels the model saw.
        weights: (n_resamples, n_clusters) from ``bootstrap.draw_weights``.
        confidence: Coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: If shapes differ, or a size is not positive.

    Example:
        >>> from eyechart.stats.bootstrap import draw_weights
        >>> from eyechart.stats.clusters import find_clusters
        >>> px = np.repeat([[64.0, 32, 16, 8]], 40, axis=0)
        >>> found = estimate_acuity(
        ...     (px > 20) * 1.0, px > 0, np.zeros(40), find_clusters(list(range(40))), px,
        ...     weights=draw_weights(40, np.random.default_rng(0)),
        ... )
        >>> found.status, round(2**found.log2_px, 1)
        ('estimated', 22.6)
    """
    scores, mask = check_scores(values, present)
    check_sizes(target_px, scores, mask)
    counts = _counts(mask, clusters)
    too_few = _too_few(*counts)
    if too_few:
        return _unknown("not identified", too_few, None, counts)
    pooled, known, log2_px = _pool(scores, mask, np.asarray(target_px, dtype=np.float64))
    span = float(np.ptp(log2_px))
    if len(log2_px) < _FEWEST_BANDS or span < _LEAST_SPAN:
        reason = f"targets were seen at {len(log2_px)} sizes over {span:.1f} octaves: too few for a curve"
        return _unknown("not identified", reason, None, counts)
    threshold = estimate_threshold(pooled, known, chance, clusters, log2_px, weights=weights, confidence=confidence)
    bands = _bands(pooled, known, chance, clusters, threshold, weights, confidence)
    doubt = _doubt(threshold, bands)
    if doubt is not None:
        return _unknown(*doubt, bands, counts)
    fit, fit_p = _smooth(pooled, known, chance, clusters, log2_px - float(threshold.log2_value), weights)
    value, low, high = (float(one) for one in (threshold.log2_value, threshold.log2_low, threshold.log2_high))
    return AcuityEstimate("estimated", "", value, low if np.isfinite(low) else None, high, bands, fit, fit_p, *counts)


def _counts(mask: Bools, clusters: Clusters) -> tuple[int, int]:
    """Return the numbers of questions and of pictures with an answer."""
    answered = np.asarray(mask.any(axis=1), dtype=np.bool_)
    per_cluster = np.asarray(cluster_sums(answered, clusters))
    return int(answered.sum()), int((per_cluster > 0).sum())


def _too_few(n_questions: int, n_clusters: int) -> str:
    if n_questions >= _FEWEST_QUESTIONS and n_clusters >= _FEWEST_CLUSTERS:
        return ""
    return f"{n_questions} questions on {n_clusters} pictures are too few"


def _unknown(status: AcuityStatus, reason: str, bands: AcuityBands | None, counts: tuple[int, int]) -> AcuityEstimate:
    return AcuityEstimate(status, reason, None, None, None, bands, None, None, *counts)


def _pool(scores: Floats, mask: Bools, target_px: Floats) -> tuple[Floats, Bools, Floats]:
    """Return (n_questions, n_bands) mean scores, where there are any, and (n_bands,) mean log₂ pixels, falling."""
    log2_px = np.where(mask, np.log2(np.where(mask, target_px, 1.0)), 0.0)
    bins = half_octaves(log2_px, mask)
    n_bands = int(bins.max(initial=-1)) + 1
    sums, counts, centres = np.zeros((len(scores), n_bands)), np.zeros((len(scores), n_bands)), []
    for index in range(n_bands):
        is_member = mask & (bins == index)
        sums[:, index] = np.where(is_member, scores, 0.0).sum(axis=1)
        counts[:, index] = is_member.sum(axis=1)
        centres.append(float(log2_px[is_member].mean()))
    return divide(sums, counts, where_zero=0.0), counts > 0, np.array(centres)


def _bands(
    pooled: Floats,
    known: Bools,
    chance: Floats,
    clusters: Clusters,
    threshold: Threshold,
    weights: Floats,
    confidence: float,
) -> AcuityBands:
    guesses = np.asarray(chance, dtype=np.float64)[:, None]
    tops = cluster_sums(np.where(known, pooled - guesses, 0.0), clusters)
    bottoms = cluster_sums(np.where(known, 1.0 - guesses, 0.0), clusters)
    low, high = percentile_interval(resample_ratios(tops, bottoms, weights), confidence=confidence)
    return AcuityBands(
        log2_px=threshold.log2_levels,
        corrected=divide(tops.sum(axis=0), bottoms.sum(axis=0), where_zero=0.0),
        low=low,
        high=high,
        fitted=threshold.curve,
        n_questions=known.sum(axis=0).astype(np.float64),
    )


def _doubt(threshold: Threshold, bands: AcuityBands) -> tuple[AcuityStatus, str] | None:
    """Return status and reason where the curve gives no acuity."""
    largest, smallest = 2.0 ** bands.log2_px[0], 2.0 ** bands.log2_px[-1]
    if not bool(threshold.is_defined):
        return "not identified", f"even targets of about {largest:.3g} px are not read above chance"
    if not np.isfinite(threshold.log2_value):
        return "not reached", f"more than half of the plateau is left at the smallest targets, about {smallest:.3g} px"
    if bool(threshold.is_flat):
        return "not identified", "the curve has a plateau at half of its height, so that no size stands out"
    if not np.isfinite(threshold.log2_low) and float(threshold.log2_high) >= bands.log2_px[0]:
        return "not identified", "the interval covers every size that was seen"
    return None


def _smooth(
    pooled: Floats, known: Bools, chance: Floats, clusters: Clusters, levels: Floats, weights: Floats
) -> tuple[PsychometricFit | None, float | None]:
    """Return a smooth curve over levels, log₂ of multiples of the acuity, where it fits, and how well."""
    arguments = pooled, known, chance, clusters, levels
    fit = fit_psychometric(*arguments, has_ceiling=len(levels) >= _CEILING_BANDS)
    if not fit.has_converged or fit.slope <= 0.0:
        return None, None
    p = misfit_p(fit, *arguments, weights=weights)
    return (fit if p >= _FITS else None), p
