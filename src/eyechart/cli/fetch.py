"""Fetch a published collection, or any part of it."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._events import switch_events
from eyechart.cli._hub import HostName, open_host
from eyechart.cli._output import Json, print_json, say
from eyechart.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eyechart.hub.collections import Collection
    from eyechart.hub.fetch import FetchReport, Wanted
    from eyechart.hub.loading import LoadProgress, OnProgress

_N_SHOWN = 3
_KILO = 1000
_INCOMPLETE = 3


def fetch(
    collection: str,
    /,
    *,
    views: Annotated[
        str | None, Parameter(help="View ids of a release, comma-separated, or all; the rows of each come along.")
    ] = None,
    ids: Annotated[
        str | None,
        Parameter(help="Question ids, comma-separated, in all views if none is named; all questions if left out."),
    ] = None,
    part: Annotated[str | None, Parameter(help="Part of a collection that is not a release, for example 4k.")] = None,
    files: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Pattern of files to fetch instead; may be repeated."),
    ] = (),
    stream: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="Fetch no image; run … --stream loads and drops them."),
    ] = False,
    dry_run: Annotated[
        bool, Parameter(negative="", show_default=False, help="Tell files and bytes, and load nothing.")
    ] = False,
    out: Annotated[Path | None, Parameter(help="Folder to fill; the collection's name if left out.")] = None,
    data: Annotated[Path | None, Parameter(help="A copy on disk to take the files from, instead of a hub.")] = None,
    host: Annotated[
        HostName | None,
        Parameter(
            help="Which hub; modelscope needs the extra of that name. huggingface if left out.", show_default=False
        ),
    ] = None,
    repository: Annotated[str | None, Parameter(help="owner/name of a mirror or fork, if not the usual one.")] = None,
    revision: Annotated[
        str | None, Parameter(help="Branch, tag or commit; pinned by the first call into a folder.")
    ] = None,
    jobs: Annotated[int, Parameter(help="Downloads side by side.")] = 8,
    json: Json = False,
) -> int:
    """Load what is asked for and not there yet; every file is checked by length and hash. Run it again to go on.

    HF_ENDPOINT names another hub, HF_HUB_OFFLINE=1 forbids the network, HF_TOKEN opens what is not public.

    Args:
        collection: sum, vstar, zoombench, hrbench or hrscene.
    """
    switch_events(json)
    from eyechart.hub.collections import find_collection
    from eyechart.hub.fetch import fetch as fetch_collection

    chosen = find_collection(collection)
    folder = out or Path(collection)
    wanted = _wanted(chosen, views=views, ids=ids, part=part, files=files, has_images=not stream)
    source = open_host(chosen, folder, data=data, host=host, repository=repository)
    if files:
        chosen = _as_files(chosen)
    if jobs < 1:
        raise UsageError(f"--jobs {jobs} is not a number of downloads", hint="write a whole number from 1")
    with _bar(folder) as on_progress:
        report = fetch_collection(
            source,
            chosen,
            folder,
            wanted,
            revision=revision,
            is_dry_run=dry_run,
            n_at_once=jobs,
            on_progress=on_progress,
        )
    if json:
        print_json(report)
    return _tell(report, chosen, part=part, is_dry_run=dry_run, is_streamed=stream)


def _wanted(
    collection: "Collection",
    *,
    views: str | None,
    ids: str | None,
    part: str | None,
    files: tuple[str, ...],
    has_images: bool,
) -> "Wanted":
    from eyechart.hub.collections import patterns_of
    from eyechart.hub.fetch import Wanted

    is_release = collection.layout == "release"
    if files:
        if views is not None or ids is not None or part is not None:
            raise UsageError("--files stands alone", hint="leave --views, --ids and --part out")
        return Wanted(patterns=files)
    if not is_release:
        if views is not None or ids is not None:
            raise UsageError(
                f"{collection.name} has neither views nor ids to choose from before it is read",
                hint=f"choose --part {' or '.join(collection.parts)}",
            )
        return Wanted(patterns=patterns_of(collection, part))
    if part is not None:
        raise UsageError(f"{collection.name} has no parts", hint="choose with --views and --ids")
    if views is None and ids is None:
        raise UsageError(
            f"{collection.name}: {collection.about}",
            hint="--views original,crop_3x, --views all, or --ids 000602; try --dry-run",
        )
    names = ("all",) if views is None else tuple(name.strip() for name in views.split(",") if name.strip())
    asked = None if ids is None else tuple(ids.split(","))
    return Wanted(views=names, ids=asked, has_images=has_images)


@contextmanager
def _bar(folder: Path) -> "Iterator[OnProgress]":
    """Show bytes of all files together."""
    from eyechart.cli._work import WorkProgress

    with WorkProgress("fetch", "bytes", str(folder)) as progress:

        def tell(now: "LoadProgress") -> None:
            progress.update(now.n_bytes, now.n_bytes_all, f"{now.n_files} of {now.n_files_all} files")

        yield tell


def _tell(
    report: "FetchReport", collection: "Collection", *, part: str | None, is_dry_run: bool, is_streamed: bool
) -> int:
    """Say what was done and what to do next; return the exit code."""
    from eyechart.hub.collections import reading

    verb = "to load" if is_dry_run else "loaded"
    n_kept = report.n_files - report.n_loaded
    say(f"{report.repository} ({report.host}), revision {report.revision}")
    say(
        f"{report.n_loaded} files {verb}, {in_words(report.n_loaded_bytes)}; {n_kept} of {report.n_files} are in "
        f"{report.folder} already"
    )
    for is_known in (True, False):
        absent = [path for path in report.absent if (path in collection.omitted) == is_known]
        if absent:
            shown = f"{', '.join(absent[:_N_SHOWN])}{', …' if len(absent) > _N_SHOWN else ''}"
            what = "known to be missing there" if is_known else "although its rows name them"
            noun = "image" if len(absent) == 1 else "images"
            say(f"warning: {report.repository} lacks {len(absent)} {noun}, {what}: {shown}")
    if not is_dry_run and collection.layout == "release":
        views = ",".join(report.views)
        more = " --stream" if is_streamed else ""
        say(f"next: eyechart run {collection.name} --data {report.folder} --views {views} --model …{more}")
    elif not is_dry_run:
        benchmark, _, option = reading(collection, part).partition(" ")
        say(f"next: eyechart run {benchmark} --data {report.folder}{' ' * bool(option)}{option} --model …")
    return _INCOMPLETE if set(report.absent) - set(collection.omitted) else 0


def in_words(n_bytes: int) -> str:
    """Return a number of bytes as a person reads it, in powers of 1000.

    Example:
        >>> in_words(999), in_words(1_234_000), in_words(44_400_000_000)
        ('999 bytes', '1.2 MB', '44.4 GB')
    """
    if n_bytes < _KILO:
        return f"{n_bytes} bytes"
    amount = float(n_bytes)
    for unit in ("kB", "MB", "GB"):
        amount /= _KILO
        if amount < _KILO:
            return f"{amount:.1f} {unit}"
    return f"{amount / _KILO:.1f} TB"


def _as_files(collection: "Collection") -> "Collection":
    """Return a collection whose single files are asked for by pattern, whatever its layout."""
    from msgspec.structs import replace

    return replace(collection, layout="files")
