"""How far people agree: on answers, on boxes, and how right they are with an interval for people and pictures."""

import math
from collections.abc import Sequence

import numpy as np

from eyechart.errors import StatisticsError
from eyechart.schema import Box
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.clusters import find_clusters
from eyechart.stats.proportion import ProportionTable, estimate_proportions

_TWO = 2


def krippendorff_alpha(codes: Floats, present: Bools) -> float | None:
    """Return Krippendorff's alpha for nominal answers: 1 is full agreement, 0 what chance would give.

    It is 1 − (n − 1)·Σ_u[(m_u² − Σ_c n_uc²)/(m_u − 1)] / (n² − Σ_c n_c²) over the units that at least two people
    answered, with n_uc answers c to unit u, m_u answers to it, n_c answers c in all, and n answers altogether.

    Args:
        codes: (n_questions, n_people) answers as numbers.
        present: Same shape, True where there is one.

    Returns:
        Alpha; None where no question was answered by two people, or all gave one and the same answer everywhere.

    Raises:
        StatisticsError: If the shapes differ.

    Example:
        >>> codes = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        >>> round(krippendorff_alpha(codes, np.full((3, 2), True)), 3)
        0.444

    References:
        Hayes and Krippendorff 2007, doi:10.1080/19312450709336664.
    """
    if codes.shape != present.shape or codes.ndim != _TWO:
        raise StatisticsError(f"answers of shape {codes.shape} beside marks of shape {present.shape}")
    values = np.unique(codes[present])
    counts = np.stack([((codes == value) & present).sum(axis=1) for value in values], axis=1) if values.size else None
    if counts is None:
        return None
    paired = counts[counts.sum(axis=1) >= _TWO].astype(float)
    totals, n_answers = paired.sum(axis=0), paired.sum()
    expected = n_answers**2 - (totals**2).sum()
    if n_answers == 0 or expected == 0:
        return None
    per_unit = paired.sum(axis=1)
    observed = ((per_unit**2 - (paired**2).sum(axis=1)) / (per_unit - 1)).sum()
    return float(1.0 - (n_answers - 1) * observed / expected)


def box_overlap(first: Box, second: Box) -> float:
    """Return intersection over union of two boxes, 0 where they do not meet.

    Raises:
        StatisticsError: If a box has no area.

    Example:
        >>> round(box_overlap(Box(0, 0, 10, 10), Box(5, 0, 15, 10)), 3)
        0.333
    """
    for box in (first, second):
        if box.width <= 0 or box.height <= 0:
            raise StatisticsError(f"box {tuple(box)} has no area")
    width = min(first.x1, second.x1) - max(first.x0, second.x0)
    height = min(first.y1, second.y1) - max(first.y0, second.y0)
    shared = max(0, width) * max(0, height)
    return float(shared / (first.area + second.area - shared))


def human_accuracy(
    values: Floats, present: Bools, image_groups: Sequence[str], *, confidence: float = 0.95
) -> ProportionTable:
    """Return the accuracy of people with an interval that allows for people and pictures both.

    The variance is that of clusters of pictures plus that of people minus that of single answers (two-way clustering),
    and never below the larger of the first two; the interval is the one that the larger of them gives, widened to it.

    Args:
        values: (n_questions, n_people) scores in [0, 1].
        present: Same shape, True where there is one.
        image_groups: (n_questions,) picture of each question.
        confidence: Coverage, in (0, 1).

    Returns:
        One proportion; ``n_clusters`` is the smaller of the numbers of people and pictures. Of one person alone it
        says how that person does on other pictures, not how people do.

    Raises:
        StatisticsError: If shapes differ or there is no answer.

    References:
        Cameron, Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136.
    """
    if values.shape != present.shape or values.shape[0] != len(image_groups):
        raise StatisticsError(f"scores of shape {values.shape} for {len(image_groups)} questions")
    rows, people = np.nonzero(present)
    if rows.size == 0:
        raise StatisticsError("nobody answered")
    scores, mark = values[rows, people], np.ones(rows.size, dtype=np.bool_)
    labels = {
        "picture": [image_groups[int(row)] for row in rows],
        "person": [str(person) for person in people],
        "answer": [str(index) for index in range(rows.size)],
    }
    found = {
        name: estimate_proportions(scores, mark, find_clusters(groups), confidence=confidence)
        for name, groups in labels.items()
    }
    errors = {name: float(np.asarray(one.standard_error)) for name, one in found.items()}
    if not math.isfinite(errors["person"]):
        return found["picture"]  # of one person nothing is known about others
    by = "person" if errors["person"] >= errors["picture"] else "picture"
    if not math.isfinite(errors[by]) or errors[by] == 0.0:
        return found[by]
    joint = math.sqrt(max(errors["picture"] ** 2 + errors["person"] ** 2 - errors["answer"] ** 2, errors[by] ** 2))
    return _widened(found[by], joint / errors[by], min(len(set(labels["picture"])), len(set(labels["person"]))))


def _widened(found: ProportionTable, factor: float, n_clusters: int) -> ProportionTable:
    value, low, high = (float(np.asarray(part)) for part in (found.value, found.low, found.high))
    return found._replace(
        low=np.asarray(max(0.0, value - factor * (value - low))),
        high=np.asarray(min(1.0, value + factor * (high - value))),
        standard_error=np.asarray(float(np.asarray(found.standard_error)) * factor),
        n_clusters=np.asarray(n_clusters),
    )
