"""The command line: one module per command; nothing heavy is imported before a command runs."""

import sys

from eyechart.cli._app import run_app


def main() -> None:
    """Run the ``eyechart`` command and leave with its exit code."""
    sys.exit(run_app(sys.argv[1:]))
