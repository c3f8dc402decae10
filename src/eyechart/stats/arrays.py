"""The array convention that every estimator shares: values beside a mask, never a NaN."""

import numpy as np
import numpy.typing as npt

from eyechart.errors import StatisticsError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

# Differences of scores below this are rounding (a mean over three views), not a difference of answers.
SCORE_ROUNDING = 1e-9


def check_scores(values: Floats, present: Bools) -> tuple[Floats, Bools]:
    """Return scores and mask in the form the estimators take, or say what is wrong with them.

    Args:
        values: (n_questions, …) scores in [0, 1]; entries that are not present may hold anything.
        present: Same shape, True where there is a score.

    Returns:
        ``values`` as float64 with 0.0 where nothing is present, and ``present`` as bool.

    Raises:
        StatisticsError: If the shapes differ, there is no question axis, or a present score lies outside [0, 1].

    Example:
        >>> values, present = check_scores(np.array([[1.0, float("nan")]]), np.array([[True, False]]))
        >>> values.tolist()
        [[1.0, 0.0]]
    """
    mask = np.asarray(present, dtype=np.bool_)
    scores = np.where(mask, np.asarray(values, dtype=np.float64), 0.0) if np.shape(values) == mask.shape else None
    if scores is None or scores.ndim == 0:
        raise StatisticsError(
            f"scores of shape {np.shape(values)} with a mask of shape {mask.shape}",
            hint="give both as (n_questions, …) arrays of one shape",
        )
    outside = ~((scores >= 0.0) & (scores <= 1.0))
    if outside.any():
        place = tuple(int(index) for index in np.argwhere(outside)[0])
        raise StatisticsError(
            f"score {float(scores[place])} at index {place} lies outside 0–1",
            hint="mark a missing score in the mask, and divide percentages by 100",
        )
    return scores, mask


def check_confidence(confidence: float) -> float:
    """Return the confidence level, refusing what is none.

    Raises:
        StatisticsError: If it does not lie strictly between 0 and 1.

    Example:
        >>> check_confidence(0.95)
        0.95
    """
    if not 0.0 < confidence < 1.0:
        raise StatisticsError(f"confidence {confidence} is not between 0 and 1", hint="95 % is written 0.95")
    return confidence


def divide(numerator: Floats, denominator: Floats | Integers, where_zero: float) -> Floats:
    """Divide, with a stated result where the denominator is 0.

    Example:
        >>> divide(np.array([1.0, 2.0]), np.array([2.0, 0.0]), where_zero=0.0).tolist()
        [0.5, 0.0]
    """
    bottom = np.asarray(denominator, dtype=np.float64)
    quotient = np.full(np.broadcast_shapes(np.shape(numerator), bottom.shape), where_zero)
    np.divide(numerator, bottom, out=quotient, where=bottom != 0.0)
    return quotient


def mean_ranks(values: Floats) -> Floats:
    """Rank along the last axis from 1, tied values sharing the mean of their ranks.

    Example:
        >>> mean_ranks(np.array([0.5, 0.1, 0.5])).tolist()
        [2.5, 1.0, 2.5]
    """
    below = np.zeros(values.shape)
    equal = np.zeros(values.shape)
    for index in range(values.shape[-1]):
        other = values[..., index : index + 1]
        below += other < values
        equal += other == values
    return below + (equal + 1.0) / 2.0
