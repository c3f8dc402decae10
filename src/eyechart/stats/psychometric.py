"""A smooth curve with guess rate and ceiling, to draw over the isotonic one where it fits."""

from typing import NamedTuple

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.stats.arrays import Bools, Floats, check_scores, divide
from eyechart.stats.bootstrap import resample_ratios
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.isotonic import fit_falling

_MAX_STEPS = 100
_MAX_MOVE = 2.0  # largest change of a parameter per step: keeps the first steps from running to a flat region
_SMALL = 1e-10


class PsychometricFit(NamedTuple):
    """P(right) = c + (1−c)·ceiling·logistic(intercept + slope·log₂ scale).

    Args:
        intercept: Logit at scale 1.
        slope: Change of the logit per octave.
        ceiling: Share of questions that are not lapses, 1.0 where it was not fitted.
        standard_errors: (n_parameters,) model-based errors of intercept, slope and, if fitted, logit of the ceiling.
        cluster_errors: The same by the cluster sandwich.
        deviance: Against the saturated model of levels.
        has_converged: Whether the last step was small; if not, draw no curve.
    """

    intercept: float
    slope: float
    ceiling: float
    standard_errors: Floats
    cluster_errors: Floats
    deviance: float
    has_converged: bool

    @property
    def midpoint(self) -> float:
        """log₂ scale at which half of the ceiling is reached."""
        return -self.intercept / self.slope

    @property
    def log2_half(self) -> float:
        """log₂ scale at which half of the fitted chance-corrected accuracy at scale 1 is left."""
        return float(self.midpoint - np.logaddexp(0.0, np.log(2.0) - self.intercept) / self.slope)

    def corrected(self, log2_scales: Floats) -> Floats:
        """Return the chance-corrected accuracy at log₂ scales."""
        from scipy.special import expit

        return np.asarray(self.ceiling * expit(self.intercept + self.slope * log2_scales), dtype=np.float64)


def fit_psychometric(
    values: Floats,
    present: Bools,
    chance: Floats,
    clusters: Clusters,
    log2_scales: Floats,
    *,
    has_ceiling: bool = True,
) -> PsychometricFit:
    """Fit the curve by maximum likelihood (Fisher scoring).

    It assumes that all questions have one threshold; where they do not it is wrong by up to half an octave
    with an interval that misses the truth, so the threshold to report is ``threshold.estimate_threshold``.

    Args:
        values: (n_questions, n_levels) scores in [0, 1] of one model.
        present: Same shape, True where there is a score.
        chance: (n_questions,) guess rates in [0, 1).
        clusters: Grouping of the questions.
        log2_scales: (n_levels,) log₂ of the linear scales.
        has_ceiling: Whether a ceiling below 1 is fitted.

    Raises:
        StatisticsError: If shapes differ, a score lies outside [0, 1], or there are fewer levels than parameters.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> scores = (np.arange(100)[:, None] < [95, 80, 45, 30]).astype(float)
        >>> fit = fit_psychometric(
        ...     scores, scores >= 0, np.full(100, 0.25), find_clusters(list(range(100))), np.array([0.0, -1, -2, -3]),
        ...     has_ceiling=False,
        ... )
        >>> round(fit.midpoint, 2)
        -1.5

    References:
        Wichmann & Hill (2001), https://doi.org/10.3758/BF03194544
    """
    scores, mask = check_scores(values, present)
    if scores.shape != (np.size(chance), np.size(log2_scales)):
        raise StatisticsError(
            f"scores of shape {scores.shape} for {np.size(chance)} guess rates and {np.size(log2_scales)} levels",
            hint="questions are rows, levels are columns",
        )
    n_parameters = 3 if has_ceiling else 2
    if np.unique(np.asarray(log2_scales)[mask.any(axis=0)]).size < n_parameters:
        raise StatisticsError(
            f"{mask.any(axis=0).sum()} levels cannot fit {n_parameters} parameters", hint="ask at more"
        )
    guesses = np.asarray(chance, dtype=np.float64)[:, None]
    levels = np.asarray(log2_scales, dtype=np.float64)
    parameters = np.array([2.0, 1.0, 3.0])[:n_parameters]
    step = np.full(n_parameters, np.inf)
    for _ in range(_MAX_STEPS):
        gradients, information = _likelihood(parameters, scores, mask, guesses, levels)
        step = np.clip(np.linalg.pinv(information) @ gradients.sum(axis=(0, 1)), -_MAX_MOVE, _MAX_MOVE)
        parameters = parameters + step
        if np.abs(step).max() < _SMALL:
            break
    gradients, information = _likelihood(parameters, scores, mask, guesses, levels)
    bread = np.linalg.pinv(information)
    clustered = cluster_sums(gradients.sum(axis=1), clusters)
    return PsychometricFit(
        intercept=float(parameters[0]),
        slope=float(parameters[1]),
        ceiling=_ceiling(parameters),
        standard_errors=np.sqrt(np.diag(bread)),
        cluster_errors=np.sqrt(np.diag(bread @ clustered.T @ clustered @ bread)),
        deviance=_deviance(parameters, scores, mask, guesses, levels),
        has_converged=bool(np.abs(step).max() < 1e-6),  # noqa: PLR2004 - far below any printed digit
    )


def misfit_p(
    fit: PsychometricFit,
    values: Floats,
    present: Bools,
    chance: Floats,
    clusters: Clusters,
    log2_scales: Floats,
    *,
    weights: Floats,
) -> float:
    """Return how often a curve that truly has the fitted form lies as far from its isotonic fit as this one.

    Cluster bootstrap of the level means, moved onto the fitted curve and freed of what three parameters could follow.
    Drop the smooth curve where this is below 0.05.

    Args:
        fit: The fitted curve.
        values: (n_questions, n_levels) scores in [0, 1].
        present: Same shape, True where there is a score.
        chance: (n_questions,) guess rates in [0, 1).
        clusters: Grouping of the questions.
        log2_scales: (n_levels,) distinct log₂ scales.
        weights: (n_resamples, n_clusters) from ``bootstrap.draw_weights``.

    Returns:
        p in (0, 1].

    Raises:
        StatisticsError: If a score lies outside [0, 1], or a level has no answer.

    Example:
        >>> from eyechart.stats.bootstrap import draw_weights
        >>> from eyechart.stats.clusters import find_clusters
        >>> scores = (np.arange(100)[:, None] < [95, 80, 45, 30]).astype(float)
        >>> arguments = scores, scores >= 0, np.full(100, 0.25), find_clusters(list(range(100))), -np.arange(4.0)
        >>> weights = draw_weights(100, np.random.default_rng(0))
        >>> misfit_p(fit_psychometric(*arguments), *arguments, weights=weights) > 0.05
        True
    """
    scores, mask = check_scores(values, present)
    order = np.argsort(-np.asarray(log2_scales, dtype=np.float64), kind="stable")
    levels = np.asarray(log2_scales, dtype=np.float64)[order]
    guesses = np.asarray(chance, dtype=np.float64)[:, None]
    tops = cluster_sums(np.where(mask, scores - guesses, 0.0)[:, order], clusters)
    bottoms = cluster_sums(np.where(mask, 1.0 - guesses, 0.0)[:, order], clusters)
    answers = bottoms.sum(axis=0)
    observed = divide(tops.sum(axis=0), answers, where_zero=0.0)
    smooth = fit.corrected(levels)
    noise = resample_ratios(tops, bottoms, weights) - observed
    directions = _directions(fit, levels)
    follow = directions @ np.linalg.pinv(directions.T * answers @ directions) @ (directions.T * answers)
    moved = fit_falling(smooth + noise, answers) - smooth
    distances = (answers * (moved - noise @ follow.T) ** 2).sum(axis=1)
    distance = float((answers * (fit_falling(observed, answers) - smooth) ** 2).sum())
    return float((1 + (distances >= distance).sum()) / (len(distances) + 1))


def _ceiling(parameters: Floats) -> float:
    from scipy.special import expit

    return float(expit(parameters[2])) if len(parameters) > 2 else 1.0  # noqa: PLR2004 - the third is the ceiling


def _probabilities(parameters: Floats, guesses: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Return the logistic part (n_levels,) and the probabilities of a right answer (n_questions, n_levels)."""
    from scipy.special import expit

    logistic = expit(parameters[0] + parameters[1] * levels)
    right = guesses + (1.0 - guesses) * _ceiling(parameters) * logistic
    return logistic, np.clip(right, _SMALL, 1.0 - _SMALL)


def _likelihood(
    parameters: Floats, scores: Floats, mask: Bools, guesses: Floats, levels: Floats
) -> tuple[Floats, Floats]:
    """Return score vectors (n_questions, n_levels, n_parameters) and the expected information."""
    logistic, right = _probabilities(parameters, guesses, levels)
    ceiling = _ceiling(parameters)
    slope = (1.0 - guesses) * ceiling * logistic * (1.0 - logistic)
    parts = [slope, slope * levels, (1.0 - guesses) * ceiling * (1.0 - ceiling) * logistic][: len(parameters)]
    change = np.stack(parts, axis=-1)
    variance = right * (1.0 - right)
    gradients = np.where(mask, (scores - right) / variance, 0.0)[..., None] * change
    rows = change.reshape(-1, len(parameters))
    return gradients, rows.T @ (rows * (mask / variance).reshape(-1, 1))


def _deviance(parameters: Floats, scores: Floats, mask: Bools, guesses: Floats, levels: Floats) -> float:
    """Return twice the gap in log-likelihood to level means, per distinct guess rate."""
    from scipy.special import xlogy

    _, right = _probabilities(parameters, guesses, levels)
    total = 0.0
    for rate in np.unique(guesses):
        members = guesses[:, 0] == rate
        n = mask[members].sum(axis=0)
        mean = divide(np.where(mask[members], scores[members], 0.0).sum(axis=0), n, where_zero=0.0)
        fitted = right[members][0]
        total += float((n * (xlogy(mean, mean / fitted) + xlogy(1.0 - mean, (1.0 - mean) / (1.0 - fitted)))).sum())
    return 2.0 * total


def _directions(fit: PsychometricFit, levels: Floats) -> Floats:
    """Return the derivatives of the chance-corrected curve by its parameters, (n_levels, 3)."""
    logistic = fit.corrected(levels) / fit.ceiling
    slope = fit.ceiling * logistic * (1.0 - logistic)
    return np.stack([slope, slope * levels, fit.ceiling * (1.0 - fit.ceiling) * logistic], axis=1)
