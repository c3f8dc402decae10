"""What the answers of a run cost."""

from collections.abc import Iterable

from eyechart.runs.cells import Cell, Ending
from eyechart.runs.spending import BATCHED, answer_dollars
from eyechart.schema import Expense, ResponseState, Run


def expense_of(run: Run, cells: Iterable[Cell]) -> Expense | None:
    """Return what the answers that count cost; None where neither a price nor the provider tells.

    Args:
        run: Holds the price and what was expected.
        cells: The answers.
    """
    endings = [cell.ending for cell in cells if cell.ending is not None and _is_paid(cell.ending)]
    is_reported = any(ending.reported_dollars is not None for ending in endings)
    if run.price is None and not is_reported:
        return None
    costs = [
        ending.reported_dollars
        if is_reported
        else answer_dollars(ending.usage, {BATCHED: True} if ending.is_batched else {}, run.price)
        for ending in endings
    ]
    known = [cost for cost in costs if cost is not None]
    return Expense(
        dollars=sum(known),
        n_priced=len(known),
        n_answers=len(costs),
        is_reported=is_reported,
        estimated=run.estimated_dollars,
        price=None if is_reported else run.price,
    )


def _is_paid(ending: Ending) -> bool:
    """Whether a provider bills it: an answer, or a reply that says nothing."""
    return not ending.state.is_error or ending.state is ResponseState.EMPTY_REPLY
