"""Checks of a question's image files: there, whole, as recorded, and showing what their view says."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eyechart.benchmarks._release import MEDIA_TYPES, MIRROR_OMISSIONS, ManifestEntry
from eyechart.errors import EyechartError, ImageError
from eyechart.images.decode import MAX_DECODED_PIXELS, decode
from eyechart.images.files import read_whole
from eyechart.images.pixels import DecodedImage
from eyechart.images.probe import ImageForm, describe_stream
from eyechart.releases.findings import Finding, found
from eyechart.releases.pixel_checks import check_pixels
from eyechart.schema import Box, Size, Value
from eyechart.views import IDENTICAL_VIEWS

_PAIRED = frozenset(view_id for pair in IDENTICAL_VIEWS for view_id in pair)
# Decoded pixels of two files that should be equal, where one of them went through a lossy encoder.
LOSSY_MEAN_LEVELS = 16.0


class ViewFile(Value, frozen=True):
    """One image file and what metadata and manifest say about it; None where they say nothing."""

    view_id: str
    name: str
    size: Size | None
    recorded: ManifestEntry | None
    crop: Box | None
    target: Box | None


class QuestionFiles(Value, frozen=True):
    """All image files of one question, the original first, and the group that should be the original's hash."""

    question_id: str
    files: tuple[ViewFile, ...]
    group: str | None = None
    has_manifest: bool = True


def check_images(root: Path, question: QuestionFiles) -> tuple[Finding, ...]:
    """Decode all images of one question and compare them with what is recorded and with each other.

    The original is decoded once and kept; of the other views one at a time is in memory, besides the pairs that are
    equal by definition where the original cannot be used.
    """
    return tuple(_check(root, question))


def _check(root: Path, question: QuestionFiles) -> Iterator[Finding]:
    original: DecodedImage | None = None
    unchecked: dict[str, tuple[ViewFile, DecodedImage, bool]] = {}
    for file in question.files:
        if not (root / file.name).is_file():
            yield _about(file, question, "missing_image", "", is_declared=file.name in MIRROR_OMISSIONS)
            continue
        content = read_whole(root / file.name)
        sha256 = hashlib.sha256(content).hexdigest()
        decoded, form, faults = _decode(content, file, question)
        yield from faults
        faults = list(_record_faults(content, sha256, decoded, file, question)) if decoded else []
        yield from faults
        if file.view_id == "original":
            original = decoded
            expected = file.recorded.sha256 if file.recorded and file.recorded.sha256 else sha256
            if question.group is not None and question.group != expected and not faults:
                yield _about(file, question, "wrong_group", f"{question.group[:12]}…, the original is {expected[:12]}…")
        elif decoded is not None and form is not None and not faults:
            is_lossy = form.media_type == "image/jpeg"
            if original is None:
                unchecked[file.view_id] = (file, decoded, is_lossy)
                continue
            for code, message in _pixel_faults(file, decoded, original, is_lossy=is_lossy):
                yield _about(file, question, code, message)
    yield from _identity_faults(unchecked, question)


def _pixel_faults(
    file: ViewFile, shown: DecodedImage, original: DecodedImage, *, is_lossy: bool
) -> Iterator[tuple[str, str]]:
    return check_pixels(file.view_id, shown, original, crop=file.crop, target=file.target, is_lossy=is_lossy)


def _decode(
    content: bytes, file: ViewFile, question: QuestionFiles
) -> tuple[DecodedImage | None, ImageForm | None, list[Finding]]:
    """Return the decoded picture, or the one finding that says why there is none."""
    try:
        form = describe_stream(content, file.name)
    except ImageError as error:
        return None, None, [_about(file, question, "not_an_image", error.message)]
    if form.is_animated or (form.is_cmyk and not form.has_icc):
        why = f"{form.n_frames} frames" if form.is_animated else "CMYK without a profile"
        return None, form, [_about(file, question, "refused_image", why)]
    faults = []
    if form.media_type != MEDIA_TYPES.get(Path(file.name).suffix.lower()):
        faults.append(_about(file, question, "wrong_format", f"{form.media_type} in {Path(file.name).name}"))
    if form.size.n_px > MAX_DECODED_PIXELS:
        return None, form, [*faults, _about(file, question, "too_large", f"{form.size.n_px:,} pixels")]
    try:
        return decode(content, place=file.name), form, faults
    except EyechartError as error:
        return None, form, [*faults, _about(file, question, "truncated_image", error.message)]


def _record_faults(
    content: bytes, sha256: str, decoded: DecodedImage, file: ViewFile, question: QuestionFiles
) -> Iterator[Finding]:
    recorded, size = file.recorded, decoded.source_size
    if recorded is None and question.has_manifest:
        yield _about(file, question, "not_in_manifest", "")
    if recorded is not None and recorded.sha256 is not None and recorded.sha256 != sha256:
        # Length and size follow from the content, so they are no faults of their own here.
        yield _about(file, question, "wrong_hash", f"{sha256[:12]}…, recorded {recorded.sha256[:12]}…")
        return
    if recorded is not None and recorded.n_bytes not in (None, len(content)):
        yield _about(file, question, "wrong_bytes", f"{len(content)}, recorded {recorded.n_bytes}")
    if recorded is not None and recorded.size not in (None, size):
        yield _about(file, question, "manifest_differs", f"{_text(size)}, recorded {_text(recorded.size or size)}")
    if file.size is not None and file.size != size:
        yield _about(file, question, "wrong_size", f"{_text(size)}, the row says {_text(file.size)}")


def _identity_faults(
    unchecked: dict[str, tuple[ViewFile, DecodedImage, bool]], question: QuestionFiles
) -> Iterator[Finding]:
    """Compare the pairs that are equal by definition, where there was no original to compare with."""
    for first, second in IDENTICAL_VIEWS:
        if first not in unchecked or second not in unchecked:
            continue
        (_, one, one_lossy), (file, other, other_lossy) = unchecked[first], unchecked[second]
        if one.size != other.size or not _equal(one, other, is_lossy=one_lossy or other_lossy):
            yield _about(file, question, "identity_broken", f"{first} and {second}")


def _equal(one: DecodedImage, other: DecodedImage, *, is_lossy: bool) -> bool:
    if not is_lossy:
        return bool(np.array_equal(one.pixels, other.pixels))
    return mean_difference(one, other) <= LOSSY_MEAN_LEVELS


def mean_difference(one: DecodedImage, other: DecodedImage) -> float:
    """Return the mean absolute difference of two pictures of one size, in levels 0–255."""
    return float(np.mean(np.abs(one.pixels.astype(np.int16) - other.pixels)))


def _about(file: ViewFile, question: QuestionFiles, code: str, message: str, *, is_declared: bool = False) -> Finding:
    return found(code, file.name, message, id=question.question_id, view=file.view_id, is_declared=is_declared)


def _text(size: Size) -> str:
    return f"{size.width}×{size.height}"
