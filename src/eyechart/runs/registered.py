"""A run read with the plan that was written before it: what is confirmatory, and where it departs from the plan."""

from collections.abc import Sequence

import msgspec
import numpy as np

from eyechart.runs.claiming import made_of, share_records
from eyechart.runs.effects import with_detectable
from eyechart.runs.items import Items
from eyechart.runs.kept_plan import KeptPlan
from eyechart.runs.looking import Looking
from eyechart.runs.readings import are_apart, block_subsets
from eyechart.runs.registration import Hypothesis, StudyPlan, picture_order
from eyechart.schema import Contrast, HypothesisResult, LookTaken, Registration, Summary
from eyechart.stats.betting import with_bet
from eyechart.stats.claims import Made, adjust_family, decide, take_record
from eyechart.stats.conditions import ScoreTable, contrasts_between
from eyechart.stats.equivalence import equivalence, worst_equivalence
from eyechart.stats.looks import over_looks
from eyechart.stats.missing import gap_bounds
from eyechart.stats.paired import subtract


def register(summary: Summary, items: Items, plan: StudyPlan, scores: ScoreTable) -> Summary:
    """Mark every result of a summary as confirmatory or exploratory, and add the results of the hypotheses.

    Where the run departs from the plan in anything, nothing is confirmatory. Where the plan does not even count, its
    family is not the headline either: whoever writes a plan afterwards would choose a family of one.

    Args:
        summary: The summary, settled by the product's own family.
        items: The run with what is known of its plan: whether it counts and was kept, and which look is shown.
        plan: The plan that the report is read with.
        scores: The scores of the run.
    """
    keeping, table = items.keeping, items.table
    made: Made = "confirmatory" if keeping.is_kept and table.is_finished else made_of(table)
    if keeping.counts:
        results = _results(plan, items.looking.look, scores, summary, made)
        planned = [one.contrast for one in results if one.contrast is not None]
        shown = {(one.condition, one.baseline) for one in summary.contrasts}
        apart = [one for one in planned if (one.condition, one.baseline) not in shown]
        contrasts = (*(_as_planned(one, planned, made_of(table)) for one in summary.contrasts), *apart)
        # The plan names the family: whether the region of a grid matters is not in it.
        grids = tuple(
            msgspec.structs.replace(one, claimed=False, map_gap_p_adjusted=None, standing=made_of(table))
            for one in summary.grids
        )
    else:
        contrasts = tuple(msgspec.structs.replace(one, role="exploratory") for one in summary.contrasts)
        results, grids = _results_beside(plan, scores, contrasts, made), summary.grids
    marked = msgspec.structs.replace(
        summary,
        contrasts=contrasts,
        effects=tuple(msgspec.structs.replace(one, role="exploratory") for one in summary.effects),
        group_effects=tuple(msgspec.structs.replace(one, role="exploratory") for one in summary.group_effects),
        grids=grids,
        warnings=(*_plan_warnings(keeping), *_look_warnings(items.looking, plan), *summary.warnings),
        registration=Registration(
            sha256=plan.sha256,
            written_at=plan.written_at,
            is_changed=not keeping.counts,
            correction=plan.correction,
            results=results,
            notes=keeping.notes,
            is_kept=keeping.is_kept,
            look=items.looking.look,
        ),
    )
    return share_records(marked, made_of(table))


def _plan_warnings(keeping: KeptPlan) -> tuple[str, ...]:
    if keeping.is_kept:
        return ()
    return (f"the plan was not kept, so every result is exploratory: {'; '.join(keeping.notes)}",)


def _look_warnings(looking: Looking, plan: StudyPlan) -> tuple[str, ...]:
    look = looking.look
    if look is None or look.n_pictures == look.n_pictures_planned:
        return (looking.note,) if looking.note else ()
    shown = (
        f"everything here is of the first {look.n_pictures} of {look.n_pictures_planned} pictures in the plan's order"
    )
    if plan.anytime:
        return (f"looked at {look.taken_at}, as the plan allows at any time: {shown}",)
    spent = f"it spends {100 * look.alpha:.2g} of the {100 * plan.alpha:g} % by which the family may err over all looks"
    return (f"look {look.number} of {look.n_looks}, taken {look.taken_at}: {shown}; {spent}",)


def _tested(plan: StudyPlan, scores: ScoreTable, alpha: float) -> tuple[Contrast, ...]:
    """Return the contrasts of the hypotheses whose two conditions have scores, with intervals that cover 1 − alpha."""
    asked = set(scores.conditions)
    pairs = [(one.condition, one.baseline) for one in plan.hypothesis if {one.condition, one.baseline} <= asked]
    return contrasts_between(scores, pairs, confidence=round(1.0 - alpha, 10)) if pairs else ()


def _results(
    plan: StudyPlan, look: LookTaken | None, scores: ScoreTable, summary: Summary, made: Made
) -> tuple[HypothesisResult, ...]:
    """Test the hypotheses as one family of the planned size, each with what the validity rules say about it.

    A hypothesis that could not be tested still counts: it enters the correction with a p of 1.
    """
    n_planned, alpha = len(plan.hypothesis), plan.alpha if look is None else look.alpha
    tested = _tested(plan, scores, alpha)
    if plan.anytime and look is not None:
        place = {name: at for at, name in enumerate(picture_order(scores.image_groups, plan.seed or 0))}
        tested = tuple(with_bet(one, scores, place, most=look.most_questions) for one in tested)
    n_untested = n_planned - sum(one.p is not None for one in tested)
    family = adjust_family(
        tested, plan.correction, f"{n_planned} hypotheses of the plan", others=(1.0,) * n_untested
    ).contrasts
    marked = []
    for contrast in family:
        marks = _marks(summary, contrast.condition, contrast.baseline)
        marked.append(
            msgspec.structs.replace(
                contrast,
                role="confirmatory" if made == "confirmatory" else "exploratory",
                blocked_by=marks[0],
                warnings=tuple(dict.fromkeys((*contrast.warnings, *marks[1]))),
            )
        )
    by_pair = {}
    for contrast in block_subsets(marked, scores, family, alpha=alpha):
        detectable = with_detectable(contrast, scores, n_comparisons=n_planned)
        if look is not None and look.number:
            detectable = over_looks(detectable, look.number, look.n_looks, look.alpha, of=plan.alpha)
        by_pair[(contrast.condition, contrast.baseline)] = decide(detectable, made)
    return tuple(_result(one, by_pair.get((one.condition, one.baseline)), scores, alpha) for one in plan.hypothesis)


def _results_beside(
    plan: StudyPlan, scores: ScoreTable, headline: Sequence[Contrast], made: Made
) -> tuple[HypothesisResult, ...]:
    """Return the hypotheses of a plan that does not count, as the product's own family has them; none is equivalent."""
    by_pair = {
        (one.condition, one.baseline): _as_planned(msgspec.structs.replace(one, role="exploratory"), headline, made)
        for one in _tested(plan, scores, plan.alpha)
    }
    found = (_result(one, by_pair.get((one.condition, one.baseline)), scores, plan.alpha) for one in plan.hypothesis)
    return tuple(
        msgspec.structs.replace(one, is_equivalent=None if one.is_equivalent is None else False) for one in found
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
    may_show = not contrast.blocked_by and contrast.standing != "interim" and not are_apart(scores, contrast)
    is_shown = p <= alpha and may_show
    return msgspec.structs.replace(result, equivalence_p=p, is_equivalent=is_shown)


def _as_planned(contrast: Contrast, planned: Sequence[Contrast], made: Made) -> Contrast:
    """Return a contrast as the plan's family has it; one that was not planned is secondary and exploratory."""
    taken = take_record(contrast, planned)
    if not taken.secondary:
        return taken
    return decide(msgspec.structs.replace(taken, role="exploratory"), made)
