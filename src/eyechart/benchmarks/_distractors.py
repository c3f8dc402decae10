"""Which pictures surround a needle: drawn at random by hash, or most similar by an embedding of the user's."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from eyechart.errors import BenchmarkError, ImageError, UsageError
from eyechart.images.decode import decode
from eyechart.images.grid_canvas import squeeze_to_tile
from eyechart.images.haystack import order_by_hash
from eyechart.images.pixels import Pixels
from eyechart.schema import ImageRef, Size

Choice = Literal["random", "similar"]
Embed = Callable[[Pixels], object]
"""Maps a picture, (448, 448, 3) uint8 RGB, to a vector."""

_TILE = Size(448, 448)


class Candidate(NamedTuple):
    """A picture that may stand beside a needle; never beside one of its own group."""

    image: ImageRef
    path: Path
    group: str


def choose_at_random(
    name: str, needle: Candidate, pool: Sequence[Candidate], n_wanted: int, seed: int
) -> tuple[ImageRef, ...]:
    """Return distractors drawn by a hash of the needle's name, the seed and the pictures: the same on every machine.

    Raises:
        BenchmarkError: If the pool is too small.
    """
    known = _others(name, needle, pool, n_wanted)
    return tuple(known[sha256] for sha256 in order_by_hash(f"choose for {name}", tuple(known), seed)[:n_wanted])


class Similarity:
    """Nearness of pictures by the cosine of their embeddings; each picture is embedded once.

    Args:
        embed: The user's model.
        name: Names it in errors.
    """

    def __init__(self, embed: Embed, name: str) -> None:
        self._embed, self._name = embed, name
        self._vectors: dict[str, npt.NDArray[np.float64]] = {}

    def can_see(self, candidate: Candidate) -> bool:
        """Whether a picture can be decoded; damage behind a header shows only then."""
        try:
            self._vector(candidate.image.file_sha256, candidate.path)
        except ImageError:
            return False
        return True

    def choose(self, name: str, needle: Candidate, pool: Sequence[Candidate], n_wanted: int) -> tuple[ImageRef, ...]:
        """Return the most similar pictures, the nearest first; equally near ones in the order of their hashes.

        Raises:
            BenchmarkError: If the pool is too small.
            UsageError: If the embedding of a picture is not a vector of finite numbers, or not as long as the others.
        """
        known = _others(name, needle, pool, n_wanted)
        paths = {candidate.image.file_sha256: candidate.path for candidate in pool}
        hashes = sorted(known)
        vectors = np.stack([self._vector(sha256, paths[sha256]) for sha256 in hashes])
        nearness = vectors @ self._vector(needle.image.file_sha256, needle.path)
        nearest = np.argsort(-nearness, kind="stable")[:n_wanted]
        return tuple(known[hashes[index]] for index in nearest.tolist())

    def _vector(self, sha256: str, path: Path) -> npt.NDArray[np.float64]:
        """Return the embedding of a picture at length 1."""
        if sha256 not in self._vectors:
            given = self._embed(squeeze_to_tile(decode(path), _TILE))
            vector = np.asarray(given, dtype=np.float64).reshape(-1)
            length = float(np.linalg.norm(vector))
            if not np.isfinite(length) or length == 0.0:
                raise UsageError(
                    f"{self._name} gives no usable vector for {path}", hint="return finite numbers, not all 0"
                )
            self._check_length(vector, path)
            self._vectors[sha256] = vector / length
        return self._vectors[sha256]

    def _check_length(self, vector: npt.NDArray[np.float64], path: Path) -> None:
        first = next(iter(self._vectors.values()), vector)
        if len(vector) != len(first):
            raise UsageError(
                f"{self._name} gives {len(vector)} numbers for {path} and {len(first)} for another picture",
                hint="an embedding has one length",
            )


def load_embedding(spec: str) -> Embed:
    """Return a user's embedding function.

    Args:
        spec: ``FILE.py:FUNCTION`` or ``MODULE:FUNCTION``. The function takes a picture as (448, 448, 3) uint8 RGB and
            returns a vector.

    Raises:
        UsageError: If there is no such function.

    Example:
        >>> load_embedding("statistics:fmean").__name__
        'fmean'
    """
    where, separator, name = spec.rpartition(":")
    if not separator or not where or not name:
        raise UsageError(f"embedding {spec!r} names no function", hint="write FILE.py:FUNCTION or MODULE:FUNCTION")
    try:
        module = _module_of_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except (ImportError, OSError) as error:
        raise UsageError(
            f"embedding {spec!r} cannot be loaded ({error})", hint="check file, module and path"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"embedding {spec!r}: {where} has no function {name}", hint="check its name")
    embed: Embed = function
    return embed


def _module_of_file(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(f"eyechart_embedding_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _others(name: str, needle: Candidate, pool: Sequence[Candidate], n_wanted: int) -> dict[str, ImageRef]:
    """Return the pictures of a pool that are neither the needle nor of its group, by their hash."""
    known = {
        candidate.image.file_sha256: candidate.image
        for candidate in pool
        if candidate.image.file_sha256 != needle.image.file_sha256 and candidate.group != needle.group
    }
    if len(known) < n_wanted:
        raise BenchmarkError(
            f"needle {name}: the largest grid has {n_wanted} other cells, and there are {len(known)} other pictures",
            hint="give a folder of more pictures with --option distractors=FOLDER, or a smaller grid",
        )
    return known
