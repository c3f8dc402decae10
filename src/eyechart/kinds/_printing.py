"""What reports and figures implement."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from eyechart.schema import Summary


@runtime_checkable
class ReportWriter(Protocol):
    """A report format; ``write`` returns the file it wrote."""

    suffix: str

    def write(self, summary: Summary, out: Path) -> Path:
        """Write the report into the folder ``out``."""
        ...


@runtime_checkable
class FigureKind(Protocol):
    """A figure drawn from estimates."""

    name: str

    def draw(self, summary: Summary, ax: object | None = None) -> object:
        """Draw on the given matplotlib axes, or on new ones, and return them; None if there is nothing to draw."""
        ...
