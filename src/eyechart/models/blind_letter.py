"""What a model gets without looking: ``blind_letter/best`` gives the most frequent right letter, ``…/A`` always A."""

from collections import Counter
from string import ascii_uppercase
from typing import Literal

import msgspec

from eyechart.errors import UsageError
from eyechart.kinds import Ask, Gold, Model, ModelOptions, Reply
from eyechart.schema import ModelIdentity
from eyechart.settings import read_settings

__all__ = ["BlindLetterKind"]


class BlindLetterSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """There is nothing to set."""


class BlindLetterKind:
    """Baselines that answer every question with one letter."""

    settings = BlindLetterSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model.

        Raises:
            UsageError: If the name is neither ``best`` nor a letter A–Z.
        """
        read_settings(BlindLetterSettings, options.settings, f"blind_letter/{name}")
        if name != "best" and not (len(name) == 1 and "A" <= name <= "Z"):
            raise UsageError(f"blind_letter/{name} is not a letter", hint="blind_letter/best, or blind_letter/A to Z")
        return BlindLetterModel(name)


class BlindLetterModel:
    """One letter for all questions.

    ``best`` is chosen on the very answers it is scored on, so it is an upper bound of what a constant letter gets.
    """

    reads: Literal["pixels", "identity"] = "identity"
    max_concurrency: int | None = None

    def __init__(self, name: str) -> None:
        self.identity = ModelIdentity(provider="blind_letter", name=name)
        self._letter = "A" if name == "best" else name
        self._is_best = name == "best"

    def take_gold(self, gold: Gold) -> None:
        """Choose the most frequent right letter, the first in the alphabet among equals."""
        counts = Counter(letter for letter in gold.values() if letter is not None and letter in ascii_uppercase)
        if self._is_best and counts:
            self._letter = min(counts, key=lambda letter: (-counts[letter], letter))

    async def answer(self, ask: Ask) -> Reply:
        """Return the letter, whatever is asked."""
        del ask
        return Reply(text=self._letter, finish="stop")

    async def close(self) -> None:
        """Nothing is held open."""
