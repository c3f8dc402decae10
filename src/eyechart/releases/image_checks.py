"""Checks of a question's image files: there, whole, as recorded, and showing what their view says."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from eyechart.benchmarks._release import MEDIA_TYPES, MIRROR_OMISSIONS, ManifestEntry
from eyechart.errors import EyechartError, ImageError
from eyechart.geometry import integer_box, intersect, whole
from eyechart.images.decode import decode
from eyechart.images.files import read_whole
from eyechart.images.giga import needs_tiles
from eyechart.images.hash import file_sha256
from eyechart.images.pixels import DecodedImage
from eyechart.images.probe import describe_stream, header_size
from eyechart.releases.findings import Finding, found
from eyechart.releases.large_pictures import LargePicture
from eyechart.releases.pixel_checks import AnyPicture, check_pixels
from eyechart.schema import Box, Size, Value, View
from eyechart.views import IDENTICAL_VIEWS

_PAIRED = frozenset(view_id for pair in IDENTICAL_VIEWS for view_id in pair)
# Decoded pixels of two files that should be equal, where one of them went through a lossy encoder.
LOSSY_MEAN_LEVELS = 16.0


class ViewFile(Value, frozen=True):
    """One image file and what metadata and manifest say about it; None where they say nothing.

    ``view`` is what its id or its row says that it shows.

    ``targets`` holds the target inside the image, then the box of the source where it is another one.
    """

    view_id: str
    view: View | None
    name: str
    size: Size | None
    recorded: ManifestEntry | None
    crop: Box | None
    targets: tuple[Box, ...] = ()


class QuestionFiles(Value, frozen=True):
    """All image files of one question, the original first, and the group that should be the original's hash."""

    question_id: str
    files: tuple[ViewFile, ...]
    group: str | None = None
    has_manifest: bool = True


class _Read(NamedTuple):
    """What was read of a file; no picture where it has none."""

    sha256: str
    n_bytes: int
    picture: AnyPicture | None
    is_lossy: bool


def check_images(root: Path, question: QuestionFiles) -> tuple[Finding, ...]:
    """Decode all images of one question and compare them with what is recorded and with each other.

    The original is decoded once and kept; of the other views one at a time is in memory, besides the pairs that are
    equal by definition where the original cannot be used.
    """
    return tuple(_check(root, question))


def _check(root: Path, question: QuestionFiles) -> Iterator[Finding]:
    original: AnyPicture | None = None
    unchecked: dict[str, tuple[ViewFile, DecodedImage, bool]] = {}
    for file in question.files:
        if not (root / file.name).is_file():
            yield _about(file, question, "missing_image", "", is_declared=file.name in MIRROR_OMISSIONS)
            continue
        read, faults = _read(root / file.name, file, question)
        yield from faults
        faults = list(_record_faults(read, file, question)) if read.picture else []
        yield from faults
        if file.view_id == "original":
            original = read.picture
            expected = file.recorded.sha256 if file.recorded and file.recorded.sha256 else read.sha256
            if question.group is not None and question.group != expected and not faults:
                yield _about(file, question, "wrong_group", f"{question.group[:12]}…, the original is {expected[:12]}…")
        elif read.picture is not None and not faults:
            if original is not None:
                for code, message in _pixel_faults(file, read.picture, original, is_lossy=read.is_lossy):
                    yield _about(file, question, code, message)
            elif isinstance(read.picture, DecodedImage):
                unchecked[file.view_id] = (file, read.picture, read.is_lossy)
    yield from _identity_faults(unchecked, question)


def _pixel_faults(
    file: ViewFile, shown: AnyPicture, original: AnyPicture, *, is_lossy: bool
) -> Iterator[tuple[str, str]]:
    return check_pixels(file.view, shown, original, crop=file.crop, targets=file.targets, is_lossy=is_lossy)


def _read(path: Path, file: ViewFile, question: QuestionFiles) -> tuple[_Read, list[Finding]]:
    """Read a file; a picture too large to decode at once is read to its end, but not kept."""
    content = None if _is_large(path) else read_whole(path)
    if content is None:
        sha256, n_bytes = file_sha256(path)
    else:
        sha256, n_bytes = hashlib.sha256(content).hexdigest(), len(content)
    unread = _Read(sha256, n_bytes, None, is_lossy=False)
    try:
        form = describe_stream(path if content is None else content, file.name)
    except ImageError as error:
        return unread, [_about(file, question, "not_an_image", error.message)]
    if form.is_animated or (form.is_cmyk and not form.has_icc):
        why = f"{form.n_frames} frames" if form.is_animated else "CMYK without a profile"
        return unread, [_about(file, question, "refused_image", why)]
    faults = []
    if form.media_type != MEDIA_TYPES.get(Path(file.name).suffix.lower()):
        faults.append(_about(file, question, "wrong_format", f"{form.media_type} in {Path(file.name).name}"))
    try:
        picture = decode(content, place=file.name) if content is not None else _open_large(path, file, question)
    except EyechartError as error:
        return unread, [*faults, _about(file, question, "truncated_image", error.message)]
    return _Read(sha256, n_bytes, picture, is_lossy=form.media_type == "image/jpeg"), faults


def _is_large(path: Path) -> bool:
    try:
        return needs_tiles(header_size(path))
    except ImageError:
        return False  # said where it is read


def _open_large(path: Path, file: ViewFile, question: QuestionFiles) -> LargePicture:
    """Open a large picture; of an original what its views show is read together."""
    boxes = [box for each in question.files for box in (each.crop, *each.targets[:1]) if box is not None]
    size = header_size(path)
    inside = [intersect(integer_box(box, "outward"), whole(size)) for box in boxes if file.view_id == "original"]
    return LargePicture(path, file.name, [box for box in inside if box is not None])


def _record_faults(read: _Read, file: ViewFile, question: QuestionFiles) -> Iterator[Finding]:
    assert read.picture is not None  # noqa: S101 -- the caller has looked
    recorded, size = file.recorded, read.picture.source_size
    sha256, n_bytes = read.sha256, read.n_bytes
    if recorded is None and question.has_manifest:
        yield _about(file, question, "not_in_manifest", "")
    if recorded is not None and recorded.sha256 is not None and recorded.sha256 != sha256:
        # Length and size follow from the content, so they are not faults of their own here.
        yield _about(file, question, "wrong_hash", f"{sha256[:12]}…, recorded {recorded.sha256[:12]}…")
        return
    if recorded is not None and recorded.n_bytes not in (None, n_bytes):
        yield _about(file, question, "wrong_bytes", f"{n_bytes}, recorded {recorded.n_bytes}")
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
