"""Validity rules about how a run was made: evaluated before any effect is printed."""

from collections.abc import Mapping, Sequence

import numpy as np

from eyechart.stats.arrays import Bools
from eyechart.stats.codes import Code
from eyechart.stats.findings import Finding, Level

_SAME_SHARE = 0.5


def check_constant(code: Code, what: str, values_by_condition: Mapping[str, Sequence[str]]) -> Finding | None:
    """Find conditions between which something differs that must not: prompts, settings, judges, dates.

    Args:
        code: ``DIFFERENT_PROMPTS``, ``HETEROGENEOUS_SETTINGS`` (errors) or ``JUDGE_DRIFT``, ``DRIFT`` (warnings).
        what: Plural name of the thing, such as ``prompt versions``.
        values_by_condition: Distinct values per condition, such as hashes.

    Returns:
        A finding with the conditions that depart from the most frequent set of values; None if all agree.

    Example:
        >>> check_constant(Code.DIFFERENT_PROMPTS, "prompt versions", {"a": ["x"], "b": ["x"], "c": ["y"]}).conditions
        ('c',)
    """
    sets = {condition: tuple(sorted(set(values))) for condition, values in values_by_condition.items()}
    if len(set(sets.values())) <= 1:
        return None
    usual = max(sets.values(), key=lambda one: (list(sets.values()).count(one), one))
    others = tuple(condition for condition, values in sets.items() if values != usual)
    level: Level = "error" if code in {Code.DIFFERENT_PROMPTS, Code.HETEROGENEOUS_SETTINGS} else "warning"
    found = sorted({value for values in sets.values() for value in values})
    return Finding(
        code=code, level=level, message=f"{len(found)} {what} differ: {', '.join(found)[:200]}", conditions=others
    )


def check_subsets(ids: Sequence[str], present: Bools, conditions: Sequence[str]) -> tuple[Finding, ...]:
    """Find pairs of conditions that were not asked about the same questions.

    Args:
        ids: (n_questions,) question ids.
        present: (n_questions, n_conditions) whether this question was asked in this condition.
        conditions: Names of the columns.

    Returns:
        One warning per condition that lacks questions which another has, about the pairs for which that is so. What it
        does to a contrast depends on its verdict (``runs.readings.block_subsets``).

    Example:
        >>> [f.pairs for f in check_subsets(["a", "b"], np.array([[True, True], [True, False]]), ["x", "y"])]
        [(('y', 'x'),)]
    """
    findings = []
    for column, condition in enumerate(conditions):
        lacks = np.asarray(present & ~present[:, [column]])
        others = tuple(name for name, own in zip(conditions, lacks.T, strict=True) if own.any())
        if not others:
            continue
        absent = [name for name, own in zip(ids, lacks, strict=True) if own.any()]
        findings.append(
            Finding(
                code=Code.SUBSET_MISMATCH,
                level="warning",
                message=f"{condition}: {len(absent)} of {len(ids)} questions absent ({', '.join(absent[:5])}) that "
                "other views were asked; counted as wrong or right they move the accuracy by at most "
                f"{100 * len(absent) / len(ids):.2f} points",
                conditions=(condition,),
                pairs=tuple((condition, other) for other in others),
            )
        )
    return tuple(findings)


def check_repeats(rows: Sequence[tuple[str, str, int]], contents: Sequence[str]) -> tuple[Finding, ...]:
    """Find rows that stand twice with different contents, and repeats that must be clustered by question.

    Args:
        rows: (question id, condition, repeat) of each row.
        contents: What each row says, such as its text or hash.

    Returns:
        ``DUP_ROWS`` (error) for contradicting rows, ``EPOCHS`` (error unless averaged per question) for repeats.

    Example:
        >>> [str(f.code) for f in check_repeats([("1", "crop_3x", 0), ("1", "crop_3x", 1)], ["A", "B"])]
        ['EPOCHS']
    """
    seen: dict[tuple[str, str, int], set[str]] = {}
    for row, content in zip(rows, contents, strict=True):
        seen.setdefault(row, set()).add(content)
    findings = []
    twice = [row for row, values in seen.items() if len(values) > 1]
    if twice:
        findings.append(
            Finding(
                code=Code.DUP_ROWS,
                level="error",
                message=f"{len(twice)} rows stand twice with different contents, first {twice[0]}",
                conditions=tuple(dict.fromkeys(row[1] for row in twice)),
            )
        )
    n_repeats = len({row[2] for row in seen})
    if n_repeats > 1:
        findings.append(
            Finding(
                code=Code.EPOCHS,
                level="error",
                message=f"{n_repeats} repeats per question and condition: average them before estimating",
            )
        )
    return tuple(findings)


def check_same_input(keys: Sequence[Sequence[str]], conditions: Sequence[str]) -> tuple[Finding, ...]:
    """Find pairs of conditions that give the model the same pictures.

    Args:
        keys: (n_questions, n_conditions) what reached the model: a hash, or its size after the model's resize.
        conditions: Names of the columns.

    Returns:
        One warning per pair that is identical in more than half of the questions.

    Example:
        >>> check_same_input([["448x448", "448x448"]], ["original", "downsample_0_5"])[0].conditions
        ('original', 'downsample_0_5')
    """
    table = np.asarray(keys, dtype=str).reshape(len(keys), len(conditions))
    findings = []
    for first in range(len(conditions)):
        for second in range(first + 1, len(conditions)):
            share = float((table[:, first] == table[:, second]).mean()) if len(table) else 0.0
            if share > _SAME_SHARE:
                findings.append(
                    Finding(
                        code=Code.SAME_INPUT,
                        level="warning",
                        message=f"{conditions[first]} and {conditions[second]} are one picture to the model "
                        f"for {100 * share:.0f} % of the questions",
                        conditions=(conditions[first], conditions[second]),
                    )
                )
    return tuple(findings)
