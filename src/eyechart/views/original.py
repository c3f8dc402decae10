"""The picture as it is."""

from eyechart.geometry import GeometryPolicy, whole
from eyechart.kinds import PlannedPicture
from eyechart.schema import Composition, Original, Question
from eyechart.views._targets import target_or_none

__all__ = ["OriginalKind"]


class OriginalKind:
    """The view ``original``."""

    view = Original

    def format(self, view: Original) -> str:  # noqa: ARG002 -- one view, one id
        """Return the view id."""
        return "original"

    def parse(self, view_id: str) -> Original | None:
        """Return the view, or None if the id belongs to another family."""
        return Original() if view_id == "original" else None

    def plan(
        self,
        view: Original,  # noqa: ARG002 -- has no parameters
        question: Question,
        policy: GeometryPolicy,  # noqa: ARG002 -- nothing to round
    ) -> tuple[PlannedPicture, ...]:
        """Keep every pixel."""
        region = whole(question.image.size)
        geometry = Composition(canvas=question.image.size, kept=region)
        return (PlannedPicture(geometry=geometry, source_region=region, target=target_or_none(question)),)
