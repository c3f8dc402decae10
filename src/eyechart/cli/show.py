"""Show one question with all its views."""

from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._app import printable
from eyechart.cli._flags import Data, Option, Plugin, load_plugins, open_named_benchmark
from eyechart.cli._output import Json, data_console, print_json, print_table, say
from eyechart.cli._picture_flags import PictureFlags
from eyechart.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyechart.releases.showing import ShownView
    from eyechart.schema import Question

_PICTURES = PictureFlags()


def show(
    question_id: str,
    /,
    *,
    benchmark: Annotated[str, Parameter(help="Where the question is.")] = "sum",
    views: Annotated[str, Parameter(help="Comma-separated view ids or a preset; a release's own views.")] = "sum29",
    out: Annotated[
        Path | None, Parameter(help="HTML file to write; question-ID.html in the current folder if left out.")
    ] = None,
    page: Annotated[bool, Parameter(negative="--no-page", help="Write the HTML page.")] = True,
    data: Data = None,
    option: Option = (),
    plugin: Plugin = (),
    picture_flags: PictureFlags = _PICTURES,
    json: Json = False,
) -> int:
    """Show one question: text, choices, target box, notes, and every view with its box, here and as an HTML page.

    Args:
        question_id: Its id; leading zeros may be left out.
    """
    from eyechart.cli.run import choose_views
    from eyechart.releases.layout import file_stem
    from eyechart.releases.showing import find_question, show_views
    from eyechart.reports import write_question_page
    from eyechart.views import format_view

    load_plugins(plugin)
    if picture_flags.exif == "apply":
        raise UsageError("show keeps stored pixels, as boxes do", hint="leave --exif out")
    opened = open_named_benchmark(benchmark, data, option)
    question = find_question(opened, question_id)
    named, _ = choose_views(opened, views)
    view_ids = [format_view(view) for view in named]
    shown = show_views(opened, question, view_ids, picture_flags.geometry_policy())
    if json:
        import msgspec

        bare = [msgspec.structs.replace(view, preview=None) for view in shown]
        print_json({"question": question, "views": bare})
    else:
        _print_question(question)
        _print_views(shown)
    if page:
        path = out or Path(f"question-{file_stem(question.id)}.html")
        say(f"page: {write_question_page(question, shown, path)}")
    return 0


def _print_question(question: "Question") -> None:
    from eyechart.releases.showing import target_box
    from eyechart.reports import format_box

    console = data_console()
    size = question.image.size
    lines = [f"{question.id} · {question.benchmark}", question.text]
    for letter, choice in zip(ascii_uppercase, question.choices, strict=False):
        lines.append(f"  {letter}. {choice}{'   ← the recorded answer' if letter == question.answer else ''}")
    if question.answers:
        lines.append(f"  accepted: {' / '.join(question.answers)}")
    lines.append(f"picture {size.width}×{size.height}, {question.image.media_type}; group {question.image_group[:12]}")
    lines += [f"task {question.task or 'not stated'}; source {question.source or 'not stated'}"]
    if question.targets:
        several = f" ({len(question.targets)} boxes, {question.target_policy})" if len(question.targets) > 1 else ""
        lines.append(f"target {format_box(target_box(question))}{several}")
    lines += [f"note: {note}" for note in question.notes]
    for line in lines:
        console.print(printable(line), markup=False, soft_wrap=True)


def _print_views(views: "Sequence[ShownView]") -> None:
    from eyechart.figures import format_size
    from eyechart.reports import format_box

    print_table(
        ["view", ">size", "target in the view", "shows of the original", ">real area × target", "notes"],
        [
            [
                view.view_id,
                format_size(view.size),
                format_box(view.target),
                format_box(view.source_region),
                "" if view.area_multiplier is None else f"{view.area_multiplier:.4g}",
                "; ".join(view.notes),
            ]
            for view in views
        ],
        title="",
    )
