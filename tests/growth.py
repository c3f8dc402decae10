"""How CPU time grows with the length of a text, which no speed of a machine changes."""

import time
from collections.abc import Callable

_SHORT, _LONG = 25_000, 100_000
_N_TRIES = 3
# Below this a clock tells nothing.
_LEAST_SECONDS = 0.002
# Time in proportion grows by 4, time by the square by 16.
MAX_GROWTH = 10.0


def growth(read: Callable[[str], object], token: str) -> float:
    """Return how much longer a repeated token takes where it is four times as long."""
    short = max(min(_seconds(read, token, _SHORT) for _ in range(_N_TRIES)), _LEAST_SECONDS)
    # A busy machine only ever makes it look longer, so the first try that is quick enough tells.
    for _ in range(_N_TRIES - 1):
        found = _seconds(read, token, _LONG) / short
        if found < MAX_GROWTH:
            return found
    return _seconds(read, token, _LONG) / short


def _seconds(read: Callable[[str], object], token: str, n: int) -> float:
    return _one(read, (token * n)[:n])


def _one(read: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    read(text)
    return time.process_time() - begin
