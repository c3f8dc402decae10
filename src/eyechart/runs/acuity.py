"""The acuity of a run's model, for all questions and per task, from every view that shows the target."""

from collections.abc import Mapping

import numpy as np

from eyechart.runs.cells import RunTable
from eyechart.schema import Acuity, AcuityBand, SmoothCurve, View
from eyechart.stats.acuity import AcuityEstimate, estimate_acuity
from eyechart.stats.arrays import Bools, Floats
from eyechart.stats.bootstrap import draw_weights
from eyechart.stats.clusters import find_clusters

_SEED = 0
_BLIND = frozenset({"blank", "no_image"})


def estimate_acuities(table: RunTable, views: Mapping[str, View]) -> tuple[Acuity, ...]:
    """Return the acuity over all questions, then per task; nothing where the sizes of targets are not known.

    Every view that shows the target counts, at the size at which the model saw it; views that are one picture to the
    model fall into one band, where a question counts once.

    Args:
        table: The run.
        views: Condition → view.
    """
    values, present, target_px = _arrays(table, views)
    if not present.any():
        return ()
    clusters = find_clusters(table.image_groups)
    weights = draw_weights(clusters.n_clusters, np.random.default_rng(_SEED))
    evidence = _evidence(table)
    found = []
    for task, rows in _tasks(table).items():
        mask = present & rows[:, None]
        estimate = estimate_acuity(
            np.where(mask, values, 0.0),
            mask,
            table.chance,
            clusters,
            np.where(mask, target_px, 1.0),
            weights=weights,
        )
        found.append(_record(task, estimate, evidence))
    return tuple(found)


def _arrays(table: RunTable, views: Mapping[str, View]) -> tuple[Floats, Bools, Floats]:
    """Return (n_questions, n_slots) scores, where the target's size is known, and that size; a slot is one asking."""
    shape = (len(table.questions), len(table.conditions) * table.n_slots)
    values, present, target_px = np.zeros(shape), np.zeros(shape, dtype=np.bool_), np.ones(shape)
    seeing = {
        index for index, name in enumerate(table.conditions) if name not in views or views[name].family not in _BLIND
    }
    for (question, condition, slot), cell in table.cells.items():
        size = cell.sight.target_px if cell.sight is not None else None
        if condition in seeing and cell.value is not None and size:
            column = condition * table.n_slots + slot
            values[question, column], present[question, column] = cell.value, True
            target_px[question, column] = size
    return values, present, target_px


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


def _record(task: str | None, estimate: AcuityEstimate, evidence: str | None) -> Acuity:
    bands, fit = estimate.bands, estimate.fit
    return Acuity(
        task=task,
        status=estimate.status,
        reason=estimate.reason,
        px=_px(estimate.log2_px),
        low_px=_px(estimate.low),
        high_px=_px(estimate.high),
        bands=()
        if bands is None
        else tuple(
            AcuityBand(
                px=float(2.0 ** bands.log2_px[index]),
                corrected=float(bands.corrected[index]),
                low=float(bands.low[index]),
                high=float(bands.high[index]),
                fitted=float(bands.fitted[index]),
                n_questions=int(bands.n_questions[index]),
            )
            for index in range(len(bands.log2_px))
        ),
        smooth=None
        if fit is None or estimate.log2_px is None
        else SmoothCurve(float(2.0**estimate.log2_px), fit.intercept, fit.slope, fit.ceiling),
        misfit_p=estimate.fit_p,
        evidence=evidence,
        n_questions=estimate.n_questions,
        n_clusters=estimate.n_clusters,
    )


def _px(log2: float | None) -> float | None:
    return None if log2 is None else float(2.0**log2)
