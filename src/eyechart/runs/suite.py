"""A suite: models × benchmarks × sets of views × settings from one file, each cell a run in a folder of its own."""

import itertools
import re
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec

from eyechart.errors import EyechartError, UsageError
from eyechart.registry import unknown_name
from eyechart.runs.later_plans import RUN_FILE
from eyechart.runs.store import RunStore
from eyechart.schema import JsonObject, ScoreMode
from eyechart.settings import read_toml

Labelled = TypeVar("Labelled", bound="_Labelled")
CellState = Literal["done", "missing", "not started", "failed"]


class _Labelled(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label: str = ""


class SuiteModel(_Labelled, frozen=True, kw_only=True):
    """One model: ``provider/name``, where it is reached, its own settings."""

    model: str
    base_url: tuple[str, ...] = ()
    revision: str | None = None
    set: JsonObject = {}
    extra_body: JsonObject = {}


class SuiteBenchmark(_Labelled, frozen=True, kw_only=True):
    """One benchmark with its data and options; a relative path starts at the suite's file."""

    name: str
    data: str | None = None
    options: JsonObject = {}


class SuiteViews(_Labelled, frozen=True, kw_only=True):
    """One set of views: a preset or comma-separated ids."""

    views: str


class SuiteSettings(_Labelled, frozen=True, kw_only=True):
    """How it is asked; what is left out is the default of ``run``. ``not-sent`` leaves a parameter out."""

    temperature: float | Literal["not-sent"] = 0.0
    top_p: float | None = None
    sampling_seed: int | None = None
    max_tokens: int | Literal["not-sent"] = 1024
    score_mode: ScoreMode = "text"
    prompt: str | None = None
    scorer: str | None = None
    limit: int | None = None
    seed: int = 0
    repeat: int = 1
    rotate_choices: int = 1
    concurrency: int = 8
    set: JsonObject = {}


class Suite(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a suite's file holds.

    Args:
        models: At least one.
        benchmarks: At least one.
        views: Sets of views; the benchmark's own if left out.
        settings: Ways to ask; one with all defaults if left out.
        out: Folder of the runs; a relative one starts at the suite's file.
        view_store: Folder of drawn views that all runs share.
        view_store_gb: Its bound.
    """

    models: tuple[SuiteModel, ...]
    benchmarks: tuple[SuiteBenchmark, ...]
    views: tuple[SuiteViews, ...] = ()
    settings: tuple[SuiteSettings, ...] = (SuiteSettings(),)
    out: str = "suite"
    view_store: str | None = None
    view_store_gb: float = 20.0


class Cell(NamedTuple):
    """One run of a suite; ``views`` is None for the benchmark's own."""

    number: int
    model: SuiteModel
    benchmark: SuiteBenchmark
    views: SuiteViews | None
    settings: SuiteSettings
    folder: Path

    @property
    def row(self) -> str:
        """What stands at the left of the matrix: model and settings."""
        return " ".join(part for part in (label_of(self.model), self.settings.label) if part)

    @property
    def column(self) -> str:
        """What stands above the matrix: benchmark and views."""
        return " ".join(part for part in (label_of(self.benchmark), label_of(self.views)) if part)


class CellProgress(msgspec.Struct, frozen=True):
    """Where a cell stands; ``reason`` says why it failed."""

    row: str
    column: str
    number: int
    state: CellState
    folder: str
    n_answered: int = 0
    n_planned: int = 0
    reason: str | None = None


def read_suite(path: Path) -> tuple[Suite, tuple[Cell, ...]]:
    """Read a suite's file and return it with its cells: models outermost, settings innermost.

    Raises:
        UsageError: If it cannot be read, a field is unknown, a list is empty, or two entries share a label.
    """
    try:
        suite = msgspec.convert(read_toml(path), Suite)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}", hint="see docs/suites.md for the fields of a suite") from error
    for name in ("models", "benchmarks", "settings"):
        if not getattr(suite, name):
            raise UsageError(f"{path}: {name} is empty", hint=f"write at least one [[{name}]]")
    home = path.parent
    for entries in (suite.models, suite.benchmarks, suite.views, suite.settings):
        _check_labels(path, entries)
    choices = itertools.product(suite.models, suite.benchmarks, suite.views or (None,), suite.settings)
    cells = tuple(
        Cell(number, *chosen, home / suite.out / _folder_name(chosen)) for number, chosen in enumerate(choices, start=1)
    )
    return suite, cells


def choose_cell(cells: tuple[Cell, ...], number: int) -> Cell:
    """Return one cell by its number, from 1.

    Raises:
        UsageError: If there is no such cell.
    """
    if not 1 <= number <= len(cells):
        raise UsageError(f"--cell {number}: the suite has {len(cells)} cells", hint=f"write 1 to {len(cells)}")
    return cells[number - 1]


def progress_of(cell: Cell, failure: EyechartError | None = None) -> CellProgress:
    """Return where a cell stands, from its folder alone."""
    known = {"row": cell.row, "column": cell.column, "number": cell.number, "folder": str(cell.folder)}
    n_planned = n_answered = 0
    if (cell.folder / RUN_FILE).is_file():
        store = RunStore(cell.folder)
        index = store.index()
        planned = [request.id for request in store.requests()]
        n_planned, n_answered = len(planned), sum(map(index.is_settled, planned))
    state: CellState = "done" if n_planned and n_answered == n_planned else "missing" if n_planned else "not started"
    if failure is not None and state != "done":
        state = "failed"
    reason = failure.message if failure is not None and state == "failed" else None
    return msgspec.convert(
        {**known, "state": state, "n_answered": n_answered, "n_planned": n_planned, "reason": reason}, CellProgress
    )


def slurm_script(suite_path: Path, n_cells: int) -> str:
    """Return a Slurm job array that runs one cell in each task.

    Example:
        >>> "--array=1-6" in slurm_script(Path("suite.toml"), 6)
        True
    """
    return f"""#!/bin/bash
# One task per cell; a task that was killed goes on where it was when it is submitted again.
#SBATCH --job-name=eyechart
#SBATCH --array=1-{n_cells}
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=24:00:00
#SBATCH --output=eyechart-%A-%a.log

srun eyechart run --suite {_quoted(str(suite_path))} --cell "$SLURM_ARRAY_TASK_ID" --wait-for-server 20m
"""


def label_of(entry: SuiteModel | SuiteBenchmark | SuiteViews | SuiteSettings | None) -> str:
    """Return how an entry is named: its label, else what it names."""
    if entry is None or entry.label or isinstance(entry, SuiteSettings):
        return "" if entry is None else entry.label
    if isinstance(entry, SuiteModel):
        return entry.model
    return entry.views if isinstance(entry, SuiteViews) else entry.name


def _check_labels(path: Path, entries: "tuple[SuiteModel | SuiteBenchmark | SuiteViews | SuiteSettings, ...]") -> None:
    labels = [label_of(entry) for entry in entries]
    twins = sorted({label for label in labels if labels.count(label) > 1})
    if twins:
        raise UsageError(
            f"{path}: two entries are named {twins[0]!r}", hint='give each a label of its own, label = "…"'
        )
    names = [_plain(label) for label in labels]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise unknown_name("folder name", twins[0], tuple(labels))


def _folder_name(chosen: "tuple[SuiteModel, SuiteBenchmark, SuiteViews | None, SuiteSettings]") -> str:
    return "--".join(_plain(label) for label in map(label_of, chosen) if label)


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:80] or "unnamed"


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w./-]+", text) else "'" + text.replace("'", "'\\''") + "'"
