"""A white picture of the original size: what is guessed when there is nothing to see."""

from eyechart.geometry import GeometryPolicy
from eyechart.kinds import PlannedPicture
from eyechart.schema import Blank, Composition, Question

__all__ = ["BlankKind"]


class BlankKind:
    """The view ``blank``."""

    view = Blank

    def format(self, view: Blank) -> str:  # noqa: ARG002 -- one view, one id
        """Return the view id."""
        return "blank"

    def parse(self, view_id: str) -> Blank | None:
        """Return the view, or None if the id belongs to another family."""
        return Blank() if view_id == "blank" else None

    def plan(
        self,
        view: Blank,  # noqa: ARG002 -- has no parameters
        question: Question,
        policy: GeometryPolicy,  # noqa: ARG002 -- nothing to round
    ) -> tuple[PlannedPicture, ...]:
        """Keep no pixel."""
        return (PlannedPicture(geometry=Composition(canvas=question.image.size, kept=None)),)
