"""The whole picture, smaller."""

import re

from eyechart.geometry import GeometryPolicy, downsampled_size, scale_box, whole
from eyechart.kinds import PlannedPicture
from eyechart.schema import Composition, Downsample, Question
from eyechart.views._factors import format_factor, parse_factor
from eyechart.views._targets import target_or_none

__all__ = ["DownsampleKind"]

_ID = re.compile(r"downsample_([0-9_]+)")


class DownsampleKind:
    """The views ``downsample_<linear scale>``, scale at most 1: both sides are multiplied by the scale and rounded."""

    view = Downsample

    def format(self, view: Downsample) -> str:
        """Return the view id."""
        return f"downsample_{format_factor(view.linear_scale)}"

    def parse(self, view_id: str) -> Downsample | None:
        """Return the view, or None if the id belongs to another family or the scale is above 1."""
        match = _ID.fullmatch(view_id)
        factor = parse_factor(match[1]) if match else None
        return Downsample(factor) if factor is not None and factor <= 1 else None

    def plan(self, view: Downsample, question: Question, policy: GeometryPolicy) -> tuple[PlannedPicture, ...]:
        """Resample the whole picture; the target keeps float edges at the real scale of each axis."""
        original = question.image.size
        resized = downsampled_size(original, view.linear_scale, policy.size_rounding)
        target = target_or_none(question)
        picture = PlannedPicture(
            geometry=Composition(
                canvas=original, kept=whole(original), resized=None if resized == original else resized
            ),
            source_region=whole(original),
            target=None if target is None else scale_box(target, original, resized),
        )
        return (picture,)
