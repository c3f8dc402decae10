"""How fast work goes, how long it will take, and when a log deserves a line."""

import time
from collections import deque

# A log of long work stays readable: a line per tenth of it, or per minute where a tenth takes longer.
_LINES_PER_WORK = 10
_LONGEST_SILENCE_SECONDS = 60.0
_SHORTEST_SILENCE_SECONDS = 5.0
_WINDOW_SECONDS = 60.0
_MARK_SECONDS = 1.0
_MINUTE, _HOUR = 60, 3600
_MANY = 100.0  # a second; more digits than that need no decimals


class Meter:
    """Knows rate and remaining time of work of which a number is done.

    Args:
        n_before: What was done before it began.
    """

    def __init__(self, n_before: int = 0) -> None:
        self.began = time.monotonic()
        self._marks: deque[tuple[float, int]] = deque([(self.began, n_before)])
        self._latest = (self.began, n_before)
        self._said = (self.began, n_before)

    def note(self, n_done: int) -> None:
        """Remember how much is done now."""
        now = time.monotonic()
        self._latest = (now, n_done)
        if now - self._marks[-1][0] >= _MARK_SECONDS:
            self._marks.append(self._latest)
        while len(self._marks) > 1 and now - self._marks[1][0] >= _WINDOW_SECONDS:
            self._marks.popleft()

    @property
    def seconds(self) -> float:
        """Seconds since the work began."""
        return self._latest[0] - self.began

    @property
    def per_second(self) -> float | None:
        """Rate of the last minute, None before anything was done in it."""
        seconds, n_done = self._latest[0] - self._marks[0][0], self._latest[1] - self._marks[0][1]
        return n_done / seconds if seconds > 0 and n_done > 0 else None

    def seconds_left(self, n_all: int | None) -> float | None:
        """Return how long the rest takes at this rate, None where that is not known."""
        rate = self.per_second
        return None if rate is None or n_all is None else max(n_all - self._latest[1], 0) / rate

    def is_line_due(self, n_all: int | None) -> bool:
        """Whether enough was done, or enough time has passed, for another line of a log; if so, count it as written."""
        silence = self._latest[0] - self._said[0]
        n_new = self._latest[1] - self._said[1]
        is_step = n_all is not None and n_new * _LINES_PER_WORK >= n_all and silence >= _SHORTEST_SILENCE_SECONDS
        if is_step or silence >= _LONGEST_SILENCE_SECONDS:
            self._said = self._latest
            return True
        return False


def in_time(seconds: float) -> str:
    """Write a duration in its two largest units.

    Example:
        >>> in_time(42.3), in_time(754), in_time(9000)
        ('42 s', '12 min 34 s', '2 h 30 min')
    """
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def in_rate(per_second: float, unit: str = "") -> str:
    """Write a rate, per minute where it is slow.

    Example:
        >>> in_rate(2490.0), in_rate(12.34), in_rate(0.05), in_rate(2_500_000, "B")
        ('2490/s', '12.3/s', '3/min', '2.5 MB/s')
    """
    if unit:
        return f"{per_second / 1e6:.1f} M{unit}/s"
    if per_second >= _MANY:
        return f"{per_second:.0f}/s"
    return f"{per_second:.3g}/s" if per_second >= 1 else f"{_MINUTE * per_second:.3g}/min"
