"""HRScene's published wordings, read from a file of the user's and accepted by their hash alone."""

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from eyechart.errors import UsageError
from eyechart.schema import Question

__all__ = ["HRSceneExact"]

Kind = Literal["option", "words", "cell"]

# SHA-256 of each wording with its placeholder; its text may not be copied (CC BY-NC-SA 4.0).
PUBLISHED: Mapping[str, Kind] = MappingProxyType(
    {
        "dc28f3a7f0cf01f3c8de9f7b514bb720a1c71fa114fef06b002d9421a9a779a8": "option",
        "b090fdb80f34152ba3b6badb401a580451de8b52059278c239f69f46494ef622": "words",
        "8d06530cffc75160282d07984cf697d531f22c7eec94f48fa133ee1efdbebe55": "cell",
    }
)
_WHAT = {
    "option": "questions with options (realworld)",
    "words": "free questions (whitebackground)",
    "cell": "cells (complexgrid)",
}


class HRSceneExact:
    """The published wordings: question and options as the source wrote them, in the order of the source.

    Args:
        wordings: Text with placeholder, per kind of question; see ``from_file``.
    """

    name = "hrscene_exact"
    version = 1

    def __init__(self, wordings: Mapping[Kind, str]) -> None:
        self._wordings = dict(wordings)

    @classmethod
    def from_file(cls, file: Path, published: Mapping[str, Kind] = PUBLISHED) -> "HRSceneExact":
        """Read the wordings from the published ``prompts.py``, or from a text file that holds one of them.

        Python is parsed and never run; of all its texts only those with a published hash are taken.

        Args:
            file: The file.
            published: SHA-256 of each accepted wording, and for what it is.

        Raises:
            UsageError: If the file cannot be read, or holds none of the wordings unchanged.
        """
        try:
            text = file.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{file} cannot be read ({error})", hint="give the file of the published prompts"
            ) from error
        found: dict[Kind, str] = {}
        for candidate in _texts(text):
            kind = published.get(hashlib.sha256(candidate.encode()).hexdigest())
            if kind is not None:
                found[kind] = candidate
        if not found:
            own = hashlib.sha256(text.encode()).hexdigest()
            raise UsageError(
                f"{file} holds none of HRScene's published prompts unchanged (its own SHA-256 is {own[:12]}…)",
                hint="give prompts/prompts.py of github.com/psunlpgroup/HRScene, or use --prompt hrscene_clean",
            )
        return cls(found)

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text.

        Raises:
            UsageError: If the file holds no wording for this kind of question, the options are shown in another order,
                or the question's own text with its options is not known.
        """
        kind: Kind = "cell" if question.asks_for_cell else "option" if choices else "words"
        wording = self._wordings.get(kind)
        if wording is None:
            raise UsageError(
                f"the file of hrscene_exact holds no wording for {_WHAT[kind]}", hint="give the whole prompts.py"
            )
        if kind == "option" and tuple(choices) != question.choices:
            raise UsageError(
                "hrscene_exact shows the options as the source wrote them", hint="leave --rotate-choices out"
            )
        if kind == "option" and question.text_raw is None:
            raise UsageError(
                f"{question.benchmark}/{question.id} has no source text with its options", hint="use hrscene_clean"
            )
        asked = question.text_raw if kind == "option" and question.text_raw is not None else question.text
        return wording.replace("{caption}" if kind == "cell" else "{question}", asked)


def _texts(text: str) -> Iterator[str]:
    """Yield what may be a wording: the file, with and without its last line break, and its string literals."""
    yield text
    yield text.removesuffix("\n")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
