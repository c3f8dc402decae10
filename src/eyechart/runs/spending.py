"""When a run has asked or spent enough: it begins nothing new, and what is in flight is awaited."""

from collections.abc import Sequence

from eyechart.errors import UsageError
from eyechart.runs.retrying import Stop
from eyechart.schema import JsonObject, Request, TokenPrice, Usage, Value
from eyechart.seen.costs import ANSWER_TOKENS, cost_dollars, guess_tokens

BATCH_DISCOUNT = 0.5
"""TokenPrice of a batched answer against one asked by itself, at OpenAI and Anthropic alike."""
BATCHED = "batch"
"""Key in ``Response.extra``: the provider's id of the batch that an answer came in."""


class SpendingLimits(Value, frozen=True):
    """Bounds of what a run may ask and spend; None is no bound.

    Args:
        max_requests: Attempts that this process may send, repeated ones included.
        max_dollars: Cost of the run's answers, those of earlier starts included, in US dollars.
        price: What tokens cost; needed for ``max_dollars`` unless the provider tells the cost of each answer.
    """

    max_requests: int | None = None
    max_dollars: float | None = None
    price: TokenPrice | None = None


def check_spending(limits: SpendingLimits) -> None:
    """Refuse bounds that cannot be kept.

    Raises:
        UsageError: If a bound is not above 0, or a cost is bounded that is not known.

    Example:
        >>> check_spending(SpendingLimits(max_requests=10))
    """
    if limits.max_requests is not None and limits.max_requests < 1:
        raise UsageError(f"--max-requests {limits.max_requests} asks nothing", hint="write a whole number from 1")
    if limits.max_dollars is not None and limits.max_dollars <= 0:
        raise UsageError(f"--max-cost {limits.max_dollars:g} asks nothing", hint="write dollars, for example 5")
    if limits.max_dollars is not None and limits.price is None:
        raise UsageError(
            "--max-cost needs a price, and none is known for this model",
            hint="give dollars per million tokens in and out: --price 2.5,10",
        )


class Spending:
    """Counts what was sent and spent, and says when that is enough.

    A request in flight counts with the largest cost of any answer so far, so the bound on cost is passed only by an
    answer dearer than all before it. The first one is asked alone, to learn what an answer costs.

    Args:
        limits: The bounds.
        spent: Dollars of every answer of earlier starts.
    """

    def __init__(self, limits: SpendingLimits, spent: Sequence[float] = ()) -> None:
        self._limits = limits
        self.dollars = sum(spent)
        self.n_sent = 0
        self._n_open = 0
        self._dearest: float | None = max(spent, default=None)

    @property
    def is_unknown(self) -> bool:
        """Whether the cost of an answer is yet to be learned from the one in flight."""
        return self._limits.max_dollars is not None and self._dearest is None and self._n_open > 0

    def why_stop(self, request: Request) -> Stop | None:
        """Return why this attempt must not be sent, None if it may."""
        most = self._limits.max_requests
        if most is not None and self.n_sent >= most:
            return Stop(f"--max-requests {most} is reached", "run the same command again to ask the rest")
        bound = self._limits.max_dollars
        if bound is None:
            return None
        expected = self._dearest if self._dearest is not None else self._guess(request)
        if self.dollars + (self._n_open + 1) * expected > bound:
            return Stop(
                f"--max-cost {bound:g} is reached: ${self.dollars:.4f} spent, the next answer may cost ${expected:.4f}",
                "run the same command with a higher --max-cost to ask the rest",
            )
        return None

    def begin(self) -> None:
        """Count an attempt that is sent."""
        self.n_sent += 1
        self._n_open += 1

    def end(self, usage: Usage | None, extra: JsonObject) -> None:
        """Count how an attempt ended; one that failed costs nothing."""
        self._n_open -= 1
        dollars = answer_dollars(usage, extra, self._limits.price)
        if dollars is not None:
            self.dollars += dollars
            self._dearest = max(self._dearest or 0.0, dollars)

    def _guess(self, request: Request) -> float:
        price = self._limits.price
        if price is None:
            return 0.0
        return cost_dollars(Usage(input_tokens=guess_tokens(request), output_tokens=ANSWER_TOKENS), price) or 0.0


def answer_dollars(usage: Usage | None, extra: JsonObject, price: TokenPrice | None) -> float | None:
    """Return what an answer cost: as the provider told it, else by its tokens; None where neither is known.

    Example:
        >>> answer_dollars(None, {"cost": 0.002}, None)
        0.002
    """
    told = extra.get("cost")
    if isinstance(told, int | float) and not isinstance(told, bool) and told >= 0:
        return float(told)
    if usage is None or price is None:
        return None
    dollars = cost_dollars(usage, price)
    return dollars if dollars is None or BATCHED not in extra else dollars * BATCH_DISCOUNT
