"""The figures of a release's cards: its composition, and one question in one view of each family."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from eyechart.images.thumbnail import draw_thumbnail
from eyechart.releases.layout import PlannedImage
from eyechart.releases.source_terms import source_name
from eyechart.schema import Question, Size, View
from eyechart.views import format_view, kind_of

THUMBNAIL_SIDE = 280

_BAR, _ROW, _LABEL, _WIDTH = 18, 26, 210, 640
_NOT_STATED = "not stated"
# Okabe and Ito's colour-blind safe blue, and a grey with 7:1 contrast on white.
_BLUE, _INK = "#0072B2", "#333333"


class Example(NamedTuple):
    """A thumbnail of one question in one view: its file in ``assets/``, and the size of the picture as stored."""

    question_id: str
    view_id: str
    image: PlannedImage
    name: str
    size: Size


def choose_examples(images: Sequence[PlannedImage], views: Sequence[View]) -> tuple[Example, ...]:
    """Return one view of each family, all of the first question whose crops are not the whole picture.

    The view is the middle one of its family, so that neither the tightest nor the widest stands for all.

    Args:
        images: Every image file, question by question.
        views: The views of the release.
    """
    of_family: dict[str, list[str]] = {}
    for view in views:
        of_family.setdefault(kind_of(view).view.family, []).append(format_view(view))
    chosen = [names[len(names) // 2] for names in of_family.values()]
    by_question: dict[str, dict[str, PlannedImage]] = {}
    for image in images:
        if image.view_id in chosen:
            by_question.setdefault(image.question_id, {})[image.view_id] = image
    if not by_question:
        return ()
    shown = next(
        (
            files
            for files in by_question.values()
            if not any("saturated" in image.picture.notes for image in files.values())
        ),
        next(iter(by_question.values())),
    )
    return tuple(
        Example(
            question_id=shown[view_id].question_id,
            view_id=view_id,
            image=shown[view_id],
            name=f"example_{view_id}.png",
            size=shown[view_id].picture.geometry.size,
        )
        for view_id in chosen
        if view_id in shown
    )


def draw_example(out: Path, example: Example) -> bytes:
    """Return an example's thumbnail as PNG.

    Raises:
        ImageError: If the image file cannot be read.
    """
    return draw_thumbnail(out / example.image.name, THUMBNAIL_SIDE)


def draw_composition(questions: Sequence[Question]) -> bytes:
    """Return the numbers of questions by task and by source as bars, in SVG: text stays text in any script."""
    groups = {
        "Task": Counter(question.task or _NOT_STATED for question in questions),
        "Source": Counter(source_name(question) for question in questions),
    }
    parts: list[str] = []
    top = 8
    for title, counts in groups.items():
        top = _draw_group(parts, title, counts, top)
    described = "; ".join(
        f"{title}: {', '.join(f'{name} {n}' for name, n in counts.most_common())}" for title, counts in groups.items()
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}" '
        f'role="img" font-family="sans-serif" font-size="13" fill="{_INK}">'
    )
    title = f"<title>{escape(f'{len(questions)} questions. {described}')}</title>"
    ground = f'<rect width="{_WIDTH}" height="{top}" fill="#ffffff"/>'
    return "\n".join([head, title, ground, *parts, "</svg>", ""]).encode()


def _draw_group(parts: list[str], title: str, counts: Mapping[str, int], top: int) -> int:
    """Add the bars of one grouping and return where the next one starts."""
    parts.append(f'<text x="{_LABEL}" y="{top + _BAR}" font-weight="bold">{title}</text>')
    top += _ROW
    largest = max(counts.values(), default=1)
    for name, n in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        width = round((_WIDTH - _LABEL - 60) * n / largest, 1)
        middle = top + _BAR - 5
        parts += [
            f'<text x="{_LABEL - 8}" y="{middle}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{_LABEL}" y="{top}" width="{width}" height="{_BAR}" fill="{_BLUE}"/>',
            f'<text x="{_LABEL + width + 6}" y="{middle}">{n}</text>',
        ]
        top += _ROW
    return top + 10
