"""Accuracies and contrasts of the conditions of one run, as the records that reports print.

The two calls a report needs::

    table = ScoreTable(values, present, image_groups, conditions, chance=chance)
    accuracy_by_condition(table)                 # tuple[Estimate, ...]
    contrasts_against(table, "original")         # tuple[Contrast, ...], Holm over the conditions
    contrasts_between(table, pairs)              # the same for named pairs

``values`` are scores in 0–1 of shape (n_questions, n_conditions); ``present`` is True where there is a score. What is
not present is missing: it enters no denominator, and a contrast uses the questions present on both sides.
"""

from collections.abc import Collection, Sequence

import msgspec
import numpy as np

from eyechart.errors import StatisticsError
from eyechart.schema import Contrast, Estimate
from eyechart.stats.arrays import Bools, Floats, check_scores
from eyechart.stats.claims import adjust_family
from eyechart.stats.clusters import Clusters, cluster_sums, find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.corrections import Correction
from eyechart.stats.missing import ScoreBounds, WorstCase, bounds_from, gap_bounds, worst_case
from eyechart.stats.paired import DIFFERENCE_METHOD, DifferenceTable, estimate_differences, subtract
from eyechart.stats.proportion import PROPORTION_METHOD, ProportionTable, estimate_proportions
from eyechart.stats.sign_flip import SignFlipTable, name_p_method, sign_flip
from eyechart.stats.small_samples import printed_bounds

# Below this, or without an interval, a p-value is not printed (rule TINY_GROUP of the specification's section 5).
MIN_QUESTIONS = 30
# A net difference between identical pictures beyond this size and, corrected over all such pairs, below this p is a
# fault of the pipeline (rule AA_NOISE).
_ALARM_POINTS = 0.01
_ALARM_P = 0.005

Pair = tuple[str, str]


class ScoreTable(msgspec.Struct, frozen=True, eq=False):
    """The scores of one model: questions in rows, conditions in columns.

    Args:
        values: (n_questions, n_conditions) scores in [0, 1]; anything where not present.
        present: Same shape, True where there is a score.
        image_groups: (n_questions,) cluster of each question.
        conditions: (n_conditions,) distinct names.
        chance: (n_questions,) guess rate of each question in [0, 1]; None where guessing is hopeless or unknown.
        scorer: Scorer id, repeated in every record.
        subset: Name of the subset of questions, repeated in every record; None means all.
        filled: Bounds of the scores, where more is known than that what is not present was asked and is missing: what
            was not asked at all, and repeats of which some are missing.

    Raises:
        StatisticsError: If shapes differ, names repeat, or a score or guess rate lies outside [0, 1].

    Example:
        >>> table = ScoreTable(np.eye(2), np.full((2, 2), True), ("a", "b"), ("original", "crop_3x"))
        >>> table.n_questions
        2
    """

    values: Floats
    present: Bools
    image_groups: Sequence[str]
    conditions: tuple[str, ...]
    chance: Floats | None = None
    scorer: str | None = None
    subset: str | None = None
    filled: ScoreBounds | None = None

    def __post_init__(self) -> None:
        """Check that the parts belong together."""
        check_scores(self.values, self.present)
        expected = (len(self.image_groups), len(self.conditions))
        if np.shape(self.values) != expected:
            raise StatisticsError(
                f"scores of shape {np.shape(self.values)} for {expected[0]} labels and {expected[1]} conditions",
                hint="rows are questions, columns are conditions",
            )
        if len(set(self.conditions)) != len(self.conditions):
            raise StatisticsError(f"conditions repeat: {', '.join(self.conditions)}", hint="merge or rename them")
        if self.chance is not None:
            _check_chance(self.chance, len(self.image_groups))

    @property
    def n_questions(self) -> int:
        """Number of questions, scored or not."""
        return len(self.image_groups)

    @property
    def clusters(self) -> Clusters:
        """The questions grouped by image."""
        return find_clusters(list(self.image_groups))

    @property
    def bounds(self) -> ScoreBounds:
        """Between which values every score lies, whatever the missing answers are."""
        return bounds_from(self.values, self.present) if self.filled is None else self.filled

    def column(self, condition: str) -> int:
        """Return the column of a condition.

        Raises:
            StatisticsError: If there is no such condition.
        """
        if condition not in self.conditions:
            raise StatisticsError(
                f"no condition {condition!r} among {', '.join(self.conditions)}", hint="was this view asked in the run?"
            )
        return self.conditions.index(condition)


def accuracy_by_condition(
    table: ScoreTable, *, confidence: float = 0.95, name: str = "accuracy"
) -> tuple[Estimate, ...]:
    """Estimate the accuracy of every condition that has a score.

    Args:
        table: Scores of one model.
        confidence: Coverage of the intervals, in (0, 1).
        name: Name of the estimand in the records.

    Returns:
        One estimate per condition in the order of the table. A condition without any score has no accuracy and is
        left out. Estimates on fewer than 30 questions or 10 effective clusters carry ``TINY_GROUP``, the latter
        without an interval. ``chance`` is the mean guess rate of the questions scored.

    Raises:
        StatisticsError: If the confidence is outside (0, 1).

    Example:
        >>> table = ScoreTable(np.ones((40, 1)), np.full((40, 1), True), [f"im{i}" for i in range(40)], ("original",))
        >>> [(e.condition, e.value, round(e.low, 3), e.high) for e in accuracy_by_condition(table)]
        [('original', 1.0, 0.906, 1.0)]
    """
    numbers = estimate_proportions(table.values, table.present, table.clusters, confidence=confidence)
    return tuple(
        _estimate(table, numbers, index, confidence, name)
        for index in range(len(table.conditions))
        if numbers.n_questions[index] > 0
    )


def _estimate(table: ScoreTable, numbers: ProportionTable, index: int, confidence: float, name: str) -> Estimate:
    """Return one column of a proportion table as a record."""
    n_questions, (low, high) = int(numbers.n_questions[index]), printed_bounds(numbers, index)
    mask = np.asarray(table.present, dtype=np.bool_)[:, index]
    return Estimate(
        name=name,
        condition=table.conditions[index],
        value=float(numbers.value[index]),
        low=low,
        high=high,
        n_questions=n_questions,
        n_clusters=int(numbers.n_clusters[index]),
        method=PROPORTION_METHOD,
        confidence=confidence,
        n_effective=float(numbers.n_effective[index]),
        n_missing=table.n_questions - n_questions,
        chance=None if table.chance is None else float(np.asarray(table.chance)[mask].mean()),
        scorer=table.scorer,
        subset=table.subset,
        warnings=() if can_test(n_questions, has_interval=low is not None) else (Code.TINY_GROUP,),
    )


def contrasts_against(
    table: ScoreTable,
    baseline: str,
    *,
    negative_controls: Collection[Pair] = (),
    correction: Correction = "holm",
    family: str | None = None,
    confidence: float = 0.95,
) -> tuple[Contrast, ...]:
    """Contrast every other condition with a baseline, correcting over the conditions shown.

    Args:
        table: Scores of one model.
        baseline: Condition that is subtracted, usually ``original``.
        negative_controls: Pairs of conditions with identical pictures, in either order.
        correction: Correction over the contrasts that have a p-value.
        family: Name of the family; None describes it by the baseline and the number of tests.
        confidence: Coverage of the intervals, in (0, 1).

    Returns:
        As ``contrasts_between``, in the order of the table.

    Raises:
        StatisticsError: If there is no such baseline, or the confidence is outside (0, 1).

    Example:
        >>> values = np.zeros((40, 2)); values[:12, 1] = 1.0
        >>> table = ScoreTable(values, values >= 0, [f"im{i}" for i in range(40)], ("original", "crop_3x"))
        >>> [(c.condition, c.value, c.gained, c.lost, round(c.p, 6)) for c in contrasts_against(table, "original")]
        [('crop_3x', 0.3, 12, 0, 0.000244)]
    """
    table.column(baseline)
    return contrasts_between(
        table,
        [(condition, baseline) for condition in table.conditions if condition != baseline],
        negative_controls=negative_controls,
        correction=correction,
        family=family,
        confidence=confidence,
    )


def contrasts_between(
    table: ScoreTable,
    pairs: Sequence[Pair],
    *,
    negative_controls: Collection[Pair] = (),
    correction: Correction = "holm",
    family: str | None = None,
    confidence: float = 0.95,
) -> tuple[Contrast, ...]:
    """Contrast pairs of conditions on the questions scored on both sides.

    Interval: cluster Bonett–Price, none below 10 effective clusters. p: exact cluster sign-flip mid-p, given only
    where there is an interval and at least 30 questions; else it is None and ``TINY_GROUP`` warns. Interval and p can
    disagree at the margin: decide by p.

    Args:
        table: Scores of one model.
        pairs: (condition, baseline) of each contrast.
        negative_controls: Pairs of conditions with identical pictures, in either order. Such a contrast is marked
            ``SAME_INPUT``, belongs to no family and is never corrected; ``AA_NOISE`` is added as an alarm where it
            differs by more than 1 point and its p times the number of such contrasts is below 0.005, which means a
            fault or a model that drifts.
        correction: Correction over the contrasts that have a p-value and are not a negative control.
        family: Name of the family; None describes it by its number of tests.
        confidence: Coverage of the intervals, in (0, 1).

    Returns:
        One contrast per pair in the given order; a pair without a question scored on both sides is left out.

    Raises:
        StatisticsError: If a condition does not exist, or the confidence is outside (0, 1).

    Example:
        >>> values = np.zeros((40, 2)); values[:12, 1] = 1.0
        >>> table = ScoreTable(values, values >= 0, [f"im{i}" for i in range(40)], ("original", "crop_3x"))
        >>> contrasts_between(table, [("original", "crop_3x")])[0].value
        -0.3
    """
    first = np.array([table.column(condition) for condition, _ in pairs], dtype=np.int64)
    second = np.array([table.column(baseline) for _, baseline in pairs], dtype=np.int64)
    clusters = table.clusters
    differences, is_paired = subtract(table.values, table.present, first, second)
    numbers = estimate_differences(differences, is_paired, clusters, confidence=confidence)
    flips = sign_flip(cluster_sums(differences, clusters))
    identical = {frozenset(pair) for pair in negative_controls}
    n_controls = len({frozenset(pair) for pair in pairs} & identical)
    worst = worst_case(gap_bounds(table.bounds, first, second), clusters, numbers.value, flips.mid, numbers.n_questions)
    contrasts = [_contrast(table, pair, numbers, index, confidence) for index, pair in enumerate(pairs)]
    tested = [
        with_p(
            contrast,
            SignFlipTable(*(field[index] for field in flips)),
            WorstCase(*(field[index] for field in worst)),
            n_controls=n_controls if frozenset(pairs[index]) in identical else 0,
        )
        for index, contrast in enumerate(contrasts)
    ]
    shown = [contrast for contrast in tested if contrast.n_questions > 0]
    return _adjusted(shown, correction, family)


def can_test(n_questions: int, *, has_interval: bool) -> bool:
    """Tell whether a p-value may be printed: at least 30 questions, and at least 10 effective pictures.

    Example:
        >>> can_test(40, has_interval=False)
        False
    """
    return n_questions >= MIN_QUESTIONS and has_interval


def _contrast(table: ScoreTable, pair: Pair, numbers: DifferenceTable, index: int, confidence: float) -> Contrast:
    """Return one entry of a difference table as a record without p."""
    n_questions, (low, high) = int(numbers.n_questions[index]), printed_bounds(numbers, index)
    return Contrast(
        name="paired difference",
        condition=pair[0],
        baseline=pair[1],
        value=float(numbers.value[index]),
        low=low,
        high=high,
        n_questions=n_questions,
        n_clusters=int(numbers.n_clusters[index]),
        gained=int(numbers.gained[index]),
        lost=int(numbers.lost[index]),
        method=DIFFERENCE_METHOD,
        confidence=confidence,
        n_missing=table.n_questions - n_questions,
        scorer=table.scorer,
        subset=table.subset,
    )


def with_p(contrast: Contrast, flips: SignFlipTable, worst: WorstCase, *, n_controls: int = 0) -> Contrast:
    """Return a contrast with its p where one may be printed, and with its bounds for what is missing.

    Args:
        contrast: A contrast without p.
        flips: Its sign-flip test; scalars.
        worst: Its worst case; scalars.
        n_controls: If both sides show the same picture, how many such contrasts are tested together: it is marked, and
            its alarm is corrected over them. 0 for any other contrast.
    """
    may_test = can_test(contrast.n_questions, has_interval=contrast.interval is not None)
    warnings = [] if may_test else [Code.TINY_GROUP]
    p, is_control = float(flips.mid), n_controls > 0
    if is_control:
        warnings.append(Code.SAME_INPUT)
    if is_control and may_test and abs(contrast.value) > _ALARM_POINTS and p * n_controls < _ALARM_P:
        warnings.append(Code.AA_NOISE)
    return msgspec.structs.replace(
        contrast,
        p=p if may_test else None,
        p_worst=float(worst.p) if may_test else None,
        p_method=name_p_method(is_exact=bool(flips.is_exact)) if may_test else None,
        bound_low=float(worst.low),
        bound_high=float(worst.high),
        family="negative controls, not corrected" if is_control else None,
        secondary=is_control,
        warnings=tuple(warnings),
    )


def _adjusted(contrasts: Sequence[Contrast], correction: Correction, family: str | None) -> tuple[Contrast, ...]:
    """Return the contrasts with adjusted p-values over those that are tested and are not a negative control."""
    members = [one for one in contrasts if one.p is not None and Code.SAME_INPUT not in one.warnings]
    adjusted = iter(adjust_family(members, correction, family or f"{len(members)} contrasts shown").contrasts)
    return tuple(
        next(adjusted) if one.p is not None and Code.SAME_INPUT not in one.warnings else one for one in contrasts
    )


def _check_chance(chance: Floats, n_questions: int) -> None:
    """Refuse guess rates that do not belong to the questions."""
    rates = np.asarray(chance, dtype=np.float64)
    if rates.shape != (n_questions,) or not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise StatisticsError(
            f"guess rates of shape {rates.shape} for {n_questions} questions, or outside 0–1",
            hint="give 1/number of options per question, and 0 for free-form questions",
        )
