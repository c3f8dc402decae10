"""A person, by name: ``human/NAME``. The answers are given in the browser (``eyechart annotate``), never asked for."""

from typing import Literal

import msgspec

from eyechart.errors import BadRequestError
from eyechart.kinds import Ask, Model, ModelOptions, Reply
from eyechart.models._chat_settings import read_sent_settings
from eyechart.schema import ModelIdentity

__all__ = ["HumanKind"]


class HumanSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of ``human/…``.

    Args:
        zoom: Whether the person may enlarge pictures.
    """

    zoom: bool = False


class HumanKind:
    """People who answer in the browser."""

    settings = HumanSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the person.

        Raises:
            UsageError: If a setting is unknown.
        """
        return Person(name, read_sent_settings(HumanSettings, options, f"human/{name}"))


class Person:
    """Names a run whose answers a person gives."""

    reads: Literal["pixels", "identity"] = "identity"
    max_concurrency: int | None = 1

    def __init__(self, name: str, settings: HumanSettings) -> None:
        # The name tells people apart, as a fingerprint tells weights.
        self.identity = ModelIdentity("human", name, fingerprint=name, settings={"zoom": settings.zoom})

    async def answer(self, ask: Ask) -> Reply:
        """Refuse: a person is not asked by a run.

        Raises:
            BadRequestError: Always.
        """
        del ask
        raise BadRequestError(
            f"{self.identity.name} answers in the browser",
            hint=f"eyechart annotate BENCH --as {self.identity.name}",
            parameter="model",
        )

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""
