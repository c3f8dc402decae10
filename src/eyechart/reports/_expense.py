"""What answers cost, in words."""

from eyechart.figures import format_count
from eyechart.schema import Expense


def format_dollars(amount: float) -> str:
    """Return an amount, with four decimals below one dollar."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def format_expense(expense: Expense) -> str:
    """Return what the answers cost beside what was expected, and by whose price.

    Example:
        >>> format_expense(Expense(dollars=1.5, n_priced=9, n_answers=10, is_reported=True, estimated=2.0))
        'cost of 9 of 10 answers: $1.50 as reported by the provider, $2.00 expected'
    """
    price = expense.price
    basis = "as reported by the provider"
    if price is not None:
        paid = f"${price.input_per_million:g} in and ${price.output_per_million:g} out per million tokens"
        priced = f"at {paid} ({price.source}, {price.date})"
        basis = f"{basis}, else {priced}" if expense.is_reported else priced
    expected = "" if expense.estimated is None else f", {format_dollars(expense.estimated)} expected"
    n_priced, n_answers = format_count(expense.n_priced), format_count(expense.n_answers)
    return f"cost of {n_priced} of {n_answers} answers: {format_dollars(expense.dollars)} {basis}{expected}"
