"""A model of one's own: any object with one method, ``answer(prompt, pictures) -> str``."""

import asyncio
import hashlib
import inspect
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from eyechart.errors import BadRequestError, UsageError
from eyechart.kinds import Ask, Reply, SentPicture
from eyechart.models._reasoning import split_reasoning
from eyechart.schema import ModelIdentity

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from PIL.Image import Image

PROVIDER = "own"


@runtime_checkable
class OneMethodModel(Protocol):
    """What a person writes: a class with one method.

    The method may be a coroutine. Pictures are Pillow images in RGB, as many as the view has (none for ``no_image``).
    Attributes may say more: ``name`` (else the class's name), ``revision`` (of the weights), and ``max_concurrency``,
    how many calls may overlap (1 if it does not say).
    """

    def answer(self, prompt: str, pictures: "tuple[Image, ...]") -> "str | Awaitable[str]":
        """Return the answer to a prompt about pictures."""
        ...


class OwnModel:
    """An object with one method, as a model.

    Its fingerprint is the hash of its class's source where that can be read, so that edited code asks anew.

    Args:
        own: The object.

    Raises:
        UsageError: If it has no method ``answer`` that takes a prompt and pictures.
    """

    reads: Literal["pixels", "identity"] = "pixels"

    def __init__(self, own: OneMethodModel) -> None:
        _check(own)
        self._own = own
        revision = getattr(own, "revision", None)
        self.max_concurrency: int | None = int(getattr(own, "max_concurrency", 1))
        self.identity = ModelIdentity(
            provider=PROVIDER,
            name=str(getattr(own, "name", type(own).__name__)),
            revision=None if revision is None else str(revision),
            fingerprint=_fingerprint(type(own)),
        )

    async def answer(self, ask: Ask) -> Reply:
        """Call the method, in a thread of its own unless it is a coroutine.

        Raises:
            BadRequestError: If it returns no text.
        """
        pictures = tuple(_as_image(picture) for picture in ask.pictures)
        if inspect.iscoroutinefunction(self._own.answer):
            text: object = await self._own.answer(ask.prompt, pictures)
        else:
            text = await asyncio.to_thread(self._own.answer, ask.prompt, pictures)
        if not isinstance(text, str):
            raise BadRequestError(
                f"{self.identity.name}.answer returned {type(text).__name__}, no text", hint="return a string"
            )
        split = split_reasoning(text)
        return Reply(text=split.answer, reasoning=split.reasoning)

    async def close(self) -> None:
        """Nothing is held open."""


def _check(own: OneMethodModel) -> None:
    """Refuse what cannot be called as ``answer(prompt, pictures)``."""
    method = getattr(own, "answer", None)
    name = type(own).__name__
    if isinstance(own, type):
        raise UsageError(f"{own.__name__} is a class, no model", hint=f"pass an instance: {own.__name__}()")
    if not callable(method):
        raise UsageError(f"{name} has no method answer", hint="write def answer(self, prompt, pictures): return text")
    try:
        inspect.signature(method).bind("", ())
    except TypeError as error:
        raise UsageError(
            f"{name}.answer cannot be called with a prompt and pictures: {error}",
            hint="write def answer(self, prompt, pictures): return text",
        ) from error


def _fingerprint(kind: type) -> str | None:
    """Return the hash of a class's source, None where it was typed into a session that keeps none."""
    try:
        return hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def _as_image(picture: SentPicture) -> "Image":
    from PIL import Image  # late: importing eyechart loads no Pillow

    pixels = picture.pixels()
    return Image.frombytes("RGB", (picture.size.width, picture.size.height), pixels.tobytes())
