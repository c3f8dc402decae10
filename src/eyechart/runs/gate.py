"""The gate between an old and a new run: pass, fail or cannot tell, with the numbers and what would tell."""

from collections.abc import Sequence

import msgspec
import numpy as np

from eyechart.errors import UsageError
from eyechart.runs.compare import Comparison, DiffOptions, compare_runs
from eyechart.runs.compared_readings import MEAN_OVER_VIEWS
from eyechart.runs.pairing import Side, pair_sides
from eyechart.schema import Contrast, Value
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.gate import GatePower, Verdict, foresee_gate, gate_gaps, judge_gate, verdict_of
from eyechart.stats.missing import ScoreBounds

PASS, FAIL, CANNOT_TELL, UNFINISHED = 0, 4, 5, 3
_VIEW_MARGIN = 0.05
_COUNTED = (str(Code.MISSING_BY_VIEW),)


class GateRow(Value, frozen=True, kw_only=True):
    """The gate for the mean over the views, or for one view.

    Args:
        view: The view, or ``mean over views``.
        margin: Largest loss that does not matter.
        lower: One-sided 95 % lower bound of new − old, missing answers counted against the new run; None where there
            are too few pictures.
        upper: Upper bound of the two-sided 95 % interval, missing answers counted for the new run.
        p_fail: p that the difference lies below −margin, after Holm over mean and views.
        n_questions: Questions asked, answered or not.
        missing: Share of them of which an answer is missing on one side or both.
        verdict: What this row alone says.
        contrast: The same difference as ``eyechart diff`` has it; None where no question was answered on both sides.
    """

    view: str
    margin: float
    lower: float | None
    upper: float | None
    p_fail: float | None
    n_questions: int
    missing: float
    verdict: Verdict
    contrast: Contrast | None = None


class Gate(Value, frozen=True, kw_only=True):
    """The verdict of the gate on a new run against an old one.

    Args:
        verdict: ``pass``, ``fail``, ``cannot tell`` or ``unfinished``.
        reason: Why, in a sentence.
        new: Name of the new run.
        old: Name of the old run.
        margin: Largest loss of the mean that does not matter.
        view_margin: Largest loss of one view that does not matter.
        max_missing: Largest share of missing answers under a view.
        rows: The mean over the views, where there are several, and every view.
        probability: That a candidate without any loss passes with as many questions; None where it is not known.
        n_needed: Questions with which such a candidate passes with 80 %; None where no number reaches that.
        smallest_margin: Margin of the mean with which it would pass with 80 % with as many questions.
        smallest_view_margin: The same for the views.
        power: Those three in sentences.
        scorer: Scorer of both runs.
        n_questions: Questions asked.
        n_clusters: Pictures they are about.
        warnings: What speaks against the comparison.
    """

    verdict: str
    reason: str
    new: str
    old: str
    margin: float
    view_margin: float
    max_missing: float
    rows: tuple[GateRow, ...]
    scorer: str
    n_questions: int
    n_clusters: int
    probability: float | None = None
    n_needed: int | None = None
    smallest_margin: float | None = None
    smallest_view_margin: float | None = None
    power: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 pass, 4 fail, 5 cannot tell, 3 unfinished."""
        return {"pass": PASS, "fail": FAIL, "unfinished": UNFINISHED}.get(self.verdict, CANNOT_TELL)


class GateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the new run may lose.

    Args:
        margin: Loss of the mean over the views that does not matter, in [0, 1).
        view_margin: Loss of one view that does not matter, in [0, 1); the larger of 0.05 and ``margin`` if None.
        max_missing: Largest share of missing answers under a view, in [0, 1]; half of ``margin`` if None.

    Raises:
        UsageError: If one is out of range.
    """

    margin: float
    view_margin: float | None = None
    max_missing: float | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        given = {"--margin": self.margin, "--view-margin": self.view_margin, "--max-missing": self.max_missing}
        for name, value in given.items():
            if value is not None and not 0.0 <= value < 1.0:
                raise UsageError(f"{name} {value:g} does not lie between 0 and 1", hint="two points are 0.02")

    @property
    def of_views(self) -> float:
        """Loss of one view that does not matter."""
        return max(_VIEW_MARGIN, self.margin) if self.view_margin is None else self.view_margin

    @property
    def of_missing(self) -> float:
        """Largest share of missing answers under a view."""
        return self.margin / 2.0 if self.max_missing is None else self.max_missing


def gate_runs(new: Side, old: Side, scorer: str, limits: GateLimits, options: DiffOptions | None = None) -> Gate:
    """Judge a new run against an old one, view by view and over the mean of the views.

    It passes if every lower bound lies above its limit, each at one-sided 95 %, with every missing answer counted
    against the new run. It fails if a difference lies below its limit after Holm over mean and views, with every
    missing answer counted for it. A question that only one run was asked counts as missing on the other side.

    Args:
        new: The candidate.
        old: What it is compared with.
        scorer: Scorer of both.
        limits: What the candidate may lose.
        options: Views, and errors of pairing that are allowed.

    Raises:
        StatisticsError: If the runs share no view or question, or must not be paired.
    """
    options = options or DiffOptions()
    # What is missing is counted here, so that it forbids no comparison.
    options = msgspec.structs.replace(options, allowed=(*options.allowed, *_COUNTED))
    return judge_sides(new, old, compare_runs((old, new), scorer, options), limits, options.views)


def judge_sides(new: Side, old: Side, comparison: Comparison, limits: GateLimits, views: Sequence[str] = ()) -> Gate:
    """Return the gate of two sides that were compared already, see ``gate_runs``."""
    paired = pair_sides((old, new), views)
    shared, groups = paired.filled, list(paired.image_groups)
    apart = _apart(old, new, paired.ids)
    groups += apart
    gap = gate_gaps(*(_with_unshared(shared, side, len(apart)) for side in (1, 0)))
    names = paired.views if len(paired.views) == 1 else (MEAN_OVER_VIEWS, *paired.views)
    limit = -np.array([limits.margin, *[limits.of_views] * (len(names) - 1)])
    if len(names) == 1:
        limit = -np.array([min(limits.margin, limits.of_views)])
    clusters = find_clusters(groups)
    table = judge_gate(gap, clusters, limit)
    contrasts = {one.view: one.contrast for one in comparison.differences}
    blocked = dict.fromkeys(code for one in contrasts.values() for code in one.blocked_by)
    verdict, reason = verdict_of(table, limits.of_missing)
    if blocked and verdict != "cannot tell":
        verdict, reason = "cannot tell", f"blocked by {', '.join(blocked)}"
    n_asked = np.count_nonzero(gap.asked, axis=0)
    rows = []
    for at, name in enumerate(names):
        is_known = bool(table.has_interval[at])
        rows.append(
            GateRow(
                view=name,
                margin=float(-limit[at]),
                lower=float(table.lower[at]) if is_known else None,
                upper=float(table.upper[at]) if is_known else None,
                p_fail=float(table.p_fail[at]) if is_known else None,
                n_questions=int(n_asked[at]),
                missing=float(table.missing[at]),
                verdict=verdict_of(table.column(at), 1.0 if name == MEAN_OVER_VIEWS else limits.of_missing)[0],
                contrast=contrasts.get(name, contrasts.get("view")),
            )
        )
    power = foresee_gate(gap, clusters, limit) if table.has_interval.all() else None
    is_finished = paired.is_finished
    return Gate(
        verdict=verdict if is_finished else "unfinished",
        reason=_reason(verdict, reason, rows) if is_finished else "a run is not finished: give its command again",
        new=new.label,
        old=old.label,
        margin=limits.margin,
        view_margin=limits.of_views,
        max_missing=limits.of_missing,
        rows=tuple(rows),
        scorer=comparison.scorer,
        n_questions=len(groups),
        n_clusters=clusters.n_clusters,
        probability=None if power is None else power.probability,
        n_needed=None if power is None else power.n_needed,
        smallest_margin=None if power is None else power.smallest_margin,
        smallest_view_margin=None if power is None or len(names) == 1 else power.smallest_view_margin,
        power=() if power is None else _power_words(power, len(groups), has_views=len(names) > 1),
        warnings=tuple(f"{rule.code}: {rule.message}" for rule in comparison.rules if rule.level != "info"),
    )


def _apart(old: Side, new: Side, shared: Sequence[str]) -> list[str]:
    """Return the picture of every question that only one run was asked, or that is another one in the other run."""
    known = set(shared)
    every = {question.id: question.image_group for side in (new, old) for question in side.table.questions}
    return [group for name, group in every.items() if name not in known]


def _with_unshared(filled: ScoreBounds, side: int, n_apart: int) -> ScoreBounds:
    """Return the bounds of one side, with a row that may be anything for every question that is not shared."""

    def joined(values: Floats, more: float) -> Floats:
        return np.concatenate([values[..., side], np.full((n_apart, values.shape[1]), more)])

    asked: Bools = np.concatenate([filled.asked[..., side], np.ones((n_apart, filled.asked.shape[1]), dtype=np.bool_)])
    return ScoreBounds(joined(filled.lowest, 0.0), joined(filled.highest, 1.0), asked)


def _reason(verdict: Verdict, reason: str, rows: Sequence[GateRow]) -> str:
    if verdict == "pass":
        return "every lower bound lies above its limit, with missing answers counted against the new run"
    if verdict == "fail":
        failed = [row.view for row in rows if row.p_fail is not None and row.verdict == "fail"]
        return f"{', '.join(failed)} lies below the limit, with missing answers counted for the new run"
    short = [row.view for row in rows if row.lower is not None and row.lower <= -row.margin]
    return f"{reason} ({', '.join(short)})" if short and not reason.startswith("blocked") else reason


def _power_words(power: GatePower, n: int, *, has_views: bool) -> tuple[str, ...]:
    """Say what a candidate without loss can expect."""
    said = [f"A candidate without loss passes at n = {n} with a probability of {100 * power.probability:.0f} %."]
    views = f" and {100 * power.smallest_view_margin:.1f} a view" if has_views else ""
    margins = f"the smallest margin that passes with 80 % at n = {n} is {100 * power.smallest_margin:.1f} points{views}"
    if power.n_needed is None:
        said.append(f"No number of questions reaches 80 %; {margins}.")
    elif power.n_needed > n:
        said.append(f"80 % take {power.n_needed} questions, more than the {n} that there are; {margins}.")
    else:
        said.append(f"80 % take {power.n_needed} questions.")
    return tuple(said)
