"""When a failed attempt is worth another, when everybody waits, and when the run ends."""

import asyncio
import time

from eyechart.errors import TransientModelError
from eyechart.runs.listening import Listener
from eyechart.runs.patience import Patience, jitter_source, wait_seconds
from eyechart.schema import Value

_POLL_SECONDS = 0.2
_SERVER_POLL_SECONDS = 2.0
# A server that was never there is said at once; waiting for one is what wait_for_server_seconds is for.
_FIRST_CONTACT_ATTEMPTS = 3


# A reply that is wrong in the same way so often, one attempt after the other, is not wrong by chance.
MOST_EQUAL_FAULTS = 3


class Stop(Value, frozen=True):
    """Why a run ended before everything was asked, and what the reader can do.

    ``leaves_open`` says that the final errors of this start may be the server's, so that the next one asks them again.
    ``gives_up`` says that everything was tried all the same: what was asked and has no answer is given up.
    """

    reason: str
    hint: str = ""
    leaves_open: bool = False
    gives_up: bool = False


class Retrying:
    """The one retry loop's judgement, shared by all requests in flight.

    Args:
        patience: The limits.
        listener: Is told of every wait.
        is_reached: Whether the server is known to be there.
    """

    def __init__(self, patience: Patience, listener: Listener, *, is_reached: bool = False) -> None:
        self.stop: Stop | None = None
        self._is_reached = is_reached
        self._patience, self._listener = patience, listener
        self._rng = jitter_source()
        self._n_connection_errors = 0
        self._outage_began: float | None = None
        self._held_until = 0.0

    def end(self, reason: str, hint: str = "") -> None:
        """Begin no new request and no new attempt, and say so at once; the first reason stands."""
        self.end_by(Stop(reason, hint))

    def end_by(self, stop: Stop) -> None:
        """Do so for a reason that is known already."""
        if self.stop is None:
            self.stop = stop
            self._listener.noted(f"{stop.reason}; nothing new is asked, what is in flight is awaited")

    def note_answer(self) -> None:
        """Remember that the server is there."""
        self._n_connection_errors, self._outage_began = 0, None
        self._is_reached = True

    def note_reached(self) -> None:
        """Remember that something came back, if no answer: a connection lost from now on may return."""
        self._is_reached = True

    async def may_begin(self) -> bool:
        """Wait as long as the server asked everybody to, then tell whether a new request may begin."""
        while self.stop is None and (left := self._held_until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _POLL_SECONDS))
        return self.stop is None

    async def may_repeat(self, error: TransientModelError, n_attempts: int, elapsed_seconds: float) -> bool:
        """Wait before another attempt of a request; False if there should be none.

        Args:
            error: Why the attempt failed.
            n_attempts: Attempts of this request so far, at least 1.
            elapsed_seconds: Time since its first attempt began.

        Raises:
            TransientModelError: The error itself, if no server was ever reached.
        """
        if error.is_connection and self._is_server_awaited():
            return await self._wait(_SERVER_POLL_SECONDS, error)
        self._is_reached = self._is_reached or not error.is_connection
        if not self._is_reached and n_attempts >= _FIRST_CONTACT_ATTEMPTS:
            raise error
        self._count_connection(error)
        wait = wait_seconds(self._patience, n_attempts, error.retry_after_seconds, float(self._rng.random()))
        longest = self._patience.max_wait_seconds
        if wait > longest:
            self.end(
                f"the server asks to wait {wait:,.0f} s, more than the {longest:,.0f} s allowed ({error.message})",
                "run the same command later, or allow a longer wait with --max-wait",
            )
        is_late = elapsed_seconds + wait > self._patience.deadline_seconds
        if is_late or n_attempts >= self._patience.max_attempts or self.stop is not None:
            return False
        if error.retry_after_seconds is not None:
            self._held_until = max(self._held_until, time.monotonic() + error.retry_after_seconds)
        return await self._wait(wait, error)

    def _is_server_awaited(self) -> bool:
        """Whether this outage is still shorter than the reader wants to wait for a server."""
        now = time.monotonic()
        self._outage_began = now if self._outage_began is None else self._outage_began
        return now - self._outage_began < self._patience.wait_for_server_seconds

    def _count_connection(self, error: TransientModelError) -> None:
        """End the run when nothing but connection errors comes back."""
        self._n_connection_errors = self._n_connection_errors + 1 if error.is_connection else 0
        if self._n_connection_errors >= self._patience.max_connection_errors:
            self.end(
                f"{self._n_connection_errors} attempts in a row reached no server ({error.message})",
                "start the server and run the same command again, or give --wait-for-server 20m",
            )

    async def _wait(self, seconds: float, error: TransientModelError) -> bool:
        """Sleep, or less if the run ends meanwhile; return whether it goes on."""
        self._listener.waiting(seconds, error.message)
        return await self.pause(seconds)

    async def pause(self, seconds: float) -> bool:
        """Sleep, or less if the run ends meanwhile; return whether it goes on."""
        until = time.monotonic() + seconds
        while self.stop is None and (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _POLL_SECONDS))
        return self.stop is None
