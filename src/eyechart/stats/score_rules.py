"""Validity rules about scores and answers: evaluated before any effect is printed."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.schema import Contrast, Estimate
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.clusters import Clusters, find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.conditions import can_test
from eyechart.stats.findings import Finding
from eyechart.stats.letters import Evenness, LetterBias
from eyechart.stats.omnibus import score_test
from eyechart.stats.option_order import upper_tail
from eyechart.stats.small_samples import has_interval
from eyechart.stats.uneven_rates import UnevenPair, find_uneven_pairs

# A rule about counts fires only if a test over everything that it looks at says so at this level, and a size too.
# With five to ten such rules, at most one report in twenty without a fault has any of them (docs/validity.md).
CLEAR_P = 0.005
_MISSING_POINTS = 0.005
_UNPARSED_POINTS = 0.01
_MOST_LISTED = 6
_CEILING, _SURELY_HIGH = 0.95, 0.85
_NEAR_CHANCE, _SURELY_LOW = 0.05, 0.2
_BLIND_POINTS = 0.05
_MANY = 20
_LETTER_POINTS = 0.1
_GOLD_IMBALANCE = 0.05
_CHANCE_POINTS = 0.02
_OFTEN = 0.01


def rule_confidence(n_conditions: int) -> float:
    """Return the coverage of intervals whose bounds decide about a rule in so many conditions together.

    Example:
        >>> rule_confidence(1)
        0.99
    """
    return round(1.0 - 2.0 * CLEAR_P / max(n_conditions, 1), 10)


def is_often(n_hits: int, n_trials: int, *, n_conditions: int = 1, n_each: float = 1.0) -> bool:
    """Tell whether something befalls more than 1 % of the answers, beyond what chance explains.

    Args:
        n_hits: How many it befell: answers, or pictures if answers about one picture share their fate.
        n_trials: Out of how many.
        n_conditions: Conditions that are tested together.
        n_each: Answers about each picture, if pictures are counted.

    Example:
        >>> is_often(1, 40), is_often(6, 40)
        (False, True)
    """
    rate = min(1.0, _OFTEN * n_each)
    return n_hits > rate * n_trials and upper_tail(n_hits, n_trials, rate) < CLEAR_P / n_conditions


def check_missing(present: Bools | Floats, clusters: Clusters, conditions: Sequence[str]) -> Finding | None:
    """Find missing answers that depend on the condition: they are not missing at random.

    Args:
        present: (n_questions, n_conditions) True where there is a score; with repeats, the share that is there.
        clusters: Grouping of the questions.
        conditions: Names of the columns.

    Returns:
        A warning where some pair of conditions differs by more than 0.5 points and by a sign-flip test over all pairs.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> here = np.ones((40, 2), dtype=bool); here[:10, 1] = False
        >>> check_missing(here, find_clusters(list(range(40))), ["original", "crop_3x"]).code
        <Code.MISSING_BY_VIEW: 'MISSING_BY_VIEW'>
    """
    missing = 1.0 - np.asarray(present, dtype=np.float64)
    return _check_rates(Code.MISSING_BY_VIEW, "missing", missing, clusters, conditions, _MISSING_POINTS)


def check_unparsed(
    unparsed: Bools | Floats, present: Bools, clusters: Clusters, conditions: Sequence[str]
) -> Finding | None:
    """Find answers without a letter that depend on the condition: format failures that look like an effect.

    Args:
        unparsed: (n_questions, n_conditions) True where an answer held no letter; with repeats, the share that did.
        present: Same shape, True where there is an answer; a pair is compared on the questions that both answered.
        clusters: Grouping of the questions.
        conditions: Names of the columns.

    Returns:
        A warning where some pair of conditions differs by more than 1 point and by a sign-flip test over all pairs.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> bad = np.zeros((40, 2), dtype=bool)
        >>> check_unparsed(bad, ~bad, find_clusters(list(range(40))), ["original", "crop_3x"]) is None
        True
    """
    return _check_rates(
        Code.UNREADABLE_BY_VIEW, "unreadable", unparsed, clusters, conditions, _UNPARSED_POINTS, present=present
    )


def _check_rates(
    code: Code,
    what: str,
    rates: Bools | Floats,
    clusters: Clusters,
    conditions: Sequence[str],
    points: float,
    present: Bools | None = None,
) -> Finding | None:
    """Find pairs of columns with different rates; the finding concerns the contrasts of these pairs alone."""
    there = np.ones(np.shape(rates), dtype=np.bool_) if present is None else present
    pairs = find_uneven_pairs(rates, there, clusters, points=points, alpha=CLEAR_P)
    if not pairs:
        return None
    clearest: dict[int, UnevenPair] = {}
    for pair in pairs:
        clearest.setdefault(pair.higher, pair)
    shown = sorted(clearest.values(), key=lambda pair: -pair.high_rate)
    parts = [
        f"{conditions[pair.higher]} {100 * pair.high_rate:.1f} % against {conditions[pair.lower]} "
        f"{100 * pair.low_rate:.1f} % (p = {pair.p:.2g})"
        for pair in shown[:_MOST_LISTED]
    ]
    more = f" and {len(shown) - _MOST_LISTED} more" if len(shown) > _MOST_LISTED else ""
    n_pairs = len(conditions) * (len(conditions) - 1) // 2
    corrected = f", p corrected over {n_pairs} pairs" if n_pairs > 1 else ""
    return Finding(
        code=code,
        level="warning",
        message=f"{what} answers differ between conditions: {', '.join(parts)}{more}{corrected}",
        conditions=tuple(conditions[index] for index in sorted(clearest)),
        pairs=tuple((conditions[pair.higher], conditions[pair.lower]) for pair in pairs),
    )


def check_range(estimate: Estimate) -> Finding | None:
    """Find an accuracy so close to 1 or to chance that effects on it are compressed.

    Args:
        estimate: Accuracy of one condition, with its chance level, at the confidence of the test: ``rule_confidence``.

    Returns:
        A warning where the accuracy exceeds 0.95 and its lower bound 0.85, or where it is less than 5 points above
        chance and its upper bound less than 20.

    Example:
        >>> from eyechart.stats.conditions import ScoreTable, accuracy_by_condition
        >>> right, images = np.ones((60, 1)), [f"im{i}" for i in range(60)]
        >>> table = ScoreTable(right, right > 0, images, ("original",))
        >>> (estimate,) = accuracy_by_condition(table, confidence=rule_confidence(1))
        >>> check_range(estimate).code
        <Code.NEAR_LIMIT: 'NEAR_LIMIT'>
    """
    if estimate.interval is None:
        return None
    (low, high), chance = estimate.interval, estimate.chance
    if estimate.value > _CEILING and low > _SURELY_HIGH:
        text = f"accuracy {100 * estimate.value:.1f} % is at the ceiling: a gain cannot show"
    elif chance is not None and estimate.value < chance + _NEAR_CHANCE and high < chance + _SURELY_LOW:
        near = f"near guessing or below ({100 * chance:.1f} %)"
        text = f"accuracy {100 * estimate.value:.1f} % is {near}: a loss hardly shows"
    else:
        return None
    return Finding(
        code=Code.NEAR_LIMIT,
        level="warning",
        message=f"{estimate.condition}: {text}",
        conditions=(estimate.condition,),
    )


def check_blind(blind: Estimate) -> Finding | None:
    """Find that questions can be answered without the picture.

    Args:
        blind: Accuracy without the picture, with its chance level, at the confidence of the test: ``rule_confidence``.

    Returns:
        A warning where the lower bound lies above chance and the accuracy at least 5 points above.
        Replace chance by the blind accuracy then.

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
    if blind.low is None or blind.low <= blind.chance or blind.value < blind.chance + _BLIND_POINTS:
        return None
    return Finding(
        code=Code.BLIND,
        level="warning",
        message=f"{blind.condition}: {blind.value:.3f} right without the picture, chance {blind.chance:.3f}",
    )


def check_letters(bias: LetterBias, asked: Evenness | None = None, *, n_groups: int = 1) -> Finding | None:
    """Find a preference for letters, or gold letters so uneven that a constant answer pays.

    Args:
        bias: Given against gold letters, where a letter was given.
        asked: How evenly the gold letters of all questions asked are spread; ``bias.evenness`` if None.
        n_groups: Numbers of options that are tested in one report, over which p is corrected.

    Returns:
        A warning where a letter is given at least 10 points more or less often than without a preference, or gold
        letters depart from even by more than 5 points, and a test says so too.

    Example:
        >>> from eyechart.stats.clusters import find_clusters
        >>> from eyechart.stats.letters import estimate_letter_bias
        >>> gold = np.arange(40) % 4
        >>> check_letters(estimate_letter_bias(gold, gold, find_clusters(list(range(40))), 4)) is None
        True
    """
    spread, level = asked or bias.evenness, CLEAR_P / (2 * n_groups)
    imbalance = float(np.abs(spread.shares - 1.0 / len(spread.shares)).max())
    letter = int(np.abs(bias.excess).argmax())
    parts = []
    if bias.preference.p < level and abs(bias.excess[letter]) >= _LETTER_POINTS:
        expected = float(bias.given[letter] - bias.excess[letter])
        parts.append(
            f"{ascii_uppercase[letter]} is {100 * float(bias.given[letter]):.1f} % of the answers and would be "
            f"{100 * expected:.1f} % without a preference (p = {bias.preference.p:.2g}); recall ranges over "
            f"{bias.recall_range:.3f}, noise {bias.noise_floor:.3f}"
        )
    if spread.test.p < level and imbalance > _GOLD_IMBALANCE:
        parts.append(
            f"gold letters depart from even by {imbalance:.3f} (p = {spread.test.p:.2g}): one letter for every "
            f"question would score {float(spread.shares.max()):.3f}"
        )
    return Finding(code=Code.LETTER_BIAS, level="warning", message="; ".join(parts)) if parts else None


def check_groups(
    chance_by_group: Mapping[str, Floats], images: Mapping[str, Sequence[str]] | None = None, *, n_groupings: int = 1
) -> Finding | None:
    """Find groups whose chance levels differ, so that their accuracies must not be compared uncorrected.

    Args:
        chance_by_group: Group → guess rates of its questions.
        images: Group → image of each of these questions; None means that no two share one.
        n_groupings: Groupings that are tested in one report, over which p is corrected.

    Returns:
        A warning where means differ by at least 2 points, and by more than an even mixture of questions would.

    Example:
        >>> check_groups({"OCR": np.full(9, 0.25), "Color": np.full(9, 0.5)}).code
        <Code.OPTION_MIX: 'OPTION_MIX'>
    """
    rates = {name: np.asarray(own, dtype=np.float64) for name, own in chance_by_group.items() if len(own)}
    means = {name: float(own.mean()) for name, own in rates.items()}
    if not means or max(means.values()) - min(means.values()) < _CHANCE_POINTS:
        return None
    every = np.concatenate(list(rates.values()))
    marks = np.repeat(np.eye(len(rates)), [len(own) for own in rates.values()], axis=0)
    labels = [f"{image}" for name in rates for image in images[name]] if images else list(map(str, range(len(every))))
    deviations = (marks - marks.mean(axis=0)) * (every - every.mean())[:, None]
    p = score_test(deviations, find_clusters(labels)).p
    if p >= CLEAR_P / n_groupings:
        return None
    text = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    return Finding(
        code=Code.OPTION_MIX, level="warning", message=f"chance differs between groups (p = {p:.2g}): {text}"
    )


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
