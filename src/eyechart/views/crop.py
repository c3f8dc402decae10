"""A cut-out round the target, some multiple of its area."""

import re

from eyechart.geometry import GeometryPolicy
from eyechart.kinds import PlannedPicture
from eyechart.schema import Crop, Question
from eyechart.views._factors import format_factor, parse_factor
from eyechart.views._targets import planned_crop

__all__ = ["CropKind"]

_ID = re.compile(r"crop_([0-9_]+)x")


class CropKind:
    """The views ``crop_<area ratio>x``, ratio at least 1: ``crop_1x`` is exactly the target box."""

    view = Crop

    def format(self, view: Crop) -> str:
        """Return the view id."""
        return f"crop_{format_factor(view.area_ratio)}x"

    def parse(self, view_id: str) -> Crop | None:
        """Return the view, or None if the id belongs to another family or the ratio is below 1."""
        match = _ID.fullmatch(view_id)
        factor = parse_factor(match[1]) if match else None
        return Crop(factor) if factor is not None and factor >= 1 else None

    def plan(self, view: Crop, question: Question, policy: GeometryPolicy) -> tuple[PlannedPicture, ...]:
        """Cut out the grown target box."""
        return (planned_crop(question, view.area_ratio, policy),)
