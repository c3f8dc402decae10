"""Repeats of one question under one condition: averaged before estimating, and what they say about noise."""

from typing import NamedTuple

import numpy as np

from eyechart.stats.arrays import SCORE_ROUNDING, Bools, Floats, check_scores


def average_repeats(values: Floats, present: Bools) -> tuple[Floats, Bools]:
    """Average repeats of one question and condition, which makes repeats safe to contrast.

    For the accuracy itself ``proportion.estimate_pooled`` takes the repeats as they are.

    Args:
        values: (…, n_repeats) scores.
        present: Same shape, True where there is a score.

    Returns:
        (…) mean over the repeats present, and whether there was any.

    Example:
        >>> average_repeats(np.array([[1.0, 0.0]]), np.array([[True, True]]))[0].tolist()
        [0.5]
    """
    mask = np.asarray(present, dtype=np.bool_)
    counts = np.count_nonzero(mask, axis=-1)
    return np.where(mask, values, 0.0).sum(axis=-1) / np.maximum(counts, 1), np.asarray(counts > 0, dtype=np.bool_)


class RepeatNoise(NamedTuple):
    """How much of the scatter of scores is the model answering the same question differently.

    Args:
        within_share: Variance within questions as a share of all variance, in [0, 1]; 0.0 where nothing varies.
        flip_rate: Share of pairs of repeats of one question with different scores; 0.0 without any pair.
        n_pairs: Pairs of repeats.
    """

    within_share: float
    flip_rate: float
    n_pairs: int


def measure_noise(values: Floats, present: Bools) -> RepeatNoise:
    """Measure the noise between repeats. Temperature 0 is not free of it.

    Args:
        values: (n_questions, n_repeats) scores in [0, 1] of one condition.
        present: Same shape, True where there is a score.

    Raises:
        StatisticsError: If shapes differ or a score lies outside [0, 1].

    Example:
        >>> measure_noise(np.array([[1.0, 0.0], [1.0, 1.0]]), np.full((2, 2), True)).flip_rate
        0.5
    """
    scores, mask = check_scores(values, present)
    first, second = np.triu_indices(scores.shape[1], k=1)
    is_pair = mask[:, first] & mask[:, second]
    is_flip = is_pair & (np.abs(scores[:, first] - scores[:, second]) > SCORE_ROUNDING)
    means, _ = average_repeats(scores, mask)
    all_scores = scores[mask]
    total = float(((all_scores - all_scores.mean()) ** 2).sum()) if all_scores.size else 0.0
    within = float((np.where(mask, scores - means[:, None], 0.0) ** 2).sum())
    n_pairs = int(is_pair.sum())
    return RepeatNoise(within / total if total > 0.0 else 0.0, int(is_flip.sum()) / max(n_pairs, 1), n_pairs)
