"""Where the pictures of a run are: its benchmark, opened again if its files are still there."""

from functools import cached_property
from pathlib import Path

from eyechart.errors import EyechartError
from eyechart.kinds import Benchmark
from eyechart.opening import open_benchmark
from eyechart.schema import Run


class BenchmarkPictures:
    """The benchmark of a run, opened on first use.

    Args:
        run: The run.
        data: File or folder of the benchmark; where left out, the one of the recorded command.
    """

    def __init__(self, run: Run, data: Path | None = None) -> None:
        self._run = run
        self._data = data or recorded_data(run.command)

    @property
    def benchmark(self) -> Benchmark | None:
        """The benchmark, None if it cannot be opened here."""
        return self._opened[0]

    @property
    def missing(self) -> str:
        """Why there are no pictures, empty if there are."""
        return self._opened[1]

    @cached_property
    def _opened(self) -> tuple[Benchmark | None, str]:
        name = self._run.benchmark.name
        try:
            return open_benchmark(name, self._data, self._run.benchmark.options), ""
        except EyechartError as error:
            return None, f"The pictures of {name} are not here ({error.message}). Name their folder with --data."


def recorded_data(command: tuple[str, ...]) -> Path | None:
    """Return the file or folder that a run's command read, if it still exists.

    Example:
        >>> recorded_data(("eyechart", "run", "folder", "--data=."))
        PosixPath('.')
        >>> recorded_data(("eyechart", "run", "demo")) is None
        True
    """
    for position, word in enumerate(command):
        if word == "--data" and position + 1 < len(command):
            named = command[position + 1]
        elif word.startswith("--data="):
            named = word.removeprefix("--data=")
        else:
            continue
        path = Path(named)
        return path if path.exists() else None
    return None
