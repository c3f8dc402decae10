"""Says what a run waits for when nothing has come back for a while."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from eyechart.runs.listening import Listener
from eyechart.schema import Request

SILENCE_SECONDS = 60.0


class Watch:
    """Knows what is in flight, and tells the listener after each minute without an answer.

    Args:
        listener: Is told.
        silence_seconds: How long a silence is worth a sentence.
    """

    def __init__(self, listener: Listener, silence_seconds: float = SILENCE_SECONDS) -> None:
        self._listener, self._silence_seconds = listener, silence_seconds
        self._began: dict[str, tuple[float, Request]] = {}
        self._last = time.monotonic()

    def begin(self, request: Request) -> None:
        """Note that a request is in flight."""
        self._began[request.id] = (time.monotonic(), request)

    def end(self, request: Request) -> None:
        """Note that a request has ended."""
        self._began.pop(request.id, None)
        self._last = time.monotonic()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch until the end of the block."""
        self._last = time.monotonic()
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        while True:
            silence = time.monotonic() - self._last
            if silence < self._silence_seconds:
                await asyncio.sleep(self._silence_seconds - silence)
                continue
            if self._began:
                self._listener.noted(self._sentence(silence))
            self._last = time.monotonic()

    def _sentence(self, silence: float) -> str:
        began, oldest = min(self._began.values(), key=lambda entry: entry[0])
        n_open = len(self._began)
        return (
            f"nothing came back for {silence:.0f} s: {n_open} request{'s' if n_open > 1 else ''} in flight, the oldest "
            f"({oldest.question_id} in view {oldest.view}) for {time.monotonic() - began:.0f} s"
        )
