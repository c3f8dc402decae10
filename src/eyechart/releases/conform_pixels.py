"""Which resampler made the downsampled pixels of a release, and which views that should be equal are."""

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eyechart.benchmarks._foreign_views import known_view
from eyechart.images.decode import decode
from eyechart.images.pixels import DecodedImage, Pixels
from eyechart.images.resample import RESAMPLERS, resample
from eyechart.schema import Crop, Downsample, Size, Value, Whiteground
from eyechart.views import IDENTICAL_VIEWS

SATURATED = "saturated crop or whiteground"


class PixelSample(NamedTuple):
    """The image files of one question, by view; ``original`` is among them, ``saturated`` views show all of it."""

    question_id: str
    files: dict[str, Path]
    saturated: frozenset[str] = frozenset()


AREA_AVERAGE = "area-average (OpenCV INTER_AREA)"


class ResamplerFit(Value, frozen=True):
    """How near one resampler comes to the released downsamples.

    Args:
        resampler: Its name; ``area-average`` is not a resampler of ours but a common one elsewhere.
        n_equal: Views that it reproduces to the bit; none can be if the release stores them as JPEG.
        n_views: Views compared.
        mean_levels: Mean absolute difference over all of them, in levels 0–255.
    """

    resampler: str
    n_equal: int
    n_views: int
    mean_levels: float


class IdentityCount(Value, frozen=True):
    """How often two views that are equal by definition are equal in pixels.

    ``max_levels`` is the largest difference of one sample among the pairs of equal size; None if there was none.
    """

    first: str
    second: str
    n_equal: int
    n_compared: int
    max_levels: int | None


def compare_pixels(samples: Sequence[PixelSample]) -> tuple[tuple[ResamplerFit, ...], tuple[IdentityCount, ...]]:
    """Decode a sample of questions and compare.

    Returns:
        One fit per installed resampler, the nearest first, and one count per pair; both empty without a sample.

    Raises:
        ImageError: If an image cannot be decoded.
    """
    names = (*_installed_resamplers(), AREA_AVERAGE)
    fits = [fit for name in names if (fit := _fit_resampler(name, samples)) is not None]
    pairs = [_count_equal(first, second, _two_files(samples, first, second)) for first, second in IDENTICAL_VIEWS]
    pairs.append(_count_equal(SATURATED, "original", _saturated_files(samples)))
    return (
        tuple(sorted(fits, key=lambda fit: (fit.mean_levels, fit.resampler))),
        tuple(pair for pair in pairs if pair.n_compared),
    )


def _installed_resamplers() -> tuple[str, ...]:
    has_cykooz = find_spec("cykooz_resizer") is not None
    return tuple(name for name in RESAMPLERS if has_cykooz or not name.startswith("cykooz"))


def _fit_resampler(resampler: str, samples: Sequence[PixelSample]) -> ResamplerFit | None:
    differences = []
    for sample in samples:
        original: DecodedImage | None = None
        for view_id, path in sample.files.items():
            if isinstance(known_view(view_id), Downsample):
                original = original or decode(sample.files["original"])
                differences.append(_difference(original, decode(path), resampler))
    if not differences:
        return None
    n_equal = sum(difference == 0.0 for difference in differences)
    return ResamplerFit(resampler, n_equal, len(differences), float(np.mean(differences)))


def _difference(original: DecodedImage, shown: DecodedImage, resampler: str) -> float:
    if resampler == AREA_AVERAGE:
        made = area_average(original.pixels, shown.size)
    else:
        made = np.asarray(resample(original.image, shown.size, resampler))
    return float(np.mean(np.abs(made.astype(np.int16) - shown.pixels)))


def area_average(pixels: Pixels, size: Size) -> Pixels:
    """Return every new pixel as the mean of the old ones under it, parts of pixels by their share.

    Args:
        pixels: (height, width, 3) uint8.
        size: New size, no larger than the old one.

    Example:
        >>> area_average(np.array([[[0, 0, 0], [90, 90, 90], [60, 60, 60]]], np.uint8), Size(2, 1))[0, :, 0].tolist()
        [30, 70]
    """
    rows, columns = _area_weights(pixels.shape[0], size.height), _area_weights(pixels.shape[1], size.width)
    averaged = np.tensordot(rows, np.tensordot(columns, pixels.astype(np.float32), axes=(1, 1)), axes=(1, 1))
    return np.rint(averaged).astype(np.uint8)


def _area_weights(n_old: int, n_new: int) -> npt.NDArray[np.float32]:
    """Return the share of each old pixel in each new one, shape (n_new, n_old); rows sum to 1."""
    edges = np.arange(n_new + 1) * (n_old / n_new)
    low, high = edges[:-1, np.newaxis], edges[1:, np.newaxis]
    old = np.arange(n_old)
    overlap = np.clip(np.minimum(high, old + 1) - np.maximum(low, old), 0, None)
    shares: npt.NDArray[np.float32] = (overlap * (n_new / n_old)).astype(np.float32)
    return shares


FilePair = tuple[Path, Path]


def _two_files(samples: Sequence[PixelSample], first: str, second: str) -> Iterator[FilePair]:
    for sample in samples:
        if first in sample.files and second in sample.files:
            yield sample.files[first], sample.files[second]


def _saturated_files(samples: Sequence[PixelSample]) -> Iterator[FilePair]:
    """Yield every view that pastes or cuts the whole picture, beside its original."""
    for sample in samples:
        for view_id in sorted(sample.saturated):
            if isinstance(known_view(view_id), Crop | Whiteground):
                yield sample.files[view_id], sample.files["original"]


def _count_equal(first: str, second: str, files: Iterable[FilePair]) -> IdentityCount:
    n_equal, n_compared, largest = 0, 0, None
    for one_path, other_path in files:
        one, other = decode(one_path).pixels, decode(other_path).pixels
        n_compared += 1
        if one.shape == other.shape:
            levels = int(np.max(np.abs(one.astype(np.int16) - other)))
            n_equal += levels == 0
            largest = max(levels, largest or 0)
    return IdentityCount(first, second, n_equal, n_compared, largest)
