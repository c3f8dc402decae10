"""What runs are called on the screens: by their model, and where that would call two alike, by what sets them apart."""

import re
from collections.abc import Sequence

from eyechart.schema import Run

_SUFFIX = re.compile(r"-([0-9a-f]{6})$")
"""What ``run`` ends the names of its folders with."""


def tell_apart(runs: Sequence[Run], folders: Sequence[str]) -> tuple[str, ...]:
    """Return a label for every run, unique among the runs of one benchmark.

    Args:
        runs: The settings of each run.
        folders: Name of each run's folder; two may be equal, where they lie in different places.

    Example:
        >>> _unlike(["a/m", "a/m", "a/n"], ["x-0a1b2c", "x-3d4e5f", "y"], ["demo"] * 3)
        ('a/m · 0a1b2c', 'a/m · 3d4e5f', 'a/n')
    """
    return _unlike([model_label(run) for run in runs], folders, [run.benchmark.name for run in runs])


def model_label(run: Run) -> str:
    """Return the model, with its revision where it has one."""
    return f"{run.model.spec}@{run.model.revision}" if run.model.revision else run.model.spec


def _unlike(models: Sequence[str], folders: Sequence[str], benchmarks: Sequence[str]) -> tuple[str, ...]:
    endings = [_ending(folder) for folder in folders]
    numbered = [f"{folder} ({number})" for number, folder in enumerate(folders)]
    keys = list(zip(models, benchmarks, strict=True))
    labels = []
    for number, model in enumerate(models):
        same = [at for at, key in enumerate(keys) if key == keys[number]]
        words = next(words for words in (endings, folders, numbered) if len({words[at] for at in same}) == len(same))
        labels.append(model if len(same) == 1 else f"{model} · {words[number]}")
    return tuple(labels)


def _ending(folder: str) -> str:
    found = _SUFFIX.search(folder)
    return found.group(1) if found else folder
