"""``python -m eyechart.cli`` is the same as ``eyechart``."""

from eyechart.cli import main

main()
