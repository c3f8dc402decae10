"""Building, checking, fetching, writing a site: a bar on a terminal, plain lines in a log, events with ``--json``."""

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn

from eyechart.cli._display import Display
from eyechart.cli._events import Began, Progressed, emit
from eyechart.cli._meter import Meter, in_rate, in_time
from eyechart.cli._output import say

_MEGA = 1e6


class WorkProgress(Display):
    """Shows how far work is, on stderr. Use it as a context manager and call ``update`` as it goes.

    Args:
        work: How it is called: build, verify, fetch, report, explore or site.
        unit: What is counted, such as images; ``bytes`` are written as megabytes.
        folder: Where it is done, for events.
        console: Where text goes.
    """

    def __init__(self, work: str, unit: str, folder: str = "", console: Console | None = None) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[counted]}"))
        super().__init__(work, *columns, console=console)
        self._unit, self._folder = unit, folder
        self._task = self._bars.add_task(unit, total=None, counted="")
        self._meter: Meter | None = None
        self._n_done = 0
        self._n_all: int | None = None

    def __enter__(self) -> Self:
        """Start drawing."""
        if self._has_events:
            emit(Began(work=self._work, folder=self._folder))
        return super().__enter__()

    def update(self, n_done: int, n_all: int | None, detail: str = "") -> None:
        """Tell how much is done.

        Args:
            n_done: So much; what the first call names was there before.
            n_all: Of so much, None while that is not known.
            detail: Words before the counts.
        """
        self._n_done, self._n_all = n_done, n_all
        if self._meter is None:
            self._meter = Meter(n_done)
        self._meter.note(n_done)
        if self._has_events:
            self._tell()
        elif self._has_bars:
            self._bars.update(
                self._task, description=detail or self._unit, completed=n_done, total=n_all, counted=self._words()
            )
        elif self._meter.is_line_due(n_all):
            say(f"{detail}, {self._words()}" if detail else self._words())

    def _words(self) -> str:
        """Return counts, rate and time left, as far as they are known."""
        is_bytes = self._unit == "bytes"
        if is_bytes:
            whole = "" if self._n_all is None else f" of {self._n_all / _MEGA:,.1f}"
            words = [f"{self._n_done / _MEGA:,.1f}{whole} MB"]
        else:
            words = [f"{self._n_done}{'' if self._n_all is None else f'/{self._n_all}'} {self._unit}"]
        rate = None if self._meter is None else self._meter.per_second
        left = None if self._meter is None else self._meter.seconds_left(self._n_all)
        words += [] if rate is None else [in_rate(rate, "B" if is_bytes else "")]
        words += [] if left is None else [f"{in_time(left)} left"]
        return ", ".join(words)

    def _progressed(self) -> Progressed:
        meter = self._meter
        return Progressed(
            work=self._work,
            unit=self._unit,
            n_all=self._n_all,
            n_done=self._n_done,
            seconds=0.0 if meter is None else round(meter.seconds, 3),
            per_second=None if meter is None else meter.per_second,
            seconds_left=None if meter is None else meter.seconds_left(self._n_all),
        )
