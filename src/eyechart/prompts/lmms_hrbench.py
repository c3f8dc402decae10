"""The wording that lmms-eval sends for HR-Bench, for comparison with its numbers."""

from collections.abc import Sequence

from eyechart.prompts._lettered import ASK_FOR_WORDS, lettered_lines
from eyechart.schema import Question

__all__ = ["LmmsHrbench"]

# EvolvingLMMs-Lab/lmms-eval 75571cfe, lmms_eval/tasks/hrbench.
_TRAILER = "Answer the option letter directly."


class LmmsHrbench:
    """lmms-eval's ``hrbench4k`` and ``hrbench8k``; its ``vstar_bench`` sends the wording of ``letter_normalized``."""

    name = "lmms_hrbench"
    version = 1

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text.

        Raises:
            ValueError: If there are more than 26 choices.
        """
        if not choices:
            return f"{question.text}\n{ASK_FOR_WORDS}"
        return "\n".join([question.text, *lettered_lines(choices, "{}. "), _TRAILER])
