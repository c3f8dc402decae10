"""What every display of long work has in common: bars on a terminal, lines in a log, or events with ``--json``."""

import time
from abc import ABC, abstractmethod
from typing import Self

from rich.console import Console
from rich.progress import Progress, ProgressColumn

from eyechart.cli._events import Ended, Progressed, emit, has_events
from eyechart.cli._output import notes_console

_EVENT_SECONDS = 1.0


class Display(ABC):
    """Bars that are drawn inside a ``with`` statement, and events at most once a second.

    Args:
        work: How events call what is done.
        columns: What a bar shows.
        console: Where text goes; stderr if left out.
    """

    def __init__(self, work: str, *columns: ProgressColumn, console: Console | None = None) -> None:
        self._work = work
        self._console = console or notes_console()
        self._has_events = has_events()
        self._has_bars = self._console.is_terminal and not self._console.no_color and not self._has_events
        self._bars = Progress(*columns, console=self._console, disable=not self._has_bars, transient=True)
        self._told_at = 0.0

    def __enter__(self) -> Self:
        """Start drawing."""
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop drawing."""
        self._bars.stop()
        if self._has_events:
            emit(self._progressed())
            emit(Ended(work=self._work))

    def _tell(self) -> None:
        """Tell how far the work is, unless that was told less than a second ago."""
        if time.monotonic() - self._told_at >= _EVENT_SECONDS:
            self._told_at = time.monotonic()
            emit(self._progressed())

    @abstractmethod
    def _progressed(self) -> Progressed:
        """Return how far the work is."""
