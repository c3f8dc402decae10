"""Write a collection with all its views."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from eyechart.cli._build_grids import GRID_BENCHMARKS, build_grid_configs, open_grids
from eyechart.cli._flags import Data, Option, PictureFlags, Plugin, load_plugins, open_named_benchmark
from eyechart.cli._output import Json, notes_console, print_json, say
from eyechart.errors import UsageError

_PICTURES = PictureFlags()


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
    jobs: Annotated[int | None, Parameter(help="Rendering processes; one per processor if left out.")] = None,
    data: Data = None,
    option: Option = (),
    plugin: Plugin = (),
    picture_flags: PictureFlags = _PICTURES,
    json: Json = False,
) -> int:
    """Write every view of every question in the layout of SUM, or grids in that of HRScene. Goes on if interrupted.

    Args:
        benchmark: Name of a benchmark with target boxes, for example folder; or whitebackground or complexgrid.
    """
    from rich.progress import Progress

    from eyechart.releases.build import build_release
    from eyechart.releases.layout import BuildSettings
    from eyechart.views import resolve_views

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
    opened = open_named_benchmark(benchmark, data, option)
    named, preset = resolve_views(views)
    settings = BuildSettings(
        views=named,
        preset=preset,
        geometry=picture_flags.geometry_policy(),
        resampler=picture_flags.resampler,
        encoding=encoding or "png",
    )
    console = notes_console()
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("views", total=None)
        built = build_release(
            opened,
            out,
            settings,
            n_processes=jobs,
            on_progress=lambda n_done, n_all: progress.update(bar, completed=n_done, total=n_all),
        )
    if json:
        print_json(built)
    else:
        say(
            f"{built.n_questions} questions, {built.n_images} images: {built.n_written} written, "
            f"{built.n_kept} kept from before, {built.n_removed} stale ones removed"
        )
    say(f"check it: eyechart verify {out}")
    return 0
