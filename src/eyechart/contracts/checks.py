"""The failure of a contract, and the questions that checks ask with."""

from eyechart.errors import EyechartError
from eyechart.schema import Box, ImageRef, Question, Size


class ContractError(EyechartError):
    """A member that breaks the contract of its kind."""


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 -- reads as a sentence
    """Raise ``ContractError`` unless the statement holds.

    Raises:
        ContractError: If it does not.
    """
    if not holds:
        raise ContractError(f"contract broken: {what}", hint="see CONTRIBUTING.md, the section on this kind")


def made_questions() -> tuple[Question, ...]:
    """Return questions that stress a member: border boxes, one pixel, two options, no target, CJK, free-form."""
    image = ImageRef("0" * 64, Size(640, 480), "image/png")
    four = ("red", "Red (dark)", "青", "a\nb")

    def question(number: int, *targets: Box, choices: tuple[str, ...] = four, answer: str | None = "B") -> Question:
        return Question(
            id=f"{number:06d}",
            benchmark="contract",
            text="What colour is the sign (A) on the left?",
            image=image,
            image_group="0" * 64,
            choices=choices,
            answer=answer,
            answers=() if choices else ("seven",),
            targets=targets,
        )

    return (
        question(1, Box(100, 80, 180, 140)),
        question(2, Box(-7.5, 400, 40, 500)),
        question(3, Box(639, 479, 640, 480)),
        question(4, Box(0, 0, 640, 480), choices=("yes", "no")),
        question(5, Box(10, 10, 20, 20), Box(300, 200, 310.5, 220), choices=(), answer=None),
    )
