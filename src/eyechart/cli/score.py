"""Score stored answers again; no model is asked."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from eyechart.cli._flags import Plugin, load_plugins
from eyechart.cli._output import Json, print_json, say


def score(
    run: Path,
    /,
    *,
    scorer: Annotated[
        str | None, Parameter(help="For example option_letter.strict@1; the one of the run if left out.")
    ] = None,
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Judge the stored answers of a run and estimate again. Works while the run goes on, and never calls a model.

    Args:
        run: Run folder.
    """
    from eyechart.cli._results import show_summary
    from eyechart.runs.choosing import choose_scorer
    from eyechart.runs.score import score_run
    from eyechart.runs.store import RunStore
    from eyechart.runs.summarise import summarise

    load_plugins(plugin)
    store = RunStore(run)
    chosen, mode = choose_scorer(store, scorer)
    scorer_id = score_run(store, chosen, mode)
    summary = summarise(store, scorer_id)
    if json:
        print_json(summary)
    else:
        show_summary(summary)
    say(f"scores: {run / 'scores' / (scorer_id + '.jsonl')}")
    return 0
