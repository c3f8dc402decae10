"""The lettered list of choices and the line that asks for an answer."""

import string
from collections.abc import Sequence

MAX_CHOICES = len(string.ascii_uppercase)
# The line carried by the V* annotation file (penghao-wu/vstar, test_questions.jsonl).
ASK_FOR_LETTER = "Answer with the option's letter from the given choices directly."
ASK_FOR_WORDS = "Answer the question in a few words."


def with_choices(stem: str, choices: Sequence[str]) -> str:
    r"""Return a question with its choices, one letter each, and the line that asks for the letter.

    Args:
        stem: The question.
        choices: 2 to 26 options in the order shown, or none for a free-form question. They are not changed.

    Raises:
        ValueError: If there are more than 26 choices.

    Example:
        >>> print(with_choices("Which colour?", ["red", "blue"]))
        Which colour?
        A. red
        B. blue
        Answer with the option's letter from the given choices directly.
    """
    return "\n".join([stem, *lettered_lines(choices, "{}. "), ASK_FOR_LETTER if choices else ASK_FOR_WORDS])


def lettered_lines(choices: Sequence[str], form: str) -> list[str]:
    """Return one line per choice behind its letter; choices are not changed.

    Args:
        choices: Up to 26 options in the order shown.
        form: What stands before a choice, with ``{}`` for the letter.

    Raises:
        ValueError: If there are more than 26 choices.

    Example:
        >>> lettered_lines(["red", "blue"], "({}) ")
        ['(A) red', '(B) blue']
    """
    if len(choices) > MAX_CHOICES:
        raise ValueError(f"{len(choices)} choices, but only {MAX_CHOICES} letters")
    return [form.format(letter) + choice for letter, choice in zip(string.ascii_uppercase, choices, strict=False)]
