"""HRScene's real-world samples from parquet files or from a folder, whatever their arrangement."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from eyechart.benchmarks._hrscene.sets import SPLITS, Split, set_named
from eyechart.benchmarks._parquet_rows import ParquetRows, parquet_files
from eyechart.benchmarks._rows import Pictures
from eyechart.benchmarks._tables import find_question_file, read_rows
from eyechart.errors import BenchmarkError
from eyechart.images.hash import file_sha256
from eyechart.schema import ImageRef, content_sha256

COMBINED = "realworld_combined"
_EXAMPLE = 'a folder needs questions.jsonl: {"id": 0, "image": "0.jpg", "question": "…\\n(A) …", "answer": "A"}'


class Sample(NamedTuple):
    """One row as it was found; ``dataset`` is None where neither row nor config names it."""

    place: str
    values: dict[str, object]
    image: ImageRef
    dataset: str | None


class Samples(NamedTuple):
    """All rows of a split, where their pictures lie, and a hash of what was read."""

    rows: tuple[Sample, ...]
    path: Callable[[ImageRef], Path]
    revision: str
    warnings: tuple[str, ...] = ()


def read_samples(data: Path, split: Split, config: str | None, cache: Path | None) -> Samples:
    """Read a split from a copy of the hub's parquet files, or from a folder with a question file.

    Args:
        data: A folder that holds ``<config>/<split>-*.parquet`` or ``<split>-*.parquet``, or such a file, or a question
            file beside its pictures.
        split: Which split; question files are taken whole unless rows have a column ``split``.
        config: ``realworld_combined`` or the name of a dataset; the combined one if there, else all, if left out.
        cache: Folder for lists of parquet rows.

    Raises:
        UsageError: If there is nothing to read.
        BenchmarkError: If a row or file is damaged, or no file is of the split.
    """
    files = parquet_files(data)
    if not files:
        return _from_folder(data, split)
    chosen = _of_config(_of_split(files, split, data), config, data)
    opened = ParquetRows(chosen, cache)
    rows = tuple(
        Sample(row.place, row.values, row.image, _dataset_of(chosen[row.file], row.values)) for row in opened.rows
    )
    return Samples(rows, opened.path, opened.fingerprint)


def _of_split(files: tuple[Path, ...], split: Split, data: Path) -> tuple[Path, ...]:
    """Return the files whose name or folder says the split; all of them where no file says any."""
    named = {path: _split_of(path) for path in files}
    if not any(named.values()):
        return files
    found = tuple(path for path in files if named[path] == split)
    if not found:
        there = ", ".join(sorted({name for name in named.values() if name}))
        raise BenchmarkError(f"{data} holds no file of split {split}", hint=f"there is {there}: --option split={there}")
    return found


def _split_of(path: Path) -> str | None:
    words = {path.stem.partition("-")[0], path.parent.name}
    return next((split for split in SPLITS if split in words), None)


def _config_of(path: Path) -> str:
    """Return the config a file is of: the folder it lies in, or the one above a folder named for its split."""
    return path.parent.parent.name if path.parent.name in SPLITS else path.parent.name


def _of_config(files: tuple[Path, ...], config: str | None, data: Path) -> tuple[Path, ...]:
    configs = {path: _config_of(path) for path in files}
    if config is None:
        # Configs of single datasets hold the same rows again.
        return tuple(path for path in files if configs[path] == COMBINED) or files
    found = tuple(path for path in files if configs[path] == config)
    if not found:
        there = ", ".join(sorted(set(configs.values())))
        raise BenchmarkError(f"{data} holds no config {config}", hint=f"there is {there}")
    return found


def _dataset_of(path: Path, values: dict[str, object]) -> str | None:
    """Return the dataset that a row, else its config, names."""
    given = values.get("dataset")
    if isinstance(given, str) and given:
        return given
    config = _config_of(path)
    return config if set_named(config) is not None else None


def _from_folder(data: Path, split: Split) -> Samples:
    file = find_question_file(data, None, _EXAMPLE)
    pictures = Pictures(file.parent)
    paths: dict[str, Path] = {}

    def rows() -> Iterator[Sample]:
        for row in read_rows(file):
            if row.values.get("split", split) != split:
                continue
            name = row.values.get("image") or row.values.get("file_name")
            if not isinstance(name, str):
                raise BenchmarkError(f"{row.place}: no value in column 'image'", hint=_EXAMPLE)
            path, image = pictures.find(name, row.place)
            paths[image.file_sha256] = path
            dataset = row.values.get("dataset")
            yield Sample(row.place, row.values, image, dataset if isinstance(dataset, str) else None)

    def path_of(image: ImageRef) -> Path:
        if image.file_sha256 not in paths:
            raise BenchmarkError(
                f"no sample shows a picture with SHA-256 {image.file_sha256[:12]}…",
                hint="was the folder changed since the run was planned?",
            )
        return paths[image.file_sha256]

    found = tuple(rows())
    return Samples(found, path_of, content_sha256([file_sha256(file)[0], sorted(paths)]), pictures.warnings())
