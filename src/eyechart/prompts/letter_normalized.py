"""The question, its choices once, and the demand for a letter."""

from collections.abc import Sequence

from eyechart.prompts._lettered import with_choices
from eyechart.schema import Question

__all__ = ["LetterNormalized"]


class LetterNormalized:
    """SUM's normalized form in our wording: the stem, then each choice once."""

    name = "letter_normalized"
    version = 1

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text; choices in the order shown, unchanged."""
        return with_choices(question.text, choices)
