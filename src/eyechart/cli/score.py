"""Score stored answers again, or predictions made elsewhere; no model is asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Group, Parameter

from eyechart.cli._flags import (
    Data,
    Option,
    OptionsAs,
    Plugin,
    load_plugins,
    open_named_benchmark,
    read_codes,
    read_order,
)
from eyechart.cli._output import Json, print_json, say
from eyechart.errors import UsageError

if TYPE_CHECKING:
    from eyechart.runs.score import ReadingChange

_Given = Group("Predictions", sort_key=1)


def score(
    run: Path | None = None,
    /,
    *,
    scorer: Annotated[
        str | None,
        Parameter(
            help="For example option_letter.strict@1; the run's in its newest version if left out, else option_letter."
        ),
    ] = None,
    predictions: Annotated[
        tuple[Path, ...],
        Parameter(
            group=_Given,
            negative="",
            show_default=False,
            help="File of predictions instead of a run: JSONL or CSV with id, view_id and response, a VLMEvalKit table "
            "(xlsx, tsv, json) or lmms-eval samples (jsonl), or a folder of such; may be repeated. The content tells "
            "the form; other kits' files are named.",
        ),
    ] = (),
    benchmark: Annotated[str, Parameter(group=_Given, help="What the predictions answer.")] = "sum",
    data: Data = None,
    option: Option = (),
    view: Annotated[
        str | None,
        Parameter(group=_Given, help="View of rows that name none, where the file's name does not end in it."),
    ] = None,
    metric: Annotated[
        str | None, Parameter(group=_Given, help="Metric of lmms-eval to compare with; else the first one.")
    ] = None,
    form: Annotated[
        str | None,
        Parameter(group=_Given, help="Form of the files, such as lmms-eval, where their content fits several."),
    ] = None,
    options_as: OptionsAs = None,
    allow: Annotated[
        tuple[str, ...],
        Parameter(
            group=_Given,
            negative="",
            show_default=False,
            help="Print the accuracies despite a rule that forbids it: OPTION_ORDER; they are marked.",
        ),
    ] = (),
    changed: Annotated[int, Parameter(group=_Given, help="How many items that changed to print; --json has all.")] = 20,
    plugin: Plugin = (),
    json: Json = False,
) -> int:
    """Judge the stored answers of a run and estimate again, or judge predictions of a file. Never calls a model.

    With --predictions, both accuracies are printed by view, family, source and task; a file of another kit that holds
    its own scores is also compared: theirs, ours, the difference, and the items that changed.

    Args:
        run: Run folder.
    """
    load_plugins(plugin)
    allow = read_codes(allow)
    if (run is None) == (not predictions):
        raise UsageError(
            "score needs a run folder or --predictions, one of them",
            hint="eyechart score RUN, or eyechart score --predictions FILE --data RELEASE",
        )
    if run is not None:
        return _score_run(run, scorer, json=json)
    from eyechart.cli._predictions import show_given, show_other_order
    from eyechart.opening import DEFAULT_SCORER, open_scorer
    from eyechart.releases.evaluate import evaluate_predictions
    from eyechart.releases.given import read_given
    from eyechart.releases.given_order import check_given_order
    from eyechart.releases.rescore import compare_scores

    opened = open_named_benchmark(benchmark, data, option) if data is not None or benchmark != "sum" else None
    orders = read_order(options_as, opened)
    given = read_given(predictions, opened, view=view, metric=metric, form=form, orders=orders)
    chosen, mode = open_scorer(scorer or DEFAULT_SCORER)
    report = evaluate_predictions(given.questions, given.predictions, given.views, chosen, mode)
    order = check_given_order(given.questions, given.predictions, report)
    is_blocked = order is not None and order.code not in allow
    compared = () if is_blocked else compare_scores(given.questions, given.predictions, report)
    if json:
        read = {"files": given.files, "unmatched": given.unmatched, "n_repeated": given.n_repeated}
        shown = None if is_blocked else report
        answers = {"other_answers": given.other_answers, "order": order}
        print_json({"read": read, "report": shown, "compared": compared, **answers})
    elif order is not None and is_blocked:
        show_other_order(given, order)
    else:
        show_given(given, report, compared, n_changed=changed, order=order)
    if order is not None and is_blocked:
        say(f"error: {order.code}: {order.message}")
        say(f"hint: --allow {order.code} prints the accuracies by letter all the same, marked")
        return 1
    return 0


_MOST_TOLD = 5
"""So many changed answers are named; ``--json`` has all."""


def _told(change: "ReadingChange") -> Iterator[str]:
    """Yield in words what a newer version of a scorer reads otherwise, with some of the answers."""
    n_scores = change.n_rising + change.n_falling
    yield (
        f"{change.later} reads {len(change.changed)} of {change.n_answers} answers otherwise than {change.earlier}, by "
        f"which the run was scored: {n_scores} scores change, {change.n_rising} up and {change.n_falling} down"
    )
    for one in change.changed[:_MOST_TOLD]:
        yield f"  {one.question_id} in {one.condition}: {one.before or 'nothing'} → {one.after or 'nothing'}"
    if len(change.changed) > _MOST_TOLD:
        yield f"  and {len(change.changed) - _MOST_TOLD} more: --json has all"
    if change.changed:
        yield f"the earlier scores are kept; to estimate by them again: --scorer {change.earlier}"


def _score_run(run: Path, scorer: str | None, *, json: bool) -> int:
    from eyechart.cli._results import show_summary
    from eyechart.runs.choosing import newest_scorer, stored_version
    from eyechart.runs.gold import check_scorable
    from eyechart.runs.score import compare_versions, score_run
    from eyechart.runs.store import RunStore
    from eyechart.runs.summarise import summarise

    store = RunStore(run)
    check_scorable(store.questions(), str(run))
    chosen, mode = newest_scorer(store, scorer)
    stored = stored_version(store, chosen, mode)
    scorer_id = score_run(store, chosen, mode)
    summary = summarise(store, scorer_id)
    change = None
    if stored is not None and stored != chosen.version:
        change = compare_versions(store, f"{chosen.name}.{mode}@{stored}", scorer_id)
    if json:
        content = msgspec.to_builtins(summary)
        print_json(content if change is None else {**content, "changed_reading": change})
    else:
        show_summary(summary)
    if change is not None:
        for line in _told(change):
            say(line)
    say(f"scores: {run / 'scores' / (scorer_id + '.jsonl')}")
    return 0
