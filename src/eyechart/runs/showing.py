"""Which pictures a question is shown as: every view as geometry, or as the file that a release holds."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from eyechart.geometry import rotate_box, whole
from eyechart.kinds import Benchmark, Geometry, PlannedPicture
from eyechart.runs.plan_options import PlanOptions
from eyechart.schema import (
    Box,
    Composition,
    DecodePolicy,
    Grid,
    ImageRef,
    NoImage,
    Picture,
    Question,
    Recipe,
    Release,
    Size,
    View,
    ViewImage,
    recipe_key,
)
from eyechart.seen.transport import FitSize, carry_target, fit_geometry, parse_transport
from eyechart.views import format_view, plan_view

MISSING_RELEASE = "missing_in_release"
"""Note on a view image whose released file does not exist: it is not asked, and not counted as wrong."""

# EXIF orientations from 5 on swap the axes (JEITA CP-3451, tag 0x0112).
_FIRST_SWAPPED_ORIENTATION = 5


class Shown(NamedTuple):
    """One view of one question.

    Args:
        condition: Name under which it is grouped.
        view: The view's id.
        rows: Its rows for views.jsonl.
        pictures: What is sent, None where a released file is missing.
    """

    condition: str
    view: str
    rows: tuple[ViewImage, ...]
    pictures: tuple[Picture, ...] | None


class Shower:
    """Plans the pictures of every view of a question."""

    def __init__(
        self, benchmark: Benchmark, views: tuple[View, ...], options: PlanOptions, fit: FitSize | None
    ) -> None:
        self._benchmark = benchmark
        self._transport, self._fit = parse_transport(options.transport), fit
        self._views = tuple((format_view(view), view) for view in views)
        self._released = frozenset(benchmark.released_views())
        self._options = options

    def views_of(self, question: Question) -> Iterator[Shown]:
        """Yield every view of a question."""
        standing = upright(question, self._options.decode)
        for view_id, view in self._views:
            if view_id in self._released:
                yield self._released_view(question, standing, view_id, view)
            elif _is_unread(question.image) and not isinstance(view, NoImage):
                yield self._unread_view(question.image, view_id)
            else:
                planned = plan_view(view, standing, self._options.geometry_policy)
                pictures = tuple(
                    self._sent_picture(question.image, one.geometry, one.target, len(planned)) for one in planned
                )
                rows = [
                    _view_row(question.id, view_id, index, picture, plan)
                    for index, (picture, plan) in enumerate(zip(pictures, planned, strict=True))
                ]
                yield Shown(view_id, view_id, tuple(rows), pictures)

    def plan(self, question: Question, view: View) -> tuple[PlannedPicture, ...]:
        """Return the pictures of a view built from the question's original, before any transport policy."""
        return plan_view(view, upright(question, self._options.decode), self._options.geometry_policy)

    def show(
        self, question: Question, condition: str, view_id: str, planned: PlannedPicture, size: Size | None = None
    ) -> Shown:
        """Return one planned picture of a view, at a size of its own if one is given, as the policy lets it leave."""
        geometry, target = planned.geometry, planned.target
        if size is not None:
            geometry, target = fit_geometry(geometry, size), carry_target(target, geometry.size, size)
        picture = self._sent_picture(question.image, geometry, target, n_pictures=1)
        row = _view_row(question.id, view_id, 0, picture, planned)
        row = msgspec.structs.replace(row, target_in_view=picture.target, extra={**row.extra, "condition": condition})
        return Shown(condition, view_id, (row,), (picture,))

    def _sent_picture(
        self, image: ImageRef, geometry: Geometry, target: Box | None, n_pictures: int, release: Release | None = None
    ) -> Picture:
        """Return a picture as the transport policy lets it leave."""
        size = self._transport.resize(geometry.size, n_pictures, self._fit)
        sent = fit_geometry(geometry, size)
        # The pictures of a grid become squares of one size.
        is_resampled = not isinstance(sent, Composition) or sent.resized is not None
        recipe = Recipe(
            geometry=sent,
            decode=self._options.decode,
            resampler=self._options.resampler if is_resampled else None,
            transport=self._options.transport,
        )
        return Picture(
            image=image,
            recipe=recipe,
            recipe_key=recipe_key(image.file_sha256, recipe),
            size=size,
            target=carry_target(target, geometry.size, size),
            release=release,
        )

    def _released_view(self, question: Question, standing: Question, view_id: str, view: View) -> Shown:
        """Plan a released file as it stands; where it is missing, say so with the size it should have."""
        released = self._benchmark.released_image(question, view_id)
        if released is not None and _is_unread(released.image):
            return self._unread_view(released.image, view_id)
        if released is None and _is_unread(question.image):
            return Shown(view_id, view_id, (), None)
        if released is None:
            planned = plan_view(view, standing, self._options.geometry_policy)
            rows = tuple(_missing_row(question.id, view_id, picture.geometry.size) for picture in planned)
            return Shown(view_id, view_id, rows, None)
        size = upright_size(released.image, self._options.decode)
        target = released.target_in_view
        if target is not None and self._options.decode.exif == "apply":
            target = rotate_box(target, released.image.size, released.image.exif_orientation)
        picture = self._sent_picture(
            released.image,
            Composition(canvas=size, kept=whole(size)),
            target,
            n_pictures=1,
            release=self._release(standing, view, released.image),
        )
        row = msgspec.structs.replace(
            released, question_id=question.id, view=view_id, recipe_key=picture.recipe_key, target_in_view=target
        )
        return Shown(view_id, view_id, (row,), (picture,))

    def _unread_view(self, image: ImageRef, view_id: str) -> Shown:
        """Plan a view of a picture whose size is not known: a request that is never sent, and no view image."""
        recipe = Recipe(
            geometry=Composition(canvas=image.size, kept=None),
            decode=self._options.decode,
            transport=self._options.transport,
        )
        picture = Picture(image, recipe, recipe_key(image.file_sha256, recipe), image.size)
        return Shown(view_id, view_id, (), (picture,))

    def _release(self, standing: Question, view: View, image: ImageRef) -> Release | None:
        """Return what a released file shows of the original; None for the original itself and for grids."""
        is_original = image.file_sha256 == standing.image.file_sha256
        if is_original or isinstance(view, Grid) or _is_unread(standing.image):
            return None
        planned = plan_view(view, standing, self._options.geometry_policy)
        geometry = planned[0].geometry if planned else None
        if not isinstance(geometry, Composition):
            return None
        return Release(standing.image.file_sha256, standing.image.size, geometry)


def _is_unread(image: ImageRef) -> bool:
    """Whether nothing of a picture is known, not even its size, because it cannot be read."""
    return image.fault is not None and not image.size.n_px


def upright(question: Question, decode: DecodePolicy) -> Question:
    """Return the question as the decode policy shows its picture: with ``exif="apply"`` size and boxes are rotated.

    The result serves geometry only: ``image.size`` is then the size after rotation.
    """
    orientation = question.image.exif_orientation
    if decode.exif == "ignore" or orientation == 1:
        return question
    stored = question.image.size
    return msgspec.structs.replace(
        question,
        image=msgspec.structs.replace(question.image, size=upright_size(question.image, decode)),
        targets=tuple(rotate_box(box, stored, orientation) for box in question.targets),
        targets_clipped=tuple(rotate_box(box, stored, orientation) for box in question.targets_clipped),
    )


def upright_size(image: ImageRef, decode: DecodePolicy) -> Size:
    """Return the size of a picture after decoding by the policy.

    Example:
        >>> upright_size(ImageRef("", Size(4, 3), "image/jpeg", exif_orientation=6), DecodePolicy(exif="apply"))
        Size(width=3, height=4)
    """
    if decode.exif == "apply" and image.exif_orientation >= _FIRST_SWAPPED_ORIENTATION:
        return Size(image.size.height, image.size.width)
    return image.size


def _view_row(question_id: str, view_id: str, index: int, picture: Picture, planned: PlannedPicture) -> ViewImage:
    return ViewImage(
        question_id=question_id,
        view=view_id,
        index=index,
        image=ImageRef(file_sha256="", size=picture.size, media_type="image/png"),
        recipe_key=picture.recipe_key,
        source_region=planned.source_region,
        target_in_view=planned.target,
        notes=planned.notes,
        extra={} if planned.area_multiplier is None else {"area_multiplier": planned.area_multiplier},
    )


def _missing_row(question_id: str, view_id: str, size: Size) -> ViewImage:
    image = ImageRef(file_sha256="", size=size, media_type="")
    return ViewImage(question_id=question_id, view=view_id, image=image, notes=(MISSING_RELEASE,))
