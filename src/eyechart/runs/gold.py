"""The right answer of a request: a letter as its options are shown, or the cell that its view puts the picture in."""

from collections.abc import Sequence

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
    if question.asks_for_cell:
        view = parse_view(view_id)
        return name_cell(view.row, view.column) if isinstance(view, Grid) else None
    return shown_letter(question.answer, choice_order)


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
