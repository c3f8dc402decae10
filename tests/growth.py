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
    return _seconds(read, token, _LONG) / max(_seconds(read, token, _SHORT), _LEAST_SECONDS)


def _seconds(read: Callable[[str], object], token: str, n: int) -> float:
    text = (token * n)[:n]
    return min(_one(read, text) for _ in range(_N_TRIES))


def _one(read: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    read(text)
    return time.process_time() - begin
