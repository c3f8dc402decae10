"""The right answer of a request: a letter as its options are shown, or the cell that its view puts the picture in."""

from collections.abc import Iterable, Sequence

from eyechart.errors import BenchmarkError
from eyechart.schema import Grid, Question
from eyechart.views import parse_view


def right_answer(question: Question, view_id: str, choice_order: Sequence[int]) -> str | None:
    """Return the right answer of a question in a view, None where it is hidden or is a free text.

    Args:
        question: The question.
        view_id: How its picture is shown.
        choice_order: For each letter shown, the index of its option in ``Question.choices``.

    Returns:
        A letter, or a cell counted from 1 as in "row: 2, col: 4"; None where the view shows no cell.

    Example:
        >>> from eyechart.schema import ImageRef, Size
        >>> image = ImageRef("", Size(4, 3), "image/png")
        >>> question = Question(id="q", benchmark="b", text="a kite", image=image, image_group="g", asks_for_cell=True)
        >>> right_answer(question, "grid_captioned_5x5_r1_c3", ())
        'row: 2, col: 4'
    """
    return shown_cell(view_id) if question.asks_for_cell else shown_letter(question.answer, choice_order)


def shown_cell(view_id: str) -> str | None:
    """Return the cell that a view puts the picture in, None where it shows no grid.

    Example:
        >>> shown_cell("grid_white_5x5_r1_c3"), shown_cell("original")
        ('row: 2, col: 4', None)
    """
    view = parse_view(view_id)
    return name_cell(view.row, view.column) if isinstance(view, Grid) else None


def told_answer(question: Question, view_id: str, choice_order: Sequence[int]) -> str | None:
    """Return what a baseline that knows the right answers is told: of a free question, what most people said.

    Example:
        >>> from eyechart.schema import ImageRef, Size
        >>> image = ImageRef("", Size(4, 3), "image/png")
        >>> said = ("no", "yes", "yes")
        >>> question = Question(id="q", benchmark="b", text="?", image=image, image_group="g", answers=said)
        >>> told_answer(question, "original", ())
        'yes'
    """
    if not question.choices and question.answers:
        return max(question.answers, key=question.answers.count)
    return right_answer(question, view_id, choice_order)


def check_scorable(questions: Iterable[Question], place: str) -> None:
    """Refuse to give an accuracy where no right answer is known: it would read as 0 %.

    Raises:
        BenchmarkError: If every question hides its answer.
    """
    if not any(question.answer or question.answers or question.asks_for_cell for question in questions):
        raise BenchmarkError(
            f"{place}: no right answer of these questions is known here, so there is no accuracy",
            hint="for hidden answers of HRScene: eyechart export evalai RUN writes the submission",
        )


def name_cell(row: int, column: int) -> str:
    """Return a cell as HRScene writes it; the cell is counted from 0, its name from 1.

    Example:
        >>> name_cell(0, 9)
        'row: 1, col: 10'
    """
    return f"row: {row + 1}, col: {column + 1}"


def shown_letter(letter: str | None, choice_order: Sequence[int]) -> str | None:
    """Return the letter under which an option is shown, None where there is none.

    Args:
        letter: Letter of the option in ``Question.choices``.
        choice_order: For each letter shown, the index of its option in ``Question.choices``.

    Example:
        >>> shown_letter("A", (2, 0, 1))
        'B'
    """
    if letter is None or not choice_order:
        return None
    return chr(ord("A") + choice_order.index(ord(letter) - ord("A")))
