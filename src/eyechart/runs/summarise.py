"""From the store of a run to everything a report shows; the same store gives the same bytes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import floor, log2
from statistics import median

import numpy as np

from eyechart.runs.cells import RunTable, read_table, total_usage
from eyechart.runs.failures import group_failures
from eyechart.runs.findings import find
from eyechart.runs.store import RunStore
from eyechart.schema import ConditionSummary, Contrast, Size, SizeBand, Summary, ViewImage
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.conditions import (
    Pair,
    ScoreTable,
    accuracy_by_condition,
    contrasts_against,
    contrasts_between,
)
from eyechart.stats.design_rules import check_same_input, check_subsets
from eyechart.stats.findings import Finding, attach
from eyechart.stats.score_rules import check_missing, check_shared_images, check_unparsed
from eyechart.views import IDENTICAL_VIEWS, parse_view

BASELINE = "original"


def summarise(store: RunStore, scorer_id: str) -> Summary:
    """Estimate everything about a run from its stored scores, and replace ``estimates.json``.

    Args:
        store: The run.
        scorer_id: Whose scores to take; see ``score_run``.

    Returns:
        The summary that was stored.

    Raises:
        StoreError: If this scorer did not judge the run, or the file cannot be written.
        SchemaError: If a file of the run is damaged.
    """
    table = read_table(store, scorer_id)
    summary = estimate(table, scorer_id, tuple(store.views()))
    store.write_summary(summary)
    return summary


def estimate(table: RunTable, scorer_id: str, views: Sequence[ViewImage]) -> Summary:
    """Return the summary of a gathered run."""
    values, present = table.scores()
    scores = ScoreTable(values, present, table.image_groups, table.conditions, chance=table.chance, scorer=scorer_id)
    rules = find_rules(table)
    controls = same_recipes(table)
    contrasts = attach(contrast_all(scores, controls), rules)
    conditions = summarise_conditions(table, views)
    return Summary(
        run=table.run,
        scorer=scorer_id,
        conditions=conditions,
        estimates=accuracy_by_condition(scores),
        contrasts=contrasts,
        size_bands=estimate_bands(table, scorer_id),
        failures=group_failures(table),
        findings=find(contrasts, conditions, controls),
        warnings=(
            *(f"{rule.code}: {rule.message}" for rule in rules),
            *_noise_warnings(contrasts),
            *_count_warnings(table, conditions),
        ),
        chance=float(table.chance.mean()) if len(table.questions) else None,
        n_questions=len(table.questions),
        n_clusters=find_clusters(table.image_groups).n_clusters,
        usage=total_usage(table.cells.values()),
    )


def contrast_all(scores: ScoreTable, controls: Sequence[Pair]) -> tuple[Contrast, ...]:
    """Contrast every condition with the original, or with the first condition, and the negative controls.

    Args:
        scores: The scores.
        controls: Pairs of conditions that show the same pictures.
    """
    if len(scores.conditions) < 2:  # noqa: PLR2004 -- a contrast has two sides
        return ()
    baseline = BASELINE if BASELINE in scores.conditions else scores.conditions[0]
    against = contrasts_against(scores, baseline, negative_controls=controls)
    apart = [pair for pair in controls if baseline not in pair]
    return (*against, *contrasts_between(scores, apart, negative_controls=controls)) if apart else against


def same_recipes(table: RunTable) -> tuple[Pair, ...]:
    """Return the pairs of conditions that show the same pictures for every question both were asked.

    These are the pairs that are identical by construction, and any other pair whose recipes agree throughout.
    """
    pairs = []
    for second in range(len(table.conditions)):
        for first in range(second):
            names = (table.conditions[first], table.conditions[second])
            is_known = names in IDENTICAL_VIEWS or names[::-1] in IDENTICAL_VIEWS
            if is_known or _have_same_recipes(table, first, second):
                pairs.append(names)
    return tuple(pairs)


def find_rules(table: RunTable) -> tuple[Finding, ...]:
    """Return the validity rules that apply to the run."""
    names, clusters = table.conditions, find_clusters(table.image_groups)
    if not table.questions:
        return ()
    asked = table.mask(table.cells)
    answered = table.mask(key for key, cell in table.cells.items() if cell.is_answered)
    unparsed = table.mask(key for key, cell in table.cells.items() if cell.is_unparsed)
    found = [
        *check_subsets([question.id for question in table.questions], asked, names),
        check_missing(answered | ~asked, clusters, names),
        check_unparsed(unparsed, answered, clusters, names),
        check_shared_images(clusters),
        *_collapsed(table),
    ]
    return tuple(rule for rule in found if rule is not None)


def summarise_conditions(table: RunTable, views: Sequence[ViewImage]) -> tuple[ConditionSummary, ...]:
    """Return what happened under each condition, in the order of the run."""
    by_view: dict[str, list[ViewImage]] = {}
    for row in views:
        by_view.setdefault(row.view, []).append(row)
    return tuple(
        _condition(table, index, by_view.get(table.view_of[name], [])) for index, name in enumerate(table.conditions)
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


def _condition(table: RunTable, index: int, rows: Sequence[ViewImage]) -> ConditionSummary:
    """Count one condition and take medians over its questions."""
    name = table.conditions[index]
    view = parse_view(table.view_of[name])
    cells = [cell for _, cell in table.column(index)]
    scored = [cell.value for cell in cells if cell.value is not None]
    n_expected = len(table.questions) * table.run.n_repeats
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
        n_saturated=sum("saturated" in row.notes for row in rows),
        states=_counts(cell.ending.state.value for cell in cells if cell.ending is not None),
        reasons=_counts(cell.reason for cell in cells if cell.reason is not None),
    )


def _collapsed(table: RunTable) -> tuple[Finding, ...]:
    """Find conditions that the model itself makes one picture of, on the questions asked under all."""
    if not any(cell.sight is not None and cell.sight.seen_size is not None for cell in table.cells.values()):
        return ()
    rows = []
    for question in range(len(table.questions)):
        cells = [table.cells.get((question, index, 0)) for index in range(len(table.conditions))]
        whole = [cell.content for cell in cells if cell is not None]
        if len(whole) == len(cells):
            rows.append(whole)
    return check_same_input(rows, table.conditions)


def _have_same_recipes(table: RunTable, first: int, second: int) -> bool:
    shared = [
        (cell, other)
        for (question, condition, repeat), cell in table.cells.items()
        if condition == first and (other := table.cells.get((question, second, repeat))) is not None
    ]
    return bool(shared) and all(cell.recipes == other.recipes for cell, other in shared)


def _noise_warnings(contrasts: Iterable[Contrast]) -> list[str]:
    """Say which identical pictures were answered differently beyond chance."""
    return [
        f"{Code.AA_NOISE}: {one.condition} and {one.baseline} show the same pictures, yet {one.gained} answers were "
        f"gained and {one.lost} lost: a fault, or a model that drifts"
        for one in contrasts
        if Code.AA_NOISE in one.warnings
    ]


def _count_warnings(table: RunTable, conditions: Sequence[ConditionSummary]) -> list[str]:
    """Say what is missing, what stands twice, and what nobody knows."""
    n_missing = sum(condition.n_missing for condition in conditions)
    warnings = []
    if n_missing:
        warnings.append(
            f"{n_missing} of {len(table.questions) * table.run.n_repeats * len(conditions)} answers are missing: "
            f"accuracy with its interval leaves them out, the score over all ids counts them as 0"
        )
    if table.n_duplicates:
        warnings.append(f"{table.n_duplicates} requests were answered more than once; the first answer counts")
    if all(cell.sight is None or cell.sight.seen_size is None for cell in table.cells.values()):
        warnings.append("what the model sees of each picture is not known, so sizes are those that were sent")
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
