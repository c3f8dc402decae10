"""The papers of a release that people read: dataset cards in English and Chinese, and notices, made from its data."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from eyechart.releases.assets import Example
from eyechart.releases.curation import Curated
from eyechart.releases.layout import BuildSettings, PlannedImage
from eyechart.releases.row_schema import Field, yaml_features
from eyechart.releases.source_terms import is_settled, known_terms, source_name
from eyechart.schema import JsonObject, Question, content_sha256
from eyechart.views import format_view, kind_of

if TYPE_CHECKING:
    from jinja2 import Template

_CHANGES = {
    "original": ("nothing: the reference", "无：参照"),
    "crop": ("amount of context round the target", "目标周围上下文的多少"),
    "whiteground": (
        "the crop at its place on a white canvas of the original size",
        "裁剪内容贴回原尺寸白底上的原位置",
    ),
    "downsample": ("resolution of the whole picture", "整图的分辨率"),
    "target_only": ("the target box alone, all else white", "仅保留目标框内像素，其余为白色"),
    "blank": ("a white picture", "全白图像"),
}
_ENCODINGS = {
    "png": {"en": "as PNG", "zh": "为 PNG"},
    "like-original": {"en": "in the container of their original", "zh": "沿用原图的格式"},
}
LANGUAGES = {"en": "README.md", "zh": "README_ZH.md"}
"""Language of each card and its file."""


def card(
    language: str,
    curated: Curated,
    images: Sequence[PlannedImage],
    settings: BuildSettings,
    schema: Sequence[Field],
    errata: Sequence[JsonObject],
    examples: Sequence[Example],
) -> bytes:
    """Return a dataset card; the English one carries the YAML header that names every config.

    Args:
        language: A key of ``LANGUAGES``.
        curated: The questions.
        images: Every image file.
        settings: How they were made.
        schema: The columns of every config.
        errata: The entries of ``metadata/errata.json``, and ``description_zh`` in each.
        examples: One thumbnail per family.
    """
    text = _template(language).render(**_facts(curated, images, settings), errata=errata, examples=examples)
    if language != "en":
        return text.encode()
    content = content_sha256([msgspec.to_builtins(curated.questions), [image.key for image in images]])
    return f"{_header(settings, schema, content)}{text}".encode()


@cache
def _template(language: str) -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # deferred: only papers need it

    environment = Environment(
        loader=PackageLoader("eyechart.releases", "templates"),
        autoescape=False,  # noqa: S701 -- Markdown, whose raw HTML the hubs sanitise
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(f"card.{language}.md.jinja")


def notices(questions: Sequence[Question], given: Mapping[str, str]) -> bytes:
    """Return ``THIRD_PARTY_NOTICES.md``: every source with its share and its terms, left open where nobody stated them.

    Args:
        questions: The questions.
        given: Terms that the builder states, by source name.
    """
    counts = Counter(source_name(question) for question in questions)
    lines = ["# Sources and their terms", ""]
    lines += ["No licence of the whole is given here: each source's terms hold for its questions and pictures.", ""]
    for name, n in sorted(counts.items()):
        terms = known_terms(name)
        lines += [f"## {name}", "", f"{n} question{'s' if n != 1 else ''}.", ""]
        if terms is not None:
            lines += [f"{terms.title}, <{terms.url}>. {terms.found}", ""]
        if name in given:
            lines += [given[name].strip(), ""]
        elif not is_settled(name, given):
            lines += ["**Terms not settled: state them before publishing.**", ""]
    return "\n".join(lines).encode()


def _facts(curated: Curated, images: Sequence[PlannedImage], settings: BuildSettings) -> JsonObject:
    questions = curated.questions
    view_ids = [format_view(view) for view in settings.views]
    family_of = {format_view(view): kind_of(view).view.family for view in settings.views}
    n_views = Counter(family_of.values())
    n_images = Counter(family_of[image.view_id] for image in images)
    sources = Counter(source_name(question) for question in questions)
    chances = [1 / len(question.choices) for question in questions if question.choices]
    renamed = {old: settings.tasks[old] for old in sorted(set(curated.old_tasks.values()))}
    return {
        "title": settings.title,
        "repository": settings.repository,
        "place": settings.repository or "PATH_OR_REPOSITORY",
        "first_id": shlex.quote(questions[0].id),
        "n_questions": len(questions),
        "n_views": len(view_ids),
        "n_images": len(images),
        "n_files": len({question.image.file_sha256 for question in questions}),
        "n_groups": len({question.image_group for question in questions}),
        "n_saturated": sum("saturated" in image.picture.notes for image in images),
        "families": [
            {
                "name": name,
                "n_views": n,
                "n_images": n_images[name],
                "changes": _CHANGES.get(name, ("", ""))[0],
                "changes_zh": _CHANGES.get(name, ("", ""))[1],
            }
            for name, n in n_views.items()
        ],
        "tasks": dict(Counter(question.task for question in questions).most_common()),
        "sources": dict(sources.most_common()),
        "options": dict(sorted(Counter(len(question.choices) for question in questions).items(), reverse=True)),
        "chance": sum(chances) / len(chances) if len(chances) == len(questions) else None,
        "merged": renamed,
        "splits": curated.split_report,
        "encoding": _ENCODINGS[settings.encoding],
        "second_view": next((view_id for view_id in view_ids if view_id != "original"), None),
        "open_terms": [name for name in sorted(sources) if not is_settled(name, settings.notices)],
        "composition": True,
    }


def _header(settings: BuildSettings, schema: Sequence[Field], content: str) -> str:
    """Return the YAML header.

    ``datasets`` caches a local folder by this header alone, so that a rebuilt release would load as the old one: the
    description names the content.
    """
    lines = ["---", "license: other", f"pretty_name: {msgspec.json.encode(settings.title).decode()}"]
    lines += ["task_categories:", "  - visual-question-answering", "configs:"]
    for view_id in map(format_view, settings.views):
        lines.append(f"  - config_name: {view_id}")
        if view_id == "original":
            lines.append("    default: true")
        lines += [
            f"    description: content {content[:16]}",
            "    data_files:",
            "      - split: test",
            f"        path: data/{view_id}/test/**",
        ]
    declared = yaml_features(schema, "      ")
    lines.append("dataset_info:")
    for view_id in map(format_view, settings.views):
        lines += [f"  - config_name: {view_id}", "    features:", *declared]
    return "\n".join([*lines, "---", "", ""])
