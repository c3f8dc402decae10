"""The papers of a release: dataset card, notices, summary, errata and path mapping, made from its data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from eyechart.benchmarks._answers import equal_up_to_case
from eyechart.benchmarks._boxes import crosses_border
from eyechart.images.encode import renderer
from eyechart.releases.layout import BuildSettings, PlannedImage
from eyechart.schema import BenchmarkIdentity, DecodePolicy, JsonObject, Question, content_sha256
from eyechart.views import IDENTICAL_VIEWS, format_view, kind_of

_CARD = """\
# {title}

{n_questions} questions in {n_views} aligned views: {n_images} images of {n_pictures} distinct originals in
{n_groups} image groups. Built by eyechart from the benchmark `{benchmark}`.

| family | views | what changes |
| --- | ---: | --- |
{families}

Crop factors are areas, downsample factors are widths and heights. Boxes are half-open `xyxy` in pixels.
The views of one question are no independent data: keep an `image_group_id` and all its views on one side of any split.

```python
from datasets import load_dataset

original = load_dataset("PATH_OR_REPOSITORY", "original", split="test")
```

## Composition

| task | questions |
| --- | ---: |
{tasks}

| source | questions |
| --- | ---: |
{sources}

## How the views were made

Original files keep their bytes; built views are {encoding}. All policies are in `metadata/validation_summary.json`.
{n_saturated} built images are saturated: their crop is the whole picture.
Known issues are in `metadata/errata.json`; terms of the sources in `THIRD_PARTY_NOTICES.md`.
"""

_CHANGES = {
    "original": "nothing: the reference",
    "crop": "amount of context round the target",
    "whiteground": "the crop at its place on a white canvas of the original size",
    "downsample": "resolution of the whole picture",
    "target_only": "the target box alone, all else white",
}


def card(questions: Sequence[Question], images: Sequence[PlannedImage], settings: BuildSettings) -> bytes:
    """Return ``README.md``: a YAML header that names every config, and what the data say about themselves."""
    view_ids = [format_view(view) for view in settings.views]
    families = Counter(kind_of(view).view.family for view in settings.views)
    text = _CARD.format(
        title=settings.title,
        n_questions=len(questions),
        n_views=len(view_ids),
        n_images=len(images),
        n_pictures=len({question.image.file_sha256 for question in questions}),
        n_groups=len({question.image_group for question in questions}),
        benchmark=questions[0].benchmark,
        families="\n".join(f"| {name} | {n} | {_CHANGES.get(name, '')} |" for name, n in families.items()),
        tasks=_counts(question.task for question in questions),
        sources=_counts(question.source for question in questions),
        encoding="PNG" if settings.encoding == "png" else "in the container of their original",
        n_saturated=sum("saturated" in image.picture.notes for image in images),
    )
    content = content_sha256([msgspec.to_builtins(questions), [image.key for image in images]])
    return f"{_header(view_ids, settings.title, content)}{text}".encode()


def notices(questions: Sequence[Question]) -> bytes:
    """Return ``THIRD_PARTY_NOTICES.md``: every source with its share, terms left open where nobody stated them."""
    sources = Counter(question.source or question.benchmark for question in questions)
    entries = "".join(
        f"\n## {name}\n\n{n} questions. Terms: not stated in the data this release was built from; state them before"
        " publishing.\n"
        for name, n in sorted(sources.items())
    )
    return f"# Sources and their terms\n{entries}".encode()


def summary(
    questions: Sequence[Question], images: Sequence[PlannedImage], settings: BuildSettings, identity: BenchmarkIdentity
) -> JsonObject:
    """Return ``metadata/validation_summary.json``: configs, counts, and every policy that decided a pixel."""
    per_view = Counter(image.view_id for image in images)
    saturated = Counter(image.view_id for image in images if "saturated" in image.picture.notes)
    view_ids = [format_view(view) for view in settings.views]
    return {
        "configs": [
            {
                "config_name": view_id,
                "view_family": kind_of(view).view.family,
                "split": "test",
                "rows": per_view[view_id],
                "saturated": saturated[view_id],
            }
            for view_id, view in zip(view_ids, settings.views, strict=True)
        ],
        "default_config": "original",
        "view_preset": settings.preset,
        "n_questions": len(questions),
        "n_images": len(images),
        "n_image_groups": len({question.image_group for question in questions}),
        "n_original_files": len({question.image.file_sha256 for question in questions}),
        "n_choices": dict(sorted(Counter(str(len(question.choices)) for question in questions).items())),
        "pixel_identical_views": [pair for pair in IDENTICAL_VIEWS if set(pair) <= set(view_ids)],
        "policies": {
            "geometry": msgspec.to_builtins(settings.geometry),
            "decode": msgspec.to_builtins(DecodePolicy()),
            "resampler": settings.resampler,
            "encoding": settings.encoding,
            "jpeg": msgspec.to_builtins(settings.jpeg) if settings.encoding == "like-original" else None,
        },
        "renderer": msgspec.to_builtins(renderer(settings.resampler)),
        "built_from": {"benchmark": identity.name, "revision": identity.revision},
    }


def errata(questions: Sequence[Question]) -> list[JsonObject]:
    """Return ``metadata/errata.json``: what is known to be odd, with the ids concerned."""
    across = [
        question.id
        for question in questions
        if any(crosses_border(target, question.image.size) for target in question.targets)
    ]
    twins = [question.id for question in questions if equal_up_to_case(question.choices)]
    entries: list[tuple[str, list[str], str]] = [
        ("box_crosses_border", across, "the source box leaves the image; a clipped copy stands in bbox_clipped"),
        ("choices_equal_up_to_case", twins, "two choices are equal up to case; the source options are kept"),
    ]
    return [{"code": code, "ids": ids, "description": text} for code, ids, text in entries if ids]


def path_mapping(questions: Sequence[Question], names: Mapping[str, str], originals: Mapping[str, str]) -> object:
    """Return ``metadata/path_mapping.json``: provenance of each original, never a path on somebody's machine.

    Args:
        questions: All questions.
        names: File name of each question's original where it came from, by question id.
        originals: Its path inside the release, by question id.
    """
    return [
        {"from": f"upstream://{question.benchmark}/{names[question.id]}", "to": originals[question.id]}
        for question in questions
    ]


def _header(view_ids: Sequence[str], title: str, content: str) -> str:
    """Return the YAML header.

    ``datasets`` caches a local folder by this header alone, so that a rebuilt release would load as the old one: the
    description names the content.
    """
    lines = ["---", "license: other", f"pretty_name: {msgspec.json.encode(title).decode()}", "configs:"]
    for view_id in view_ids:
        lines.append(f"  - config_name: {view_id}")
        if view_id == "original":
            lines.append("    default: true")
        lines += [
            f"    description: content {content[:16]}",
            "    data_files:",
            "      - split: test",
            f"        path: data/{view_id}/test/**",
        ]
    return "\n".join([*lines, "---", "", ""])


def _counts(names: Iterable[str | None]) -> str:
    counts = Counter(name or "not stated" for name in names)
    return "\n".join(f"| {name} | {n} |" for name, n in counts.most_common())
