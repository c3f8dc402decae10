"""What a release will hold: which file shows which view of which question, from numbers alone."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from eyechart.errors import UsageError
from eyechart.geometry import GeometryPolicy
from eyechart.images.encode import JpegSettings
from eyechart.images.resample import DEFAULT_RESAMPLER
from eyechart.kinds import PlannedPicture
from eyechart.schema import (
    Composition,
    DecodePolicy,
    Original,
    Question,
    Recipe,
    Value,
    View,
    content_sha256,
    recipe_key,
)
from eyechart.views import PRESETS, format_view, plan_view

Encoding = Literal["png", "like-original"]
DEFAULT_PRESET = "sum29-candidate-a"
SUFFIXES = {
    "image/bmp": ".bmp",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/tiff": ".tiff",
    "image/webp": ".webp",
}

_PLAIN_STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class BuildSettings(Value, frozen=True):
    """All that decides a release besides its questions.

    Args:
        views: The configs, in order; ``original`` must be among them.
        preset: Name of ``views`` where it has one.
        geometry: Border and rounding policies.
        resampler: For downsampled views.
        encoding: Built views as PNG, or in the container of their original (JPEG for JPEG, else PNG).
        jpeg: Used by ``like-original`` only.
        title: Title of the dataset cards.
        tasks: New name of a task by the name its source has.
        notices: Terms of a source that the builder states, by source name.
        repository: ``OWNER/NAME`` on the Hugging Face hub, for cards and commands.
        mirror: The same on ModelScope.
        date_published: Day of publication, ``YYYY-MM-DD``.
    """

    views: tuple[View, ...] = PRESETS[DEFAULT_PRESET]
    preset: str | None = DEFAULT_PRESET
    geometry: GeometryPolicy = GeometryPolicy()
    resampler: str = DEFAULT_RESAMPLER
    encoding: Encoding = "png"
    jpeg: JpegSettings = JpegSettings()
    title: str = "Controlled views"
    tasks: dict[str, str] = msgspec.field(default_factory=dict)
    notices: dict[str, str] = msgspec.field(default_factory=dict)
    repository: str | None = None
    mirror: str | None = None
    date_published: str | None = None


class PlannedImage(Value, frozen=True):
    """One image file of a release.

    Args:
        question_id: The question it shows.
        view_id: The config it belongs to.
        name: Path inside the release, with ``/``.
        picture: Geometry and boxes.
        key: Hash of all that decides its pixels and container; a file with the same key is not made again.
    """

    question_id: str
    view_id: str
    name: str
    picture: PlannedPicture
    key: str

    @property
    def is_original(self) -> bool:
        """Whether the file is the original's own bytes."""
        return self.view_id == format_view(Original())

    @property
    def file_name(self) -> str:
        """Path relative to the view's metadata file."""
        return str(PurePosixPath(self.name).relative_to(f"data/{self.view_id}/test"))

    @property
    def composition(self) -> Composition:
        """The geometry; grids are refused when a release is planned.

        Raises:
            UsageError: If the view is drawn on a grid.
        """
        if not isinstance(self.picture.geometry, Composition):
            raise _not_one_picture(self.view_id)
        return self.picture.geometry


def plan_release(questions: Iterable[Question], settings: BuildSettings) -> Iterator[PlannedImage]:
    """Yield every image file of a release, question by question in the order of the views.

    Raises:
        UsageError: If ``original`` is not among the views, or a view is not one picture.
        GeometryError: If a view of a question cannot be made, for example because it has no target box.
    """
    views = {format_view(view): view for view in settings.views}
    if "original" not in views:
        raise UsageError("a release needs the view original", hint="add original to the views")
    for question in questions:
        for view_id, view in views.items():
            pictures = plan_view(view, question, settings.geometry)
            if len(pictures) != 1 or not isinstance(pictures[0].geometry, Composition):
                raise _not_one_picture(view_id)
            yield _planned(question, view_id, pictures[0], pictures[0].geometry, settings)


def file_stem(question_id: str) -> str:
    """Return a file name for a question id, its own text where that is a plain name, else a part of its hash.

    Example:
        >>> file_stem("000602"), file_stem("../x")
        ('000602', 'q-d6b96a97d147daaa')
    """
    if _PLAIN_STEM.fullmatch(question_id):
        return question_id
    return f"q-{hashlib.sha256(question_id.encode()).hexdigest()[:16]}"


def original_key(file_sha256: str) -> str:
    """Return the key of an original kept as it is."""
    return content_sha256(["original", file_sha256])


def _planned(
    question: Question, view_id: str, picture: PlannedPicture, geometry: Composition, settings: BuildSettings
) -> PlannedImage:
    media_type = question.image.media_type
    is_jpeg = settings.encoding == "like-original" and media_type == "image/jpeg"
    if view_id == "original":
        suffix, key = SUFFIXES[media_type], original_key(question.image.file_sha256)
    else:
        resampler = settings.resampler if geometry.resized else None
        recipe = Recipe(geometry=geometry, decode=DecodePolicy(), resampler=resampler)
        suffix = ".jpg" if is_jpeg else ".png"
        key = content_sha256([recipe_key(question.image.file_sha256, recipe), settings.jpeg if is_jpeg else "png"])
    name = f"data/{view_id}/test/images/{file_stem(question.id)}{suffix}"
    return PlannedImage(question.id, view_id, name, picture, key)


def _not_one_picture(view_id: str) -> UsageError:
    return UsageError(
        f"view {view_id} is not one picture made from the original, so a release cannot hold it",
        hint="leave it out; eyechart run makes such views itself",
    )


def check_unique_names(images: Sequence[PlannedImage]) -> None:
    """Refuse questions whose files would have the same name, also on file systems that ignore case.

    Raises:
        UsageError: If two would.
    """
    first: dict[str, PlannedImage] = {}
    for image in images:
        other = first.setdefault(image.name.casefold(), image)
        if other is not image:
            raise UsageError(
                f"questions {other.question_id!r} and {image.question_id!r} would both be written to {image.name}",
                hint="give the questions ids that differ in more than case",
            )
