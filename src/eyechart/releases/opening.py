"""Open a release as its card promises, with the ``datasets`` library: in a process of its own, without the network."""

import importlib.util
import json
import multiprocessing
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eyechart.errors import EyechartError
from eyechart.releases.row_schema import FEATURES_FILE

if TYPE_CHECKING:
    from datasets import Dataset


class OpenFailure(NamedTuple):
    """What could not be opened.

    Args:
        view_id: The config, None where it is all of them together.
        action: What was tried.
        reason: First line of what the library says.
    """

    view_id: str | None
    action: str
    reason: str


def can_open() -> bool:
    """Return whether the library is installed."""
    return importlib.util.find_spec("datasets") is not None


def open_as_promised(root: Path, view_ids: Sequence[str]) -> tuple[OpenFailure, ...]:
    """Load each config without and with the declared features, join all of them, and stream one row.

    The library reads texts that all look like dates as times; such a column is a failure too.

    Args:
        root: Folder of the release.
        view_ids: The configs to open.

    Raises:
        EyechartError: If ``datasets`` is not installed.
    """
    if not can_open():
        raise EyechartError(
            "datasets is not installed, which opens a release as its card says", hint="python -m pip install datasets"
        )
    if not view_ids:
        return ()
    # Not fork: a copy of a process whose libraries run threads can hang.
    context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    with (
        tempfile.TemporaryDirectory(prefix="eyechart-") as scratch,
        ProcessPoolExecutor(1, mp_context=context, initializer=_isolate, initargs=(scratch,)) as pool,
    ):
        try:
            return tuple(pool.submit(_open_all, root, tuple(view_ids), scratch).result())
        except BrokenProcessPool:
            return (OpenFailure(None, "load_dataset", "the process that opened it was killed"),)


def _isolate(scratch: str) -> None:
    """Keep the library off the network and its caches in a folder that goes away; it reads this when imported."""
    os.environ.update(
        HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=scratch, HF_DATASETS_DISABLE_PROGRESS_BARS="1"
    )


def _open_all(root: Path, view_ids: tuple[str, ...], scratch: str) -> list[OpenFailure]:
    import datasets  # deferred: it takes seconds, and only this process needs it

    datasets.logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    declared = None
    if (root / FEATURES_FILE).is_file():
        content = json.loads((root / FEATURES_FILE).read_text(encoding="utf-8"))
        declared = datasets.Features.from_dict(content)
    load = partial(datasets.load_dataset, str(root), split="test", cache_dir=scratch)
    failures: list[OpenFailure] = []

    def attempt(view_id: str | None, action: str, opened: Callable[[], "Dataset"]) -> "Iterator[Dataset]":
        try:
            yield opened()
        except Exception as error:  # noqa: BLE001 -- a library that reads foreign files may raise anything
            failures.append(OpenFailure(view_id, action, _first_line(error)))

    inferred: list[Dataset] = []
    typed: list[Dataset] = []
    for view_id in view_ids:
        action = f'load_dataset(…, "{view_id}")'
        opened = list(attempt(view_id, action, partial(load, view_id)))
        inferred += opened
        if declared is not None:
            failures += [
                OpenFailure(view_id, action, f"column {name} is read as {feature}, not as {declared[name]}")
                for loaded in opened
                for name, feature in loaded.features.items()
                if name in declared and feature != declared[name] and "null" not in str(feature)
            ]
            with_features = partial(load, view_id, features=declared)
            typed += attempt(view_id, f"{action} with {FEATURES_FILE}", with_features)
    for loaded, action in ((inferred, "concatenate_datasets"), (typed, f"concatenate_datasets with {FEATURES_FILE}")):
        if len(loaded) == len(view_ids):
            list(attempt(None, action, partial(datasets.concatenate_datasets, loaded)))
    last = view_ids[-1]
    if not any(failure.view_id == last for failure in failures):

        def stream() -> "Dataset":
            rows = load(last, streaming=True)
            return next(iter(rows.cast_column("image", datasets.Image(decode=False))))

        list(attempt(last, f'load_dataset(…, "{last}", streaming=True)', stream))
    return failures


def _first_line(error: BaseException) -> str:
    """Return the first line of the deepest cause: what stands above only says that something failed."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
