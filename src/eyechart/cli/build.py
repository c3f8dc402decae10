"""Write a collection with all its views."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from cyclopts import Group, Parameter

from eyechart.cli._build_grids import GRID_BENCHMARKS, build_grid_configs, open_grids
from eyechart.cli._events import switch_events
from eyechart.cli._flags import (
    Boxes,
    Data,
    Option,
    Plugin,
    load_plugins,
    open_named_benchmark,
    tell_reading,
)
from eyechart.cli._output import Json, print_json, say
from eyechart.cli._picture_flags import PictureFlags
from eyechart.cli._targets import check_targets
from eyechart.errors import UsageError
from eyechart.settings import parse_pairs

if TYPE_CHECKING:
    from eyechart.kinds import Benchmark
    from eyechart.releases.build import BuildReport
    from eyechart.releases.layout import BuildSettings

_PICTURES = PictureFlags()
_Collection = Group("Collection", sort_key=1)


def build(
    benchmark: str,
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder of the collection; made if missing.")],
    views: Annotated[str, Parameter(help="Comma-separated view ids or a preset.")] = "sum29",
    encoding: Annotated[
        Literal["png", "like-original", "jpeg75"] | None,
        Parameter(
            help="Built views as PNG (if left out), or JPEG where the original is JPEG; grids as JPEG 75, as HRScene "
            "has them (if left out), or as PNG."
        ),
    ] = None,
    grid: Annotated[
        str | None, Parameter(help="Cells a side of whitebackground or complexgrid, such as 5 or 1,5.")
    ] = None,
    select: Annotated[
        Path | None, Parameter(group=_Collection, help="File of the ids to take, one a line, in this order.")
    ] = None,
    task: Annotated[
        tuple[str, ...],
        Parameter(
            group=_Collection,
            negative="",
            show_default=False,
            help="Rename a task, as OLD=NEW; recorded, and several may become one; may be repeated.",
        ),
    ] = (),
    title: Annotated[str | None, Parameter(group=_Collection, help="Title of the cards.")] = None,
    repository: Annotated[
        str | None, Parameter(group=_Collection, help="OWNER/NAME on the Hugging Face hub, for cards and commands.")
    ] = None,
    mirror: Annotated[
        str | None, Parameter(group=_Collection, help="OWNER/NAME on ModelScope, for the commands.")
    ] = None,
    jobs: Annotated[int | None, Parameter(help="Rendering processes; one per processor if left out.")] = None,
    data: Data = None,
    option: Option = (),
    boxes: Boxes = None,
    plugin: Plugin = (),
    picture_flags: PictureFlags = _PICTURES,
    json: Json = False,
) -> int:
    """Write every view of every question in the layout of SUM, or grids in that of HRScene. Goes on if interrupted.

    Args:
        benchmark: Name of a benchmark with target boxes, for example folder; or whitebackground or complexgrid; or a
            recipe, FILE.toml, of several sources with their selections, names and terms.
    """
    from eyechart.cli._work import WorkProgress
    from eyechart.releases.build import build_release
    from eyechart.releases.layout import BuildSettings
    from eyechart.views import resolve_views

    switch_events(json)
    load_plugins(plugin)
    if grid is not None or benchmark in GRID_BENCHMARKS:
        return build_grid_configs(
            open_grids(benchmark, data, option, grid),
            out,
            encoding=encoding,
            resampler=picture_flags.resampler,
            jobs=jobs,
            json=json,
        )
    if encoding == "jpeg75":
        raise UsageError("a release has no JPEG of one quality", hint="--encoding png or like-original")
    if picture_flags.exif == "apply":
        raise UsageError(
            "--exif apply cannot be built: a release keeps the bytes of its originals",
            hint="turn the picture files and their boxes first, or leave --exif out",
        )
    _refuse_run_flags(picture_flags)
    named, preset = resolve_views(views)
    settings = BuildSettings(
        views=named,
        preset=preset,
        geometry=picture_flags.geometry_policy(),
        resampler=picture_flags.resampler,
        encoding=encoding or "png",
    )
    if benchmark.endswith(".toml"):
        if data is not None or option or select is not None or task or boxes is not None:
            raise UsageError(
                f"{benchmark} is a recipe, which names data, options, selections and tasks itself",
                hint="leave --data, --option, --boxes, --select and --task out",
            )
        opened, settings = _open_recipe(Path(benchmark), settings)
    else:
        opened = _open_selected(benchmark, data, option, select, boxes)
    check_targets(opened, named)
    renamed = {old: str(new) for old, new in parse_pairs(task, "--task").items()}
    settings = msgspec.structs.replace(
        settings,
        tasks={**settings.tasks, **renamed},
        title=title or settings.title,
        repository=repository or settings.repository,
        mirror=mirror or settings.mirror,
    )
    with WorkProgress("build", "images", str(out)) as progress:
        built = build_release(
            opened,
            out,
            settings,
            n_processes=jobs,
            on_progress=progress.update,
        )
    if json:
        print_json(built)
    else:
        _say_built(built)
    return 0


def _refuse_run_flags(flags: PictureFlags) -> None:
    """Refuse what decides how a view is sent, which a release of files knows nothing of."""
    for name, is_given in (
        ("--transport", flags.transport != _PICTURES.transport),
        ("--match", flags.match is not None),
        ("--rules", flags.rules is not None),
    ):
        if is_given:
            raise UsageError(
                f"{name} decides what a run sends, and a release holds the views themselves",
                hint=f"leave {name} out here, and give it to eyechart run",
            )


def _open_recipe(path: Path, settings: "BuildSettings") -> "tuple[Benchmark, BuildSettings]":
    from eyechart.releases.collection import open_collection, read_notices, read_recipe

    recipe = read_recipe(path)
    opened = open_collection(recipe, path.parent)
    tell_reading(opened)
    changed = msgspec.structs.replace(
        settings,
        title=recipe.title,
        tasks=recipe.tasks,
        notices=read_notices(recipe, path.parent, opened),
        repository=recipe.repository,
        mirror=recipe.mirror,
        date_published=recipe.date_published,
    )
    return opened, changed


def _open_selected(
    name: str, data: Path | None, option: tuple[str, ...], select: Path | None, boxes: Path | None
) -> "Benchmark":
    from eyechart.releases.collection import CollectionBenchmark, Part, read_ids

    opened = open_named_benchmark(name, data, option, boxes)
    return opened if select is None else CollectionBenchmark([Part(opened, read_ids(select))], None)


def _say_built(built: "BuildReport") -> None:
    say(
        f"{built.n_questions} questions, {built.n_images} images: {built.n_written} written, "
        f"{built.n_kept} kept from before, {built.n_removed} stale ones removed"
    )
    if built.stems.n_split:
        say(f"{built.stems.n_split} texts split into stem and options; the source texts stay in question_raw")
    for told in built.fields:
        say(f"warning: {told}")
    say("before you publish (eyechart uploads nothing):")
    for line in built.checklist:
        say(f"  {line}")
