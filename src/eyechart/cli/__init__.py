"""The command line: one module per command; nothing heavy is imported before a command runs."""

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from eyechart.cli._app import run_app

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def main() -> None:
    """Run the ``eyechart`` command and leave with its exit code."""
    # A service manager or ``>&-`` may start us without these; what would be printed there is meant for nobody.
    sys.stdout = _nowhere() if sys.stdout is None else outliving_reader(sys.stdout)
    sys.stderr = _nowhere() if sys.stderr is None else outliving_reader(sys.stderr)
    sys.exit(run_app(sys.argv[1:]))


def outliving_reader(stream: TextIO) -> TextIO:
    """Return a stream to the same file that goes on when the reader of a pipe goes away.

    ``| head -1`` may leave at any line, and what a run asks, its report and its exit code must not depend on that. What
    nobody reads any more is dropped. A stream of another kind is returned as it is.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    try:
        descriptor = stream.fileno()
        stream.flush()
    except (OSError, ValueError):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(descriptor, "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 -- open as long as we run


class _Pipe(io.FileIO):
    """A file whose reader may go away; from then on what is written goes nowhere."""

    def write(self, content: "ReadableBuffer", /) -> int:
        try:
            return super().write(content)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(content)
