"""Estimates and paired contrasts, and what is made of them."""

from typing import Literal

from eyechart.schema._base import Record, Value
from eyechart.schema._runs import LookTaken

Standing = Literal["confirmatory", "exploratory", "interim", "conditional"]
"""How a result came about: see ``Contrast.standing``."""


class Estimate(Record, frozen=True, kw_only=True):
    """One number with its interval and counts.

    ``low`` and ``high`` are None together where there are too few effective pictures for an interval (below 10).
    """

    name: str
    condition: str
    value: float
    low: float | None
    high: float | None
    n_questions: int
    n_clusters: int
    method: str
    confidence: float = 0.95
    n_effective: float | None = None
    n_missing: int = 0
    chance: float | None = None
    scorer: str | None = None
    subset: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def interval(self) -> tuple[float, float] | None:
        """Lower and upper bound; None where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class Contrast(Record, frozen=True, kw_only=True):
    """The paired difference ``condition − baseline`` on the questions scored on both sides.

    ``low`` and ``high`` are None together where there are too few effective pictures for an interval (below 10).

    ``bound_low`` and ``bound_high`` are the difference if every missing answer spoke against ``condition``, and for it,
    over all questions asked under both; equal to ``value`` where nothing is missing. ``p`` is that of the answers that
    came back, ``p_worst`` the largest over all ways to fill in what is missing, in the direction of ``value``. Over the
    family, ``p_adjusted`` corrects ``p_worst``, and ``p_if_like_others`` corrects ``p``.

    ``claimed`` is the star: the one place that says whether this difference is claimed. ``secondary`` marks what stands
    outside the one headline family of a report and is never claimed. ``standing`` says how the result came about:
    ``confirmatory`` (a plan that was kept), ``exploratory`` (none, or one that was not kept), ``interim`` (the run is
    not finished) or ``conditional`` (it would be claimed only if the missing answers are like the others); the last two
    are never claimed. None in files written before these fields.
    """

    name: str
    condition: str
    baseline: str
    value: float
    low: float | None
    high: float | None
    n_questions: int
    n_clusters: int
    gained: int
    lost: int
    method: str
    confidence: float = 0.95
    p: float | None = None
    p_adjusted: float | None = None
    p_method: str | None = None
    correction: str | None = None
    family: str | None = None
    n_missing: int = 0
    scorer: str | None = None
    subset: str | None = None
    blocked_by: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    detectable: float | None = None
    role: Literal["confirmatory", "exploratory"] | None = None
    claimed: bool = False
    secondary: bool = False
    standing: Standing | None = None
    p_if_like_others: float | None = None
    p_worst: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Lower and upper bound; None where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def excludes_0(self) -> bool:
        """Whether there is an interval, and 0 lies outside it."""
        return self.interval is not None and not self.interval[0] <= 0.0 <= self.interval[1]


class Finding(Value, frozen=True):
    """A sentence made from a ``Contrast``; ``contrast`` is that record's condition and baseline."""

    code: str
    text: str
    contrast: tuple[str, str] | None = None


class Flips(Value, frozen=True):
    """How many scores changed between two conditions, beside what guessing and repetition alone would change.

    ``guessing`` is the churn of a model that guesses what it does not know, ``repetition`` that of identical pictures
    (None where no two views show the same).
    """

    condition: str
    baseline: str
    gained: Estimate
    lost: Estimate
    churn: Estimate
    guessing: float
    repetition: Estimate | None = None


class Decomposition(Value, frozen=True):
    """The exact split of crop − original into distraction and canvas at one factor, on their common questions.

    ``interaction`` is context × canvas; where its interval excludes 0 the split ``is_order_dependent``.
    ``saturated_share`` is the share of questions whose crop is the whole picture, where both parts are 0 by identity.
    """

    area_ratio: float
    total: Contrast
    distraction: Contrast
    canvas: Contrast
    interaction: Contrast | None = None
    is_order_dependent: bool = False
    saturated_share: float | None = None


class GroupTest(Value, frozen=True):
    """Whether an effect is the same in all groups: p by shuffling group labels between pictures."""

    grouping: str
    condition: str
    baseline: str
    n_groups: int
    n_questions: int
    p: float
    p_adjusted: float | None = None


class Sensitivity(Value, frozen=True):
    """One contrast under several readings of the same answers; ``Contrast.subset`` names the reading."""

    condition: str
    baseline: str
    readings: tuple[Contrast, ...]
    sign_changes: bool
    significance_changes: bool


class ValidityRule(Value, frozen=True):
    """A rule that applies to the run, evaluated before any effect; without conditions it concerns all."""

    code: str
    level: Literal["info", "warning", "error"]
    message: str
    conditions: tuple[str, ...] = ()


class HypothesisResult(Value, frozen=True):
    """What became of one hypothesis of a plan; ``contrast`` is None where it could not be tested.

    ``is_equivalent`` is None where the plan gives no margin.
    """

    name: str
    condition: str
    baseline: str
    contrast: Contrast | None = None
    margin: float | None = None
    equivalence_p: float | None = None
    is_equivalent: bool | None = None


class Registration(Value, frozen=True):
    """The plan that a run is read with: its hash, whether it counts and was kept, and its results.

    Args:
        sha256: Its hash.
        written_at: ISO time.
        is_changed: Whether it does not count as the plan of this run: it was changed after it was written, is younger
            than the first answer, or is not the one that the run was begun with.
        correction: Correction over its hypotheses.
        results: What became of each hypothesis.
        notes: Why it does not count, and in what the run departs from it; empty exactly where it was kept.
        is_kept: Whether it counts and the run departs from it in nothing, so that its results are confirmatory; None
            in files written before this field.
        look: The look that the results are of, where the plan has looks and one was taken.
    """

    sha256: str
    written_at: str
    is_changed: bool
    correction: str
    results: tuple[HypothesisResult, ...] = ()
    notes: tuple[str, ...] = ()
    is_kept: bool | None = None
    look: LookTaken | None = None
