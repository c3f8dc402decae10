"""How many requests may be in flight: more while all goes well, half as many when the server has too much."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_FIRST_LIMIT = 8


class Pace:
    """A bound on requests in flight that finds what the endpoint can take, by additive increase and halving.

    It begins at 8 and grows by one with every answer, up to ``highest``. After the first overload it grows by one with
    every full round of answers. Several failures of one overload halve it once: only a request that began after the
    last halving can halve again.

    Args:
        highest: Bound that is never passed, at least 1.
    """

    def __init__(self, highest: int) -> None:
        self._highest = highest
        self._limit = float(min(highest, _FIRST_LIMIT))
        self._n_inside = 0
        self._halved_at: float | None = None
        self._changed = asyncio.Condition()

    @property
    def limit(self) -> int:
        """Requests that may be in flight now."""
        return int(self._limit)

    @property
    def n_inside(self) -> int:
        """Requests that are in flight now."""
        return self._n_inside

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Be one of those in flight, waiting for a place first."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._n_inside < self.limit)
            self._n_inside += 1
        try:
            yield
        finally:
            self._n_inside -= 1
            async with self._changed:
                # As many as there is place for: to wake all of hundreds for one place costs more than asking.
                self._changed.notify(max(1, self.limit - self._n_inside))

    def note_answer(self) -> None:
        """Allow more, where what was allowed is used up."""
        if self._n_inside >= self.limit:
            self._limit = min(self._highest, self._limit + (1.0 if self._halved_at is None else 1.0 / self._limit))

    def note_overload(self, began: float) -> bool:
        """Allow half as many; False if an earlier failure of the same overload has done so.

        Args:
            began: When the failed attempt began, by ``time.monotonic``.
        """
        if self._halved_at is not None and began < self._halved_at:
            return False
        self._limit = max(1.0, min(self._limit, float(self._n_inside)) / 2)
        self._halved_at = time.monotonic()
        return True
