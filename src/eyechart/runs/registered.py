"""A run read with the plan that was written before it: what is confirmatory, and where it departs from the plan."""

from collections.abc import Mapping
from datetime import datetime

import msgspec
import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.runs.registration import Hypothesis, StudyPlan, hash_ids
from eyechart.schema import Contrast, HypothesisResult, Registration, Summary
from eyechart.stats.conditions import ScoreTable, contrasts_between
from eyechart.stats.corrections import adjust
from eyechart.stats.equivalence import equivalence
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
    results = _results(plan, scores, known, summary, is_changed=is_changed)
    planned = {(one.condition, one.baseline): one.contrast for one in results if one.contrast is not None}
    return msgspec.structs.replace(
        summary,
        contrasts=tuple(_marked(one, planned) for one in summary.contrasts),
        effects=tuple(_marked(one, planned) for one in summary.effects),
        group_effects=tuple(msgspec.structs.replace(one, role="exploratory") for one in summary.group_effects),
        registration=Registration(
            sha256=plan.sha256,
            written_at=plan.written_at,
            is_changed=is_changed,
            correction=plan.correction,
            results=results,
            notes=tuple(notes),
        ),
    )


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
    plan: StudyPlan, scores: ScoreTable, known: set[str], summary: Summary, *, is_changed: bool
) -> tuple[HypothesisResult, ...]:
    """Test the hypotheses as one family, each with what the validity rules say about it."""
    wanted = [one for one in plan.hypothesis if one.condition in known and one.baseline in known]
    confidence = round(1.0 - plan.alpha, 10)
    tested = contrasts_between(scores, [(one.condition, one.baseline) for one in wanted], confidence=confidence)
    by_pair = {(one.condition, one.baseline): one for one in tested}
    raw = [one.p for one in tested if one.p is not None]
    adjusted = iter(adjust(np.array(raw, dtype=np.float64), plan.correction).tolist())
    for pair, contrast in by_pair.items():
        marks = _marks(summary, *pair)
        by_pair[pair] = msgspec.structs.replace(
            contrast,
            role="exploratory" if is_changed else "confirmatory",
            p_adjusted=None if contrast.p is None else next(adjusted),
            correction=plan.correction,
            family=f"{len(raw)} hypotheses of the plan",
            blocked_by=marks[0],
            warnings=tuple(dict.fromkeys((*contrast.warnings, *marks[1]))),
        )
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
    return msgspec.structs.replace(
        result, equivalence_p=float(table.p), is_equivalent=bool(table.is_equivalent) and not contrast.blocked_by
    )


def _marked(contrast: Contrast, planned: Mapping[tuple[str, str], Contrast]) -> Contrast:
    """Return a contrast with its role; a planned one carries the p of the plan's family."""
    found = planned.get((contrast.condition, contrast.baseline))
    if found is None:
        return msgspec.structs.replace(contrast, role="exploratory")
    return msgspec.structs.replace(
        contrast, role=found.role, p_adjusted=found.p_adjusted, correction=found.correction, family=found.family
    )
