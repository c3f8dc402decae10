"""The target box alone, everything else white."""

import re

import msgspec

from eyechart.geometry import GeometryPolicy, whole
from eyechart.kinds import PlannedPicture
from eyechart.schema import Question, TargetOnly
from eyechart.views._factors import format_factor, parse_factor
from eyechart.views._targets import on_original_canvas, planned_crop, target_alone

__all__ = ["TargetOnlyKind"]

_ID = re.compile(r"target_only_(?:(original)|([0-9_]+)x)")


class TargetOnlyKind:
    """The views ``target_only_<area ratio>x``, ratio at least 1 (canvas of that crop), and ``target_only_original``."""

    view = TargetOnly

    def format(self, view: TargetOnly) -> str:
        """Return the view id."""
        return "target_only_original" if view.area_ratio is None else f"target_only_{format_factor(view.area_ratio)}x"

    def parse(self, view_id: str) -> TargetOnly | None:
        """Return the view, or None if the id belongs to another family or the ratio is below 1."""
        match = _ID.fullmatch(view_id)
        if match is None:
            return None
        if match[1]:
            return TargetOnly(None)
        factor = parse_factor(match[2])
        return TargetOnly(factor) if factor is not None and factor >= 1 else None

    def plan(self, view: TargetOnly, question: Question, policy: GeometryPolicy) -> tuple[PlannedPicture, ...]:
        """Keep the target's integer box and whiten the rest of the canvas."""
        if view.area_ratio is None:
            canvas = on_original_canvas(question, whole(question.image.size))
            # There is no crop: nothing is saturated, and there is no multiple of the target's area.
            canvas = msgspec.structs.replace(canvas, notes=(), area_multiplier=None)
        else:
            canvas = planned_crop(question, view.area_ratio, policy)
        return (target_alone(canvas, question, policy),)
