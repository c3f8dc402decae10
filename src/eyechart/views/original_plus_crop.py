"""Two pictures: the whole, then the crop."""

import re

from eyechart.geometry import GeometryPolicy
from eyechart.kinds import PlannedPicture
from eyechart.schema import Original, OriginalPlusCrop, Question
from eyechart.views._factors import format_factor, parse_factor
from eyechart.views._targets import planned_crop
from eyechart.views.original import OriginalKind

__all__ = ["OriginalPlusCropKind"]

_ID = re.compile(r"original_plus_crop_([0-9_]+)x")


class OriginalPlusCropKind:
    """The views ``original_plus_crop_<area ratio>x``, ratio at least 1."""

    view = OriginalPlusCrop

    def format(self, view: OriginalPlusCrop) -> str:
        """Return the view id."""
        return f"original_plus_crop_{format_factor(view.area_ratio)}x"

    def parse(self, view_id: str) -> OriginalPlusCrop | None:
        """Return the view, or None if the id belongs to another family or the ratio is below 1."""
        match = _ID.fullmatch(view_id)
        factor = parse_factor(match[1]) if match else None
        return OriginalPlusCrop(factor) if factor is not None and factor >= 1 else None

    def plan(self, view: OriginalPlusCrop, question: Question, policy: GeometryPolicy) -> tuple[PlannedPicture, ...]:
        """Show the whole picture, then the grown target box."""
        return (*OriginalKind().plan(Original(), question, policy), planned_crop(question, view.area_ratio, policy))
