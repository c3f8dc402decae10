"""The command line: one module per command; nothing heavy is imported before a command runs."""

import os
import sys

from eyechart.cli._app import run_app


def main() -> None:
    """Run the ``eyechart`` command and leave with its exit code."""
    # A service manager or ``>&-`` may start us without these; what would be printed there is meant for nobody.
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 -- open as long as we run
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 -- open as long as we run
    sys.exit(run_app(sys.argv[1:]))
