"""What a benchmark implements, and what it may tell besides."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from eyechart.schema import BenchmarkIdentity, ImageRef, Question, Value, ViewImage


@runtime_checkable
class Benchmark(Protocol):
    """A collection of questions about pictures. Questions come in a fixed order; ids are unique."""

    identity: BenchmarkIdentity

    def questions(self) -> Iterator[Question]:
        """Yield every question, reading the headers of pictures but not their pixels."""
        ...

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie on this machine."""
        ...

    def released_views(self) -> tuple[str, ...]:
        """Return the ids of views that this collection already holds as files, in its own order; usually none."""
        ...

    def released_image(self, question: Question, view_id: str) -> ViewImage | None:
        """Return the released picture of one view of one question, None if it is missing or not released."""
        ...


class AskDefaults(Value, frozen=True):
    """How a benchmark is asked where nothing else is named: view ids, prompt and scorer."""

    views: tuple[str, ...]
    prompt: str
    scorer: str


@runtime_checkable
class HoldsRelease(Protocol):
    """A benchmark that is a published collection: its papers lie in ``root``, its images too unless streamed."""

    root: Path
    is_streamed: bool


@runtime_checkable
class SaysHowToAsk(Protocol):
    """A benchmark that is not asked under SUM's views, or not for an option's letter."""

    defaults: AskDefaults


@runtime_checkable
class BenchmarkKind(Protocol):
    """One benchmark. The module's name is the benchmark's name.

    ``options`` is a frozen msgspec struct with defaults; it is stored in ``BenchmarkIdentity.options``.
    """

    options: type[msgspec.Struct]

    def open(self, data: Path | None, options: msgspec.Struct) -> Benchmark:
        """Return the benchmark.

        Args:
            data: File or folder given by ``--data``; None if the benchmark makes or ships its own.
            options: An instance of ``options``.

        Raises:
            BenchmarkError: If the data breaks the benchmark's contract; the message names file and line.
        """
        ...


class FactColumn(Value, frozen=True):
    """One column of a table of facts; numbers stand to the right."""

    heading: str
    is_number: bool = False


class FactTable(Value, frozen=True):
    """A table of what is known about a benchmark, with its sources among the notes.

    Args:
        name: Short name, for files and flags.
        title: One sentence.
        columns: Columns.
        rows: Cells as text, in the order of the columns.
        notes: What must be said below it.
    """

    name: str
    title: str
    columns: tuple[FactColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@runtime_checkable
class TellsFacts(Protocol):
    """A kind of benchmark that knows facts about itself without any data."""

    def fact_tables(self) -> tuple[FactTable, ...]:
        """Return the tables, the most telling first."""
        ...
