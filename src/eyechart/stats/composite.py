"""Effects made of several conditions: one number per question, then the usual interval and test."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from eyechart.errors import StatisticsError
from eyechart.schema import Contrast, Estimate
from eyechart.stats.arrays import Bools, Floats, check_scores
from eyechart.stats.clusters import Clusters, cluster_sums, find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.conditions import Pair, ScoreTable, can_test, contrasts_between, with_p
from eyechart.stats.missing import ScoreBounds, bounds_from, worst_case
from eyechart.stats.paired import DIFFERENCE_METHOD, estimate_differences
from eyechart.stats.proportion import PROPORTION_METHOD, estimate_pooled
from eyechart.stats.sign_flip import sign_flip
from eyechart.stats.small_samples import printed_bounds


class Decomposition(NamedTuple):
    """The exact split of the gain from original to crop, on questions scored in all three views.

    ``total.value == distraction.value + canvas.value``. Calling the parts "distraction" and "resolution" needs white
    to be neutral; the canvas part also holds position, aspect ratio and token count.
    """

    total: Contrast
    distraction: Contrast
    canvas: Contrast


def decompose(
    table: ScoreTable, *, original: str, whiteground: str, crop: str, confidence: float = 0.95
) -> Decomposition | None:
    """Split crop − original into (whiteground − original) + (crop − whiteground), exactly.

    Args:
        table: Scores of one model.
        original: Condition of the whole picture.
        whiteground: Condition of the crop on the white original canvas.
        crop: Condition of the crop with the same factor.
        confidence: Coverage of the intervals, in (0, 1).

    Returns:
        The three contrasts, p-values corrected by Holm over the three; None if no question has all three views.

    Raises:
        StatisticsError: If a condition does not exist, or the confidence is outside (0, 1).

    Example:
        >>> values = np.zeros((40, 3)); values[:10, 1] = 1.0; values[:25, 2] = 1.0
        >>> table = ScoreTable(values, values >= 0, [f"im{i}" for i in range(40)], ("original", "white", "crop"))
        >>> parts = decompose(table, original="original", whiteground="white", crop="crop")
        >>> parts.total.value, parts.distraction.value, parts.canvas.value
        (0.625, 0.25, 0.375)
    """
    common = _on_common_questions(table, (original, whiteground, crop))
    pairs = [(crop, original), (whiteground, original), (crop, whiteground)]
    family = f"decomposition of {crop} − {original}"
    contrasts = contrasts_between(common, pairs, family=family, confidence=confidence)
    if not contrasts:
        return None
    names = ("total gain", "distraction effect", "canvas effect")
    return Decomposition(
        *(msgspec.structs.replace(contrast, name=name) for contrast, name in zip(contrasts, names, strict=True))
    )


def contrast_of_contrasts(
    table: ScoreTable, first: Pair, second: Pair, *, name: str = "interaction", confidence: float = 0.95
) -> Contrast | None:
    """Estimate (a − b) − (c − d) as one number per question: does one effect depend on the other?

    Context × canvas is ``(crop_k, target_only_k)`` against ``(whiteground_k, target_only_original)``. If the interval
    excludes 0, the split into distraction and canvas depends on the order and must be called so.

    Args:
        table: Scores of one model.
        first: (a, b).
        second: (c, d).
        name: Name of the effect.
        confidence: Coverage of the interval, in (0, 1).

    Returns:
        The contrast with value in [−2, 2]; None if no question has all four conditions.

    Raises:
        StatisticsError: If a condition does not exist, or the confidence is outside (0, 1).

    Example:
        >>> values = np.zeros((40, 4)); values[:10, 0] = 1.0
        >>> table = ScoreTable(values, values >= 0, [f"im{i}" for i in range(40)], tuple("abcd"))
        >>> contrast_of_contrasts(table, ("a", "b"), ("c", "d")).value
        0.25
    """
    columns = [table.column(condition) for condition in (*first, *second)]
    scores, mask = _columns(table, columns)
    present = np.asarray(mask.all(axis=1), dtype=np.bool_)
    difference = np.where(present, scores @ np.array([1.0, -1.0, -1.0, 1.0]), 0.0)
    low, high, is_asked = (field[:, columns] for field in table.bounds)
    asked = np.asarray(is_asked.all(axis=1), dtype=np.bool_)
    smallest = np.where(asked, low[:, 0] - high[:, 1] - high[:, 2] + low[:, 3], 0.0)
    largest = np.where(asked, high[:, 0] - low[:, 1] - low[:, 2] + high[:, 3], 0.0)
    seed = msgspec.structs.replace(
        _UNNAMED,
        name=name,
        condition=" − ".join(first),
        baseline=" − ".join(second),
        confidence=confidence,
        scorer=table.scorer,
        subset=table.subset,
    )
    return _contrast_from(
        difference, present, table.clusters, seed, limit=2.0, filled=ScoreBounds(smallest, largest, asked)
    )


def compare_models(
    values: Floats,
    present: Bools,
    image_groups: Sequence[str],
    names: Pair,
    *,
    confidence: float = 0.95,
    name: str = "model difference",
    filled: ScoreBounds | None = None,
) -> Contrast | None:
    """Compare two models over several views with one number per question: the mean difference over views.

    Args:
        values: (n_questions, n_views, 2) scores in [0, 1]; the last axis is model and baseline model.
        present: Same shape; a view counts for a question where both models are scored.
        image_groups: (n_questions,) cluster of each question.
        names: Names of the two models.
        confidence: Coverage of the interval, in (0, 1).
        name: Name of the effect.
        filled: Bounds of the scores, of the same shape, where some that are not present were not asked.

    Returns:
        The contrast; None if no question is scored for both models. What is missing is bounded over every view of
        every question that both models were asked.

    Raises:
        StatisticsError: If shapes differ, a score lies outside [0, 1], or the confidence outside (0, 1).

    Example:
        >>> values = np.zeros((40, 2, 2)); values[:10, :, 0] = 1.0
        >>> compare_models(values, values >= 0, [f"im{i}" for i in range(40)], ("a", "b")).value
        0.25
    """
    scores, mask = check_scores(values, present)
    if scores.shape[-1:] != (2,) or len(scores.shape[1:]) <= 1:
        raise StatisticsError(f"scores of shape {scores.shape}", hint="give (n_questions, n_views, 2 models)")
    both = np.asarray(mask.all(axis=2), dtype=np.bool_)
    n_views = np.count_nonzero(both, axis=1)
    gaps = np.where(both, scores[..., 0] - scores[..., 1], 0.0).sum(axis=1) / np.maximum(n_views, 1)
    seed = msgspec.structs.replace(_UNNAMED, name=name, condition=names[0], baseline=names[1], confidence=confidence)
    bounds = bounds_from(scores, mask) if filled is None else filled
    gap = mean_gap_bounds(bounds)
    return _contrast_from(gaps, n_views > 0, find_clusters(list(image_groups)), seed, limit=1.0, filled=gap)


def mean_gap_bounds(bounds: ScoreBounds) -> ScoreBounds:
    """Return between which values the mean difference over views lies, whatever is missing.

    Args:
        bounds: Bounds of (n_questions, n_views, 2) scores; the last axis is model and baseline model.

    Returns:
        (n_questions,) bounds over the views that both were asked, 0.0 where there is none.

    Example:
        >>> bounds = bounds_from(np.array([[[1.0, 0.0], [0.0, 0.0]]]), np.array([[[True, True], [False, True]]]))
        >>> gap = mean_gap_bounds(bounds)
        >>> gap.lowest.tolist(), gap.highest.tolist()
        ([0.5], [1.0])
    """
    both = bounds.asked.all(axis=2)
    n_asked = np.count_nonzero(both, axis=1)
    lowest = np.where(both, bounds.lowest[..., 0] - bounds.highest[..., 1], 0.0).sum(axis=1) / np.maximum(n_asked, 1)
    highest = np.where(both, bounds.highest[..., 0] - bounds.lowest[..., 1], 0.0).sum(axis=1) / np.maximum(n_asked, 1)
    return ScoreBounds(lowest, highest, np.asarray(n_asked > 0, dtype=np.bool_))


def estimate_family(
    table: ScoreTable, members: Sequence[str], *, name: str, confidence: float = 0.95
) -> Estimate | None:
    """Estimate the mean accuracy over several views, all views of a question in one cluster.

    Pooling views as if they were independent questions gives 51–54 % coverage instead of 95 %.

    Args:
        table: Scores of one model.
        members: Conditions of the family, such as all downsample views.
        name: Name of the family.
        confidence: Coverage of the interval, in (0, 1).

    Returns:
        The estimate on the questions scored under every member; None if there is none.

    Raises:
        StatisticsError: If a condition does not exist, no member is named, or the confidence is outside (0, 1).

    Example:
        >>> values = np.tile([1.0, 0.0], (40, 1))
        >>> table = ScoreTable(values, values >= 0, [f"im{i}" for i in range(40)], ("a", "b"))
        >>> estimate_family(table, ["a", "b"], name="both").value
        0.5
    """
    if not members:
        raise StatisticsError(f"family {name!r} has no member", hint="name at least one condition")
    scores, mask = _columns(table, [table.column(member) for member in members])
    present = np.asarray(mask.all(axis=1), dtype=np.bool_)
    everywhere = np.repeat(present[:, None], len(members), axis=1)
    numbers = estimate_pooled(scores, everywhere, table.clusters, confidence=confidence)
    n_questions, (low, high) = int(numbers.n_questions), printed_bounds(numbers)
    if n_questions == 0:
        return None
    return Estimate(
        name="family mean",
        condition=name,
        value=float(numbers.value),
        low=low,
        high=high,
        n_questions=n_questions,
        n_clusters=int(numbers.n_clusters),
        method=f"{PROPORTION_METHOD}, mean of {len(members)} views per question",
        confidence=confidence,
        n_effective=float(numbers.n_effective),
        n_missing=table.n_questions - n_questions,
        chance=None if table.chance is None else float(np.asarray(table.chance)[present].mean()),
        scorer=table.scorer,
        subset=table.subset,
        warnings=() if can_test(n_questions, has_interval=low is not None) else (Code.TINY_GROUP,),
    )


_UNNAMED = Contrast(
    name="",
    condition="",
    baseline="",
    value=0.0,
    low=0.0,
    high=0.0,
    n_questions=0,
    n_clusters=0,
    gained=0,
    lost=0,
    method=DIFFERENCE_METHOD,
)


def _columns(table: ScoreTable, columns: Sequence[int]) -> tuple[Floats, Bools]:
    """Return some columns of a table, 0.0 where not present."""
    mask = np.asarray(table.present, dtype=np.bool_)[:, columns]
    return np.where(mask, np.asarray(table.values, dtype=np.float64)[:, columns], 0.0), mask


def _on_common_questions(table: ScoreTable, conditions: Sequence[str]) -> ScoreTable:
    """Return the table with only those conditions, present only where all of them are."""
    scores, mask = _columns(table, [table.column(condition) for condition in conditions])
    present = np.repeat(mask.min(axis=1, keepdims=True), len(conditions), axis=1)
    filled = table.bounds.at((slice(None), np.array([table.column(name) for name in conditions])))
    return msgspec.structs.replace(table, values=scores, present=present, conditions=tuple(conditions), filled=filled)


def _contrast_from(
    difference: Floats, present: Bools, clusters: Clusters, seed: Contrast, *, limit: float, filled: ScoreBounds
) -> Contrast | None:
    """Return the record of one number per question, named by ``seed``; None without any question."""
    numbers = estimate_differences(difference, present, clusters, confidence=seed.confidence, limit=limit)
    n_questions, (low, high) = int(numbers.n_questions), printed_bounds(numbers)
    if n_questions == 0:
        return None
    flips = sign_flip(cluster_sums(difference, clusters))
    worst = worst_case(filled, clusters, numbers.value, flips.mid, numbers.n_questions)
    found = msgspec.structs.replace(
        seed,
        value=float(numbers.value),
        low=low,
        high=high,
        n_questions=n_questions,
        n_clusters=int(numbers.n_clusters),
        gained=int(numbers.gained),
        lost=int(numbers.lost),
        n_missing=len(present) - n_questions,
    )
    return with_p(found, flips, worst)
