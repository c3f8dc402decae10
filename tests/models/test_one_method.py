"""A model of one's own is a class with one method."""

import asyncio

import numpy as np
import pytest
from PIL import Image

from eyechart.errors import BadRequestError, UsageError
from eyechart.kinds import Ask, Model
from eyechart.models._one_method import OwnModel
from eyechart.schema import Sampling, Size


class Picture:
    size = Size(3, 2)
    pixel_sha256 = "x"
    media_type = "image/png"

    def pixels(self):
        return np.arange(18, dtype=np.uint8).reshape(2, 3, 3)

    def encoded(self):
        return b""


def answer(own, *pictures):
    ask = Ask(prompt="Which?", pictures=pictures, choices=(), sampling=Sampling())
    return asyncio.run(OwnModel(own).answer(ask))


class Sees:
    def answer(self, prompt, pictures):
        return f"{prompt} {[picture.getpixel((1, 0)) for picture in pictures]} {isinstance(pictures[0], Image.Image)}"


def test_method_gets_the_prompt_and_pillow_pictures():
    assert answer(Sees(), Picture()).text == "Which? [(3, 4, 5)] True"
    assert isinstance(OwnModel(Sees()), Model)


def test_coroutine_is_awaited():
    class Slow:
        async def answer(self, prompt, pictures):
            await asyncio.sleep(0)
            return "B"

    assert answer(Slow()).text == "B"


def test_thinking_is_kept_apart_from_the_answer():
    class Thinks:
        def answer(self, prompt, pictures):
            return "<think>A or B</think>B"

    assert (answer(Thinks()).text, answer(Thinks()).reasoning) == ("B", "A or B")


def test_name_revision_and_overlap_may_be_said():
    class Known(Sees):
        name, revision, max_concurrency = "mine", "v2", 4

    model = OwnModel(Known())
    assert (model.identity.spec, model.identity.revision, model.max_concurrency) == ("own/mine", "v2", 4)
    assert OwnModel(Sees()).max_concurrency == 1


def test_edited_code_is_another_model():
    class Other:
        def answer(self, prompt, pictures):
            return "A"

    assert OwnModel(Sees()).identity.fingerprint == OwnModel(Sees()).identity.fingerprint
    assert OwnModel(Sees()).identity.fingerprint != OwnModel(Other()).identity.fingerprint


@pytest.mark.parametrize("returned", [None, ["A"], 3])
def test_answer_that_is_no_text_is_an_error_of_that_request_alone(returned):
    class Odd:
        def answer(self, prompt, pictures):
            return returned

    with pytest.raises(BadRequestError, match="no text"):
        answer(Odd())


class NoMethod:
    pass


class NoPictures:
    def answer(self, prompt):
        return "A"


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (NoMethod(), "NoMethod has no method answer"),
        (NoPictures(), "cannot be called with a prompt and pictures"),
        (Sees, "Sees is a class, no model"),
    ],
)
def test_object_that_cannot_answer_is_refused_before_anything_is_asked(own, message):
    with pytest.raises(UsageError, match=message):
        OwnModel(own)
