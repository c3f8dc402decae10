"""A bound on bytes in flight: 64 pictures of 20 MB would need 4.5 GB, so counting requests is not enough."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """Lets requests in as long as their bytes fit; whoever comes first goes first, and alone if larger than the room.

    Args:
        max_bytes: Bound of the bytes inside.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._n_bytes = 0
        self._turn = asyncio.Lock()
        self._left = asyncio.Event()

    @property
    def n_bytes(self) -> int:
        """Bytes inside."""
        return self._n_bytes

    @asynccontextmanager
    async def hold(self, n_bytes: int) -> AsyncIterator[None]:
        """Stay inside with ``n_bytes``, waiting for room first."""
        async with self._turn:
            while self._n_bytes > 0 and self._n_bytes + n_bytes > self._max_bytes:
                self._left.clear()
                await self._left.wait()
            self._n_bytes += n_bytes
        try:
            yield
        finally:
            self._n_bytes -= n_bytes
            self._left.set()
