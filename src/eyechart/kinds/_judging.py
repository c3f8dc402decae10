"""What prompts and scorers implement."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from eyechart.schema import Question, Response, Score


@runtime_checkable
class Prompt(Protocol):
    """A wording. Its id is ``name@version``."""

    name: str
    version: int

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text for a question with its choices in the order shown (letters A, B, …)."""
        ...


@runtime_checkable
class ReadFromFile(Protocol):
    """A wording that is not ours to keep: its class reads it from a file of the user's, ``name:FILE``."""

    @classmethod
    def from_file(cls, file: Path) -> Prompt:
        """Return the prompt.

        Raises:
            UsageError: If the file does not hold it.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """A pure judge of stored responses. Its ids are ``name.mode@version``.

    A scorer whose reading has changed keeps the earlier ones, because stored scores keep theirs: its class names them
    in ``versions``, the newest last, and is made with one of them, ``OptionLetter(1)``; without one it is the newest.
    """

    name: str
    version: int
    modes: tuple[str, ...]

    def score(
        self, response: Response, question: Question, choices: Sequence[str], gold: str | None, mode: str
    ) -> Score:
        """Judge one response.

        Args:
            response: The stored response.
            question: The question, for accepted texts of free-form answers.
            choices: Options in the order shown.
            gold: The right letter as shown, None where hidden or free-form.
            mode: One of ``modes``; the first is the default.
        """
        ...
