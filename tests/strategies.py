"""Hypothesis strategies that several test modules share."""

from hypothesis import strategies as st

from eyechart.schema import Box, ImageRef, Question, Size


def sizes(max_side: int = 400) -> st.SearchStrategy[Size]:
    """Picture sizes from 1×1."""
    side = st.integers(1, max_side)
    return st.builds(Size, side, side)


@st.composite
def boxes_inside(draw, image: Size, *, whole_numbers: bool = False) -> Box:
    """Boxes with area inside a picture, from a fraction of a pixel up."""
    if whole_numbers:
        x0 = draw(st.integers(0, image.width - 1))
        y0 = draw(st.integers(0, image.height - 1))
        return Box(x0, y0, draw(st.integers(x0 + 1, image.width)), draw(st.integers(y0 + 1, image.height)))
    x0 = draw(st.floats(0, image.width - 0.5))
    y0 = draw(st.floats(0, image.height - 0.5))
    return Box(x0, y0, draw(st.floats(x0 + 0.25, image.width)), draw(st.floats(y0 + 0.25, image.height)))


@st.composite
def boxes_over_the_border(draw, image: Size) -> Box:
    """Boxes that overlap a picture and may stick out on any side."""
    inside = draw(boxes_inside(image))
    out = st.floats(0, 50)
    return Box(inside.x0 - draw(out), inside.y0 - draw(out), inside.x1 + draw(out), inside.y1 + draw(out))


def question_about(image: Size, *targets: Box, **fields: object) -> Question:
    """A question with four colours about a picture of this size."""
    defaults: dict[str, object] = {
        "id": "000001",
        "benchmark": "made",
        "text": "What colour is the sign?",
        "image": ImageRef("f" * 64, image, "image/png"),
        "image_group": "g",
        "choices": ("red", "green", "blue", "white"),
        "answer": "A",
        "targets": targets,
    }
    return Question(**{**defaults, **fields})
