"""Write the answers of runs: as one long table, as a submission, or questions as a challenge."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from eyechart.cli._anonymous import Hide, hidden_names
from eyechart.cli._flags import Plugin, load_plugins
from eyechart.cli._output import Json, print_json, say
from eyechart.errors import UsageError

export = App(name="export", help_format="plaintext")
"""``eyechart export RUN…`` is the long table; a further form of export is a command below it, imported when it runs."""
export.command("eyechart.cli._export_evalai:evalai", name="evalai", help="Write the submission file of a whole split.")
export.command(
    "eyechart.cli._export_evalai:challenge",
    name="evalai-challenge",
    help="Write a bundle by which a leaderboard with private answers can be hosted.",
)


@export.default
def write_table(
    *runs: Path,
    out: Annotated[Path, Parameter(help="File to write, .csv or .parquet.")] = Path("long.csv"),
    scorer: Annotated[
        str | None, Parameter(help="Judges every run, such as option_letter.lenient; the first run's own if left out.")
    ] = None,
    anonymous: Annotated[
        bool, Parameter(negative="", help="Leave out run name, user, host, paths, endpoint, organisation.")
    ] = False,
    hide: Hide = (),
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Write one row per request of all runs: model, question, picture, view, sizes, score. No model is asked.

    Args:
        runs: Run folders.
    """
    from eyechart.runs.cells import read_table
    from eyechart.runs.choosing import choose_scorer
    from eyechart.runs.export import long_rows, write_long
    from eyechart.runs.score import judge, scorer_id_of
    from eyechart.runs.store import RunStore

    load_plugins(plugin)
    if not runs:
        raise UsageError("no run was named", hint="eyechart export RUN --out long.csv")
    stores = [RunStore(folder) for folder in runs]
    chosen, mode = choose_scorer(stores, scorer)
    scorer_id = scorer_id_of(chosen, mode)
    tables = (read_table(store, scorer_id, judge(store, chosen, mode)) for store in stores)
    names = hidden_names(hide, is_anonymous=anonymous)
    rows = (row for table in tables for row in long_rows(table, scorer_id, is_anonymous=anonymous, names=names))
    n_rows = write_long(rows, out)
    if json:
        print_json({"file": str(out), "n_rows": n_rows})
    else:
        say(f"wrote {out}, {n_rows} rows")
    return 0


export.command(
    "eyechart.cli._export_site:site", name="site", help="Write the explorer's screens as plain files that open offline."
)
