"""The crop at its own place on a white canvas of the original size."""

import re

from eyechart.geometry import GeometryPolicy
from eyechart.kinds import PlannedPicture
from eyechart.schema import Question, Whiteground
from eyechart.views._factors import format_factor, parse_factor
from eyechart.views._targets import crop_box, on_original_canvas

__all__ = ["WhitegroundKind"]

_ID = re.compile(r"whiteground_([0-9_]+)x")


class WhitegroundKind:
    """The views ``whiteground_<area ratio>x``, ratio at least 1: the crop at its place on the whole canvas."""

    view = Whiteground

    def format(self, view: Whiteground) -> str:
        """Return the view id."""
        return f"whiteground_{format_factor(view.area_ratio)}x"

    def parse(self, view_id: str) -> Whiteground | None:
        """Return the view, or None if the id belongs to another family or the ratio is below 1."""
        match = _ID.fullmatch(view_id)
        factor = parse_factor(match[1]) if match else None
        return Whiteground(factor) if factor is not None and factor >= 1 else None

    def plan(self, view: Whiteground, question: Question, policy: GeometryPolicy) -> tuple[PlannedPicture, ...]:
        """Keep the crop where it was and whiten the rest."""
        return (on_original_canvas(question, crop_box(question, view.area_ratio, policy)),)
