"""One question with all its views for a person to look at: what each shows, where the target lies, what is odd."""

from collections.abc import Sequence
from io import BytesIO

from PIL import Image

from eyechart.benchmarks._foreign_views import known_view
from eyechart.errors import BenchmarkError, EyechartError, UsageError
from eyechart.geometry import GeometryPolicy, target_of
from eyechart.images.thumbnail import draw_thumbnail
from eyechart.kinds import Benchmark, PlannedPicture
from eyechart.registry import unknown_name
from eyechart.releases.previews import draw_previews, preview_size
from eyechart.schema import Box, Composition, Question, Size, Value, ViewImage
from eyechart.views import plan_view

PREVIEW_SIDE = 560
# Below this side every pixel counts for the eye, so nothing may be lost to JPEG.
_LOSSLESS_SIDE = 200


class ShownView(Value, frozen=True):
    """One view of a question.

    Args:
        view_id: The view.
        size: Size of the picture as it is sent; None where there is none.
        target: The target in its pixels.
        source_region: Part of the original that it shows.
        area_multiplier: Real area of that part by the area of the target.
        notes: ``saturated``, ``released``, or why there is no picture.
        preview: PNG or JPEG, shrunk to fit; None where there is no picture.
        media_type: Of the preview.
        preview_size: Size of the preview.
    """

    view_id: str
    size: Size | None
    target: Box | None
    source_region: Box | None
    area_multiplier: float | None
    notes: tuple[str, ...]
    preview: bytes | None
    media_type: str | None
    preview_size: Size | None


def find_question(benchmark: Benchmark, question_id: str) -> Question:
    """Return a question by its id; digits find the id padded with zeros.

    Raises:
        UsageError: If there is none; the hint names near ones.
    """
    known = {question.id: question for question in benchmark.questions()}
    found = known.get(question_id) or known.get(question_id.zfill(len(next(iter(known), ""))))
    if found is None:
        raise unknown_name("question", question_id, tuple(known))
    return found


def show_views(
    benchmark: Benchmark, question: Question, view_ids: Sequence[str], policy: GeometryPolicy | None = None
) -> tuple[ShownView, ...]:
    """Draw every view of a question.

    A view that the benchmark releases is shown as its file; the others are planned and drawn from the original. A view
    that cannot be made of this question is listed with the reason.

    Args:
        benchmark: Where the question and its pictures come from.
        question: The question.
        view_ids: The views, in order.
        policy: Border and rounding of views that are made here.

    Raises:
        ImageError: If the original cannot be read.
    """
    shown: dict[str, ShownView] = {}
    planned: dict[str, PlannedPicture] = {}
    for view_id in view_ids:
        try:
            released = benchmark.released_image(question, view_id) if view_id in benchmark.released_views() else None
            if released is not None:
                shown[view_id] = _released(benchmark, view_id, released)
            elif view_id in benchmark.released_views():
                shown[view_id] = _absent(view_id, "its image is not on disk")
            else:
                planned[view_id] = _plan(view_id, question, policy or GeometryPolicy())
        except EyechartError as error:
            shown[view_id] = _absent(view_id, error.message)
    original = benchmark.image_path(question.image)
    geometries = [picture.geometry for picture in planned.values() if isinstance(picture.geometry, Composition)]
    previews = draw_previews(original, geometries, PREVIEW_SIDE) if geometries else ()
    for (view_id, picture), preview in zip(planned.items(), previews, strict=True):
        shown[view_id] = _drawn(view_id, picture, preview)
    return tuple(shown[view_id] for view_id in view_ids)


def target_box(question: Question) -> Box | None:
    """Return the box that views of a question are built on, as its source gives it."""
    return target_of(question.targets, question.target_policy) if question.targets else None


def _plan(view_id: str, question: Question, policy: GeometryPolicy) -> PlannedPicture:
    view = known_view(view_id)
    if view is None:
        raise UsageError(f"view {view_id!r} is of no known family", hint="eyechart ls views")
    pictures = plan_view(view, question, policy)
    if len(pictures) != 1 or not isinstance(pictures[0].geometry, Composition):
        raise BenchmarkError(f"{view_id} is not one picture made from the original", hint="")
    return pictures[0]


def _released(benchmark: Benchmark, view_id: str, released: ViewImage) -> ShownView:
    size = released.image.size
    as_jpeg = min(size) > _LOSSLESS_SIDE
    preview = draw_thumbnail(benchmark.image_path(released.image), PREVIEW_SIDE, as_jpeg=as_jpeg)
    return ShownView(
        view_id=view_id,
        size=size,
        target=released.target_in_view,
        source_region=released.source_region,
        area_multiplier=_effective(released),
        notes=(*released.notes, "released"),
        preview=preview,
        media_type="image/jpeg" if as_jpeg else "image/png",
        preview_size=preview_size(size, PREVIEW_SIDE),
    )


def _effective(released: ViewImage) -> float | None:
    value = released.extra.get("crop_area_effective")
    return float(value) if isinstance(value, int | float) else None


def _drawn(view_id: str, picture: PlannedPicture, preview: Image.Image) -> ShownView:
    stream = BytesIO()
    as_jpeg = min(picture.geometry.size) > _LOSSLESS_SIDE
    if as_jpeg:
        preview.save(stream, "JPEG", quality=88)
    else:
        preview.save(stream, "PNG")
    return ShownView(
        view_id=view_id,
        size=picture.geometry.size,
        target=picture.target,
        source_region=picture.source_region,
        area_multiplier=picture.area_multiplier,
        notes=picture.notes,
        preview=stream.getvalue(),
        media_type="image/jpeg" if as_jpeg else "image/png",
        preview_size=Size(*preview.size),
    )


def _absent(view_id: str, reason: str) -> ShownView:
    return ShownView(view_id, None, None, None, None, (reason,), None, None, None)
