"""The contract of a prompt: only the letters there are, every option unchanged, the same text twice."""

import string

from eyechart.contracts.checks import expect, made_questions
from eyechart.kinds import Prompt


def check_prompt(prompt: Prompt) -> None:
    """Check a prompt on questions with four, two and no options.

    Raises:
        ContractError: If an option is lost or changed, or two renderings differ.
    """
    expect(bool(prompt.name) and prompt.version >= 1, "a prompt has a name and a version from 1")
    for question in made_questions():
        text = prompt.render(question, question.choices)
        expect(text == prompt.render(question, question.choices), "rendering must be repeatable")
        for letter, choice in zip(string.ascii_uppercase, question.choices, strict=False):
            expect(choice in text, f"option {letter} must appear unchanged: {choice!r}")
        beyond = string.ascii_uppercase[len(question.choices)]
        expect(f"\n{beyond}. " not in text, f"there is no option {beyond}")
        if question.choices:
            expect(question.text in text or (question.text_raw or "") in text, "the question must appear unchanged")
