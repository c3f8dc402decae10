"""What both grid diagnostics are as benchmarks: needles as questions, cells as views."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from eyechart.benchmarks._needles import NeedleOptions
from eyechart.errors import BenchmarkError
from eyechart.kinds import AskDefaults
from eyechart.schema import BenchmarkIdentity, ImageRef, Question, ViewImage

# Where the bytes lie is not part of which questions are asked; what an embedding chose is part of the revision.
PATH_OPTIONS = frozenset({"needles", "file", "image_root", "distractors", "embedding"})


class GridBenchmark:
    """Questions about needles, each asked in every cell of a grid; pictures are made when they are asked for.

    The question's id is the base id; the view's id names grid and cell.

    Args:
        identity: Name, revision and options.
        questions: One per needle.
        paths: Where the pictures lie, by the hash of the file.
        defaults: Views, prompt and scorer.
        warnings: What the user should look at.
    """

    def __init__(
        self,
        identity: BenchmarkIdentity,
        questions: tuple[Question, ...],
        paths: Mapping[str, Path],
        *,
        defaults: AskDefaults,
        warnings: tuple[str, ...] = (),
    ) -> None:
        self.identity, self.defaults, self.warnings = identity, defaults, warnings
        self._questions, self._paths = questions, dict(paths)

    def questions(self) -> Iterator[Question]:
        """Yield every question, in the order of the needles."""
        return iter(self._questions)

    def image_path(self, image: ImageRef) -> Path:
        """Return where the bytes of a picture lie, needle or distractor.

        Raises:
            BenchmarkError: If it is neither.
        """
        path = self._paths.get(image.file_sha256)
        if path is None:
            raise BenchmarkError(
                f"no needle and no distractor has SHA-256 {image.file_sha256[:12]}…",
                hint="was the folder changed since the run was planned?",
            )
        return path

    def released_views(self) -> tuple[str, ...]:
        """Return no view: all are made here."""
        return ()

    def released_image(self, question: Question, view_id: str) -> ViewImage | None:  # noqa: ARG002 -- none is released
        """Return None: all views are made here."""
        return None


def stored_options(options: NeedleOptions) -> dict[str, object]:
    """Return the options that are part of a benchmark's identity, grids in one form however they were given."""
    stored: dict[str, object] = msgspec.to_builtins(options)
    named = {name: value for name, value in stored.items() if name not in PATH_OPTIONS}
    return {**named, "grid": ",".join(str(size) for size in options.grids)}
