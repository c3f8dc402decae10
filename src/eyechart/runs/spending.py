"""When a run has asked or spent enough: it begins nothing new, and what is in flight is awaited."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from eyechart.errors import UsageError
from eyechart.kinds import Reply
from eyechart.runs.retrying import Stop
from eyechart.schema import JsonObject, Request, Response, TokenPrice, Usage, Value
from eyechart.seen.costs import ANSWER_TOKENS, cost_dollars, guess_tokens

BATCH_DISCOUNT = 0.5
"""Price of a batched answer against one asked by itself, at OpenAI and Anthropic alike."""
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


class CountsSpending(Protocol):
    """Who counts what is sent and spent: this process, or one place for many workers."""

    def begin(self, request: Request) -> Stop | bool:
        """Count an attempt and return True; False to wait for the first answer's cost, a stop where enough is spent."""
        ...

    def end(self, request: Request, reply: Reply | None) -> None:
        """Count how an attempt ended; one that failed costs nothing."""
        ...


class Spending:
    """Counts what was sent and spent, and says when that is enough.

    A request in flight counts with the largest cost of any answer so far, so the bound on cost is passed only by an
    answer dearer than all before it. The first one is asked alone, to learn what an answer costs. An answer whose cost
    cannot be known counts with what it was expected to cost.

    Args:
        limits: The bounds.
        spent: Dollars of every answer of earlier starts.
        n_sent: Attempts that this start has already sent.
    """

    def __init__(self, limits: SpendingLimits, spent: Sequence[float] = (), n_sent: int = 0) -> None:
        self._limits = limits
        self.dollars = sum(spent)
        self.n_sent = n_sent
        self.dearest: float | None = max(spent, default=None)
        self._n_open = 0

    def begin(self, request: Request) -> Stop | bool:
        """Count an attempt and return True; False to wait for the first answer's cost, a stop where enough is spent."""
        most, bound = self._limits.max_requests, self._limits.max_dollars
        if most is not None and self.n_sent >= most:
            return Stop(f"--max-requests {most} is reached", "run the same command again to ask the rest")
        if bound is not None:
            if self.dearest is None and self._n_open:
                return False
            expected = self.dearest if self.dearest is not None else self._expected(request)
            if self.dollars + (self._n_open + 1) * expected > bound:
                return Stop(
                    f"--max-cost {bound:g} is reached: ${self.dollars:.4f} spent, "
                    f"the next answer may cost ${expected:.4f}",
                    "run the same command with a higher --max-cost to ask the rest",
                )
        self.n_sent += 1
        self._n_open += 1
        return True

    def end(self, request: Request, reply: Reply | None) -> None:
        """Count how an attempt ended; one that failed costs nothing."""
        self._n_open -= 1
        if reply is None:
            return
        dollars = answer_dollars(reply.usage, reply.extra, self._limits.price)
        dollars = self._expected(request) if dollars is None else dollars
        self.dollars += dollars
        self.dearest = max(self.dearest or 0.0, dollars)

    def give_up_first(self, request: Request) -> None:
        """Wait no longer to learn what an answer costs: whoever asked the first one is gone."""
        self.dearest = self._expected(request)

    def _expected(self, request: Request) -> float:
        return expected_dollars(request, self._limits.price)


def expected_dollars(request: Request, price: TokenPrice | None) -> float:
    """Return what a request will cost by its sizes, 0 where there is no price."""
    if price is None:
        return 0.0
    asked = Usage(input_tokens=guess_tokens(request) - ANSWER_TOKENS, output_tokens=ANSWER_TOKENS)
    return cost_dollars(asked, price) or 0.0


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


def earlier_dollars(
    responses: Iterable[Response], requests: Iterable[Request], limits: SpendingLimits
) -> Iterator[float]:
    """Yield what every stored answer cost, or was expected to where that is not known; errors cost nothing.

    Yields nothing where the cost is not bounded.
    """
    if limits.max_dollars is None:
        return
    by_id = {request.id: request for request in requests}
    for row in responses:
        dollars = answer_dollars(row.usage, row.extra, limits.price)
        if dollars is None and row.error is None and row.request_id in by_id:
            dollars = expected_dollars(by_id[row.request_id], limits.price)
        if dollars is not None:
            yield dollars
