"""The named effects: which pairs of views mean context, canvas, distraction or resolution."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from eyechart.schema import Blank, Contrast, Crop, Downsample, NoImage, Original, TargetOnly, View, Whiteground
from eyechart.stats.conditions import Pair, ScoreTable, contrasts_between
from eyechart.stats.corrections import Correction

NEGATIVE_CONTROL = "negative control"


class NamedPair(NamedTuple):
    """One contrast with the name of what it measures."""

    name: str
    condition: str
    baseline: str

    @property
    def pair(self) -> Pair:
        """The two conditions."""
        return self.condition, self.baseline


def name_pairs(views: Mapping[str, View]) -> tuple[NamedPair, ...]:
    """Return every named contrast that a set of conditions allows.

    With A(v) the accuracy under view v: context curve crop_k − crop_1; canvas effect crop_k − whiteground_k;
    distraction effect whiteground_k − original; in-crop context whiteground_k − target_only_original at the original
    canvas and crop_k − target_only_k at the crop canvas; canvas effect without context
    target_only_k − target_only_original; resolution loss downsample_s − original (negative for a loss); visual gain
    original − no_image and original − blank; negative controls crop_1 − target_only_1 and
    whiteground_1 − target_only_original, whose pictures are identical.

    Args:
        views: Condition name → view, such as ``{"crop_3x": Crop(3.0)}``. Matched designs are left out of it.

    Returns:
        The pairs, by name in the order above, then by factor.

    Example:
        >>> [pair.name for pair in name_pairs({"original": Original(), "w": Whiteground(3.0), "c": Crop(3.0)})]
        ['canvas effect', 'distraction effect']
    """
    by_view = {view: condition for condition, view in reversed(list(views.items()))}
    crops = sorted((view.area_ratio, name) for name, view in views.items() if isinstance(view, Crop))
    whites = sorted((view.area_ratio, name) for name, view in views.items() if isinstance(view, Whiteground))
    smaller = sorted((-view.linear_scale, name) for name, view in views.items() if isinstance(view, Downsample))
    targets = sorted(
        (view.area_ratio, name)
        for name, view in views.items()
        if isinstance(view, TargetOnly) and view.area_ratio is not None
    )
    original, alone = Original(), TargetOnly(None)
    candidates: list[tuple[str, str, View]] = [
        *(("context curve", name, Crop(1.0)) for ratio, name in crops if ratio != 1.0),
        *(("canvas effect", name, Whiteground(ratio)) for ratio, name in crops),
        *(("distraction effect", name, original) for _, name in whites),
        *(("in-crop context at original canvas", name, alone) for ratio, name in whites if ratio != 1.0),
        *(("in-crop context at crop canvas", name, TargetOnly(ratio)) for ratio, name in crops if ratio != 1.0),
        *(("canvas effect without context", name, alone) for _, name in targets),
        *(("resolution loss", name, original) for scale, name in smaller if scale != -1.0),
        *(("visual gain", by_view[original], blind) for blind in (NoImage(), Blank()) if original in by_view),
        *((NEGATIVE_CONTROL, name, TargetOnly(1.0)) for ratio, name in crops if ratio == 1.0),
        *((NEGATIVE_CONTROL, name, alone) for ratio, name in whites if ratio == 1.0),
    ]
    return tuple(NamedPair(name, condition, by_view[view]) for name, condition, view in candidates if view in by_view)


def estimate_named(
    table: ScoreTable,
    views: Mapping[str, View],
    *,
    correction: Correction = "holm",
    confidence: float = 0.95,
) -> tuple[Contrast, ...]:
    """Estimate every named contrast, corrected within its name; negative controls are never corrected.

    Args:
        table: Scores of one model.
        views: Condition name → view, for conditions of the table.
        correction: Correction within each name.
        confidence: Coverage of the intervals, in (0, 1).

    Returns:
        Contrasts whose ``name`` is that of the effect, in the order of ``name_pairs``.

    Raises:
        StatisticsError: If a condition is not in the table, or the confidence is outside (0, 1).

    Example:
        >>> import numpy as np
        >>> values = np.zeros((40, 2)); values[:12, 1] = 1.0
        >>> table = ScoreTable(values, values >= 0, [f"im{i}" for i in range(40)], ("original", "whiteground_3x"))
        >>> effects = estimate_named(table, {"original": Original(), "whiteground_3x": Whiteground(3.0)})
        >>> [(effect.name, effect.value) for effect in effects]
        [('distraction effect', 0.3)]
    """
    named = name_pairs(views)
    controls = [pair.pair for pair in named if pair.name == NEGATIVE_CONTROL]
    results: list[Contrast] = []
    for name in dict.fromkeys(pair.name for pair in named):
        pairs = [pair.pair for pair in named if pair.name == name]
        contrasts = contrasts_between(
            table,
            pairs,
            negative_controls=controls,
            correction=correction,
            family=f"{name}, {len(pairs)} contrasts",
            confidence=confidence,
        )
        results.extend(msgspec.structs.replace(contrast, name=name) for contrast in contrasts)
    return tuple(results)
