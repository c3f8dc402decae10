"""Pictures that look alike although their collection takes them for different ones."""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from eyechart.images.thumbnail import draw_thumbnail
from eyechart.images.workers import n_processors, start_worker
from eyechart.kinds import Benchmark
from eyechart.releases.source_terms import source_name
from eyechart.schema import Question, Value

MIN_CORRELATION = 0.98
"""Of the grey values of two small copies; unrelated photographs rarely come near 0.9."""

_SIDE = 32
_THUMBNAIL_SIDE = 96
# Width over height of two copies of one picture; more than that is a crop.
_MAX_ASPECT = 1.05
_BLOCK = 512

Greys = npt.NDArray[np.float32]


class NearDuplicate(Value, frozen=True):
    """Two pictures that look alike.

    Args:
        first: Question that shows the one.
        second: Question that shows the other.
        sources: Their sources, one if it is the same.
        correlation: Of their small grey copies; 1 for copies that differ in size or encoding alone.
    """

    first: str
    second: str
    sources: tuple[str, ...]
    correlation: float


def find_near_duplicates(benchmark: Benchmark, *, n_processes: int | None = None) -> tuple[NearDuplicate, ...]:
    """Compare every original with every other of another image group, whatever their size, format and source.

    Each is shrunk to 32×32 grey values. Copies in another size or encoding are found, and small changes in brightness;
    crops, turned and mirrored copies are not. Flat pictures are left out: nothing can be said about them.

    Args:
        benchmark: The collection; each original is read once.
        n_processes: The number of processors if None.

    Raises:
        ImageError: If an original cannot be read.
    """
    shown: dict[str, Question] = {}
    for question in benchmark.questions():
        shown.setdefault(question.image.file_sha256, question)
    questions = list(shown.values())
    paths = [benchmark.image_path(question.image) for question in questions]
    greys, is_flat = _normalised(np.stack(list(_small_copies(paths, n_processes)))) if paths else (_EMPTY, _NONE)
    aspects = np.array([question.image.size.width / question.image.size.height for question in questions])
    found = []
    for first, second, correlation in _alike(greys, aspects):
        one, other = questions[first], questions[second]
        if one.image_group != other.image_group and not (is_flat[first] or is_flat[second]):
            sources = tuple(dict.fromkeys((source_name(one), source_name(other))))
            found.append(NearDuplicate(one.id, other.id, sources, round(correlation, 4)))
    return tuple(sorted(found, key=lambda pair: (-pair.correlation, pair.first, pair.second)))


_EMPTY: Greys = np.empty((0, _SIDE * _SIDE), np.float32)
_NONE: npt.NDArray[np.bool_] = np.empty(0, np.bool_)


def _small_copies(paths: Sequence[Path], n_processes: int | None) -> Iterator[Greys]:
    n_processes = max(1, min(n_processes or n_processors(), len(paths)))
    if n_processes == 1:
        yield from map(_small_copy, paths)
        return
    # Not fork: a copy of a process whose libraries run threads can hang.
    context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    with ProcessPoolExecutor(n_processes, mp_context=context, initializer=start_worker) as pool:
        yield from pool.map(_small_copy, paths)


def _small_copy(path: Path) -> Greys:
    """Return a picture as 32×32 grey values, stretched to a square."""
    with Image.open(BytesIO(draw_thumbnail(path, _THUMBNAIL_SIDE))) as image:
        small = image.convert("L").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float32).ravel()


def _normalised(greys: Greys) -> tuple[Greys, npt.NDArray[np.bool_]]:
    """Return rows of mean 0 and length 1, and which were flat."""
    centred = greys - greys.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    # Less than one grey level of spread is noise of the encoder.
    is_flat = length[:, 0] < _SIDE
    return (centred / np.maximum(length, 1)).astype(np.float32), is_flat


def _alike(greys: Greys, aspects: npt.NDArray[np.float64]) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of rows that correlate, block by block."""
    for start in range(0, len(greys), _BLOCK):
        correlations = greys[start : start + _BLOCK] @ greys.T
        for row, column in np.argwhere(correlations >= MIN_CORRELATION).tolist():
            first, second = start + row, column
            ratio = aspects[first] / aspects[second]
            if first < second and 1 / _MAX_ASPECT <= ratio <= _MAX_ASPECT:
                yield first, second, min(1.0, float(correlations[row, column]))
