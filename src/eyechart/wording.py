"""A prompt from a user's file: a text with named places, known by the hash of the file."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase

from eyechart.errors import UsageError
from eyechart.schema import Question

SUFFIXES = (".txt", ".md", ".prompt")

_PLACES = ("question", "question_raw", "options")
_PLACE = re.compile(r"\{([a-z_]+|[A-Z])\}")
_OPTION_LINE = re.compile(r"\{options:([^{}\n]*\{\}[^{}\n]*)\}")


class FilePrompt:
    """A wording read from a file.

    The file holds the prompt with places: ``{question}``, ``{question_raw}``, ``{options}`` (lines ``A. …``) or
    ``{options:({}) }`` (lines ``(A) …``), and single options ``{A}``, ``{B}``, …. Its last line break does
    not count. A line whose option does not exist is left out. Everything else is sent as it stands.

    Args:
        path: The file.

    Raises:
        UsageError: If it cannot be read, names an unknown place, or shows no question.
    """

    version = 1

    def __init__(self, path: Path) -> None:
        try:
            content = path.read_bytes()
            self._text = content.decode("utf-8-sig").removesuffix("\n")
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror})", hint="check the path") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from error
        self.sha256 = hashlib.sha256(content).hexdigest()
        stem = re.sub(r"[^A-Za-z0-9_]+", "_", path.stem).strip("_") or "prompt"
        self.name = f"{stem}-{self.sha256[:12]}"
        self._check(path)

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text; choices in the order shown, unchanged.

        Raises:
            ValueError: If there are more than 26 choices.
        """
        if len(choices) > len(ascii_uppercase):
            raise ValueError(f"{len(choices)} choices, but only {len(ascii_uppercase)} letters")
        options = dict(zip(ascii_uppercase, choices, strict=False))
        texts = {
            "question": question.text,
            "question_raw": question.text if question.text_raw is None else question.text_raw,
            "options": _lines(options, "{}. "),
            **options,
        }
        lines = [line for line in self._text.split("\n") if _is_shown(line, options)]
        # One pass over the template alone, so that braces inside a question or an option stay what they are.
        places = re.compile(f"{_OPTION_LINE.pattern}|{_PLACE.pattern}")
        return places.sub(
            lambda found: _lines(options, found[1]) if found[1] is not None else texts.get(found[2], ""),
            "\n".join(lines),
        )

    def _check(self, path: Path) -> None:
        named = [found[1] for found in _PLACE.finditer(_OPTION_LINE.sub("", self._text))]
        unknown = [name for name in named if name not in _PLACES and name not in ascii_uppercase]
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in _PLACES)
            raise UsageError(f"{path}: unknown place {{{unknown[0]}}}", hint=f"places: {known}, {{A}}, {{B}}, …")
        if not {"question", "question_raw"} & set(named):
            raise UsageError(f"{path} shows no question", hint="write {question} where it goes")


def is_prompt_file(prompt_id: str) -> bool:
    """Return whether a prompt is named by the path of a file.

    Example:
        >>> is_prompt_file("mine.txt"), is_prompt_file("letter_normalized@1")
        (True, False)
    """
    return prompt_id.endswith(SUFFIXES)


def _lines(options: dict[str, str], form: str) -> str:
    return "\n".join(form.replace("{}", letter) + choice for letter, choice in options.items())


def _is_shown(line: str, options: dict[str, str]) -> bool:
    """Return whether a line stays: not if it names only options that do not exist."""
    letters = [found[1] for found in _PLACE.finditer(line) if found[1] in ascii_uppercase]
    return not letters or any(letter in options for letter in letters)
