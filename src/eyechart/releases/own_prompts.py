"""The prompts of a release's own ``scripts/prompts.py``: foreign code, executed only where the user trusts it."""

import hashlib
import runpy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eyechart.errors import UsageError
from eyechart.registry import unknown_name
from eyechart.schema import Question

PREFIX = "release:"
"""How such a prompt is named: ``release:normalized``."""

SCRIPT = "scripts/prompts.py"


class ReleasePrompt:
    """A function of the release's script that makes a prompt from one sample.

    The function gets a sample without its answer, and must return the text.

    Args:
        name: With the hash of the script, so that another script is another prompt.
        function: The function.
        place: For errors.
    """

    version = 1

    def __init__(self, name: str, function: Callable[[Mapping[str, object]], object], place: str) -> None:
        self.name = name
        self._function, self._place = function, place

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text.

        Raises:
            UsageError: If the function fails, or returns no text.
        """
        sample: dict[str, object] = {
            "id": question.id,
            "base_sample_id": question.id,
            "question": question.text,
            "question_raw": question.text if question.text_raw is None else question.text_raw,
            "choices": list(choices),
            "task_type": question.task,
            "source_dataset": question.source,
        }
        try:
            text = self._function(sample)
        except Exception as error:
            raise UsageError(
                f"{self._place} fails on question {question.id}: {type(error).__name__}: {error}",
                hint="use letter_normalized or letter_legacy",
            ) from error
        if not isinstance(text, str):
            raise UsageError(f"{self._place} returns {type(text).__name__}, not a text", hint="use letter_normalized")
        return text


def open_release_prompt(root: Path, prompt_id: str, *, is_trusted: bool) -> ReleasePrompt:
    """Return a prompt of a release's own script.

    Args:
        root: Folder of the release.
        prompt_id: ``release:`` and the name of a function, or a part of it that fits one function alone.
        is_trusted: Whether the user lets the script run.

    Raises:
        UsageError: If it is not trusted (nothing is executed then), does not exist, or has no such function.
    """
    path = root / SCRIPT
    if not path.is_file():
        raise UsageError(f"{root} has no {SCRIPT}", hint="use letter_normalized or letter_legacy")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    if not is_trusted:
        raise UsageError(
            f"{path} is a program of the release and was not executed (SHA-256 {sha256[:12]}…)",
            hint="read it, then add --trust; or use letter_normalized or letter_legacy, which need no foreign code",
        )
    try:
        names = runpy.run_path(str(path), run_name="eyechart_release_prompts")
    except Exception as error:
        raise UsageError(f"{path} fails: {type(error).__name__}: {error}", hint="use letter_normalized") from error
    functions = {
        name: value for name, value in names.items() if callable(value) and not name.startswith("_") and name.islower()
    }
    wanted = prompt_id.removeprefix(PREFIX)
    fitting = [wanted] if wanted in functions else [name for name in functions if wanted and wanted in name]
    if len(fitting) != 1:
        raise unknown_name(f"function of {path}", wanted, tuple(functions))
    return ReleasePrompt(f"release_{fitting[0]}-{sha256[:12]}", functions[fitting[0]], f"{path}: {fitting[0]}")
