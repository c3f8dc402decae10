"""``python -m eyechart`` is the same as ``eyechart``."""

from eyechart.cli import main

main()
