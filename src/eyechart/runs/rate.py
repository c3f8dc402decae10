"""Requests and tokens a minute: attempts are spread evenly, so that a provider's limits are never met."""

import time
from collections.abc import Callable
from typing import NamedTuple

from eyechart.errors import UsageError
from eyechart.schema import Request, Usage, Value
from eyechart.seen.costs import guess_tokens

_SECONDS_PER_MINUTE = 60.0


class RateLimits(Value, frozen=True):
    """What a provider allows a minute; None means no limit.

    Args:
        requests: Attempts a minute, repeated ones included.
        tokens: Tokens a minute, in and out together.
    """

    requests: float | None = None
    tokens: float | None = None


def check_rates(limits: RateLimits) -> None:
    """Refuse rates at which nothing can be asked.

    Raises:
        UsageError: If a rate is not above 0.

    Example:
        >>> check_rates(RateLimits(requests=60))
    """
    for name, rate in (("--rpm", limits.requests), ("--tpm", limits.tokens)):
        if rate is not None and rate <= 0:
            raise UsageError(f"{name} {rate:g} asks nothing", hint=f"for example {name} 500")


class Spacing:
    """Gives amounts their turn at an even rate, first come first served, with no burst after a pause.

    Args:
        per_minute: The rate.
        now: The clock, in seconds.
    """

    def __init__(self, per_minute: float, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds_each = _SECONDS_PER_MINUTE / per_minute
        self._now = now
        self._free_at = now()

    def reserve(self, amount: float) -> float:
        """Take a turn for an amount and return how many seconds to wait for it."""
        begin = max(self._free_at, self._now())
        self._free_at = begin + amount * self._seconds_each
        return begin - self._now()

    def settle(self, difference: float) -> None:
        """Correct a reservation by what was really used, minus what was reserved."""
        self._free_at += difference * self._seconds_each


class Turn(NamedTuple):
    """How long to wait before an attempt, in seconds, and the tokens that were reserved for it."""

    wait_seconds: float
    n_tokens: int


class Rate:
    """Holds attempts back so that requests and tokens a minute stay within limits.

    Args:
        limits: The limits.
        now: The clock, in seconds.
    """

    def __init__(self, limits: RateLimits, now: Callable[[], float] = time.monotonic) -> None:
        self._requests = None if limits.requests is None else Spacing(limits.requests, now)
        self._tokens = None if limits.tokens is None else Spacing(limits.tokens, now)
        self._estimate = TokenEstimate()

    def reserve(self, request: Request) -> Turn:
        """Take a turn for an attempt of a request."""
        if self._requests is None and self._tokens is None:
            return Turn(0.0, 0)
        n_tokens = self._estimate.of(request)
        waits = [0.0]
        if self._requests is not None:
            waits.append(self._requests.reserve(1))
        if self._tokens is not None:
            waits.append(self._tokens.reserve(n_tokens))
        return Turn(max(waits), n_tokens)

    def settle(self, request: Request, turn: Turn, usage: Usage | None) -> None:
        """Correct a turn by what the provider reported, and estimate better from now on."""
        if self._tokens is None:
            return
        n_used = self._estimate.learn(request, usage)
        if n_used is not None:
            self._tokens.settle(n_used - turn.n_tokens)


class TokenEstimate:
    """Guesses the tokens of a request from its text and pixels, scaled by what earlier ones turned out to need."""

    def __init__(self) -> None:
        self._n_guessed = self._n_used = 0

    def of(self, request: Request) -> int:
        """Return the tokens that a request will need, in and out."""
        guess = guess_tokens(request)
        return guess if not self._n_guessed else max(1, round(guess * self._n_used / self._n_guessed))

    def learn(self, request: Request, usage: Usage | None) -> int | None:
        """Take note of what a request needed, and return it; None where it was not reported."""
        if usage is None or usage.input_tokens is None:
            return None
        n_used = usage.input_tokens + (usage.output_tokens or 0)
        self._n_guessed += guess_tokens(request)
        self._n_used += n_used
        return n_used
