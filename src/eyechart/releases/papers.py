"""Everything of a release that is not an image: rows, metadata, cards, figures, programs and notices."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

from eyechart.benchmarks._boxes import crosses_border
from eyechart.benchmarks._options import equal_up_to_case
from eyechart.images.encode import renderer
from eyechart.kinds import Benchmark
from eyechart.releases import assets, card, croissant
from eyechart.releases.bundle import bundle_modules
from eyechart.releases.curation import Curated
from eyechart.releases.journal import write_if_changed
from eyechart.releases.layout import BuildSettings, PlannedImage
from eyechart.releases.legacy import legacy_documents, upstream
from eyechart.releases.row_schema import FEATURES_FILE, FIELDS, SCHEMA_VERSION, Field, features, foreign_schema
from eyechart.releases.rows import (
    canonical_row,
    encode_document,
    encode_rows,
    foreign_fields,
    question_fields,
    view_row,
)
from eyechart.schema import BenchmarkIdentity, DecodePolicy, JsonObject, Question
from eyechart.views import IDENTICAL_VIEWS, format_view, kind_of

PROGRAMS = ("prompts", "evaluate")
_STANDALONE = "eyechart.releases.standalone"


def write_papers(
    benchmark: Benchmark, curated: Curated, images: Sequence[PlannedImage], out: Path, settings: BuildSettings
) -> None:
    """Write everything that is text or a figure, except the manifest; what holds the same bytes is not touched.

    Args:
        benchmark: Where the originals lie.
        curated: The questions.
        images: Every image file; all of them are on disk.
        out: Folder of the release.
        settings: How it is made.

    Raises:
        StoreError: If a file cannot be written.
        ImageError: If an example's image cannot be read.
    """
    questions = curated.questions
    originals = {image.question_id: image for image in images if image.is_original}
    names = {question.id: benchmark.image_path(question.image).name for question in questions}
    known = errata(questions)
    schema = row_schema(questions)
    configs = _write_rows(curated, images, out, settings, schema)
    documents: dict[str, object] = {
        "dataset.json": [canonical_row(question, originals[question.id]) for question in questions],
        "metadata/validation_summary.json": summary(questions, images, settings, benchmark.identity),
        "metadata/errata.json": known,
        "metadata/path_mapping.json": [
            {"from": upstream(question, names[question.id]), "to": originals[question.id].name}
            for question in questions
        ],
        "croissant.json": _croissant(configs, schema, questions, settings),
        FEATURES_FILE: features(schema),
    }
    for name, document in legacy_documents(curated, images, names, settings).items():
        documents[f"metadata/legacy/{name}"] = document
    files = {name: encode_document(document) for name, document in documents.items()}
    examples = assets.choose_examples(images, settings.views)
    for language, name in card.LANGUAGES.items():
        files[name] = card.card(language, curated, images, settings, schema, known, examples)
    files["THIRD_PARTY_NOTICES.md"] = card.notices(questions, settings.notices)
    files["assets/composition.svg"] = assets.draw_composition(questions)
    for example in examples:
        files[f"assets/{example.name}"] = assets.draw_example(out, example)
    for program in PROGRAMS:
        files[f"scripts/{program}.py"] = _program(program)
    for name, content in files.items():
        write_if_changed(out / name, content)


def summary(
    questions: Sequence[Question], images: Sequence[PlannedImage], settings: BuildSettings, identity: BenchmarkIdentity
) -> JsonObject:
    """Return ``metadata/validation_summary.json``: configs, counts, and every policy that decided a pixel."""
    per_view = Counter(image.view_id for image in images)
    saturated = Counter(image.view_id for image in images if "saturated" in image.picture.notes)
    view_ids = [format_view(view) for view in settings.views]
    jpeg = settings.jpeg if settings.encoding == "like-original" else None
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
        "row_schema": SCHEMA_VERSION,
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
            "jpeg": msgspec.to_builtins(jpeg),
        },
        "renderer": msgspec.to_builtins(renderer(settings.resampler)),
        "jpeg_encoder": None if jpeg is None else renderer(settings.resampler, jpeg).encoder,
        # The options hold the seed by which a source's own order of the choices was turned.
        "built_from": {"benchmark": identity.name, "revision": identity.revision, "options": identity.options},
    }


def errata(questions: Sequence[Question]) -> list[JsonObject]:
    """Return ``metadata/errata.json``: what is known to be odd, with the ids concerned."""
    across = [
        question.id
        for question in questions
        if any(crosses_border(target, question.image.size) for target in question.targets)
    ]
    twins = [question.id for question in questions if equal_up_to_case(question.choices)]
    several = [question.id for question in questions if len(question.targets) > 1]
    entries: list[tuple[str, list[str], str, str]] = [
        (
            "box_crosses_border",
            across,
            "the source box leaves the image; a clipped copy stands in bbox_clipped",
            "来源框超出图像；bbox_clipped 为裁到图内的框",
        ),
        (
            "choices_equal_up_to_case",
            twins,
            "two choices are equal up to case; the source options are kept",
            "有两个选项仅大小写不同；保留来源选项",
        ),
        (
            "several_boxes",
            several,
            "the source gives several boxes; all are kept, and views are built on target_policy",
            "来源给出多个框；全部保留，视图按 target_policy 生成",
        ),
    ]
    return [
        {"code": code, "ids": ids, "description": text, "description_zh": chinese}
        for code, ids, text, chinese in entries
        if ids
    ]


def row_schema(questions: Sequence[Question]) -> tuple[Field, ...]:
    """Return the columns of every row of a release: ours, and those of the sources' foreign fields."""
    return (*FIELDS, *foreign_schema(map(foreign_fields, questions))[0])


def _write_rows(
    curated: Curated,
    images: Sequence[PlannedImage],
    out: Path,
    settings: BuildSettings,
    schema: tuple[Field, ...],
) -> list[croissant.ConfigFile]:
    fields = {question.id: {**foreign_fields(question), **question_fields(question)} for question in curated.questions}
    configs = []
    for view in settings.views:
        view_id = format_view(view)
        shown = [image for image in images if image.view_id == view_id]
        content = encode_rows(view_row(fields[image.question_id], view, image, schema) for image in shown)
        name = f"data/{view_id}/test/metadata.jsonl"
        write_if_changed(out / name, content)
        sha256 = hashlib.sha256(content).hexdigest()
        configs.append(croissant.ConfigFile(view_id, name, sha256, len(content), len(shown)))
    return configs


def _croissant(
    configs: Sequence[croissant.ConfigFile],
    schema: Sequence[Field],
    questions: Sequence[Question],
    settings: BuildSettings,
) -> Mapping[str, object]:
    return croissant.describe(
        configs,
        schema,
        title=settings.title,
        description=f"{len(questions)} questions, each shown in the same {len(configs)} views.",
        repository=settings.repository,
        date_published=settings.date_published,
        version="1.0.0",
    )


@cache
def _program(name: str) -> bytes:
    notice = f"Bundled by eyechart {version('eyechart')} (Apache-2.0) from its modules; needs Python 3.11, no library."
    return bundle_modules(f"{_STANDALONE}.{name}", notice).encode()
