"""What a run says about resolution: thresholds in nominal scale, and how much the curve moves."""

from collections.abc import Mapping, Sequence

import numpy as np

from eyechart.runs.closeness import distinct_levels
from eyechart.schema import CloseViews, CurveMovement, Downsample, Original, View
from eyechart.schema import Threshold as ThresholdRecord
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.bootstrap import draw_weights
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.conditions import ScoreTable
from eyechart.stats.curve import estimate_curve
from eyechart.stats.psychometric import fit_psychometric, misfit_p
from eyechart.stats.small_samples import has_interval
from eyechart.stats.threshold import Threshold, estimate_threshold

FRACTIONS = (0.75, 0.5, 0.25)
# Below these a curve is a scatter of dots.
_FEWEST_LEVELS, _FEWEST_QUESTIONS, _FEWEST_CLUSTERS = 3, 30, 20
_FITS = 0.05
_SEED = 0


def levels_of(views: Mapping[str, View]) -> tuple[tuple[str, float], ...]:
    """Return the conditions that show the whole scene at some scale, with that scale, from the largest down."""
    found = [
        (name, 1.0 if isinstance(view, Original) else view.linear_scale)
        for name, view in views.items()
        if isinstance(view, Original | Downsample)
    ]
    distinct = {scale: name for name, scale in sorted(found, key=lambda entry: entry[0] != "original", reverse=True)}
    return tuple((distinct[scale], scale) for scale in sorted(distinct, reverse=True))


def estimate_resolution(
    scores: ScoreTable, views: Mapping[str, View], close: Sequence[CloseViews] = ()
) -> tuple[tuple[ThresholdRecord, ...], CurveMovement | None]:
    """Return the thresholds and the movement of the curve over resolution; nothing where it rests on too little.

    A threshold needs an accuracy at the largest scale that lies above chance, at least 3 scales, and 30 questions on
    20 pictures, at least 10 effective ones. Of levels that are one picture to the model (``close``) only the largest
    counts.
    """
    levels = distinct_levels(levels_of(views), close)
    columns = [scores.column(name) for name, _ in levels]
    values = np.asarray(scores.values, dtype=np.float64)[:, columns]
    present = np.asarray(scores.present, dtype=np.bool_)[:, columns]
    is_complete = np.asarray(present.all(axis=1), dtype=np.bool_)
    clusters = scores.clusters
    sizes = cluster_sums(is_complete, clusters)
    n_clusters = int(np.count_nonzero(sizes))
    is_few = is_complete.sum() < _FEWEST_QUESTIONS or n_clusters < _FEWEST_CLUSTERS or not has_interval(sizes)
    if len(levels) < _FEWEST_LEVELS or is_few:
        return (), None
    kept = np.repeat(is_complete[:, None], len(levels), axis=1)
    chance = np.zeros(len(values)) if scores.chance is None else np.asarray(scores.chance, dtype=np.float64)
    scales = np.array([scale for _, scale in levels])
    rng = np.random.default_rng(_SEED)
    weights = draw_weights(clusters.n_clusters, rng)
    curve = _Curve(np.where(kept, values, 0.0), kept, chance, clusters, int(is_complete.sum()), n_clusters, weights)
    moved = estimate_curve(curve.values, curve.present, clusters, scales, weights=weights, rng=rng)
    movement = CurveMovement(
        ace=float(moved.observed.ace),
        ace_low=moved.ace_low,
        ace_high=moved.ace_high,
        ace_floor=float(moved.floor.ace),
        ace_p=moved.p_ace,
        roughness=float(moved.observed.roughness),
        rce=float(moved.observed.rce),
        rce_floor=float(moved.floor.rce),
        spearman=float(moved.observed.spearman),
        spearman_floor=float(moved.floor.spearman),
        spearman_p=moved.p_spearman,
        n_levels=len(levels),
        n_questions=moved.n_questions,
    )
    return tuple(curve.by_scale(np.log2(scales))), movement


class _Curve:
    """The scores of one model over falling scales, on the questions that have all of them."""

    def __init__(
        self,
        values: Floats,
        present: Bools,
        chance: Floats,
        clusters: Clusters,
        n_questions: int,
        n_clusters: int,
        weights: Floats,
    ) -> None:
        self.values, self.present, self._chance, self._clusters = values, present, chance, clusters
        self._n = (n_questions, n_clusters)
        self._weights = weights

    def by_scale(self, log2_scales: Floats) -> list[ThresholdRecord]:
        """Return the thresholds in nominal scale, with those of a smooth curve where it fits."""
        smooth, misfit = self._smooth(log2_scales)
        found = []
        for fraction in FRACTIONS:
            threshold = estimate_threshold(
                self.values,
                self.present,
                self._chance,
                self._clusters,
                log2_scales,
                weights=self._weights,
                fraction=fraction,
            )
            if not bool(threshold.is_defined):
                return []
            value = smooth if fraction == 0.5 else None  # noqa: PLR2004 -- the fit states its half level only
            found.append(self._record(threshold, value, misfit))
        return found

    def _smooth(self, log2_scales: Floats) -> tuple[float | None, float | None]:
        arguments = self.values, self.present, self._chance, self._clusters, log2_scales
        fit = fit_psychometric(*arguments, has_ceiling=len(log2_scales) > _FEWEST_LEVELS)
        if not fit.has_converged or fit.slope <= 0.0:
            return None, None
        p = misfit_p(fit, *arguments, weights=self._weights)
        return (float(2.0**fit.log2_half) if p >= _FITS else None), p

    def _record(self, threshold: Threshold, smooth: float | None, misfit: float | None) -> ThresholdRecord:
        return ThresholdRecord(
            unit="linear scale",
            fraction=threshold.fraction,
            value=_power(float(threshold.log2_value)),
            low=_power(float(threshold.log2_low)),
            high=_power(float(threshold.log2_high)),
            smallest=float(2.0 ** threshold.log2_levels[-1]),
            largest=float(2.0 ** threshold.log2_levels[0]),
            is_flat=bool(threshold.is_flat),
            n_questions=self._n[0],
            n_clusters=self._n[1],
            smooth_value=smooth,
            misfit_p=misfit,
        )


def _power(log2: float) -> float | None:
    return float(2.0**log2) if np.isfinite(log2) else None
