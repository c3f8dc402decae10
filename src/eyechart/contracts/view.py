"""The contract of a view family: ids are read back, pictures stay inside the image, planning is repeatable."""

from collections.abc import Sequence

from eyechart.contracts.checks import expect, made_questions
from eyechart.errors import GeometryError
from eyechart.geometry import GeometryPolicy
from eyechart.kinds import PlannedPicture, ViewKind
from eyechart.schema import Composition, View, canonical_json

_ROUNDING_PX = 1e-6


def check_view(kind: ViewKind[View], examples: Sequence[View]) -> None:
    """Check one family of views on some of its views.

    Args:
        kind: The family.
        examples: Views of it, at least one.

    Raises:
        ContractError: If an id is not read back, a foreign id is read, or a picture does not fit.
    """
    expect(bool(examples), "a view family needs at least one example")
    for foreign in ("", "no_such_view", "crop_", "original_"):
        expect(kind.parse(foreign) is None, f"the foreign id {foreign!r} must be read as None")
    for view in examples:
        view_id = kind.format(view)
        expect(kind.parse(view_id) == view, f"parse(format(view)) must equal view, got {kind.parse(view_id)!r}")
        for question in made_questions():
            _check_pictures(kind, view, question_index=int(question.id))


def _check_pictures(kind: ViewKind[View], view: View, *, question_index: int) -> None:
    question = made_questions()[question_index - 1]
    try:
        pictures = kind.plan(view, question, GeometryPolicy())
    except GeometryError:
        return  # a family may say that it cannot show a question
    again = kind.plan(view, question, GeometryPolicy())
    expect(canonical_json(pictures) == canonical_json(again), f"{view!r} must be planned the same way twice")
    for picture in pictures:
        _check_fits(picture, f"{view!r} of question {question.id}")


def _check_fits(picture: PlannedPicture, what: str) -> None:
    width, height = picture.geometry.size
    expect(width >= 1 and height >= 1, f"{what}: at least one pixel, got {width}×{height}")
    if picture.target is not None:
        x0, y0, x1, y1 = picture.target
        is_inside = min(x0, y0, width - x1, height - y1) > -_ROUNDING_PX
        expect(is_inside, f"{what}: the target {picture.target} must lie inside {width}×{height}")
    if isinstance(picture.geometry, Composition) and picture.geometry.kept is not None:
        kept, (x, y) = picture.geometry.kept, picture.geometry.offset
        canvas = picture.geometry.canvas
        fits = x >= 0 and y >= 0 and x + kept.width <= canvas.width and y + kept.height <= canvas.height
        expect(fits, f"{what}: the kept pixels must fit on the canvas")
