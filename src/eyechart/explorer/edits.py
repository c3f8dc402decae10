"""Corrections of questions by people: who changed what, why, and what the question is then."""

import msgspec

from eyechart.errors import UsageError
from eyechart.schema import Box, Question, Record

FIELDS = ("text", "choices", "answer", "targets")


class Edit(Record, frozen=True, kw_only=True):
    """One change of one question; the later of two counts.

    Args:
        question_id: Which question.
        author: Who changed it.
        reason: Why.
        at: ISO time.
        text: The new question, None where it is unchanged.
        choices: The new options.
        answer: The new right letter.
        targets: The new boxes, in stored pixels of the original.
    """

    question_id: str
    author: str
    reason: str
    at: str
    text: str | None = None
    choices: tuple[str, ...] | None = None
    answer: str | None = None
    targets: tuple[Box, ...] | None = None


def check_edit(edit: Edit, question: Question) -> None:
    """Refuse a change that says nothing, gives no reason, or leaves a question that cannot be asked.

    Raises:
        UsageError: With what is wrong.
    """
    if not edit.reason.strip() or not edit.author.strip():
        raise UsageError("a change needs a reason", hint="say why, so that others can judge it")
    if all(getattr(edit, field) is None for field in FIELDS):
        raise UsageError("nothing was changed", hint="change the question, its options, the answer or a box")
    changed = apply_edit(edit, question)
    letters = [chr(ord("A") + index) for index in range(len(changed.choices))]
    if letters and changed.answer is not None and changed.answer not in letters:
        raise UsageError(f"answer {changed.answer!r} is not an option", hint=f"one of {', '.join(letters)}")
    if not changed.text.strip() or any(not choice.strip() for choice in changed.choices):
        raise UsageError("a question or an option is empty", hint="write something")
    size = question.image.size
    for box in changed.targets:
        inside = 0 <= box.x0 < box.x1 <= size.width and 0 <= box.y0 < box.y1 <= size.height
        if not inside:
            raise UsageError(
                f"box {tuple(box)} is not inside the {size.width}×{size.height} picture", hint="draw it again"
            )


def apply_edit(edit: Edit, question: Question) -> Question:
    """Return a question as an edit leaves it.

    Example:
        >>> from eyechart.schema import ImageRef, Size
        >>> question = Question(id="q", benchmark="b", text="?", image=ImageRef("", Size(4, 3), ""), image_group="g")
        >>> apply_edit(Edit(question_id="q", author="a", reason="typo", at="", text="What?"), question).text
        'What?'
    """
    changes = {field: getattr(edit, field) for field in FIELDS if getattr(edit, field) is not None}
    if "targets" in changes:
        changes["targets_clipped"] = changes["targets"]
    return msgspec.structs.replace(question, **changes)


def question_row(question: Question, image: str) -> dict[str, object]:
    """Return a question as a line of a question file (benchmark ``folder``, box format ``xyxy``)."""
    row: dict[str, object] = {"id": question.id, "image": image, "question": question.text}
    if question.choices:
        row["choices"] = list(question.choices)
    if question.answer is not None:
        row["answer"] = question.answer
    elif question.answers:
        row["answer"] = list(question.answers)
    if question.targets:
        row["box"] = list(question.targets[0]) if len(question.targets) == 1 else [list(b) for b in question.targets]
    row["image_group"] = question.image_group
    if question.task:
        row["task"] = question.task
    return row
