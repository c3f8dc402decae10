"""HRScene's three kinds of question in our own words: an option, a few words, or a cell of a grid."""

from collections.abc import Sequence
from string import ascii_uppercase

from eyechart.prompts._lettered import MAX_CHOICES
from eyechart.schema import Question

__all__ = ["HRSceneClean"]

_OPTION = "Which option is right? Reply with its letter in tags, as <ans>LETTER</ans>, and with nothing else."
_WORDS = "Reply with the answer alone, in as few words as you can."
_CELL = (
    "The picture is a grid of smaller pictures. The row and column of each are printed below it; rows are counted from "
    "the top, columns from the left. Which of them shows this: {caption}\n"
    "Reply with its two numbers in tags, as <row>NUMBER</row><col>NUMBER</col>, and with nothing else."
)


class HRSceneClean:
    """One wording per kind of question; its example of the format holds no answer that an echo could be taken for."""

    name = "hrscene_clean"
    version = 1

    def render(self, question: Question, choices: Sequence[str]) -> str:
        """Return the prompt text: the options as ``(A) …`` where there are any, unchanged, in the order shown.

        Raises:
            ValueError: If there are more than 26 choices.
        """
        if question.asks_for_cell:
            return _CELL.replace("{caption}", question.text)
        if not choices:
            return f"{question.text}\n{_WORDS}"
        if len(choices) > MAX_CHOICES:
            raise ValueError(f"{len(choices)} choices, but only {MAX_CHOICES} letters")
        lines = [f"({letter}) {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False)]
        return "\n".join([question.text, *lines, _OPTION])
