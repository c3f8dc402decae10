"""``metadata/legacy``: what a collection was made from and by which rules, with portable paths."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from eyechart.releases.curation import Curated
from eyechart.releases.layout import BuildSettings, PlannedImage
from eyechart.releases.stems import RULES
from eyechart.schema import DecodePolicy, JsonObject, Question

_PIXEL_RULES = {
    "boxes": "half-open [x0, x1) x [y0, y1) in stored pixels of the original; EXIF orientation is not applied",
    "crop": "both sides of the target grow by the square root of the factor about its centre, by the policies below",
    "whiteground": "the crop's pixels at their own place on a white canvas of the original size",
    "target_only": "the pixels of the target's integer box alone, on the canvas of the crop or of the original",
    "downsample": "the whole decoded original, resampled once; each side at least 1 pixel",
    "white": "RGB 255, 255, 255",
}


def legacy_documents(
    curated: Curated, images: Sequence[PlannedImage], names: Mapping[str, str], settings: BuildSettings
) -> dict[str, object]:
    """Return the documents of ``metadata/legacy`` by file name.

    ``upstream://`` strings say where something came from; they are not files of the release.

    Args:
        curated: The questions and what was changed about them.
        images: Every image file.
        names: File name of each question's original where it came from, by question id.
        settings: How the images were made.
    """
    return {
        "category_mapping.json": _categories(curated, settings),
        "crop_boxes.json": _crop_boxes(images),
        "pixel_rules.json": {
            "rules": _PIXEL_RULES,
            "geometry": msgspec.to_builtins(settings.geometry),
            "decode": msgspec.to_builtins(DecodePolicy()),
            "resampler": settings.resampler,
            "encoding": settings.encoding,
        },
        "sources.json": [_source(question, names[question.id], curated) for question in curated.questions],
        "stem_split.json": _splits(curated),
    }


def upstream(question: Question, name: str) -> str:
    """Return the provenance of a question's original.

    Args:
        question: The question.
        name: File name of the original where it came from.
    """
    return f"upstream://{question.benchmark}/{name}"


def _categories(curated: Curated, settings: BuildSettings) -> JsonObject:
    before = Counter(curated.old_tasks.get(question.id, question.task or "") for question in curated.questions)
    return {
        "mapping": dict(sorted(settings.tasks.items())),
        "questions_before": dict(sorted(before.items())),
        "questions_after": dict(sorted(Counter(question.task or "" for question in curated.questions).items())),
        "renamed": [
            {"id": question.id, "from": curated.old_tasks[question.id], "to": question.task}
            for question in curated.questions
            if question.id in curated.old_tasks
        ],
        "unused": sorted(set(settings.tasks) - set(before)),
    }


def _crop_boxes(images: Sequence[PlannedImage]) -> JsonObject:
    """Return crop box and effective area multiplier of every image that has one, by view and id."""
    boxes: dict[str, object] = {}
    for image in images:
        if image.picture.area_multiplier is not None and image.picture.source_region is not None:
            of_view = boxes.setdefault(image.view_id, {})
            if isinstance(of_view, dict):
                of_view[image.question_id] = {
                    "crop_box_original": [int(edge) for edge in image.picture.source_region],
                    "effective_area_multiplier": image.picture.area_multiplier,
                    "saturated": "saturated" in image.picture.notes,
                }
    return boxes


def _source(question: Question, name: str, curated: Curated) -> JsonObject:
    return {
        "id": question.id,
        "benchmark": question.benchmark,
        "source_dataset": question.source,
        "source_question_id": question.extra.get("source_question_id", question.id),
        "image": upstream(question, name),
        "image_sha256": question.image.file_sha256,
        "question_raw": question.text_raw,
        "task": curated.old_tasks.get(question.id, question.task),
        "boxes": [list(box) for box in question.targets],
        "target_policy": question.target_policy if len(question.targets) > 1 else None,
    }


def _splits(curated: Curated) -> JsonObject:
    report = curated.split_report
    return {
        "rules": list(RULES),
        "n_split": report.n_split,
        "n_without_options": report.n_without_options,
        "not_split": list(report.not_split),
        "cut": {question_id: split.cut for question_id, split in curated.splits.items() if split.cut},
    }
