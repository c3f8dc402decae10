"""One question in several orders of its options: the mean over the orders, and whether every order was right."""

from collections.abc import Mapping, Sequence

import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.schema import Estimate
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition

MEAN = "mean over rotations"
ALL_RIGHT = "all rotations right"
ROTATION_NAMES = (MEAN, ALL_RIGHT)

# Question and slot of one order of a base question.
_Place = tuple[int, int]


def estimate_rotations(table: RunTable, scorer_id: str) -> tuple[Estimate, ...]:
    """Return the two numbers that go by the name "accuracy" where options are rotated, each by its own.

    A base question counts under a condition where all its orders are scored. Orders are the rows of a source that share
    a base question, or the rotations that this run made itself; repeats are averaged within each order.

    Args:
        table: The run.
        scorer_id: Repeated in every record.

    Returns:
        Per condition the mean over the orders and the share of base questions right in every order; none where no
        question has more than one order.
    """
    bases = _orders_of(table)
    if not bases:
        return ()
    shape = (len(bases), len(table.conditions))
    means, minima = np.zeros(shape), np.zeros(shape)
    present = np.zeros(shape, dtype=np.bool_)
    groups, chance = [], []
    for row, (question, orders) in enumerate(bases.values()):
        groups.append(table.questions[question].image_group)
        chance.append(float(table.chance[question]))
        for condition in range(len(table.conditions)):
            scores = [_score(table, condition, order) for order in orders]
            known = [score for score in scores if score is not None]
            if known and len(known) == len(scores):
                means[row, condition], minima[row, condition] = float(np.mean(known)), min(known)
                present[row, condition] = True
    mean = ScoreTable(means, present, groups, table.conditions, chance=np.array(chance), scorer=scorer_id)
    every = ScoreTable((minima == 1.0).astype(np.float64), present, groups, table.conditions, scorer=scorer_id)
    return (*accuracy_by_condition(mean, name=MEAN), *accuracy_by_condition(every, name=ALL_RIGHT))


def _orders_of(table: RunTable) -> Mapping[str, tuple[int, Sequence[Sequence[_Place]]]]:
    """Return per base question its first row, and the places of the repeats of each of its orders."""
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(table.questions):
        rows.setdefault(question.base_id or question.id, []).append(row)
    n_repeats, n_rotations = table.run.n_repeats, table.run.n_rotations
    found: dict[str, tuple[int, list[list[_Place]]]] = {}
    for base, members in rows.items():
        orders = [
            [(row, repeat * n_rotations + rotation) for repeat in range(n_repeats)]
            for row in members
            for rotation in range(len(table.slots_of(table.questions[row])) // n_repeats)
        ]
        found[base] = (members[0], orders)
    return found if any(len(orders) > 1 for _, orders in found.values()) else {}


def _score(table: RunTable, condition: int, places: Sequence[_Place]) -> float | None:
    """Return the mean score of the repeats of one order, None if none was scored."""
    cells = (table.cells.get((row, condition, slot)) for row, slot in places)
    values = [cell.value for cell in cells if cell is not None and cell.value is not None]
    return sum(values) / len(values) if values else None
