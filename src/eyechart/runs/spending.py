"""When a run has asked or spent enough: it begins nothing new, and what is in flight is awaited."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from eyechart.errors import UsageError
from eyechart.kinds import Reply
from eyechart.runs.retrying import Stop
from eyechart.schema import JsonObject, Request, Response, TokenPrice, Usage, Value, decode_record
from eyechart.seen.costs import ANSWER_TOKENS, cost_dollars, guess_tokens

BATCH_DISCOUNT = 0.5
"""Price of a batched answer against one asked by itself, at OpenAI and Anthropic alike."""
BATCHED = "batch"
"""Key in ``Response.extra``: the provider's id of the batch that an answer came in."""
COST = "cost"
"""Key in ``Response.extra``: what the provider told that an answer cost, in US dollars."""
# The dearest list price that is known is $600 for a million tokens (o1-pro, https://openai.com/api/pricing, 2025-03).
_MOST_DOLLARS_PER_TOKEN = 0.01
# Some providers add a fee for each request or picture; the known ones are cents.
_MOST_FEE_DOLLARS = 10.0


class SpendingLimits(Value, frozen=True):
    """Bounds of what a run may ask and spend; None means no bound.

    Args:
        max_requests: Attempts that this process may send, repeated ones included.
        max_dollars: Cost of the run's answers, those of earlier starts included, in US dollars. An answer counts with
            its tokens' price or with what the provider told, whichever is more.
        price: What tokens cost; needed for ``max_dollars``.
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
        others: Tells the dollars that other processes have spent on this run since this one started.
    """

    def __init__(
        self,
        limits: SpendingLimits,
        spent: Sequence[float] = (),
        n_sent: int = 0,
        others: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._limits, self._others = limits, others
        self._own_dollars = sum(spent)
        self.n_sent = n_sent
        self.dearest: float | None = max(spent, default=None)
        self._n_open = 0

    @property
    def dollars(self) -> float:
        """What the run's answers cost so far, in US dollars."""
        return self._own_dollars + self._others()

    def begin(self, request: Request) -> Stop | bool:
        """Count an attempt and return True; False to wait for the first answer's cost, a stop where enough is spent."""
        most, bound = self._limits.max_requests, self._limits.max_dollars
        if most is not None and self.n_sent >= most:
            return Stop(f"--max-requests {most} is reached", "run the same command again to ask the rest")
        if bound is not None:
            if self.dearest is None and self._n_open:
                return False
            expected = self.dearest if self.dearest is not None else self._expected(request)
            spent = self.dollars
            if spent + (self._n_open + 1) * expected > bound:
                return Stop(
                    f"--max-cost {bound:g} is reached: ${spent:.4f} spent, the next answer may cost ${expected:.4f}",
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
        dollars = bounded_dollars(reply.usage, reply.extra, self._limits.price)
        dollars = self._expected(request) if dollars is None else dollars
        self._own_dollars += dollars
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
    told = reported_dollars(usage, extra, price)
    return priced_dollars(usage, extra, price) if told is None else told


def bounded_dollars(usage: Usage | None, extra: JsonObject, price: TokenPrice | None) -> float | None:
    """Return what an answer counts with against ``--max-cost``: the larger of what was told and what its tokens cost.

    Example:
        >>> import datetime
        >>> price = TokenPrice(input_per_million=10.0, output_per_million=10.0, date=datetime.date.min, source="test")
        >>> bounded_dollars(Usage(input_tokens=1_000_000, output_tokens=1_000_000), {"cost": 0}, price)
        20.0
    """
    known = (reported_dollars(usage, extra, price), priced_dollars(usage, extra, price))
    return max((dollars for dollars in known if dollars is not None), default=None)


def priced_dollars(usage: Usage | None, extra: JsonObject, price: TokenPrice | None) -> float | None:
    """Return what an answer's tokens cost, None where they or the price are not known."""
    if usage is None or price is None:
        return None
    dollars = cost_dollars(usage, price)
    return dollars if dollars is None or BATCHED not in extra else dollars * BATCH_DISCOUNT


def reported_dollars(usage: Usage | None, extra: JsonObject, price: TokenPrice | None) -> float | None:
    """Return what the provider told that an answer cost; None where it told nothing that can be believed.

    Example:
        >>> reported_dollars(None, {"cost": 0.5}, None), reported_dollars(None, {"cost": -1}, None)
        (0.5, None)
    """
    told = extra.get(COST)
    if isinstance(told, bool) or not isinstance(told, int | float) or cost_doubt(usage, extra, price):
        return None
    return float(told)


def cost_doubt(usage: Usage | None, extra: JsonObject, price: TokenPrice | None) -> str:
    """Return why a reported cost cannot be believed; empty where it can be, or where there is none.

    The bound is far above any price list: $10,000 for a million tokens and $10 for the request, or the answer's own
    price where that is more.

    Example:
        >>> cost_doubt(None, {"cost": -1}, None)
        'the provider reports a cost of $-1 for an answer'
    """
    told = extra.get(COST)
    if isinstance(told, bool) or not isinstance(told, int | float):
        return ""
    n_tokens = 0 if usage is None else (usage.input_tokens or 0) + (usage.output_tokens or 0)
    most = max(_MOST_FEE_DOLLARS + _MOST_DOLLARS_PER_TOKEN * n_tokens, priced_dollars(usage, extra, price) or 0.0)
    # Compared as it is: a whole number of JSON may be too large for a float.
    return "" if 0 <= told <= most else f"the provider reports a cost of ${_shortly(told)} for an answer"


def _shortly(told: float) -> str:
    try:
        return f"{float(told):g}"
    except OverflowError:
        return "inf" if told > 0 else "-inf"


class CostDoubts:
    """Says once that reported costs cannot be believed, and what counts instead.

    Args:
        price: What tokens cost.
        say: Is told.
    """

    def __init__(self, price: TokenPrice | None, say: Callable[[str], None]) -> None:
        self._price, self._say = price, say
        self._is_said = False

    def note(self, reply: Reply) -> None:
        """Look at one reply."""
        if self._is_said or COST not in reply.extra:
            return
        doubt = cost_doubt(reply.usage, reply.extra, self._price)
        if doubt:
            self._is_said = True
            instead = "its cost is not known" if self._price is None else "the price of its tokens counts instead"
            self._say(f"{doubt}, which no price list has: the answer is kept, and {instead}")


class BatchSpending:
    """Says which batches may still be handed over: a batch counts with what it is expected to cost.

    Args:
        limits: The bounds.
        expected: What requests are expected to cost, in US dollars.
        dollars: Cost of every answer so far.
        n_sent: Attempts that this start has already sent.
    """

    def __init__(
        self, limits: SpendingLimits, expected: Callable[[Sequence[Request]], float], dollars: float, n_sent: int
    ) -> None:
        self._limits, self._expected = limits, expected
        self._dollars, self._n_sent = dollars, n_sent

    @property
    def price(self) -> TokenPrice | None:
        """What tokens cost."""
        return self._limits.price

    def hold(self, requests: Sequence[Request]) -> None:
        """Count what an earlier start handed over and nobody has collected yet."""
        self._dollars += self._expected(requests)

    def begin(self, requests: Sequence[Request]) -> Stop | None:
        """Count a batch; return why it must not be handed over, None if it may."""
        most, bound = self._limits.max_requests, self._limits.max_dollars
        dollars, n_sent = self._dollars + self._expected(requests), self._n_sent + len(requests)
        if most is not None and n_sent > most:
            return Stop(f"--max-requests {most} allows no batch of {len(requests)} requests more")
        if bound is not None and dollars > bound:
            return Stop(
                f"--max-cost {bound:g} allows no batch of {len(requests)} requests more: ${self._dollars:.4f} is spent "
                f"or with the provider, these may cost ${dollars - self._dollars:.4f}"
            )
        self._dollars, self._n_sent = dollars, n_sent
        return None


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
        dollars = _row_dollars(row, by_id, limits.price)
        if dollars is not None:
            yield dollars


class OthersSpending:
    """Reads what other processes spend on a run while this one asks: from the answers that they store beside ours.

    What they have in flight is not known.

    Args:
        own: The file of this process's answers.
        requests: The requests of the run, by id.
        price: What tokens cost.
    """

    def __init__(self, own: Path, requests: Mapping[str, Request], price: TokenPrice | None) -> None:
        self._own, self._requests, self._price = own, requests, price
        self._dollars = 0.0
        self._offsets: dict[Path, int] = {}
        self()
        self._dollars = 0.0

    def __call__(self) -> float:
        """Return the dollars of all answers that others have stored since this was made."""
        for path in self._files():
            offset = self._offsets.get(path, 0)
            with contextlib.suppress(FileNotFoundError):  # it held nothing, and its process has ended
                if path.stat().st_size > offset:
                    self._offsets[path] = offset + self._read(path, offset)
        return self._dollars

    def _read(self, path: Path, offset: int) -> int:
        """Count the whole lines from there on, and return their bytes."""
        with path.open("rb") as file:
            file.seek(offset)
            added = file.read()
        whole = added[: added.rfind(b"\n") + 1]
        for line in whole.splitlines():
            row = decode_record(line, Response, str(path))
            self._dollars += _row_dollars(row, self._requests, self._price) or 0.0
        return len(whole)

    def _files(self) -> list[Path]:
        return [path for path in self._own.parent.glob("*.jsonl") if path.name != self._own.name]


def _row_dollars(row: Response, requests: Mapping[str, Request], price: TokenPrice | None) -> float | None:
    """Return what a stored answer counts with, None for an error."""
    dollars = bounded_dollars(row.usage, row.extra, price)
    if dollars is None and row.error is None and row.request_id in requests:
        return expected_dollars(requests[row.request_id], price)
    return dollars
