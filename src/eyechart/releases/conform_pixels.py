"""Which resampler made the downsampled pixels of a release, and which views that should be equal are."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from eyechart.images.decode import decode
from eyechart.images.pixels import DecodedImage
from eyechart.images.resample import RESAMPLERS, resample
from eyechart.releases.view_geometry import known_view
from eyechart.schema import Downsample, Value
from eyechart.views import IDENTICAL_VIEWS


class PixelSample(NamedTuple):
    """The image files of one question, by view; ``original`` is among them."""

    question_id: str
    files: dict[str, Path]


class ResamplerFit(Value, frozen=True):
    """How near one resampler comes to the released downsamples.

    Args:
        resampler: Its name.
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
    fits = [fit for name in _installed_resamplers() if (fit := _fit_resampler(name, samples)) is not None]
    pairs = [_count_equal(first, second, samples) for first, second in IDENTICAL_VIEWS]
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
    made = np.asarray(resample(original.image, shown.size, resampler))
    return float(np.mean(np.abs(made.astype(np.int16) - shown.pixels)))


def _count_equal(first: str, second: str, samples: Sequence[PixelSample]) -> IdentityCount:
    n_equal, n_compared, largest = 0, 0, None
    for sample in samples:
        if first not in sample.files or second not in sample.files:
            continue
        one, other = decode(sample.files[first]).pixels, decode(sample.files[second]).pixels
        n_compared += 1
        if one.shape == other.shape:
            levels = int(np.max(np.abs(one.astype(np.int16) - other)))
            n_equal += levels == 0
            largest = max(levels, largest or 0)
    return IdentityCount(first, second, n_equal, n_compared, largest)
