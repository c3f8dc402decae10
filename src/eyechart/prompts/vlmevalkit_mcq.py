"""The wording that VLMEvalKit sends for multiple-choice questions, for comparison with its numbers."""

from collections.abc import Sequence

from eyechart.prompts._lettered import lettered_lines
from eyechart.schema import Question

__all__ = ["VlmevalkitMcq"]

# open-compass/VLMEvalKit e8e78f05, vlmeval/dataset/image_mcq.py; the blank before the last line break is theirs.
_TRAILER = "Please select the correct answer from the options above. \n"


class VlmevalkitMcq:
    """VLMEvalKit's ``ImageMCQDataset``: an optional hint, question, options, and its closing line.

    Some of its model wrappers replace this wording; what a run of it really sent stands in its own logs.
    """

    name = "vlmevalkit_mcq"
    version = 1

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text; the hint is the question's foreign field ``hint``, if there is one.

        Raises:
            ValueError: If there are more than 26 choices.
        """
        hint = question.extra.get("hint")
        lines = [f"Hint: {hint}"] if isinstance(hint, str) and hint else []
        lines.append(f"Question: {question.text}")
        if not choices:
            return "\n".join([*lines, ""])
        return "\n".join([*lines, "Options:", *lettered_lines(choices, "{}. "), _TRAILER])
