"""Everything that a report or figure shows about one run."""

from eyechart.schema._answers import Usage
from eyechart.schema._base import Record, Size, Value
from eyechart.schema._curves import Acuity, CloseViews, CurveMovement, SizeBand, Threshold
from eyechart.schema._estimates import (
    Contrast,
    Decomposition,
    Estimate,
    Finding,
    Flips,
    GroupTest,
    Registration,
    Sensitivity,
    ValidityRule,
)
from eyechart.schema._grids import GridSummary
from eyechart.schema._runs import Run, TokenPrice


class Expense(Value, frozen=True):
    """What the answers of a run cost, in US dollars.

    Args:
        dollars: The sum over answers whose cost is known.
        n_priced: So many answers.
        n_answers: Of so many.
        is_reported: Whether the provider told the cost of answers itself.
        estimated: What the whole run was expected to cost before it began, None if no price was known.
        price: The price that was used, None where the provider told the cost of every answer.
    """

    dollars: float
    n_priced: int
    n_answers: int
    is_reported: bool = False
    estimated: float | None = None
    price: TokenPrice | None = None


class ConditionSummary(Value, frozen=True):
    """What happened under one condition: counts, sizes, states. Medians are over questions.

    ``n_correct`` counts full scores; ``reasons`` counts why answers scored 0 without being merely wrong.
    ``target_px_*`` is the shorter side of the target: in the picture as sent, and as the model saw it.
    ``seen_evidence`` says how the seen sizes are known, ``tokens_evidence`` the numbers of picture tokens.
    """

    condition: str
    view: str
    family: str
    area_ratio: float | None = None
    linear_scale: float | None = None
    n_asked: int = 0
    n_answered: int = 0
    n_scored: int = 0
    n_missing: int = 0
    n_correct: float = 0
    accuracy_sum: float | None = None
    median_sent_size: Size | None = None
    median_sent_px: float | None = None
    median_area_multiplier: float | None = None
    target_px_sent: float | None = None
    target_px_seen: float | None = None
    seen_evidence: str | None = None
    tokens_evidence: str | None = None
    n_saturated: int = 0
    states: dict[str, int] = {}
    reasons: dict[str, int] = {}


class Failure(Value, frozen=True):
    """One cause of missing or unreadable answers, with the conditions it struck and one example."""

    state: str
    cause: str
    n: int
    conditions: dict[str, int] = {}
    example: str = ""


class PictureGroup(Value, frozen=True):
    """The pictures of one dataset of a run, each counted once, with their numbers of pixels.

    ``quartiles_px`` are minimum, lower quartile, median, upper quartile and maximum.
    """

    source: str
    category: str | None
    n_questions: int
    n_pictures: int
    quartiles_px: tuple[float, float, float, float, float]
    mean_px: float


class AnswerPattern(Value, frozen=True):
    """Questions that were answered alike under every condition of ``Summary.pattern_conditions``.

    ``marks`` has one letter per condition: ``r`` right (at least half of the score), ``w`` wrong, ``-`` not scored.
    """

    marks: str
    n_questions: int
    n_clusters: int


class Summary(Record, frozen=True, kw_only=True):
    """Everything a report or figure shows about one run under one scorer (``estimates.json``).

    ``proportions`` are chance-corrected, robust, any-right and agreeing shares and family means; ``breakdowns``
    accuracies of groups of questions (``subset``), ``group_effects`` their contrasts. ``grids`` are needle grids, whose
    regions are conditions too; ``pictures`` the sizes of the originals by
    dataset, ``averages`` the overall score by every averaging rule. ``patterns`` count the questions by what was right
    and wrong under ``pattern_conditions``, most right first.
    """

    run: Run
    scorer: str
    conditions: tuple[ConditionSummary, ...]
    estimates: tuple[Estimate, ...]
    contrasts: tuple[Contrast, ...]
    size_bands: tuple[SizeBand, ...] = ()
    failures: tuple[Failure, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    chance: float | None = None
    n_questions: int = 0
    n_clusters: int = 0
    usage: Usage | None = None
    effects: tuple[Contrast, ...] = ()
    decompositions: tuple[Decomposition, ...] = ()
    flips: tuple[Flips, ...] = ()
    proportions: tuple[Estimate, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    movement: CurveMovement | None = None
    breakdowns: tuple[Estimate, ...] = ()
    group_effects: tuple[Contrast, ...] = ()
    group_tests: tuple[GroupTest, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    rules: tuple[ValidityRule, ...] = ()
    registration: Registration | None = None
    acuities: tuple[Acuity, ...] = ()
    close_views: tuple[CloseViews, ...] = ()
    expense: Expense | None = None
    grids: tuple[GridSummary, ...] = ()
    pictures: tuple[PictureGroup, ...] = ()
    averages: tuple[Estimate, ...] = ()
    pattern_conditions: tuple[str, ...] = ()
    patterns: tuple[AnswerPattern, ...] = ()
