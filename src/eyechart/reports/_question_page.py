"""One question and its views as one HTML file that loads nothing."""

import base64
import json
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING

from eyechart.figures import format_px, format_size
from eyechart.reports._printable import printable
from eyechart.runs.files import write_whole
from eyechart.schema import Box, JsonObject, Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.releases.showing import ShownView

_SMALL_SIDE = 200


def write_question_page(question: Question, views: "Sequence[ShownView]", path: Path) -> Path:
    """Write the page and return its path.

    Args:
        question: The question.
        views: Its views, drawn.
        path: The file to write.

    Raises:
        StoreError: If it cannot be written.
    """
    write_whole(path, [render_question_page(question, views).encode()])
    return path


def render_question_page(question: Question, views: "Sequence[ShownView]") -> str:
    """Return the page; every text is escaped, and its policy forbids scripts and any loading."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # deferred: only pages need it

    environment = Environment(
        loader=PackageLoader("eyechart.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    extra = {name: value for name, value in question.extra.items() if value is not None}
    return environment.get_template("question.html.jinja").render(
        question=question,
        letters=ascii_uppercase,
        notes=question.notes,
        facts=_facts(question),
        views=[_view(view) for view in views],
        raw=_lines(question.text_raw or ""),
        extra=_lines(json.dumps(extra, ensure_ascii=False, indent=2, default=str)) if extra else "",
    )


def format_box(box: Box | None) -> str:
    """Write a box as its edges, without needless decimals.

    Example:
        >>> format_box(Box(1.0, 2.5, 30, 40)), format_box(None)
        ('1, 2.5, 30, 40', '–')
    """
    return "–" if box is None else ", ".join(f"{round(float(edge), 2):g}" for edge in box)


def _facts(question: Question) -> list[tuple[str, str]]:
    from eyechart.releases.showing import target_box  # deferred: it loads numpy

    size, target = question.image.size, target_box(question)
    facts = [("original", format_size(size))]
    if target is not None:
        facts.append(("target box", format_box(target)))
        facts.append(("target size", f"{format_px(float(target.width))}×{format_px(float(target.height))} px"))
        facts.append(("of the picture", f"{100 * float(target.area) / size.n_px:.3g} %"))
    if len(question.targets) > 1:
        facts.append(("boxes", f"{len(question.targets)}, {question.target_policy}"))
    return facts


def _view(view: "ShownView") -> JsonObject:
    rows = [("size", format_size(view.size))]
    if view.target is not None:
        rows.append(("target", f"{format_px(float(view.target.width))}×{format_px(float(view.target.height))} px"))
    if view.source_region is not None:
        rows.append(("shows", format_box(view.source_region)))
    if view.area_multiplier is not None:
        rows.append(("real area", f"{view.area_multiplier:.4g} × target"))
    if view.notes:
        rows.append(("notes", "; ".join(view.notes)))
    address = None
    if view.preview is not None:
        address = f"data:{view.media_type};base64,{base64.b64encode(view.preview).decode()}"
    shown = view.preview_size
    return {
        "view_id": view.view_id,
        "size": view.size,
        "box": view.target,
        "rows": rows,
        "address": address,
        "alternative": f"The question's picture in the view {view.view_id}",
        "width": shown.width if shown else 0,
        "height": shown.height if shown else 0,
        "is_small": shown is not None and max(shown) < _SMALL_SIDE,
    }


class _Lines(str):
    """A text of several lines, whose breaks are kept."""

    __slots__ = ()


def _lines(text: str) -> str:
    return _Lines("\n".join(printable(line) for line in text.splitlines()))
