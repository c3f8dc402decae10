"""Let a person answer the same views in the browser, or correct questions and boxes."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._command import recorded_command
from eyechart.cli._flags import Data, Option, Plugin, load_plugins, open_named_benchmark
from eyechart.cli._output import Json, print_json, print_table, say
from eyechart.cli._picture_flags import PictureFlags
from eyechart.errors import UsageError

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from eyechart.kinds import Benchmark
    from eyechart.runs.plan import Plan
    from eyechart.schema import View

_PICTURES = PictureFlags()
_LOOPBACK = "127.0.0.1"
_EXIT_MISSING = 3


def annotate(
    benchmark: str | None = None,
    /,
    *,
    person: Annotated[str | None, Parameter(name="--as", help="Name of the person.")] = None,
    views: Annotated[str, Parameter(help="Comma-separated view ids or a preset.")] = "original",
    limit: Annotated[int | None, Parameter(help="Ask so many whole questions, the same for everybody.")] = None,
    seed: Annotated[int, Parameter(help="Seed of the choice under --limit and of the order.")] = 0,
    zoom: Annotated[bool, Parameter(negative="--no-zoom", help="Let the person enlarge pictures; recorded.")] = False,
    out: Annotated[Path | None, Parameter(help="Run folder; else one is found or made in runs/.")] = None,
    boxes: Annotated[bool, Parameter(negative="", help="Draw and adjust target boxes instead.")] = False,
    edit: Annotated[
        bool, Parameter(negative="", help="Correct questions, options, answers and boxes instead.")
    ] = False,
    edits: Annotated[Path, Parameter(help="Folder of corrections.")] = Path("edits"),
    write: Annotated[
        Path | None, Parameter(help="Write the corrected questions as a question file, and serve nothing.")
    ] = None,
    agreement: Annotated[
        tuple[Path, ...],
        Parameter(negative="", show_default=False, help="Run of a person; repeat it to see how far people agree."),
    ] = (),
    port: Annotated[int | None, Parameter(help="Port; 8765 or, if that is taken, a free one.")] = None,
    data: Data = None,
    option: Option = (),
    plugin: Plugin = (),
    picture_flags: PictureFlags = _PICTURES,
    json: Json = False,
) -> int:
    """Serve the views of a benchmark to a person until Ctrl-C; the same command goes on where the person stopped.

    Answers become a run like any model's, so report, diff and explore take it. Nothing leaves this machine.

    Args:
        benchmark: Name of the benchmark, for example folder or demo.
    """
    load_plugins(plugin)
    if agreement:
        return _show_agreement(agreement, edits, json=json)
    if benchmark is None:
        raise UsageError("no benchmark was named", hint="eyechart annotate BENCH --as NAME")
    opened = open_named_benchmark(benchmark, data, option)
    if write is not None:
        return _write_edited(opened, edits, write)
    if not person or not person.strip():
        raise UsageError("nobody was named", hint="eyechart annotate BENCH --as NAME")
    from eyechart.views import resolve_views

    is_editing = boxes or edit
    named = resolve_views("original")[0] if is_editing else resolve_views(views)[0]
    plan = _plan(opened, named, person, zoom=zoom, limit=limit, seed=seed, picture_flags=picture_flags)
    if is_editing:
        return _edit(opened, plan, edits, person, only_boxes=not edit, port=port)
    return _answer(opened, plan, out, zoom=zoom, port=port)


def _plan(
    benchmark: "Benchmark",
    views: "tuple[View, ...]",
    person: str,
    *,
    zoom: bool,
    limit: int | None,
    seed: int,
    picture_flags: PictureFlags,
) -> "Plan":
    from eyechart.kinds import ModelOptions
    from eyechart.opening import open_model, open_prompt
    from eyechart.runs.choosing import defaults_of
    from eyechart.runs.plan import PlanOptions, plan_run
    from eyechart.schema import DecodePolicy, Sampling

    return plan_run(
        benchmark,
        views,
        open_prompt(defaults_of(benchmark).prompt),
        model=open_model(f"human/{person.strip()}", ModelOptions(settings={"zoom": zoom})).identity,
        sampling=Sampling(temperature=None, max_tokens=None),
        options=PlanOptions(
            limit=limit,
            seed=seed,
            decode=DecodePolicy(exif=picture_flags.exif),
            geometry_policy=picture_flags.geometry_policy(),
            resampler=picture_flags.resampler,
        ),
    )


def _answer(benchmark: "Benchmark", plan: "Plan", out: Path | None, *, zoom: bool, port: int | None) -> int:
    from eyechart.explorer.annotate_server import build_annotator
    from eyechart.explorer.annotating import Annotation
    from eyechart.runs.folders import Destination

    annotation = Annotation(plan, benchmark, Destination(out=out), recorded_command())
    if annotation.warning:
        say(annotation.warning)
    done = annotation.progress
    say(f"{annotation.store.folder}: {done.n_done} of {done.n_all} answers are there")
    with contextlib.closing(annotation):
        if annotation.position is not None:
            _serve(build_annotator(annotation, zoom=zoom), port)
    left = annotation.progress.n_all - annotation.progress.n_done
    if left:
        say(f"{left} answers are missing: the same command goes on")
    say(f"estimates: eyechart report {annotation.store.folder}")
    return _EXIT_MISSING if left else 0


def _edit(
    benchmark: "Benchmark", plan: "Plan", folder: Path, person: str, *, only_boxes: bool, port: int | None
) -> int:
    from eyechart.explorer.annotate_server import build_editor
    from eyechart.explorer.editing import Editing

    with contextlib.closing(Editing(plan, benchmark, folder, person.strip())) as editing:
        _serve(build_editor(editing, only_boxes=only_boxes), port)
    say(f"corrections are in {folder}; eyechart annotate BENCH --edits {folder} --write FILE makes a question file")
    return 0


def _serve(application: "Starlette", port: int | None) -> None:
    import uvicorn

    from eyechart.cli.explore import listen

    listening = listen(_LOOPBACK, port)
    say(f"open http://{_LOOPBACK}:{listening.getsockname()[1]}/   (Ctrl-C ends)")
    config = uvicorn.Config(application, log_level="warning", access_log=False)
    with contextlib.closing(listening), contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def _write_edited(benchmark: "Benchmark", edits: Path, path: Path) -> int:
    import msgspec

    from eyechart.explorer.editing import edited_rows, read_edits
    from eyechart.runs.files import write_whole

    found = read_edits(edits)
    rows = edited_rows(benchmark, found)
    write_whole(path, (msgspec.json.encode(row) + b"\n" for row in rows))
    say(f"wrote {path}: {len(rows)} questions with {len(found)} corrections; read it with --option box_format=xyxy")
    return 0


def _show_agreement(folders: tuple[Path, ...], edits: Path, *, json: bool) -> int:
    from eyechart.explorer.agreement import people_agreement
    from eyechart.explorer.editing import read_edits
    from eyechart.runs.store import RunStore

    found = people_agreement([RunStore(folder) for folder in folders], edits=read_edits(edits))
    if json:
        print_json(found)
        return 0
    rows = [
        [
            one.view,
            f"{100 * one.value:.1f} [{100 * one.low:.1f}, {100 * one.high:.1f}]",
            str(one.n_answers),
            str(one.n_people),
        ]
        for one in found.accuracies
    ]
    print_table(["view", ">accuracy, % [95 %]", ">answers", ">people"], rows, title=f"{', '.join(found.people)}")
    alpha = "unknown" if found.alpha is None else f"{found.alpha:.3f}"
    say(f"Krippendorff's alpha {alpha} over {found.n_shared} questions that two or more answered")
    if found.box_overlap is not None:
        say(f"mean intersection over union {found.box_overlap:.3f} of {found.n_boxes} pairs of boxes")
    if len(found.people) == 1:
        say("one person: the interval says nothing about other people")
    return 0
