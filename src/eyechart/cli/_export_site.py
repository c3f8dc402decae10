"""Write the screens of the explorer as plain files."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from eyechart.cli._anonymous import Hide, hidden_names
from eyechart.cli._events import switch_events
from eyechart.cli._flags import Plugin, load_plugins
from eyechart.cli._output import Json, print_json, say


def site(
    *runs: Path,
    out: Annotated[Path, Parameter(help="Folder to write: new, empty, or an older site.")] = Path("site"),
    data: Annotated[
        Path | None, Parameter(help="File or folder of the pictures, where the run's own is not there any more.")
    ] = None,
    views: Annotated[
        tuple[str, ...],
        Parameter(
            negative="", show_default=False, help="Views whose pictures are written; all if left out. Repeat it."
        ),
    ] = (),
    original_px: Annotated[int, Parameter(help="Longest side of the whole picture.")] = 1600,
    crop_px: Annotated[int, Parameter(help="Longest side of crops.")] = 1024,
    whole_px: Annotated[int, Parameter(help="Longest side of other pictures as large as the original.")] = 640,
    scorer: Annotated[
        str | None, Parameter(help="Whose scores to show, such as option_letter.lenient; each run's own if left out.")
    ] = None,
    anonymous: Annotated[
        bool, Parameter(negative="", help="Leave out run names, user, host, paths, endpoint, organisation.")
    ] = False,
    hide: Hide = (),
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Write runs as a static site: the screens of explore, with thumbnails and crops. It opens from a disk, offline.

    Args:
        runs: Run folders.
    """
    switch_events(json)
    from eyechart.cli._work import WorkProgress
    from eyechart.explorer.anonymous import read_anonymous_study
    from eyechart.explorer.site import SiteOptions, write_site
    from eyechart.explorer.study import read_study

    load_plugins(plugin)
    options = SiteOptions(views=views, original_px=original_px, crop_px=crop_px, whole_px=whole_px)
    names = hidden_names(hide, is_anonymous=anonymous)
    study = read_anonymous_study(runs, scorer, names) if anonymous else read_study(runs, scorer)
    with WorkProgress("site", "pages", str(out)) as progress:
        written = write_site(study, out, data, options, tell=progress.update)
    if json:
        print_json(written)
    else:
        say(f"wrote {written.index}: {written.n_files:,} files, {written.n_bytes / 1e6:,.1f} MB")
    for note in written.notes:
        say(f"warning: {note}")
    return 0
