"""Where the pictures of a run are: its benchmark, opened again if its files are still there."""

from functools import cached_property
from itertools import pairwise
from pathlib import Path

from eyechart.errors import EyechartError
from eyechart.kinds import Benchmark
from eyechart.opening import open_benchmark
from eyechart.runs.imported import PROVIDER
from eyechart.schema import Run
from eyechart.settings import parse_pairs

# Where a release was fetched from is recorded among the options, and is none.
_ORIGIN = "fetched_from"


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
    def key(self) -> str:
        """The same for runs whose pictures come from the same place, so that they can share what was read."""
        name = self._run.benchmark.name
        options = opening_options(self._run, self._data)
        return repr((name, self._run.benchmark.revision, self._data, sorted(options.items(), key=repr)))

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
        if self._run.model.provider == PROVIDER:
            return None, "These answers were brought in without their pictures."
        try:
            return open_benchmark(name, self._data, opening_options(self._run, self._data)), ""
        except EyechartError as error:
            return None, f"The pictures of {name} are not here ({error.message}). Name their folder with --data."


def opening_options(run: Run, data: Path | None) -> dict[str, object]:
    """Return the options that open a run's benchmark again: the stored ones, and those of its command.

    Where a file lies is not part of a benchmark's identity, so paths stand in the command alone; needles that ``data``
    names are not named twice.
    """
    stored = {name: value for name, value in run.benchmark.options.items() if name != _ORIGIN}
    options = {**stored, **recorded_options(run.command)}
    if run.benchmark.name == "folder":
        options.setdefault("allow_hidden", True)  # nothing is asked here, and earlier versions asked such files
    if data is not None:
        options.pop("needles", None)
    return options


def recorded_options(command: tuple[str, ...]) -> dict[str, object]:
    """Return the benchmark's options that a run's command gave.

    Example:
        >>> recorded_options(("eyechart", "run", "complexgrid", "--option", "grid=5", "--option=needles=mine"))
        {'grid': '5', 'needles': 'mine'}
    """
    pairs = [word for before, word in pairwise(command) if before == "--option"]
    pairs += [word.removeprefix("--option=") for word in command if word.startswith("--option=")]
    return parse_pairs(pairs, "--option")


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
