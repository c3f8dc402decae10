"""Programs that a release carries: they need Python and nothing else, and are bundled into one file each."""
