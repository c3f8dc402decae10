"""What a kind of view implements."""

from typing import Protocol, TypeVar, runtime_checkable

from eyechart.geometry import GeometryPolicy
from eyechart.schema import Box, Composition, GridComposition, Question, Value, View

Geometry = Composition | GridComposition


ViewT = TypeVar("ViewT", bound=View)


class PlannedPicture(Value, frozen=True):
    """What a view will show, from arithmetic alone.

    Args:
        geometry: Which pixels at which size.
        source_region: Box of the original that the picture shows, None for a blank one.
        target: The target in pixels of the finished picture, None if the question has none.
        area_multiplier: Real area of the crop divided by the area of the target's integer box (clipping lowers it).
        notes: What the reader should know: ``saturated`` when a crop is the whole picture, ….
    """

    geometry: Geometry
    source_region: Box | None = None
    target: Box | None = None
    area_multiplier: float | None = None
    notes: tuple[str, ...] = ()


@runtime_checkable
class ViewKind(Protocol[ViewT]):
    """One family of views. The module's name is the family's name.

    ``format`` and ``parse`` are inverse: ``parse(format(view)) == view``; ``parse`` returns None for ids of others.
    """

    view: type[ViewT]

    def format(self, view: ViewT) -> str:
        """Return the view id."""
        ...

    def parse(self, view_id: str) -> ViewT | None:
        """Return the view, or None if the id belongs to another family."""
        ...

    def plan(self, view: ViewT, question: Question, policy: GeometryPolicy) -> tuple[PlannedPicture, ...]:
        """Return the pictures to show, in order; empty where nothing is shown.

        Raises:
            GeometryError: If this question cannot be shown in this view.
        """
        ...
