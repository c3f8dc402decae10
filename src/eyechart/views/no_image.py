"""The question without any picture: what can be guessed blind."""

from eyechart.geometry import GeometryPolicy
from eyechart.kinds import PlannedPicture
from eyechart.schema import NoImage, Question

__all__ = ["NoImageKind"]


class NoImageKind:
    """The view ``no_image``."""

    view = NoImage

    def format(self, view: NoImage) -> str:  # noqa: ARG002 -- one view, one id
        """Return the view id."""
        return "no_image"

    def parse(self, view_id: str) -> NoImage | None:
        """Return the view, or None if the id belongs to another family."""
        return NoImage() if view_id == "no_image" else None

    def plan(
        self,
        view: NoImage,  # noqa: ARG002 -- has no parameters
        question: Question,  # noqa: ARG002 -- shows nothing of it
        policy: GeometryPolicy,  # noqa: ARG002 -- nothing to round
    ) -> tuple[PlannedPicture, ...]:
        """Show nothing."""
        return ()
