"""Write the report of a run; no model is asked."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from eyechart.cli._anonymous import Hide, hidden_names
from eyechart.cli._events import switch_events
from eyechart.cli._flags import Plugin, load_plugins
from eyechart.cli._output import Json, print_json, say
from eyechart.cli._results import say_departures


def report(
    run: Path,
    /,
    *,
    scorer: Annotated[
        str | None, Parameter(help="For example option_letter.lenient; the one of the run if left out.")
    ] = None,
    out: Annotated[Path | None, Parameter(help="Folder for the report; the run folder if left out.")] = None,
    anonymous: Annotated[
        bool, Parameter(negative="", help="Remove user, host, paths, endpoint and organisation.")
    ] = False,
    hide: Hide = (),
    static: Annotated[
        bool,
        Parameter(negative="", help="Leave interactive charts and their script (0.8 MB) out of report.html."),
    ] = False,
    bibtex: Annotated[
        Path | None, Parameter(help="File to write the BibTeX of everything the report rests on into.")
    ] = None,
    plan: Annotated[
        Path | None, Parameter(help="Plan to read the run with; else the one it was started with, if any.")
    ] = None,
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Write report.html (one file, no network), the figures as PDF, SVG and PNG, and the table as LaTeX and Markdown.

    Args:
        run: Run folder.
    """
    switch_events(json)
    from eyechart.cli._work import WorkProgress
    from eyechart.reports import anonymise, bibtex_of, write_all
    from eyechart.runs.choosing import choose_scorer
    from eyechart.runs.files import write_whole
    from eyechart.runs.items import read_items
    from eyechart.runs.registration import read_plan
    from eyechart.runs.score import score_run
    from eyechart.runs.store import RunStore
    from eyechart.runs.summarise import summarise

    load_plugins(plugin)
    store = RunStore(run)
    chosen, mode = choose_scorer(store, scorer)
    registered = None if plan is None else read_plan(plan)
    scorer_id = score_run(store, chosen, mode)
    summary = summarise(store, scorer_id, registered)
    say_departures(summary)
    names = hidden_names(hide, is_anonymous=anonymous)
    items = read_items(store, scorer_id, registered)
    with WorkProgress("report", "files", str(out or run)) as progress:
        paths = write_all(
            summary,
            out or run,
            is_anonymous=anonymous,
            names=names,
            items=items,
            is_static=static,
            tell=progress.update,
        )
    if bibtex is not None:
        write_whole(bibtex, [bibtex_of(anonymise(summary, names) if anonymous else summary).encode()])
        paths = (*paths, bibtex)
    if json:
        print_json({"files": [str(path) for path in paths]})
    else:
        for path in paths:
            say(f"wrote {path}")
    return 0
