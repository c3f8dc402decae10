"""The named effects of a run: context, canvas, distraction, resolution, and what holds over all views."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.schema import (
    Contrast,
    Crop,
    Decomposition,
    Estimate,
    Flips,
    NoImage,
    Original,
    TargetOnly,
    View,
    ViewImage,
    Whiteground,
)
from eyechart.stats.agreement import estimate_flips, estimate_robustness, guessing_churn
from eyechart.stats.arrays import Floats
from eyechart.stats.codes import Code
from eyechart.stats.composite import contrast_of_contrasts, decompose, estimate_family
from eyechart.stats.conditions import Pair, ScoreTable, can_test
from eyechart.stats.estimands import estimate_named
from eyechart.stats.paired import subtract
from eyechart.stats.pilot import read_pilot
from eyechart.stats.power import Design, detectable_difference
from eyechart.stats.proportion import PROPORTION_METHOD, ProportionTable
from eyechart.stats.ratio import ChanceCorrectedTable, correct_for_chance, estimate_ratios
from eyechart.stats.small_samples import printed_bounds
from eyechart.views import parse_view

CORRECTED_METHOD = f"{PROPORTION_METHOD}, moved to the scale where guessing is 0"
RATIO_METHOD = "ratio of cluster sums by linearisation, t(G-1)"
_BLIND = frozenset({"no_image", "blank"})
_FAMILIES = ("crop", "whiteground", "downsample", "target_only")
_FEWEST = 2


def named_views(table: RunTable) -> dict[str, View]:
    """Return condition → view of the conditions that are plain views; matched designs are left out."""
    return {name: parse_view(name) for name in table.conditions if table.view_of[name] == name}


def estimate_effects(scores: ScoreTable, views: Mapping[str, View], *, n_comparisons: int = 1) -> tuple[Contrast, ...]:
    """Return every named effect that the views allow, with its smallest detectable size.

    That is at the correction of the headline family, of ``n_comparisons`` tests.

    Interactions context × canvas stand behind them. p is corrected within each name; see ``stats.estimands``.
    """
    named = estimate_named(scores, views)
    interactions = [
        contrast
        for ratio in sorted({view.area_ratio for view in views.values() if isinstance(view, Crop)})
        if (contrast := _interaction(scores, views, ratio)) is not None
    ]
    return (*(with_detectable(one, scores, n_comparisons=n_comparisons) for one in named), *interactions)


def decompositions(
    scores: ScoreTable, views: Mapping[str, View], rows: Iterable[ViewImage]
) -> tuple[Decomposition, ...]:
    """Split crop − original at every factor that has both crop and white ground."""
    names = _names(views)
    original = names.get(Original())
    if original is None:
        return ()
    saturated = _saturated_shares(rows)
    found = []
    for ratio in sorted({view.area_ratio for view in views.values() if isinstance(view, Whiteground)}):
        crop, white = names.get(Crop(ratio)), names.get(Whiteground(ratio))
        if crop is None or white is None:
            continue
        parts = decompose(scores, original=original, whiteground=white, crop=crop)
        if parts is None:
            continue
        interaction = _interaction(scores, views, ratio)
        found.append(
            Decomposition(
                area_ratio=ratio,
                total=parts.total,
                distraction=parts.distraction,
                canvas=parts.canvas,
                interaction=interaction,
                is_order_dependent=interaction is not None and interaction.excludes_0,
                saturated_share=saturated.get(crop),
            )
        )
    return tuple(found)


def count_flips(scores: ScoreTable, contrasts: Sequence[Contrast], controls: Sequence[Pair]) -> tuple[Flips, ...]:
    """Return gained, lost and churn of contrasts, beside the churn of guessing and of identical pictures."""
    if not contrasts:
        return ()
    pairs = [(one.condition, one.baseline) for one in contrasts]
    known = _knowledge(scores)
    chance = np.zeros(scores.n_questions) if scores.chance is None else np.asarray(scores.chance)
    repetition = _repetition(scores, controls)
    found = []
    for (condition, baseline), (gained, lost, churn) in zip(pairs, _flip_estimates(scores, pairs), strict=True):
        guessed = 1.0 - (known[scores.column(condition)] + known[scores.column(baseline)]) / 2.0
        found.append(
            Flips(
                condition,
                baseline,
                gained=gained,
                lost=lost,
                churn=churn,
                guessing=guessing_churn(chance, float(np.clip(guessed, 0.0, 1.0))),
                repetition=repetition,
            )
        )
    return tuple(found)


def estimate_shares(scores: ScoreTable, views: Mapping[str, View]) -> tuple[Estimate, ...]:
    """Return chance-corrected accuracies, family means, and what holds over all views that show the picture."""
    found = [*_chance_corrected(scores), *_above_blind(scores, views)]
    for family in _FAMILIES:
        members = [name for name, view in views.items() if view.family == family]
        mean = estimate_family(scores, members, name=f"{family} ({len(members)} views)") if len(members) > 1 else None
        if mean is not None:
            found.append(mean)
    shown = [name for name in scores.conditions if name not in views or views[name].family not in _BLIND]
    return (*found, *_robustness(scores, shown))


def with_detectable(
    contrast: Contrast, scores: ScoreTable, discordance: float | None = None, *, n_comparisons: int = 1
) -> Contrast:
    """Return the contrast with the smallest difference that as many questions detect with a power of 80 %.

    Args:
        contrast: A contrast of two conditions of the table.
        scores: The scores behind it.
        discordance: Share of questions whose score differs; that of the contrast if left out.
        n_comparisons: Size of the family whose correction the star uses, at its first and hardest step.
    """
    n = contrast.n_questions
    share = (contrast.gained + contrast.lost) / n if discordance is None and n else discordance or 0.0
    if not 0.0 < share <= 1.0 or n == 0:
        return contrast
    columns = np.array([scores.column(contrast.condition)]), np.array([scores.column(contrast.baseline)])
    change, both = subtract(scores.values, scores.present, *columns)
    inflation = float(read_pilot(change, both, scores.clusters).variance_inflation[0])
    alpha = round(1.0 - contrast.confidence, 10)
    design = Design(alpha=alpha, n_comparisons=max(n_comparisons, 1), variance_inflation=inflation)
    return msgspec.structs.replace(contrast, detectable=detectable_difference(n, share, design))


def _interaction(scores: ScoreTable, views: Mapping[str, View], ratio: float) -> Contrast | None:
    """Return context × canvas at one factor, None without the four views."""
    names = _names(views)
    wanted: tuple[View, ...] = (Crop(ratio), TargetOnly(ratio), Whiteground(ratio), TargetOnly(None))
    found = [names[view] for view in wanted if view in names]
    if len(found) < len(wanted) or ratio == 1.0:
        return None
    first, second = (found[0], found[1]), (found[2], found[3])
    return contrast_of_contrasts(scores, first, second, name="context × canvas interaction")


def _names(views: Mapping[str, View]) -> dict[View, str]:
    return {view: name for name, view in views.items()}


def _saturated_shares(rows: Iterable[ViewImage]) -> dict[str, float]:
    """Return per view the share of questions whose view reaches over the whole picture."""
    counts: dict[str, list[int]] = {}
    for row in rows:
        entry = counts.setdefault(row.view, [0, 0])
        entry[0] += "saturated" in row.notes
        entry[1] += 1
    return {view: n_saturated / n for view, (n_saturated, n) in counts.items()}


def _flip_estimates(scores: ScoreTable, pairs: Sequence[Pair]) -> list[tuple[Estimate, Estimate, Estimate]]:
    first = np.array([scores.column(condition) for condition, _ in pairs], dtype=np.int64)
    second = np.array([scores.column(baseline) for _, baseline in pairs], dtype=np.int64)
    change, both = subtract(scores.values, scores.present, first, second)
    tables = estimate_flips(change, both, scores.clusters)
    return [
        (
            _share(scores, "gained", f"{condition} − {baseline}", tables.gained, index),
            _share(scores, "lost", f"{condition} − {baseline}", tables.lost, index),
            _share(scores, "churn", f"{condition} − {baseline}", tables.churn, index),
        )
        for index, (condition, baseline) in enumerate(pairs)
    ]


def _repetition(scores: ScoreTable, controls: Sequence[Pair]) -> Estimate | None:
    """Return the churn of the identical pictures with the most questions: what repetition alone changes."""
    known = [pair for pair in controls if all(name in scores.conditions for name in pair)]
    if not known:
        return None
    return max((churn for _, _, churn in _flip_estimates(scores, known)), key=lambda churn: churn.n_questions)


def _knowledge(scores: ScoreTable) -> Floats:
    """Return (n_conditions,) chance-corrected accuracies."""
    return np.asarray(_corrected(scores).value)


def _corrected(scores: ScoreTable) -> ChanceCorrectedTable:
    chance = np.zeros(scores.n_questions) if scores.chance is None else np.asarray(scores.chance)
    return correct_for_chance(scores.values, scores.present, chance, scores.clusters)


def _chance_corrected(scores: ScoreTable) -> tuple[Estimate, ...]:
    """Return κ of every condition with a score: 0 is guessing, 1 is all right."""
    if scores.chance is None or not np.asarray(scores.chance).any():
        return ()
    table = _corrected(scores)
    counts = np.count_nonzero(scores.present, axis=0)
    groups = np.asarray(scores.image_groups)
    found = []
    for index, condition in enumerate(scores.conditions):
        n_clusters = len(set(groups[np.asarray(scores.present)[:, index]]))
        if counts[index] == 0 or n_clusters < _FEWEST:
            continue
        low, high = printed_bounds(table, index)
        found.append(
            Estimate(
                name="chance-corrected accuracy",
                condition=condition,
                value=float(table.value[index]),
                low=low,
                high=high,
                n_questions=int(counts[index]),
                n_clusters=n_clusters,
                method=CORRECTED_METHOD,
                n_missing=scores.n_questions - int(counts[index]),
                chance=float(table.chance[index]),
                scorer=scores.scorer,
                warnings=() if can_test(int(counts[index]), has_interval=low is not None) else (Code.TINY_GROUP,),
            )
        )
    return tuple(found)


def _above_blind(scores: ScoreTable, views: Mapping[str, View]) -> list[Estimate]:
    """Return (A − A_b)/(1 − A_b) of the original: guessing replaced by the score without the picture.

    Given only where the interval of 1 − A_b excludes 0.
    """
    names = _names(views)
    original, blind = names.get(Original()), names.get(NoImage())
    if original is None or blind is None:
        return []
    columns = np.array([scores.column(original)]), np.array([scores.column(blind)])
    change, both = subtract(scores.values, scores.present, *columns)
    unsolved = np.where(both, 1.0 - np.asarray(scores.values)[:, columns[1]], 0.0)
    table = estimate_ratios(change, unsolved, both, scores.clusters)
    if not table.is_defined[0]:
        return []
    n_questions, (low, high) = int(both.sum()), printed_bounds(table, 0)
    return [
        Estimate(
            name="accuracy above blind",
            condition=original,
            value=float(table.value[0]),
            low=low,
            high=high,
            n_questions=n_questions,
            n_clusters=int(table.n_clusters[0]),
            method=RATIO_METHOD,
            n_missing=scores.n_questions - n_questions,
            scorer=scores.scorer,
            warnings=() if can_test(n_questions, has_interval=low is not None) else (Code.TINY_GROUP,),
        )
    ]


def _robustness(scores: ScoreTable, shown: Sequence[str]) -> tuple[Estimate, ...]:
    """Return what holds over a fixed set of views, on the questions scored in all of them."""
    if len(shown) < _FEWEST:
        return ()
    columns = [scores.column(name) for name in shown]
    values = np.asarray(scores.values, dtype=np.float64)[:, columns]
    present = np.asarray(scores.present, dtype=np.bool_)[:, columns]
    robust = estimate_robustness(values, present, scores.clusters)
    label = f"{robust.n_views} views"
    floor = f"; independent views would give {100 * robust.independent:.1f} %"
    found = (
        _share(scores, "right on all views", label, robust.all_right, None),
        _share(scores, "right on any view", label, robust.any_right, None),
        _share(scores, "pairs of views that agree", label, robust.agreement, None),
    )
    if found[0].n_questions == 0:
        return ()
    return (msgspec.structs.replace(found[0], method=found[0].method + floor), *found[1:])


def _share(scores: ScoreTable, name: str, condition: str, table: ProportionTable, index: int | None) -> Estimate:
    """Return one entry of a table of shares as a record."""
    row = table if index is None else ProportionTable(*(field[index] for field in table))
    n_questions, (low, high) = int(row.n_questions), printed_bounds(row)
    return Estimate(
        name=name,
        condition=condition,
        value=float(row.value),
        low=low,
        high=high,
        n_questions=n_questions,
        n_clusters=int(row.n_clusters),
        method=PROPORTION_METHOD,
        n_effective=float(row.n_effective),
        n_missing=scores.n_questions - n_questions,
        scorer=scores.scorer,
        warnings=() if can_test(n_questions, has_interval=low is not None) else (Code.TINY_GROUP,),
    )
