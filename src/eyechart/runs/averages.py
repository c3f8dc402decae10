"""The overall score of a run on a benchmark of many datasets, by every averaging rule, each under its own name."""

import numpy as np

from eyechart.benchmarks._published import published_benchmarks, read_published
from eyechart.runs.cells import RunTable
from eyechart.schema import Estimate
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.averages import AVERAGE_METHOD, LABELS, RULES, Group, estimate_average, weigh_datasets
from eyechart.stats.codes import Code
from eyechart.stats.conditions import can_test

_FEWEST_DATASETS = 2


def estimate_averages(table: RunTable, values: Floats, present: Bools, scorer_id: str) -> tuple[Estimate, ...]:
    """Return one estimate per rule, on the original; nothing unless the questions name datasets of known size.

    Datasets without a score have no weight; ``method`` says so.

    Args:
        table: The run.
        values: (n_questions, n_conditions) scores in [0, 1].
        present: Same shape, True where there is a score.
        scorer_id: Scorer of the scores.
    """
    if table.run.benchmark.name not in published_benchmarks() or "original" not in table.conditions:
        return ()
    published = read_published(table.run.benchmark.name)
    column = table.conditions.index("original")
    scores, mask = values[:, column], np.asarray(present[:, column], dtype=np.bool_)
    datasets = [question.source or "" for question in table.questions]
    labels = np.asarray(datasets)
    counts = {one.name: int((mask & (labels == one.name)).sum()) for one in published.datasets}
    groups = [Group(one.name, one.category, one.n) for one in published.datasets if counts[one.name]]
    if len(groups) < _FEWEST_DATASETS:
        return ()
    rest = len(published.datasets) - len(groups)
    note = f"; {rest} of {len(published.datasets)} datasets have no score and no weight" if rest else ""
    found = []
    for rule in RULES:
        weights = weigh_datasets(groups, [counts[one.dataset] for one in groups], rule, published.weights)
        named = {one.dataset: float(weight) for one, weight in zip(groups, weights, strict=True)}
        # Every question counts the same, also one of an unknown dataset.
        strata, shares = ([""] * len(datasets), {"": 1.0}) if rule == "micro" else (datasets, named)
        numbers = estimate_average(scores, mask, table.image_groups, strata, shares)
        found.append(
            Estimate(
                name=f"average, {LABELS[rule]}",
                condition=rule,
                value=numbers.value,
                low=numbers.low if numbers.has_interval else None,
                high=numbers.high if numbers.has_interval else None,
                n_questions=numbers.n_questions,
                n_clusters=numbers.n_clusters,
                method=AVERAGE_METHOD + note,
                n_effective=numbers.n_effective,
                n_missing=len(datasets) - numbers.n_questions,
                scorer=scorer_id,
                warnings=() if can_test(numbers.n_questions, has_interval=numbers.has_interval) else (Code.TINY_GROUP,),
            )
        )
    return tuple(found)
