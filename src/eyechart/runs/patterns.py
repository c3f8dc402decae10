"""How many questions were right and wrong in which views together."""

from collections.abc import Sequence

import numpy as np

from eyechart.schema import AnswerPattern
from eyechart.stats.arrays import Bools, Floats

RIGHT, WRONG, NOT_SCORED = "r", "w", "-"
_HALF = 0.5
_ORDER = RIGHT + WRONG + NOT_SCORED


def count_patterns(values: Floats, present: Bools, clusters: Sequence[str]) -> tuple[AnswerPattern, ...]:
    """Return every pattern that occurs with its questions and pictures, most right first, like patterns together.

    A question asked several times counts by its mean: it is right from half of the full score on. The order is that of
    the explorer's grid.

    Args:
        values: (n_questions, n_conditions) float64 in [0, 1].
        present: (n_questions, n_conditions), where there is a score.
        clusters: (n_questions,) picture of each question.

    Example:
        >>> scores = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
        >>> for one in count_patterns(scores, np.full((3, 2), True), ["a", "b", "a"]):
        ...     print(one.marks, one.n_questions, one.n_clusters)
        rr 1 1
        rw 2 1
    """
    letters = np.where(present, np.where(values >= _HALF, RIGHT, WRONG), NOT_SCORED)
    found: dict[str, list[str]] = {}
    for row, cluster in zip(letters.tolist(), clusters, strict=True):
        found.setdefault("".join(row), []).append(cluster)
    return tuple(AnswerPattern(marks, len(found[marks]), len(set(found[marks]))) for marks in sorted(found, key=_rank))


def _rank(marks: str) -> tuple[int, tuple[int, ...]]:
    return -marks.count(RIGHT), tuple(_ORDER.index(mark) for mark in marks)
