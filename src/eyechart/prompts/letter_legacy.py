"""The question as its source wrote it, then its choices, and the demand for a letter."""

from collections.abc import Sequence

from eyechart.prompts._lettered import with_choices
from eyechart.schema import Question

__all__ = ["LetterLegacy"]


class LetterLegacy:
    """SUM's legacy form in our wording: where the source text lists the choices, they appear twice."""

    name = "letter_legacy"
    version = 1

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text; the source text where the question keeps one, else its stem."""
        return with_choices(question.text if question.text_raw is None else question.text_raw, choices)
