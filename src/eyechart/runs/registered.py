"""A run read with the plan that was written before it: what is confirmatory, and where it departs from the plan."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec
import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.runs.claiming import made_of, share_records
from eyechart.runs.effects import with_detectable
from eyechart.runs.registration import Hypothesis, StudyPlan, hash_ids
from eyechart.schema import Contrast, HypothesisResult, Registration, Summary
from eyechart.stats.claims import Made, adjust_family, decide, take_record
from eyechart.stats.conditions import ScoreTable, contrasts_between
from eyechart.stats.equivalence import equivalence, worst_equivalence
from eyechart.stats.missing import gap_bounds
from eyechart.stats.paired import subtract


def register(
    summary: Summary, plan: StudyPlan, table: RunTable, scores: ScoreTable, copy: StudyPlan | None = None
) -> Summary:
    """Mark every result of a summary as confirmatory or exploratory, and add the results of the hypotheses.

    Where the plan was changed, nothing is confirmatory.

    Args:
        summary: The summary.
        plan: The plan that the report is read with.
        table: The run.
        scores: Its scores.
        copy: The plan that the run was started with, if it kept any.
    """
    notes = _departures(summary, plan, table)
    is_changed = plan.is_changed or (copy is not None and copy.sha256 != plan.sha256)
    if plan.is_changed:
        notes.append("a value of the plan was changed after it was written: its hash does not fit")
    if copy is not None and copy.sha256 != plan.sha256:
        notes.append("the run was started with another plan")
    if table.run.n_plans > 1:
        is_changed = True
        notes.append("the questions were changed after the run had begun")
    first = _first_answer(table)
    if first is not None and _is_later(plan.written_at, first):
        is_changed = True
        notes.append(f"the plan was written at {plan.written_at}, after the first answer ({first})")
    known = {one.condition for one in summary.estimates}
    results = _results(plan, scores, known, summary, is_changed=is_changed, is_finished=table.is_finished)
    planned = [one.contrast for one in results if one.contrast is not None]
    shown = {(one.condition, one.baseline) for one in summary.contrasts}
    apart = [one for one in planned if (one.condition, one.baseline) not in shown]
    marked = msgspec.structs.replace(
        summary,
        contrasts=(*(_as_planned(one, planned, made_of(table)) for one in summary.contrasts), *apart),
        effects=tuple(msgspec.structs.replace(one, role="exploratory") for one in summary.effects),
        group_effects=tuple(msgspec.structs.replace(one, role="exploratory") for one in summary.group_effects),
        # The plan names the family: whether the region of a grid matters is not in it.
        grids=tuple(
            msgspec.structs.replace(one, claimed=False, map_gap_p_adjusted=None, standing=made_of(table))
            for one in summary.grids
        ),
        registration=Registration(
            sha256=plan.sha256,
            written_at=plan.written_at,
            is_changed=is_changed,
            correction=plan.correction,
            results=results,
            notes=tuple(notes),
        ),
    )
    return share_records(marked, made_of(table))


def _first_answer(table: RunTable) -> str | None:
    endings = (cell.ending for cell in table.cells.values())
    return min((ending.finished_at for ending in endings if ending and ending.finished_at), default=None)


def _is_later(written: str, answered: str) -> bool:
    try:
        return datetime.fromisoformat(written) > datetime.fromisoformat(answered)
    except (TypeError, ValueError):
        return False


def _departures(summary: Summary, plan: StudyPlan, table: RunTable) -> list[str]:
    """Say in what a run is not the one that was planned."""
    run = summary.run
    ids = hash_ids([question.id for question in table.questions])
    pairs: Mapping[str, tuple[object, object]] = {
        "benchmark": (f"{plan.benchmark} {plan.revision[:12]}", f"{run.benchmark.name} {run.benchmark.revision[:12]}"),
        "prompt": (plan.prompt, run.prompt_id),
        "scorer": (plan.scorer, summary.scorer),
        "number of questions": (plan.n_questions, len(table.questions)),
        "question ids": (plan.questions_sha256[:12], ids[:12]),
    }
    notes = [
        f"{name}: planned {planned}, found {found}" for name, (planned, found) in pairs.items() if planned != found
    ]
    lacking = [view for view in plan.views if view not in table.conditions]
    return [*notes, *([f"planned views that were not asked: {', '.join(lacking)}"] if lacking else [])]


def _results(
    plan: StudyPlan, scores: ScoreTable, known: set[str], summary: Summary, *, is_changed: bool, is_finished: bool
) -> tuple[HypothesisResult, ...]:
    """Test the hypotheses as one family, each with what the validity rules say about it."""
    made: Made = "interim" if not is_finished else "exploratory" if is_changed else "confirmatory"
    wanted = [one for one in plan.hypothesis if one.condition in known and one.baseline in known]
    confidence = round(1.0 - plan.alpha, 10)
    tested = contrasts_between(scores, [(one.condition, one.baseline) for one in wanted], confidence=confidence)
    n_tested = sum(one.p is not None for one in tested)
    family = adjust_family(tested, plan.correction, f"{n_tested} hypotheses of the plan").contrasts
    by_pair = {}
    for contrast in family:
        pair = (contrast.condition, contrast.baseline)
        marks = _marks(summary, *pair)
        blocked = msgspec.structs.replace(
            contrast,
            role="exploratory" if is_changed else "confirmatory",
            blocked_by=marks[0],
            warnings=tuple(dict.fromkeys((*contrast.warnings, *marks[1]))),
        )
        by_pair[pair] = decide(with_detectable(blocked, scores, n_comparisons=n_tested), made)
    return tuple(
        _result(one, by_pair.get((one.condition, one.baseline)), scores, plan.alpha) for one in plan.hypothesis
    )


def _marks(summary: Summary, condition: str, baseline: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what blocks a pair of conditions, and what warns of it."""
    own = [
        rule
        for rule in summary.rules
        if (rule.conditions and {condition, baseline} & set(rule.conditions))
        or (rule.level == "error" and not rule.conditions)
    ]
    same = [one for one in summary.contrasts if {one.condition, one.baseline} == {condition, baseline}]
    blocked = [rule.code for rule in own if rule.level == "error"] + [code for one in same for code in one.blocked_by]
    warned = [rule.code for rule in own if rule.level == "warning"]
    return tuple(dict.fromkeys(blocked)), tuple(dict.fromkeys(warned))


def _result(one: Hypothesis, contrast: Contrast | None, scores: ScoreTable, alpha: float) -> HypothesisResult:
    result = HypothesisResult(one.name, one.condition, one.baseline, contrast=contrast, margin=one.margin)
    if contrast is None or one.margin is None:
        return result
    columns = np.array([scores.column(one.condition)]), np.array([scores.column(one.baseline)])
    change, both = subtract(scores.values, scores.present, *columns)
    table = equivalence(change[:, 0], both[:, 0], scores.clusters, one.margin, alpha=alpha)
    bounds = gap_bounds(scores.bounds, *columns)
    p = worst_equivalence(table, bounds.at((slice(None), 0)), scores.clusters, alpha=alpha)
    is_shown = p <= alpha and not contrast.blocked_by and contrast.standing != "interim"
    return msgspec.structs.replace(result, equivalence_p=p, is_equivalent=is_shown)


def _as_planned(contrast: Contrast, planned: Sequence[Contrast], made: Made) -> Contrast:
    """Return a contrast as the plan's family has it; one that was not planned is secondary and exploratory."""
    taken = take_record(contrast, planned)
    if not taken.secondary:
        return taken
    return decide(msgspec.structs.replace(taken, role="exploratory"), made)
