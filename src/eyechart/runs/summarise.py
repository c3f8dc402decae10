"""From the store of a run to everything a report shows; the same store gives the same bytes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import floor, log2
from statistics import median

import msgspec
import numpy as np

from eyechart.runs.acuity import as_acuities, as_thresholds, estimate_half_sizes
from eyechart.runs.averages import estimate_averages
from eyechart.runs.breakdowns import estimate_breakdowns
from eyechart.runs.cells import Cell, RunTable, Slot, total_usage
from eyechart.runs.claiming import made_of, settle
from eyechart.runs.closeness import block_close, find_close, repeated, with_noise, without_repeats
from eyechart.runs.contrasting import contrast_all, same_recipes
from eyechart.runs.effects import (
    count_flips,
    decompositions,
    estimate_effects,
    estimate_shares,
    named_views,
    with_detectable,
)
from eyechart.runs.expense import expense_of
from eyechart.runs.failures import group_failures
from eyechart.runs.findings import find
from eyechart.runs.items import Items, read_items
from eyechart.runs.patterns import count_patterns
from eyechart.runs.picture_groups import group_pictures
from eyechart.runs.readings import block_fragile, block_subsets, check_sensitivity, of_unread, readings_of
from eyechart.runs.reconcile import mismatch_warnings
from eyechart.runs.region_findings import find_regions, widen_rules
from eyechart.runs.regions import summarise_grids
from eyechart.runs.registered import register
from eyechart.runs.registration import StudyPlan
from eyechart.runs.resolution import estimate_resolution
from eyechart.runs.rotations import estimate_rotations
from eyechart.runs.store import RunStore
from eyechart.runs.validity import check_contrasts, concerning_contrasts, find_rules
from eyechart.schema import (
    ConditionSummary,
    Contrast,
    Grid,
    Sensitivity,
    Size,
    SizeBand,
    Summary,
    ValidityRule,
    ViewImage,
)
from eyechart.stats.clusters import find_clusters
from eyechart.stats.conditions import (
    Pair,
    ScoreTable,
    accuracy_by_condition,
)
from eyechart.stats.findings import Finding as Rule
from eyechart.stats.findings import attach
from eyechart.views import parse_view

_MOST_NAMED = 5


def summarise(store: RunStore, scorer_id: str, plan: StudyPlan | None = None) -> Summary:
    """Estimate everything about a run from its stored scores, and replace ``estimates.json``.

    Args:
        store: The run.
        scorer_id: Whose scores to take; see ``score_run``.
        plan: The plan to read the run with; the one it was started with if left out.

    Returns:
        The summary that was stored.

    Raises:
        StoreError: If this scorer did not judge the run, or the file cannot be written.
        SchemaError: If a file of the run is damaged.
    """
    summary = summarise_items(read_items(store, scorer_id, plan))
    store.write_summary(summary)
    return summary


def summarise_items(items: Items) -> Summary:
    """Return the summary of a gathered run; the same items give the same numbers, wherever they were kept."""
    summary = estimate(items.table, items.scorer, items.views, items.lenient)
    return _registered(summary, items)


def estimate(
    table: RunTable, scorer_id: str, views: Sequence[ViewImage], lenient: Mapping[Slot, float] | None = None
) -> Summary:
    """Return the summary of a gathered run.

    Args:
        table: The run.
        scorer_id: Scorer of its scores.
        views: What each view shows.
        lenient: What a more lenient reading gives, see ``judge_unread``.
    """
    whole = table
    everything = score_table(whole, scorer_id)
    estimates = accuracy_by_condition(everything)
    # A ceiling or a blind guess is a matter of a whole view, not of one region of a grid.
    plain = not_regions(whole)
    of_views = [one for one in estimates if one.condition in plain]
    close = find_close(whole)
    rules = find_rules(whole, everything, of_views, close)
    grids = summarise_grids(whole, everything.values, everything.present, named_views(whole), scorer_id)
    rules = widen_rules(rules, grids)
    # The regions of a needle grid are compared with each other and not each with one baseline.
    table = whole.only(plain) if grids else whole
    scores = score_table(table, scorer_id) if grids else everything
    close = tuple(one for one in close if {one.condition, one.baseline} <= set(table.conditions))
    controls = (*same_recipes(table), *repeated(close))
    marks = concerning_contrasts(rules)
    raw = contrast_all(table, scores, controls)
    is_control = {frozenset(pair) for pair in controls}
    headlines = [one for one in raw if frozenset((one.condition, one.baseline)) not in is_control]
    readings = readings_of(table, scores, lenient or {})
    sensitivity = check_sensitivity(readings, headlines)
    fragile = check_sensitivity(of_unread(readings), headlines)
    n_tests = sum(one.p is not None for one in headlines) + sum(
        (grid.map_gap_p is not None) + (grid.size is not None and grid.size.p is not None) for grid in grids
    )
    detectable = [with_detectable(one, scores, n_comparisons=n_tests) for one in raw]
    contrasts = block_subsets(block_fragile(attach(detectable, marks), fragile), scores, headlines)
    contrasts = block_close(contrasts, close)
    contrasts = (*contrasts, *attach([grid.size for grid in grids if grid.size is not None], marks))
    shown = named_views(table)
    apart = without_repeats(shown, close)
    all_effects = attach(estimate_effects(scores, apart, n_comparisons=n_tests), marks)
    effects = block_close(block_subsets(block_fragile(all_effects, fragile), scores, headlines), close)
    rules = (*rules, *check_contrasts((*contrasts, *effects)))
    conditions = summarise_conditions(whole, views)
    breakdowns, group_effects, group_tests = estimate_breakdowns(table, scores, headlines)
    thresholds, movement = estimate_resolution(scores, shown, close)
    half_sizes = estimate_half_sizes(table, named_views(table))
    summary = Summary(
        run=table.run,
        scorer=scorer_id,
        conditions=conditions,
        estimates=estimates,
        contrasts=contrasts,
        size_bands=estimate_bands(table, scorer_id),
        failures=group_failures(whole),
        warnings=(
            *_interim_warnings(whole),
            *_rule_warnings(rules),
            *_fragile_warnings(sensitivity),
            *_count_warnings(whole, conditions),
            *(f"{grid.name}: {note}" for grid in grids for note in grid.notes),
        ),
        chance=_guess_rate(table, everything),
        n_questions=len(table.questions),
        n_clusters=find_clusters(table.image_groups).n_clusters,
        usage=total_usage(whole.cells.values()),
        expense=expense_of(whole.run, whole.cells.values()),
        effects=effects,
        decompositions=decompositions(scores, shown, views),
        flips=count_flips(scores, headlines, controls),
        proportions=(*estimate_rotations(table, scorer_id), *estimate_shares(scores, shown)),
        thresholds=(*thresholds, *as_thresholds(half_sizes)),
        movement=movement,
        breakdowns=breakdowns,
        group_effects=attach(group_effects, marks),
        group_tests=group_tests,
        sensitivity=sensitivity,
        rules=_recorded(rules),
        grids=grids,
        pictures=group_pictures(whole.questions),
        acuities=as_acuities(half_sizes),
        close_views=with_noise(close, contrasts, count_flips(scores, _of_pairs(raw, repeated(close)), controls)),
        averages=estimate_averages(whole, everything.values, everything.present, scorer_id),
        pattern_conditions=scores.conditions,
        patterns=count_patterns(scores.values, scores.present, table.image_groups) if scores.conditions else (),
        half_accuracy_sizes=half_sizes,
    )
    return _with_findings(settle(summary, made_of(whole)))


def _with_findings(summary: Summary) -> Summary:
    """Return a summary with the sentences that its decided contrasts allow."""
    findings = (*find(summary.contrasts, summary.conditions), *find_regions(summary.grids))
    return msgspec.structs.replace(summary, findings=findings)


def _interim_warnings(table: RunTable) -> list[str]:
    if table.is_finished:
        return []
    text = f"interim: {table.n_open} of {len(table.cells)} requests have no answer yet, so nothing is claimed"
    return [f"{text}; the same run command asks them"]


def _guess_rate(table: RunTable, scores: ScoreTable) -> float | None:
    """Return the guess rate over the questions that have a score, as accuracy is; over all where none has one yet."""
    if not any(question.n_choices for question in table.questions):
        return None
    is_scored = scores.present.any(axis=1)
    return float(table.chance[is_scored].mean() if is_scored.any() else table.chance.mean())


def not_regions(table: RunTable) -> frozenset[str]:
    """Return the conditions that are not a region of a needle grid."""
    views = named_views(table)
    return frozenset(name for name in table.conditions if not isinstance(views.get(name), Grid))


def _recorded(rules: Iterable[Rule]) -> tuple[ValidityRule, ...]:
    return tuple(
        ValidityRule(code=str(rule.code), level=rule.level, message=rule.message, conditions=rule.conditions)
        for rule in rules
    )


def _rule_warnings(rules: Iterable[Rule]) -> list[str]:
    return [f"{rule.code}: {rule.message}" for rule in rules if rule.level != "info"]


def _of_pairs(contrasts: Iterable[Contrast], pairs: Iterable[Pair]) -> list[Contrast]:
    wanted = {frozenset(pair) for pair in pairs}
    return [one for one in contrasts if frozenset((one.condition, one.baseline)) in wanted]


def _registered(summary: Summary, items: Items) -> Summary:
    """Return the summary read with a plan; findings are made anew, since a planned family is another family."""
    if items.plan is None:
        return summary
    scores = score_table(items.table, summary.scorer)
    return _with_findings(register(summary, items, items.plan, scores))


def score_table(table: RunTable, scorer_id: str) -> ScoreTable:
    """Return the scores of a gathered run, averaged over repeats."""
    values, present = table.scores()
    return ScoreTable(
        values,
        present,
        table.image_groups,
        table.conditions,
        chance=table.chance,
        scorer=scorer_id,
        filled=table.bounds(),
    )


def summarise_conditions(table: RunTable, views: Sequence[ViewImage]) -> tuple[ConditionSummary, ...]:
    """Return what happened under each condition, in the order of the run."""
    by_view: dict[str, list[ViewImage]] = {}
    for row in views:
        by_view.setdefault(row.view, []).append(row)
    return tuple(
        _condition(table, name, [cell for _, cell in own], by_view.get(table.view_of[name], []))
        for name, own in zip(table.conditions, table.columns(), strict=True)
    )


def estimate_bands(table: RunTable, scorer_id: str) -> tuple[SizeBand, ...]:
    """Return accuracy by octaves of the target's shorter side as the model saw it, over all conditions.

    A question that was seen at one size under several conditions counts once, with its mean score.
    """
    by_octave: dict[int, dict[int, list[float]]] = {}
    for (question, _, _), cell in table.cells.items():
        if cell.value is not None and cell.sight is not None and cell.sight.target_px:
            octave = floor(log2(cell.sight.target_px))
            by_octave.setdefault(octave, {}).setdefault(question, []).append(cell.value)
    octaves = sorted(by_octave)
    values, present = (
        np.zeros((len(table.questions), len(octaves))),
        np.zeros((len(table.questions), len(octaves)), bool),
    )
    for column, octave in enumerate(octaves):
        for question, scores in by_octave[octave].items():
            values[question, column], present[question, column] = sum(scores) / len(scores), True
    names = tuple(f"target seen at {2.0**octave:g} to {2.0 ** (octave + 1):g} px" for octave in octaves)
    bands = ScoreTable(values, present, table.image_groups, names, chance=table.chance, scorer=scorer_id)
    estimates = accuracy_by_condition(bands, name="accuracy by target size seen")
    return tuple(
        SizeBand(low_px=2.0**octave, high_px=2.0 ** (octave + 1), estimate=one)
        for octave, one in zip(octaves, estimates, strict=True)
    )


def _condition(table: RunTable, name: str, cells: Sequence[Cell], rows: Sequence[ViewImage]) -> ConditionSummary:
    """Count one condition and take medians over its questions."""
    view = parse_view(table.view_of[name])
    scored = [cell.value for cell in cells if cell.value is not None]
    n_expected = sum(table.slots)
    sizes = [cell.sent_size for cell in cells if cell.sent_size is not None]
    n_answered = sum(cell.is_answered for cell in cells)
    return ConditionSummary(
        condition=name,
        view=table.view_of[name],
        family=view.family,
        area_ratio=getattr(view, "area_ratio", None),
        linear_scale=getattr(view, "linear_scale", None),
        n_asked=len(cells),
        n_answered=n_answered,
        n_scored=len(scored),
        n_missing=n_expected - n_answered,
        n_correct=sum(value == 1.0 for value in scored),
        accuracy_sum=sum(scored) / n_expected if scored or not n_answered else None,
        median_sent_size=_median_size(sizes),
        median_sent_px=_median(float(cell.sent_px) for cell in cells if cell.sent_size is not None),
        median_area_multiplier=_median(_area_multipliers(rows)),
        target_px_sent=_median(cell.target_px_sent for cell in cells if cell.target_px_sent is not None),
        target_px_seen=_median(
            cell.sight.target_px for cell in cells if cell.sight is not None and cell.sight.target_px is not None
        ),
        seen_evidence=_commonest(cell.sight.evidence for cell in cells if cell.sight is not None),
        tokens_evidence=_commonest(
            cell.sight.tokens_evidence
            for cell in cells
            if cell.sight is not None and cell.sight.tokens_evidence is not None
        ),
        n_saturated=sum("saturated" in row.notes for row in rows),
        states=_counts(cell.ending.state.value for cell in cells if cell.ending is not None),
        reasons=_counts(cell.reason for cell in cells if cell.reason is not None),
    )


def _fragile_warnings(sensitivity: Iterable[Sensitivity]) -> list[str]:
    """Say which differences change sign or significance with the way the answers are read."""
    fragile = [
        f"{one.condition} − {one.baseline} ({' and '.join(_changes(one))})"
        for one in sensitivity
        if one.sign_changes or one.significance_changes
    ]
    if not fragile:
        return []
    return [f"not robust to how unreadable and missing answers are counted: {', '.join(fragile)}"]


def _changes(one: Sensitivity) -> list[str]:
    return ["sign"] * one.sign_changes + ["significance"] * one.significance_changes


def _count_warnings(table: RunTable, conditions: Sequence[ConditionSummary]) -> list[str]:
    """Say what is missing, what stands twice, and what nobody knows."""
    n_missing = sum(condition.n_missing for condition in conditions)
    warnings = []
    if n_missing:
        warnings.append(
            f"{n_missing} of {sum(table.slots) * len(conditions)} answers are missing: "
            f"accuracy with its interval leaves them out, the score over all ids counts them as 0"
        )
    if table.n_duplicates:
        warnings.append(f"{table.n_duplicates} requests were answered more than once; the first answer counts")
    endings = (cell.ending for cell in table.cells.values())
    again = Counter(ending.asked_again for ending in endings if ending is not None and ending.asked_again)
    if again:
        states = ", ".join(f"{n} {state}" for state, n in sorted(again.items()))
        warnings.append(
            f"{again.total()} requests were asked again in the place of an error, as the user wished: {states}"
        )
    if table.run.n_plans > 1:
        warnings.append(
            "the questions were changed after the run had begun, so its results are exploratory; answers to questions "
            "that are gone do not count"
        )
    warnings.extend(mismatch_warnings(table, table.reconciliation))
    if all(cell.sight is None or cell.sight.seen_size is None for cell in table.cells.values()):
        warnings.append("what the model sees of each picture is not known, so sizes are those that were sent")
    unmatched = table.run.matching.unmatched if table.run.matching else ()
    if unmatched:
        named = ", ".join(one.question_id for one in unmatched[:_MOST_NAMED])
        more = f" and {len(unmatched) - _MOST_NAMED} more" if len(unmatched) > _MOST_NAMED else ""
        warnings.append(f"{len(unmatched)} questions could not be matched and were not asked: {named}{more}")
    return warnings


def _area_multipliers(rows: Iterable[ViewImage]) -> list[float]:
    found = (row.extra.get("area_multiplier") for row in rows)
    return [float(multiplier) for multiplier in found if isinstance(multiplier, int | float)]


def _median(numbers: Iterable[float]) -> float | None:
    listed = list(numbers)
    return float(median(listed)) if listed else None


def _median_size(sizes: Sequence[Size]) -> Size | None:
    if not sizes:
        return None
    return Size(int(median(size.width for size in sizes)), int(median(size.height for size in sizes)))


def _commonest(names: Iterable[str]) -> str | None:
    counts = Counter(names)
    return max(sorted(counts), key=lambda name: counts[name]) if counts else None


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
