"""What the answers of a run cost."""

from collections.abc import Iterable

from eyechart.runs.cells import Cell, Ending
from eyechart.runs.spending import BATCHED, priced_dollars
from eyechart.schema import Expense, ResponseState, Run


def expense_of(run: Run, cells: Iterable[Cell]) -> Expense | None:
    """Return what the answers that count cost; None where neither a price nor the provider tells.

    Args:
        run: Holds the price and what was expected.
        cells: The answers.
    """
    endings = [cell.ending for cell in cells if cell.ending is not None and _is_paid(cell.ending)]
    reported = [ending.reported_dollars for ending in endings]
    is_reported = any(dollars is not None for dollars in reported)
    if run.price is None and not is_reported:
        return None
    priced = [
        priced_dollars(ending.usage, {BATCHED: True} if ending.is_batched else {}, run.price) if told is None else None
        for ending, told in zip(endings, reported, strict=True)
    ]
    known = [dollars for dollars in (*reported, *priced) if dollars is not None]
    uses_price = not is_reported or any(dollars is not None for dollars in priced)
    return Expense(
        dollars=sum(known),
        n_priced=len(known),
        n_answers=len(endings),
        is_reported=is_reported,
        estimated=run.estimated_dollars,
        price=run.price if uses_price else None,
    )


def _is_paid(ending: Ending) -> bool:
    """Whether a provider bills it: an answer, or a reply that says nothing."""
    return not ending.state.is_error or ending.state is ResponseState.EMPTY_REPLY
