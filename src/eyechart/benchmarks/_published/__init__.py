"""Published results of benchmarks, as data with source and date, one JSON file per benchmark."""

from functools import cache
from importlib.resources import files

import msgspec

from eyechart.errors import UsageError
from eyechart.schema import Value


class Source(Value, frozen=True):
    """Where published numbers were read, and when they stood there."""

    name: str
    address: str
    revision: str
    date: str
    note: str = ""


class PublishedRow(Value, frozen=True):
    """One published row in percent; ``scores`` by category; ``source`` is a key of ``PublishedResults.sources``."""

    model: str
    access: str | None
    params_b: float | None
    scores: dict[str, float]
    all: float
    source: str
    note: str = ""


class PublishedGrid(Value, frozen=True):
    """Perf, Size and Region of one model on one WhiteBackground grid, in percent and points."""

    model: str
    grid: str
    perf: float
    size: float | None
    region: float | None
    source: str


class PublishedMap(Value, frozen=True):
    """A published heat map: mean scores in 0–1 by row and column."""

    title: str
    grid: str
    matrix: tuple[tuple[float, ...], ...]


class PublishedDataset(Value, frozen=True):
    """One dataset of the benchmark with its category and whole size."""

    name: str
    category: str
    n: int


class PublishedResults(Value, frozen=True):
    """Everything published about one benchmark.

    ``weights`` are the sizes of the categories that the published overall score is weighted with. ``boards`` are the
    leaderboards by split, ``references`` rows that are not a model (people, guessing).
    """

    benchmark: str
    sources: dict[str, Source]
    weights: dict[str, int]
    splits: dict[str, int]
    datasets: tuple[PublishedDataset, ...]
    boards: dict[str, tuple[PublishedRow, ...]]
    references: tuple[PublishedRow, ...]
    grids: tuple[PublishedGrid, ...] = ()
    curves: dict[str, tuple[float, ...]] = msgspec.field(default_factory=dict)
    maps: tuple[PublishedMap, ...] = ()

    def category_of(self, dataset: str) -> str | None:
        """Return the category of a dataset, None if it is unknown."""
        return next((known.category for known in self.datasets if known.name == dataset), None)


@cache
def published_benchmarks() -> tuple[str, ...]:
    """Return the benchmarks of which published results are known, sorted.

    Example:
        >>> published_benchmarks()
        ('hrscene',)
    """
    folder = files("eyechart.benchmarks._published")
    return tuple(sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json")))


@cache
def read_published(benchmark: str) -> PublishedResults:
    """Return what was published about a benchmark.

    Raises:
        UsageError: If nothing is known; the hint names the benchmarks that are.

    Example:
        >>> len(read_published("hrscene").boards["test"])
        28
    """
    known = published_benchmarks()
    if benchmark not in known:
        raise UsageError(f"no published results of {benchmark!r} are known", hint=f"known: {', '.join(known)}")
    file = files("eyechart.benchmarks._published") / f"{benchmark}.json"
    return msgspec.json.decode(file.read_bytes(), type=PublishedResults)
