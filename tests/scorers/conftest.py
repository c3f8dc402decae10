"""Questions and responses for the scorers."""

import pytest

from eyechart.schema import ImageRef, Question, Response, ResponseState, Size


@pytest.fixture
def ask():
    """Return a maker of questions."""

    def make(text="?", **fields):
        image = ImageRef("0", Size(1, 1), "image/png")
        return Question(id="q", benchmark="b", text=text, image=image, image_group="g", **fields)

    return make


@pytest.fixture
def answered():
    """Return a maker of answered responses."""
    return lambda text: Response(request_id="r", state=ResponseState.ANSWERED, text=text)
