"""The contract of a model: it answers or raises a model error, and one that looks at pixels sees nothing but pixels."""

import asyncio
import hashlib
from typing import NamedTuple

from eyechart.contracts.checks import expect, made_questions
from eyechart.errors import ModelError
from eyechart.kinds import Ask, AskedIdentity, Model, PixelArray, Reply, TakesGold, TakesSizes
from eyechart.schema import Sampling, Size


class MadePicture(NamedTuple):
    """A small grey picture as a model receives it."""

    size: Size
    pixel_sha256: str
    media_type: str
    png: bytes

    def pixels(self) -> PixelArray:
        """Return the pixels, shape (height, width, 3), uint8."""
        import numpy as np  # deferred: checks of other kinds need no numpy

        return np.full((self.size.height, self.size.width, 3), 128, dtype=np.uint8)

    def encoded(self) -> bytes:
        """Return the PNG bytes."""
        return self.png


def made_picture(width: int = 64, height: int = 48) -> MadePicture:
    """Return a uniform grey picture of the given size in pixels."""
    import io

    from PIL import Image

    size = Size(width, height)
    buffer = io.BytesIO()
    Image.new("RGB", size, (128, 128, 128)).save(buffer, "PNG")
    return MadePicture(size, hashlib.sha256(repr(size).encode()).hexdigest(), "image/png", buffer.getvalue())


def check_model(model: Model) -> None:
    """Check that a model answers a made-up question, or fails as a model may.

    Raises:
        ContractError: If it returns no ``Reply``, or one that reads pixels asks for the identity of a request.
    """
    expect(model.reads in {"pixels", "identity"}, "a model reads pixels or identity")
    expect(bool(model.identity.provider) and bool(model.identity.name), "a model has a provider and a name")
    expect(model.max_concurrency is None or model.max_concurrency >= 1, "max_concurrency is None or at least 1")
    is_baseline = model.reads == "identity"
    question = made_questions()[0]
    if isinstance(model, TakesGold):
        expect(is_baseline, "only a model that reads identity may take the right answers")
        model.take_gold({"r": question.answer})
    takes_sizes = isinstance(model, TakesSizes)
    expect(is_baseline or not takes_sizes, "only a model that reads identity may take the sizes of targets")
    identity = AskedIdentity("r", question.id, "original", "original", 0) if is_baseline else None
    ask = Ask(
        prompt=question.text,
        pictures=(made_picture(),),
        choices=question.choices,
        sampling=Sampling(),
        identity=identity,
    )
    reply = asyncio.run(_answer(model, ask))
    expect(reply is None or isinstance(reply.text, str), "a reply has a text; a failure is raised, not returned")


async def _answer(model: Model, ask: Ask) -> Reply | None:
    try:
        return await model.answer(ask)
    except ModelError:
        return None
    finally:
        await model.close()
