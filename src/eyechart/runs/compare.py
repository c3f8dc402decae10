"""Compare runs, or two views of one run: differences with intervals, equivalence, and ranks as sets."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal

import msgspec
import numpy as np

from eyechart.errors import StatisticsError, UsageError
from eyechart.runs.answer_rules import blocking_answers
from eyechart.runs.compared_readings import (
    MEAN_OVER_VIEWS,
    block_unreadable,
    changes_between,
    contrast_under,
    readings_of_sides,
)
from eyechart.runs.pairing import ONE_VIEW, Paired, Side, check_pairing, pair_sides, refuse
from eyechart.runs.readings import OF_UNREAD
from eyechart.schema import Contrast, Estimate, Value
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.claims import Made, adjust_family, decide_all
from eyechart.stats.clusters import Clusters, find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.composite import compare_models, mean_gap_bounds
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition, contrasts_between
from eyechart.stats.corrections import Correction
from eyechart.stats.equivalence import equivalence, worst_equivalence
from eyechart.stats.findings import Finding, Level
from eyechart.stats.missing import ScoreBounds, gap_bounds
from eyechart.stats.rank import RankSets, rank_models

MAX_T = "max-t step-down"
# Runs that lack more of the answers would leave little to compare the others on.
ANSWERED_TO_PLACE = 0.9
Kind = Literal["runs", "views", "ranks"]
_TWO = 2


class Equivalence(Value, frozen=True, kw_only=True):
    """Whether a difference lies inside ±``margin``: the larger p of two one-sided tests, and its interval.

    The p holds whatever the missing answers are; the interval is that of the answers that came back.
    """

    margin: float
    p: float
    low: float
    high: float
    confidence: float
    is_equivalent: bool


class Difference(Value, frozen=True, kw_only=True):
    """One paired difference, second side less first, under one view or over several.

    Args:
        view: The view, or ``mean over views``.
        contrast: The difference.
        equivalence: The test of equivalence, if a margin was given.
        readings: The same under other ways to read and count the answers; ``Contrast.subset`` names the way.
        changes: What these change: ``sign``, ``significance``, both or nothing.
    """

    view: str
    contrast: Contrast
    equivalence: Equivalence | None = None
    readings: tuple[Contrast, ...] = ()
    changes: tuple[str, ...] = ()


class Rank(Value, frozen=True, kw_only=True):
    """The places that the data allow one model, 1 = best; models that share places are ties."""

    label: str
    accuracy: Estimate
    best: int
    worst: int


class Rule(Value, frozen=True, kw_only=True):
    """A validity rule that applies."""

    code: str
    level: Level
    message: str


class Comparison(Value, frozen=True, kw_only=True):
    """All that ``eyechart diff`` prints.

    Args:
        kind: Two ``runs``, two ``views`` of one run, or ``ranks`` of many runs.
        sides: Names of the sides; differences are later minus earlier.
        views: What was compared.
        scorer: Scorer of all sides.
        n_questions: Questions that all sides share; for ranks, that all sides answered.
        n_clusters: Pictures they are about.
        accuracies: Accuracy of each side per view, named ``side`` on ``view``.
        differences: One per view and pair of sides.
        ranks: For more than two runs.
        rules: What speaks against the comparison; evaluated before any difference.
        allowed: Errors that were allowed by name.
        family: What p was adjusted over, and how.
        left_out: Runs that lack too many answers to stand in a table of ranks.
    """

    kind: Kind
    sides: tuple[str, ...]
    views: tuple[str, ...]
    scorer: str
    n_questions: int
    n_clusters: int
    accuracies: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    ranks: tuple[Rank, ...] = ()
    rules: tuple[Rule, ...] = ()
    allowed: tuple[str, ...] = ()
    family: str = ""
    left_out: tuple[str, ...] = ()

    def lies_below(self, limit: float) -> bool:
        """Whether any difference is claimed, and its interval lies entirely below ``limit``."""
        return any(
            one.contrast.claimed and one.contrast.high is not None and one.contrast.high < limit
            for one in self.differences
        )


class DiffOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to compare.

    Args:
        views: Conditions; none means all that the sides share (for ranks: ``original`` where it is shared).
        margin: Largest difference that does not matter, in (0, 1); None tests no equivalence.
        correction: Correction over the differences of two runs.
        confidence: Coverage of the intervals, in (0, 1).
        allowed: Codes of errors that are accepted.
        seed: Seed of the bootstrap behind ranks.
    """

    views: tuple[str, ...] = ()
    margin: float | None = None
    correction: Correction = "holm"
    confidence: float = 0.95
    allowed: tuple[str, ...] = ()
    seed: int = 0


def compare_views(side: Side, scorer: str, options: DiffOptions) -> Comparison:
    """Compare two views of one run: second less first.

    Args:
        side: The run.
        scorer: Scorer of its scores.
        options: ``views`` names exactly two conditions.

    Raises:
        UsageError: If not two conditions are named.
        StatisticsError: If the run has no such condition, or they must not be paired.
    """
    if len(options.views) != _TWO:
        raise UsageError(
            f"{len(options.views) or 'no'} views of one run are named",
            hint="name two, for example --views original,crop_3x, or a second run",
        )
    paired = pair_sides(view_sides(side, options.views))
    return _compare(
        paired, scorer, options, kind="views", blocking=blocking_answers([(side.label, side.table)], options.views)
    )


def compare_runs(sides: Sequence[Side], scorer: str, options: DiffOptions) -> Comparison:
    """Compare two runs view by view, or rank more than two.

    Args:
        sides: At least two runs, judged by one scorer.
        scorer: That scorer.
        options: Views, margin, correction.

    Raises:
        StatisticsError: If the runs share no view or question, or must not be paired.
    """
    shared = [view for view in sides[0].table.conditions if all(view in one.table.conditions for one in sides)]
    views = options.views or (("original",) if len(sides) > _TWO and "original" in shared else ())
    paired = pair_sides(sides, views)
    if len(sides) == _TWO:
        blocking = blocking_answers(((side.label, side.table) for side in sides), paired.views)
        return _compare(paired, scorer, options, kind="runs", blocking=blocking)
    answered = {side.label: float(paired.present[:, :, index].mean()) for index, side in enumerate(sides)}
    kept = [side for side in sides if answered[side.label] >= ANSWERED_TO_PLACE]
    left_out = tuple(side.label for side in sides if side not in kept)
    if len(kept) < _TWO:
        raise StatisticsError(
            f"fewer than two runs answered {100 * ANSWERED_TO_PLACE:.0f} % of the questions: "
            + ", ".join(f"{name} {100 * share:.0f} %" for name, share in answered.items()),
            hint="ask what is missing: give the same run command again",
        )
    if left_out:
        paired = pair_sides(kept, views)
    # One table, one population: the questions that every run in it answered under every view.
    complete = paired.present.all(axis=(1, 2), keepdims=True)
    paired = msgspec.structs.replace(paired, present=np.broadcast_to(complete, paired.present.shape).copy())
    blocking = blocking_answers(((side.label, side.table) for side in kept), paired.views)
    compared = _compare(paired, scorer, options, kind="ranks", blocking=blocking)
    return msgspec.structs.replace(compared, left_out=left_out)


def view_sides(side: Side, views: Sequence[str]) -> list[Side]:
    """Return views of one run as sides, under a name that they share.

    Raises:
        StatisticsError: If the run has no such condition.
    """
    return [_one_view(side, name) for name in views]


def _one_view(side: Side, condition: str) -> Side:
    """Return one condition of a run as a side, under a name that both sides share."""
    table = side.table
    if condition not in table.conditions:
        raise StatisticsError(
            f"view {condition!r} was not asked in this run", hint=f"it has {', '.join(table.conditions)}"
        )
    index = table.conditions.index(condition)
    cells = {(key[0], 0, key[2]): cell for key, cell in table.cells.items() if key[1] == index}
    lenient = {(key[0], 0, key[2]): value for key, value in side.lenient.items() if key[1] == index}
    alone = msgspec.structs.replace(table, conditions=(ONE_VIEW,), view_of={ONE_VIEW: condition}, cells=cells)
    return Side(condition, alone, lenient)


def _compare(
    paired: Paired, scorer: str, options: DiffOptions, *, kind: Kind, blocking: Sequence[Finding]
) -> Comparison:
    rules = (*blocking, *check_pairing(paired))
    if kind == "views":  # other pictures are what two views are for
        rules = tuple(rule for rule in rules if rule.code != Code.HETEROGENEOUS_SETTINGS or _settings_differ(paired))
    rules = refuse(rules, options.allowed)
    clusters = find_clusters(paired.image_groups)
    is_used = np.asarray(paired.present.any(axis=(1, 2)), dtype=np.bool_) | (kind != "ranks")
    differences, family = _differences(paired, clusters, scorer, options)
    if kind == "ranks":
        differences, family = _rank(paired, clusters, options, differences)
    warned = [_warned(one, rules) for one in differences]
    read = _read_otherwise(paired, warned, options)
    made: Made = "exploratory" if paired.is_finished else "interim"
    decided = _with_contrasts(read, decide_all([one.contrast for one in read], made))
    return Comparison(
        kind=kind,
        sides=tuple(side.label for side in paired.sides),
        views=paired.views,
        scorer=scorer,
        n_questions=int(is_used.sum()),
        n_clusters=len(set(np.asarray(paired.image_groups)[is_used].tolist())),
        accuracies=_accuracies(paired, scorer, options.confidence),
        differences=decided,
        ranks=_ranks(paired, decided, scorer, options.confidence) if kind == "ranks" else (),
        rules=tuple(Rule(code=str(rule.code), level=rule.level, message=rule.message) for rule in rules),
        allowed=options.allowed,
        family=family,
    )


def _settings_differ(paired: Paired) -> bool:
    """Whether the two views were sampled or transported in different ways, whatever the pictures."""
    first, second = ({cell.settings for cell in paired.cells(side, ONE_VIEW) if cell} for side in range(_TWO))
    return first != second


def _differences(
    paired: Paired, clusters: Clusters, scorer: str, options: DiffOptions
) -> tuple[tuple[Difference, ...], str]:
    """Return later − earlier side under every view, and over all views if there are several."""
    found: list[Difference] = []
    for first, second in combinations(range(len(paired.sides)), 2):
        names = (paired.sides[second].label, paired.sides[first].label)
        for index, view in enumerate(paired.views):
            values, present = paired.values[:, index, [second, first]], paired.present[:, index, [second, first]]
            filled = paired.filled.at((slice(None), index, np.array([second, first])))
            table = ScoreTable(values, present, paired.image_groups, names, scorer=scorer, filled=filled)
            for contrast in contrasts_between(table, [names], confidence=options.confidence):
                change, both = _change(values, present)
                gap = gap_bounds(filled, np.array([0]), np.array([1])).at((slice(None), 0))
                found.append(_difference(view, contrast, change, both, gap, clusters, options))
        if len(paired.views) > 1:
            found += _mean_difference(paired, (second, first), clusters, scorer, options)
    return _corrected(found, options.correction)


def _mean_difference(
    paired: Paired, pair: tuple[int, int], clusters: Clusters, scorer: str, options: DiffOptions
) -> list[Difference]:
    """Return the difference over all views, one number per question."""
    values, present = paired.values[..., list(pair)], paired.present[..., list(pair)]
    names = (paired.sides[pair[0]].label, paired.sides[pair[1]].label)
    filled = paired.filled.at((slice(None), slice(None), np.array(pair)))
    contrast = compare_models(values, present, paired.image_groups, names, confidence=options.confidence, filled=filled)
    if contrast is None:
        return []
    both = present.all(axis=2)
    n_views = np.count_nonzero(both, axis=1)
    change = np.where(both, values[..., 0] - values[..., 1], 0.0).sum(axis=1) / np.maximum(n_views, 1)
    named = msgspec.structs.replace(contrast, scorer=scorer)
    gap = mean_gap_bounds(filled)
    return [_difference(MEAN_OVER_VIEWS, named, change, np.asarray(n_views > 0), gap, clusters, options)]


def _change(values: Floats, present: Bools) -> tuple[Floats, Bools]:
    both = np.asarray(present.all(axis=1), dtype=np.bool_)
    return np.where(both, values[:, 0] - values[:, 1], 0.0), both


def _difference(
    view: str,
    contrast: Contrast,
    change: Floats,
    both: Bools,
    gap: ScoreBounds,
    clusters: Clusters,
    options: DiffOptions,
) -> Difference:
    if options.margin is None:
        return Difference(view=view, contrast=contrast)
    alpha = 1.0 - options.confidence
    table = equivalence(change, both, clusters, options.margin, alpha=alpha)
    p = worst_equivalence(table, gap, clusters, alpha=alpha)
    tested = Equivalence(
        margin=options.margin,
        p=p,
        low=float(table.low),
        high=float(table.high),
        confidence=round(1.0 - 2.0 * alpha, 10),
        is_equivalent=p <= alpha,
    )
    return Difference(view=view, contrast=contrast, equivalence=tested)


def _corrected(found: Sequence[Difference], correction: Correction) -> tuple[tuple[Difference, ...], str]:
    """Return the differences with p adjusted over all that have one, and the name of the family."""
    n_tested = sum(one.contrast.p is not None for one in found)
    family = f"{correction} over {n_tested} difference{'' if n_tested == 1 else 's'}"
    return _with_contrasts(found, adjust_family([one.contrast for one in found], correction, family).contrasts), family


def _with_contrasts(differences: Iterable[Difference], contrasts: Iterable[Contrast]) -> tuple[Difference, ...]:
    return tuple(
        msgspec.structs.replace(one, contrast=contrast) for one, contrast in zip(differences, contrasts, strict=True)
    )


def _rank(
    paired: Paired, clusters: Clusters, options: DiffOptions, differences: Iterable[Difference]
) -> tuple[tuple[Difference, ...], str]:
    """Return the differences of all pairs over the mean of the views, p adjusted by max-t."""
    values, present = _means(paired)
    labels = tuple(side.label for side in paired.sides)
    sets = rank_models(values, present, clusters, confidence=options.confidence)
    family = f"{MAX_T} over {len(labels) * (len(labels) - 1) // 2} pairs on {' and '.join(paired.views)}"
    wanted = MEAN_OVER_VIEWS if len(paired.views) > 1 else paired.views[0]
    shown = [one for one in differences if one.view == wanted]
    return _with_contrasts(shown, adjust_pairs([one.contrast for one in shown], labels, sets, family)), family


def _means(paired: Paired) -> tuple[Floats, Bools]:
    """Return (n_common, n_sides) means over the views, on the questions that every side answered in every view."""
    complete = np.asarray(paired.present.all(axis=(1, 2)), dtype=np.bool_)
    values = np.where(complete[:, None], paired.values.mean(axis=1), 0.0)
    return values, np.repeat(complete[:, None], len(paired.sides), axis=1)


def adjust_pairs(
    contrasts: Sequence[Contrast], labels: Sequence[str], sets: RankSets, family: str
) -> tuple[Contrast, ...]:
    """Return the contrasts of all pairs of models with p adjusted by max-t.

    Where answers are missing, p is at least that of Holm over the largest p of all fillings.

    Args:
        contrasts: The pairs, on the questions that all models answered.
        labels: Names of the models, in the order of ``sets``.
        sets: Their ranks.
        family: Name of the family.
    """
    has_gap = any(one.n_missing or one.bound_low != one.bound_high for one in contrasts)
    found = []
    for one in adjust_family(contrasts, "holm", family).contrasts:
        if one.p is None:
            found.append(one)
            continue
        p = float(sets.p_adjusted[labels.index(one.condition), labels.index(one.baseline)])
        worst = max(p, one.p_adjusted or p) if has_gap else p
        found.append(msgspec.structs.replace(one, p_adjusted=worst, p_if_like_others=p, correction=MAX_T))
    return tuple(found)


def places_of(labels: Sequence[str], contrasts: Iterable[Contrast]) -> dict[str, tuple[int, int]]:
    """Return the best and worst place of every model: A stands above B if and only if that is claimed of the pair.

    Example:
        >>> places_of(["a", "b"], ())
        {'a': (1, 2), 'b': (1, 2)}
    """
    above = dict.fromkeys(labels, 0)
    below = dict.fromkeys(labels, 0)
    for one in contrasts:
        if one.claimed:
            winner, loser = (one.condition, one.baseline)[:: 1 if one.value > 0 else -1]
            above[loser] += 1
            below[winner] += 1
    return {label: (1 + above[label], len(labels) - below[label]) for label in labels}


def _ranks(paired: Paired, differences: Iterable[Difference], scorer: str, confidence: float) -> tuple[Rank, ...]:
    """Return the places that the claimed differences of pairs allow, beside accuracies over the mean of the views."""
    values, present = _means(paired)
    labels = tuple(side.label for side in paired.sides)
    table = ScoreTable(values, present, paired.image_groups, labels, scorer=scorer)
    places = places_of(labels, [one.contrast for one in differences])
    ranks = [
        Rank(label=one.condition, accuracy=one, best=places[one.condition][0], worst=places[one.condition][1])
        for one in accuracy_by_condition(table, confidence=confidence)
    ]
    return tuple(sorted(ranks, key=lambda rank: (rank.best, rank.worst, rank.label)))


def _accuracies(paired: Paired, scorer: str, confidence: float) -> tuple[Estimate, ...]:
    """Return the accuracy of every side under every view, on the common questions."""
    labels = tuple(side.label for side in paired.sides)
    found: list[Estimate] = []
    for index, view in enumerate(paired.views):
        table = ScoreTable(
            paired.values[:, index], paired.present[:, index], paired.image_groups, labels, scorer=scorer
        )
        found += (
            msgspec.structs.replace(estimate, name=f"accuracy under {view}")
            for estimate in accuracy_by_condition(table, confidence=confidence)
        )
    return tuple(found)


def _warned(one: Difference, rules: Iterable[Finding]) -> Difference:
    """Return a difference marked with the warnings that concern its view and sides."""
    sides = (one.contrast.condition, one.contrast.baseline)
    places = {ONE_VIEW: sides, MEAN_OVER_VIEWS: ()}.get(one.view, tuple(f"{side} on {one.view}" for side in sides))
    codes = [
        str(rule.code)
        for rule in rules
        if rule.level == "warning"
        and (not rule.conditions or not places or any(place in rule.conditions for place in places))
    ]
    warnings = tuple(dict.fromkeys((*one.contrast.warnings, *codes)))
    return msgspec.structs.replace(one, contrast=msgspec.structs.replace(one.contrast, warnings=warnings))


def _read_otherwise(paired: Paired, differences: Iterable[Difference], options: DiffOptions) -> tuple[Difference, ...]:
    """Return the differences with every other reading, blocked where unreadable answers decide the verdict."""
    places = {side.label: index for index, side in enumerate(paired.sides)}
    every = list(differences)
    read: dict[str, list[Contrast | None]] = {}
    for name, scores in readings_of_sides(paired).items():
        read[name] = []
        for one in every:
            pair = (places[one.contrast.condition], places[one.contrast.baseline])
            contrast = contrast_under(paired, scores, one.view, pair, options.confidence)
            read[name].append(None if contrast is None else msgspec.structs.replace(contrast, subset=name))
    as_scored = [one.contrast for one in every]
    changes = changes_between(as_scored, read.values(), options.correction)
    of_unread = [row for name, row in read.items() if name in OF_UNREAD]
    fragile = changes_between(as_scored, of_unread, options.correction)
    found = []
    for index, one in enumerate(every):
        blocked = block_unreadable(one.contrast, fragile[index], options.allowed)
        others = tuple(contrast for row in read.values() if (contrast := row[index]) is not None)
        found.append(msgspec.structs.replace(one, contrast=blocked, readings=others, changes=changes[index]))
    return tuple(found)
