"""Validity rules about scores and answers: evaluated before any effect is printed."""

from collections.abc import Mapping, Sequence

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.schema import Contrast, Estimate
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.clusters import Clusters, cluster_sums
from eyechart.stats.codes import Code
from eyechart.stats.conditions import can_test
from eyechart.stats.findings import Finding
from eyechart.stats.letters import LetterBias
from eyechart.stats.omnibus import cochran_q, friedman
from eyechart.stats.ratio import ChanceCorrectedTable
from eyechart.stats.sign_flip import sign_flip
from eyechart.stats.small_samples import has_interval

# Thresholds of the specification's section 5.
_CLEAR_P = 0.01
_MISSING_POINTS = 0.005
_UNPARSED_POINTS = 0.01
_MOST_LISTED = 6
_CEILING = 0.95
_MANY = 20
_GOLD_IMBALANCE = 0.05
_CHANCE_ROUNDING = 1e-9


def check_missing(present: Bools | Floats, clusters: Clusters, conditions: Sequence[str]) -> Finding | None:
    """Find missing answers that depend on the condition: they are not missing at random (MNAR).

    Args:
        present: (n_questions, n_conditions) True where there is a score; with repeats, the share that is there.
        clusters: Grouping of the questions.
        conditions: Names of the columns.

    Returns:
        A warning where rates differ by more than 0.5 points, or by Cochran's Q or a sign-flip at p < 0.01.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> here = np.ones((40, 2), dtype=bool); here[:10, 1] = False
        >>> check_missing(here, find_clusters(list(range(40))), ["original", "crop_3x"]).code
        <Code.MNAR: 'MNAR'>
    """
    missing = 1.0 - np.asarray(present, dtype=np.float64)
    return _check_rates(Code.MNAR, "missing", missing, clusters, conditions, _MISSING_POINTS)


def check_unparsed(
    unparsed: Bools | Floats, present: Bools, clusters: Clusters, conditions: Sequence[str]
) -> Finding | None:
    """Find answers without a letter that depend on the condition: format failures that look like an effect.

    Args:
        unparsed: (n_questions, n_conditions) True where an answer held no letter; with repeats, the share that did.
        present: Same shape, True where there is an answer; questions with a gap are left out.
        clusters: Grouping of the questions.
        conditions: Names of the columns.

    Returns:
        A warning where rates differ by more than 1 point, or by Cochran's Q or a sign-flip at p < 0.01.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> bad = np.zeros((40, 2), dtype=bool)
        >>> check_unparsed(bad, ~bad, find_clusters(list(range(40))), ["original", "crop_3x"]) is None
        True
    """
    is_complete = np.asarray(present, dtype=np.bool_).min(axis=1, keepdims=True)
    kept = np.where(is_complete, np.asarray(unparsed, dtype=np.float64), 0.0)
    n_kept = int(is_complete.sum())
    return _check_rates(Code.UNPARSED_BY_VIEW, "unparsed", kept, clusters, conditions, _UNPARSED_POINTS, n_kept)


def _check_rates(
    code: Code,
    what: str,
    rates: Floats,
    clusters: Clusters,
    conditions: Sequence[str],
    points: float,
    n_questions: int | None = None,
) -> Finding | None:
    """Find columns whose rate differs from that of the column with the lowest rate."""
    n = len(rates) if n_questions is None else n_questions
    counts = rates.sum(axis=0)
    if n == 0 or rates.shape[1] <= 1 or counts.max() == counts.min():
        return None
    lowest = int(counts.argmin())
    p = sign_flip(cluster_sums(rates - rates[:, [lowest]], clusters)).mid
    is_apart = ((counts - counts[lowest]) / n > points) | (p < _CLEAR_P)
    is_binary = bool(np.isin(rates, (0.0, 1.0)).all())
    test, name = (cochran_q, "Cochran Q") if is_binary else (friedman, "Friedman")
    p_any = test(rates, np.ones(rates.shape, dtype=np.bool_)).p
    if not is_apart.any() and p_any >= _CLEAR_P:
        return None
    rated = [f"{column} {100 * count / n:.1f} %" for column, count in zip(conditions, counts, strict=True)]
    listed = ", ".join(rated)
    if len(rated) > _MOST_LISTED:
        highest = [rated[index] for index in np.argsort(-counts, kind="stable") if is_apart[index]]
        more = f" and {len(highest) - _MOST_LISTED} more" if len(highest) > _MOST_LISTED else ""
        listed = f"{', '.join(highest[:_MOST_LISTED])}{more}, against {rated[lowest]}"
    return Finding(
        code=code,
        level="warning",
        message=f"{what} answers differ between conditions ({name} p = {p_any:.3g}): {listed}",
        conditions=tuple(column for column, apart in zip(conditions, is_apart, strict=True) if apart),
    )


def check_range(estimate: Estimate, corrected: ChanceCorrectedTable) -> Finding | None:
    """Find an accuracy so close to 1 or to chance that effects on it are compressed.

    Args:
        estimate: Accuracy of one condition.
        corrected: The same, chance-corrected, of one condition.

    Returns:
        A warning where the accuracy exceeds 0.95, or the chance-corrected interval covers 0.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> from eyechart.stats.conditions import ScoreTable, accuracy_by_condition
        >>> from eyechart.stats.ratio import correct_for_chance
        >>> right, images = np.ones((40, 1)), [f"im{i}" for i in range(40)]
        >>> (estimate,) = accuracy_by_condition(ScoreTable(right, right > 0, images, ("original",)))
        >>> corrected = correct_for_chance(right[:, 0], right[:, 0] > 0, np.full(40, 0.25), find_clusters(images))
        >>> check_range(estimate, corrected).code
        <Code.LOW_CEILING: 'LOW_CEILING'>
    """
    accuracy, chance = 100 * estimate.value, 100 * float(corrected.chance)
    if estimate.value > _CEILING:
        text = f"accuracy {accuracy:.1f} % is at the ceiling: a gain cannot show"
    elif float(corrected.low) <= 0.0:
        text = f"accuracy {accuracy:.1f} % cannot be told from guessing ({chance:.1f} %)"
    else:
        return None
    return Finding(
        code=Code.LOW_CEILING,
        level="warning",
        message=f"{estimate.condition}: {text}",
        conditions=(estimate.condition,),
    )


def check_blind(blind: Estimate) -> Finding | None:
    """Find that questions can be answered without the picture.

    Args:
        blind: Accuracy without the picture, with its chance level.

    Returns:
        A warning where the lower bound lies above chance. Replace chance by the blind accuracy then.

    Raises:
        StatisticsError: If the estimate carries no chance level.

    Example:
        >>> from eyechart.stats.conditions import ScoreTable, accuracy_by_condition
        >>> right, images = np.ones((40, 1)), [f"im{i}" for i in range(40)]
        >>> table = ScoreTable(right, right > 0, images, ("no_image",), chance=np.full(40, 0.25))
        >>> check_blind(accuracy_by_condition(table)[0]).level
        'warning'
    """
    if blind.chance is None:
        raise StatisticsError(f"{blind.condition}: no chance level", hint="give guess rates to the score table")
    if blind.low is None or blind.low <= blind.chance:
        return None
    return Finding(
        code=Code.BLIND,
        level="warning",
        message=f"{blind.condition}: {blind.value:.3f} right without the picture, chance {blind.chance:.3f}",
    )


def check_letters(bias: LetterBias, asked: Floats | None = None) -> Finding | None:
    """Find a preference for letters, or gold letters so uneven that a constant answer pays.

    Args:
        bias: Given against gold letters, where a letter was given.
        asked: (k,) share of each gold letter among all questions asked; ``bias.gold`` if None.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> from eyechart.stats.letters import estimate_letter_bias
        >>> gold = np.arange(40) % 4
        >>> check_letters(estimate_letter_bias(gold, gold, find_clusters(list(range(40))), 4)) is None
        True
    """
    shares = bias.gold if asked is None else asked
    imbalance = float(np.abs(shares - 1.0 / len(shares)).max())
    parts = []
    if bias.test.p < _CLEAR_P:
        parts.append(
            f"given and gold letters differ (p = {bias.test.p:.3g}); recall ranges over {bias.recall_range:.3f}, "
            f"noise {bias.noise_floor:.3f}"
        )
    if imbalance > _GOLD_IMBALANCE:
        parts.append(
            f"gold letters depart from even by {imbalance:.3f}: one letter for every question would score "
            f"{float(shares.max()):.3f}"
        )
    return Finding(code=Code.LETTER_BIAS, level="warning", message="; ".join(parts)) if parts else None


def check_groups(chance_by_group: Mapping[str, Floats]) -> Finding | None:
    """Find groups whose chance levels differ, so that their accuracies must not be compared uncorrected.

    Example:
        >>> check_groups({"OCR": np.full(9, 0.25), "Color": np.full(9, 0.5)}).code
        <Code.OPTION_MIX: 'OPTION_MIX'>
    """
    means = {name: float(np.mean(rates)) for name, rates in chance_by_group.items() if len(rates)}
    if not means or max(means.values()) - min(means.values()) <= _CHANCE_ROUNDING:
        return None
    text = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    return Finding(code=Code.OPTION_MIX, level="warning", message=f"chance differs between groups: {text}")


def check_size(clusters: Clusters) -> Finding | None:
    """Find a group too small for a p-value, or for an interval.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> check_size(find_clusters(list(range(21)))).message
        '21 questions on 21 images: intervals only, no p'
    """
    is_enough = bool(has_interval(clusters.sizes.astype(np.float64)))
    if can_test(clusters.n_questions, has_interval=is_enough):
        return None
    what = "intervals only, no p" if is_enough else "too few pictures for intervals and p"
    counted = _counted(clusters.n_questions, clusters.n_clusters)
    return Finding(code=Code.TINY_GROUP, level="warning", message=f"{counted}: {what}")


def _counted(n_questions: int, n_clusters: int) -> str:
    questions = "1 question" if n_questions == 1 else f"{n_questions} questions"
    return f"{questions} on {'1 image' if n_clusters == 1 else f'{n_clusters} images'}"


def check_shared_images(clusters: Clusters) -> Finding | None:
    """Say how much repeated images can inflate variances.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> check_shared_images(find_clusters(["a", "a", "b"])).level
        'info'
    """
    if clusters.n_clusters == clusters.n_questions:
        return None
    return Finding(
        code=Code.SHARED_IMAGE,
        level="info",
        message=f"{_counted(clusters.n_questions, clusters.n_clusters)}: "
        f"variances up to {clusters.variance_inflation:.3f} times those of independent questions",
    )


def check_tests(contrasts: Sequence[Contrast]) -> Finding | None:
    """Find more than 20 p-values without correction.

    Example:
        >>> check_tests([]) is None
        True
    """
    n_raw = sum(one.p is not None and one.p_adjusted is None for one in contrasts)
    if n_raw <= _MANY:
        return None
    return Finding(code=Code.MANY_TESTS, level="warning", message=f"{n_raw} p-values without correction")
