"""Accuracies and effects by task, source, number of options and target size, each with n and what it can detect."""

from collections.abc import Mapping, Sequence

import numpy as np

from eyechart.runs.cells import AskedQuestion, RunTable
from eyechart.runs.effects import with_detectable
from eyechart.schema import Contrast, Estimate, GroupTest
from eyechart.stats.breakdown import interaction_p
from eyechart.stats.claims import adjust_family
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition, contrasts_between
from eyechart.stats.corrections import adjust
from eyechart.stats.paired import subtract

# Edges of the target's share of the picture, in decades from a thousandth of a percent.
_SHARES = ((0.0, 0.0001), (0.0001, 0.001), (0.001, 0.01), (0.01, 0.1), (0.1, 1.0))
_FEWEST_GROUPS, _MOST_GROUPS = 2, 40
_SEED = 0


def groupings(questions: Sequence[AskedQuestion]) -> dict[str, list[str]]:
    """Return grouping → (n_questions,) group names, for every grouping with at least two groups."""
    found = {
        "task": [question.task or "" for question in questions],
        "source": [question.source or "" for question in questions],
        "options": [f"{question.n_choices} options" if question.n_choices else "free form" for question in questions],
        "target size": [_size_class(question.target_share) for question in questions],
    }
    return {name: labels for name, labels in found.items() if _FEWEST_GROUPS <= len(set(labels) - {""}) <= _MOST_GROUPS}


def estimate_breakdowns(
    table: RunTable, scores: ScoreTable, contrasts: Sequence[Contrast]
) -> tuple[tuple[Estimate, ...], tuple[Contrast, ...], tuple[GroupTest, ...]]:
    """Return accuracies of groups, effects in groups, and tests of equal effects, all exploratory.

    A group's smallest detectable effect uses the discordance of all questions, since that of a small group is noise.
    Effects are corrected by Benjamini–Hochberg within a grouping. Groups have different chance levels and sizes: never
    rank them by the point.

    Args:
        table: The run.
        scores: Its scores.
        contrasts: Contrasts of all questions to repeat in every group.
    """
    accuracies: list[Estimate] = []
    effects: list[Contrast] = []
    tests: list[GroupTest] = []
    for grouping, labels in groupings(table.questions).items():
        inside: list[Contrast] = []
        for group in sorted(set(labels) - {""}):
            part = _subset(scores, labels, group, f"{grouping}: {group}")
            accuracies += accuracy_by_condition(part)
            inside += _effects(part, contrasts)
        effects += _adjusted(inside, grouping)
        tests += _tests(scores, grouping, labels, contrasts)
    return tuple(accuracies), tuple(effects), tuple(tests)


def _size_class(share: float | None) -> str:
    if share is None:
        return ""
    low, high = next((pair for pair in _SHARES if pair[0] <= share < pair[1]), _SHARES[-1])
    return (
        f"below {100 * high:g} % of the picture" if low == 0.0 else f"{100 * low:g} to {100 * high:g} % of the picture"
    )


def _subset(scores: ScoreTable, labels: Sequence[str], group: str, name: str) -> ScoreTable:
    rows = np.array([label == group for label in labels])
    return ScoreTable(
        np.asarray(scores.values)[rows],
        np.asarray(scores.present)[rows],
        [label for label, is_in in zip(scores.image_groups, rows, strict=True) if is_in],
        scores.conditions,
        chance=None if scores.chance is None else np.asarray(scores.chance)[rows],
        scorer=scores.scorer,
        subset=name,
        filled=scores.bounds.at(rows),
    )


def _effects(part: ScoreTable, contrasts: Sequence[Contrast]) -> list[Contrast]:
    known: Mapping[tuple[str, str], Contrast] = {(one.condition, one.baseline): one for one in contrasts}
    found = contrasts_between(part, list(known))
    return [with_detectable(one, part, discordance=_discordance(known[one.condition, one.baseline])) for one in found]


def _discordance(contrast: Contrast) -> float:
    return (contrast.gained + contrast.lost) / contrast.n_questions if contrast.n_questions else 0.0


def _adjusted(found: Sequence[Contrast], grouping: str) -> list[Contrast]:
    n_tested = sum(one.p is not None for one in found)
    family = f"effects by {grouping}, {n_tested} tests, exploratory"
    return list(adjust_family(found, "benjamini-hochberg", family).contrasts)


def _tests(scores: ScoreTable, grouping: str, labels: Sequence[str], contrasts: Sequence[Contrast]) -> list[GroupTest]:
    if not contrasts:
        return []
    named = np.array([bool(label) for label in labels])
    first = np.array([scores.column(one.condition) for one in contrasts], dtype=np.int64)
    second = np.array([scores.column(one.baseline) for one in contrasts], dtype=np.int64)
    change, both = subtract(scores.values, scores.present, first, second)
    both = both & named[:, None]
    change = np.where(both, change, 0.0)
    rng = np.random.default_rng(_SEED)
    p = interaction_p(change, both, scores.clusters, labels, rng=rng)
    adjusted = adjust(p, "benjamini-hochberg")
    return [
        GroupTest(
            grouping=grouping,
            condition=one.condition,
            baseline=one.baseline,
            n_groups=len(set(labels) - {""}),
            n_questions=int(both[:, index].sum()),
            p=float(p[index]),
            p_adjusted=float(adjusted[index]),
        )
        for index, one in enumerate(contrasts)
    ]
