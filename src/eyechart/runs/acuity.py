"""The half-accuracy target size of a run's model, for all questions and per task, from views that only resize."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.schema import Acuity, AcuityBand, HalfAccuracySize, Threshold, View
from eyechart.stats.acuity import HalfSizeEstimate, estimate_half_size
from eyechart.stats.arrays import Bools, Floats, Integers

_BLIND = frozenset({"blank", "no_image"})
# All curves of a run together: the share of models that ignore the pixels and get a number nevertheless.
_SLOPE_ALPHA = 0.01


def estimate_half_sizes(table: RunTable, views: Mapping[str, View]) -> tuple[HalfAccuracySize, ...]:
    """Return the half-accuracy target size over all questions, then per task; nothing where no target's size is known.

    A row is one question under the conditions that show the same part of its picture, such as the original and its
    smaller copies or one crop of a matched design at several sizes, each at the size at which the model saw it. Crops
    and white grounds that change what is shown are other rows, and tell nothing unless they too come in several sizes.

    Args:
        table: The run.
        views: Condition → view.
    """
    rows = _rows(table, views)
    if not rows.present.any():
        return ()
    labels = np.unique(np.array(table.image_groups), return_inverse=True)[1].astype(np.int64)[rows.questions]
    evidence = _evidence(table)
    tasks = _tasks(table)
    found = []
    for task, members in tasks.items():
        mask = rows.present & members[rows.questions][:, None]
        estimate = estimate_half_size(
            np.where(mask, rows.values, 0.0),
            mask,
            table.chance[rows.questions],
            labels,
            np.where(mask, rows.target_px, 1.0),
            slope_alpha=_SLOPE_ALPHA / len(tasks),
        )
        found.append(_record(task, estimate, evidence, len(np.unique(rows.questions[estimate.used]))))
    return tuple(found)


def as_acuities(sizes: tuple[HalfAccuracySize, ...]) -> tuple[Acuity, ...]:
    """Return the same values as they stood under their old key, for readers of ``estimates.json``."""
    return tuple(
        Acuity(
            task=one.task,
            status=one.status,
            reason=one.reason,
            px=one.px,
            low_px=one.low,
            high_px=one.high,
            bands=one.bands,
            evidence=one.evidence,
            n_questions=one.n_questions,
            n_clusters=one.n_clusters,
            confidence=one.confidence,
        )
        for one in sizes
    )


def as_thresholds(sizes: tuple[HalfAccuracySize, ...]) -> tuple[Threshold, ...]:
    """Return the size over all questions as the threshold in pixels, beside those in nominal scale."""
    return tuple(
        Threshold(
            unit="px of target seen",
            fraction=0.5,
            value=one.px,
            low=one.low,
            high=one.high,
            smallest=one.bands[-1].px,
            largest=one.bands[0].px,
            is_flat=False,
            n_questions=one.n_questions,
            n_clusters=one.n_clusters,
            confidence=one.confidence,
        )
        for one in sizes
        if one.task is None and one.px is not None
    )


class _Rows(NamedTuple):
    """One row per question and shown part: (n_rows,) questions, and (n_rows, n_conditions × n_slots) answers."""

    questions: Integers
    values: Floats
    present: Bools
    target_px: Floats


def _rows(table: RunTable, views: Mapping[str, View]) -> _Rows:
    seeing = {
        index for index, name in enumerate(table.conditions) if name not in views or views[name].family not in _BLIND
    }
    places: dict[tuple[int, str], int] = {}
    answers = []
    for (question, condition, slot), cell in sorted(table.cells.items()):
        size = cell.sight.target_px if cell.sight is not None else None
        if condition in seeing and cell.cut and cell.value is not None and size:
            row = places.setdefault((question, cell.cut), len(places))
            answers.append((row, condition * table.n_slots + slot, cell.value, size))
    shape = (len(places), len(table.conditions) * table.n_slots)
    values, present, target_px = np.zeros(shape), np.zeros(shape, dtype=np.bool_), np.ones(shape)
    for row, column, value, size in answers:
        values[row, column], present[row, column], target_px[row, column] = value, True, size
    return _Rows(np.array([question for question, _ in places], dtype=np.int64), values, present, target_px)


def _tasks(table: RunTable) -> dict[str | None, Bools]:
    """Return (n_questions,) masks: of all questions, and of every task if there are several."""
    names = [question.task for question in table.questions]
    found: dict[str | None, Bools] = {None: np.ones(len(names), dtype=np.bool_)}
    known = sorted({name for name in names if name})
    if len(known) > 1:
        found |= {name: np.array([one == name for one in names], dtype=np.bool_) for name in known}
    return found


def _evidence(table: RunTable) -> str | None:
    """Return the weakest word by which the sizes of targets are known."""
    order = ("executed", "reported", "probed", "documented", "inferred")
    words = {cell.sight.evidence for cell in table.cells.values() if cell.sight is not None and cell.sight.target_px}
    return max((word for word in words if word in order), key=order.index, default=None)


def _record(task: str | None, estimate: HalfSizeEstimate, evidence: str | None, n_questions: int) -> HalfAccuracySize:
    bands = estimate.bands
    return HalfAccuracySize(
        task=task,
        status=estimate.status,
        reason=estimate.reason,
        px=_px(estimate.log2_px),
        low=_px(estimate.low),
        high=_px(estimate.high),
        slope=estimate.slope,
        slope_p=estimate.slope_p,
        bands=()
        if bands is None
        else tuple(
            AcuityBand(
                px=float(2.0 ** bands.log2_px[index]),
                corrected=float(bands.corrected[index]),
                low=_finite(bands.low[index]),
                high=_finite(bands.high[index]),
                fitted=float(bands.fitted[index]),
                n_questions=int(bands.n_rows[index]),
                chance=float(bands.chance[index]),
            )
            for index in range(len(bands.log2_px))
        ),
        has_curve=estimate.has_curve,
        evidence=evidence,
        n_questions=n_questions,
        n_clusters=estimate.n_clusters,
    )


def _px(log2: float | None) -> float | None:
    return None if log2 is None else float(2.0**log2)


def _finite(bound: float) -> float | None:
    return float(bound) if np.isfinite(bound) else None
