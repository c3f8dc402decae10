"""Counts of a run while it goes: done, failed, accuracy so far, spend."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from eyechart.cli._events import PartProgress
from eyechart.runs.spending import answer_dollars
from eyechart.schema import Response, TokenPrice
from eyechart.stats.intervals import wilson

_Z_95 = 1.959963984540054


class Tally:
    """Counts what was asked per view.

    Args:
        planned: Requests per view.
        settled: How many were there before.
        price: What tokens cost, None where it is not known.
    """

    def __init__(self, planned: Mapping[str, int], settled: Mapping[str, int], price: TokenPrice | None) -> None:
        self.planned = dict(planned)
        self.done, self.failed = Counter(settled), Counter[str]()
        self.dollars: float | None = None
        self._price = price
        self._scored = Counter[str]()
        self._scores: defaultdict[str, float] = defaultdict(float)

    @property
    def n_all(self) -> int:
        """Requests of the whole run."""
        return sum(self.planned.values())

    @property
    def n_done(self) -> int:
        """Settled ones, those from before included."""
        return sum(self.done.values())

    @property
    def n_failed(self) -> int:
        """Those that failed in this start."""
        return sum(self.failed.values())

    def add(self, view: str, response: Response) -> None:
        """Count one row."""
        self.done[view] += 1
        self.failed[view] += response.state.is_error
        dollars = answer_dollars(response.usage, response.extra, self._price)
        if dollars is not None:
            self.dollars = (self.dollars or 0.0) + dollars

    def add_score(self, view: str, value: float | None) -> None:
        """Count one score; an answer without one is in no accuracy."""
        if value is not None:
            self._scored[view] += 1
            self._scores[view] += value

    def part(self, view: str) -> PartProgress:
        """Return the progress of a view.

        The interval is Wilson's on the number of answers, which takes them as independent: it is there to watch a run,
        the report's respects pictures that questions share.
        """
        n = self._scored[view]
        value = self._scores[view] / n if n else None
        low, high = (None, None) if value is None else _bounds(value, n)
        return PartProgress(
            name=view,
            n_all=self.planned.get(view, 0),
            n_done=self.done[view],
            n_failed=self.failed[view],
            n_scored=n,
            accuracy=value,
            low=low,
            high=high,
        )

    def parts(self, views: Iterable[str] | None = None) -> tuple[PartProgress, ...]:
        """Return the progress of views, all if none is named."""
        return tuple(self.part(view) for view in (self.planned if views is None else views))


def _bounds(value: float, n: int) -> tuple[float, float]:
    low, high = wilson(np.array(value), np.array(float(n)), np.array(_Z_95))
    return float(low), float(high)


def in_points(part: PartProgress) -> str:
    """Write accuracy so far with half the width of its interval, empty before the first score.

    Example:
        >>> in_points(PartProgress(name="original", n_all=9, n_done=4, n_failed=0, n_scored=4, accuracy=0.5,
        ...                        low=0.15, high=0.85))
        '50 % ± 35 of 4'
    """
    if part.accuracy is None or part.low is None or part.high is None:
        return ""
    return f"{100 * part.accuracy:.0f} % ± {50 * (part.high - part.low):.0f} of {part.n_scored}"
