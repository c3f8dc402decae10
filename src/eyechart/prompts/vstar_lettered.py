"""The wording of V*Bench's own lettered question file, for comparison."""

from collections.abc import Sequence

from eyechart.prompts._lettered import ASK_FOR_LETTER, ASK_FOR_WORDS, lettered_lines
from eyechart.schema import Question

__all__ = ["VstarLettered"]


class VstarLettered:
    """``test_questions.jsonl`` of craigwu/vstar_bench: options as ``(A) …``, then the demand for a letter."""

    name = "vstar_lettered"
    version = 1

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text.

        Raises:
            ValueError: If there are more than 26 choices.
        """
        if not choices:
            return f"{question.text}\n{ASK_FOR_WORDS}"
        return "\n".join([question.text, *lettered_lines(choices, "({}) "), ASK_FOR_LETTER])
