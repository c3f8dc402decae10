"""The target box a view is built on, and the compositions that several families share."""

import msgspec

from eyechart.geometry import (
    GeometryPolicy,
    check_area,
    clip,
    grow_area,
    intersect,
    target_of,
    translate,
    whole,
)
from eyechart.kinds import PlannedPicture
from eyechart.schema import Box, Composition, Question, Size


def visible_target(question: Question) -> Box:
    """Return the question's target, cut at the image border, in original pixels.

    Raises:
        GeometryError: If there is no target, it has no area, or it lies outside the image.
    """
    target = target_of(question.targets_clipped or question.targets, question.target_policy)
    check_area(target)
    return clip(target, question.image.size)


def pixel_target(question: Question, policy: GeometryPolicy) -> Box:
    """Return the integer box of the target: what ``crop_1x`` shows and ``target_only`` keeps."""
    return crop_box(question, 1.0, policy)


def crop_box(question: Question, area_ratio: float, policy: GeometryPolicy) -> Box:
    """Return the integer crop of ``area_ratio`` times the target's area, inside the image.

    Raises:
        GeometryError: If no crop can be made.
    """
    target = visible_target(question)
    if policy.target_basis == "source":
        target = target_of(question.targets, question.target_policy)
    return grow_area(target, area_ratio, question.image.size, policy)


def planned_crop(question: Question, area_ratio: float, policy: GeometryPolicy) -> PlannedPicture:
    """Plan the cut-out of ``area_ratio`` times the target's area."""
    crop = crop_box(question, area_ratio, policy)
    canvas = Size(int(crop.width), int(crop.height))
    return PlannedPicture(
        geometry=Composition(canvas=canvas, kept=crop),
        source_region=crop,
        target=translate(visible_target(question), -crop.x0, -crop.y0),
        area_multiplier=crop.area / visible_target(question).area,
        notes=("saturated",) if crop == whole(question.image.size) else (),
    )


def on_original_canvas(question: Question, crop: Box) -> PlannedPicture:
    """Plan a crop at its own place on a white canvas of the original size."""
    return PlannedPicture(
        geometry=Composition(canvas=question.image.size, kept=crop, offset=(int(crop.x0), int(crop.y0))),
        source_region=crop,
        target=visible_target(question),
        area_multiplier=crop.area / visible_target(question).area,
        notes=("saturated",) if crop == whole(question.image.size) else (),
    )


def target_alone(picture: PlannedPicture, question: Question, policy: GeometryPolicy) -> PlannedPicture:
    """Plan the target box alone on the canvas of another picture, all else white."""
    crop = picture.source_region or whole(question.image.size)
    kept = intersect(pixel_target(question, policy), crop)
    assert kept is not None  # noqa: S101 -- a grown box contains its own start
    offset = (int(kept.x0 - crop.x0), int(kept.y0 - crop.y0))
    geometry = Composition(canvas=picture.geometry.size, kept=kept, offset=offset)
    return msgspec.structs.replace(picture, geometry=geometry)


def target_or_none(question: Question) -> Box | None:
    """Return the visible target, or None for a question without targets."""
    return visible_target(question) if question.targets else None
