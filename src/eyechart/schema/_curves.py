"""Accuracy over resolution and over the size that the model saw."""

from typing import Literal

from eyechart.schema._base import Value
from eyechart.schema._estimates import Contrast, Estimate


class SizeBand(Value, frozen=True):
    """Accuracy among requests whose target the model saw at about one size (``low`` ≤ shorter side < ``high`` px).

    Bands hold different questions, so what differs between two of them is no effect of size alone.
    """

    low_px: float
    high_px: float
    estimate: Estimate


class Threshold(Value, frozen=True):
    """Where ``fraction`` of the chance-corrected accuracy is left; None in a bound means below the smallest level.

    ``is_flat`` says that the curve has a plateau there, so that the value is not identified. ``smooth_value`` is the
    same of a fitted curve, None unless that fits (``misfit_p`` at least 0.05).
    """

    unit: Literal["linear scale", "px of target seen"]
    fraction: float
    value: float | None
    low: float | None
    high: float | None
    smallest: float
    largest: float
    is_flat: bool
    n_questions: int
    n_clusters: int
    confidence: float = 0.95
    smooth_value: float | None = None
    misfit_p: float | None = None


class AcuityBand(Value, frozen=True):
    """Chance-corrected accuracy among targets seen at about one size: raw, and by the curve within questions.

    Bands hold different questions. ``low`` and ``high`` are None where there are too few pictures for an interval;
    ``chance`` is the mean guess rate, by which ``accuracy`` and its interval are got back.
    """

    px: float
    corrected: float
    low: float | None
    high: float | None
    fitted: float
    n_questions: int
    chance: float = 0.0

    @property
    def accuracy(self) -> tuple[float, float | None, float | None]:
        """The accuracy, not corrected, and its bounds."""
        room = 1.0 - self.chance
        low, high = (None if one is None else self.chance + room * one for one in (self.low, self.high))
        return self.chance + room * self.corrected, low, high


class SmoothCurve(Value, frozen=True):
    """Chance-corrected accuracy ceiling·logistic(intercept + slope·log₂(px ÷ reference_px))."""

    reference_px: float
    intercept: float
    slope: float
    ceiling: float


class HalfAccuracySize(Value, frozen=True):
    """The shorter side of the target, in pixels the model saw, at which half of the chance-corrected plateau is left.

    Estimated from what changes within a question when only its size changes, never from differences between questions.

    Args:
        task: The task, None for all questions.
        status: ``not reached`` where more than half is left at the smallest targets, ``not identified`` where the
            answers do not tell; ``reason`` says why.
        reason: Empty where there is an estimate.
        px: The size; None unless estimated.
        low: Lower bound in pixels, None where it lies below the smallest targets.
        high: Upper bound in pixels, None unless estimated.
        slope: Change of the score per octave of size within a question; None where there are too few answers for one.
        slope_p: One-sided p of a slope above 0.
        bands: The answers by size, from the largest targets down; empty where there are too few. Bands hold different
            questions.
        has_curve: Whether ``fitted`` of the bands follows a curve within questions; else it is the raw accuracy.
        evidence: How the sizes are known.
        n_questions: Questions asked at two sizes or more of their target.
        n_clusters: Their pictures.
    """

    task: str | None
    status: Literal["estimated", "not reached", "not identified"]
    reason: str = ""
    px: float | None = None
    low: float | None = None
    high: float | None = None
    slope: float | None = None
    slope_p: float | None = None
    bands: tuple[AcuityBand, ...] = ()
    has_curve: bool = False
    evidence: str | None = None
    n_questions: int = 0
    n_clusters: int = 0
    confidence: float = 0.95


class Acuity(Value, frozen=True):
    """A half-accuracy target size under the names it had before, still written for readers of ``estimates.json``.

    ``smooth`` and ``misfit_p`` are no longer filled.
    """

    task: str | None
    status: Literal["estimated", "not reached", "not identified"]
    reason: str = ""
    px: float | None = None
    low_px: float | None = None
    high_px: float | None = None
    bands: tuple[AcuityBand, ...] = ()
    smooth: SmoothCurve | None = None
    misfit_p: float | None = None
    evidence: str | None = None
    n_questions: int = 0
    n_clusters: int = 0
    confidence: float = 0.95


class CloseViews(Value, frozen=True):
    """Two conditions that show the same part of the picture at scales the model can hardly tell apart.

    Args:
        condition: The smaller one.
        baseline: The larger one.
        ratio: Median ratio of what is left of the picture's detail, at least 1.
        n_same: Questions for which both are one picture to the model.
        n_both: Questions asked under both.
        noise: Difference of their scores: of one picture to the model it is the noise of repetition, None otherwise.
        churn: Share of scores that changed between them, None unless they are one picture.
    """

    condition: str
    baseline: str
    ratio: float
    n_same: int
    n_both: int
    noise: Contrast | None = None
    churn: Estimate | None = None

    @property
    def is_one_picture(self) -> bool:
        """Whether both are one picture to the model for every question, so that asking both is asking twice."""
        return self.n_same == self.n_both


class CurveMovement(Value, frozen=True):
    """ACE, RCE and Spearman of accuracy over resolution, beside what levels shuffled within questions give.

    The interval of ACE inherits its upward bias.
    """

    ace: float
    ace_low: float
    ace_high: float
    ace_floor: float
    ace_p: float
    roughness: float
    rce: float
    rce_floor: float
    spearman: float
    spearman_floor: float
    spearman_p: float
    n_levels: int
    n_questions: int
    confidence: float = 0.95
