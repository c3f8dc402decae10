"""Show what models will see of each view; nothing is asked and no pixel is read."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec.structs
from cyclopts import Parameter

from eyechart.cli._cost import CostFlags
from eyechart.cli._flags import (
    AllowHidden,
    Boxes,
    Data,
    Option,
    Plugin,
    load_plugins,
    open_named_benchmark,
    with_hidden,
)
from eyechart.cli._output import Json, print_json, say
from eyechart.cli._picture_flags import PictureFlags
from eyechart.cli._study import Asked, StudyFlags
from eyechart.errors import UsageError

if TYPE_CHECKING:
    from eyechart.runs.asking_again import AskedAgain

_PICTURES = PictureFlags()
_STUDY = StudyFlags()
_COST = CostFlags()


def check(
    benchmark: str,
    /,
    *,
    model: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="provider/name; repeat it. Four families if left out."),
    ] = (),
    setting: Annotated[
        tuple[str, ...],
        Parameter(
            name="--set", negative="", show_default=False, help="Model setting as key=value, such as detail=low."
        ),
    ] = (),
    views: Annotated[
        str | None, Parameter(help="Comma-separated view ids or a preset; the benchmark's own if left out.")
    ] = None,
    base_url: Annotated[str | None, Parameter(help="Address of a server, which is asked what it sees.")] = None,
    limit: Annotated[int | None, Parameter(help="Look at so many questions.")] = None,
    out: Annotated[Path | None, Parameter(help="Run folder to look at, with --ask-again.")] = None,
    ask_again: Annotated[
        str | None,
        Parameter(
            help="Count the final errors of --out that run --ask-again would ask again, and what that costs; with "
            "--write-plan, the states that the plan allows to be asked again."
        ),
    ] = None,
    allow_faults: Annotated[
        bool, Parameter(negative="", show_default=False, help="Look also at a collection that has errors.")
    ] = False,
    data: Data = None,
    option: Option = (),
    boxes: Boxes = None,
    allow_hidden: AllowHidden = False,
    plugin: Plugin = (),
    picture_flags: PictureFlags = _PICTURES,
    cost_flags: CostFlags = _COST,
    study_flags: StudyFlags = _STUDY,
    json: Json = False,
) -> int:
    """Show what each model will see of every view, by dated rules: size, tokens, target, refusals, and the cost.

    What run would refuse before it asks is refused here in the same words; only keys are not needed.

    Args:
        benchmark: Name of the benchmark, for example demo or folder.
    """
    from eyechart.cli._named_models import name_models
    from eyechart.cli._run_line import RunLine
    from eyechart.cli._seen_table import show_seen
    from eyechart.cli.run import choose_views
    from eyechart.runs.asking_again import read_states
    from eyechart.runs.checking import check_benchmark, refuse_as_run
    from eyechart.runs.options import RunOptions
    from eyechart.runs.plan_options import PlanOptions
    from eyechart.schema import DecodePolicy
    from eyechart.seen.check import FOUR_FAMILIES
    from eyechart.seen.transport import parse_transport
    from eyechart.settings import parse_pairs

    load_plugins(plugin)
    cost_flags.check()
    again = None if study_flags.write_plan is not None and out is None else _again(out, ask_again)
    option = with_hidden(option, benchmark, allow_hidden=allow_hidden)
    opened = open_named_benchmark(benchmark, data, option, boxes)
    named, _ = choose_views(opened, views)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    models = name_models(model, parse_pairs(setting, "--set"), today, base_url)
    planned = PlanOptions(
        decode=DecodePolicy(exif=picture_flags.exif),
        geometry_policy=picture_flags.geometry_policy(),
        resampler=picture_flags.resampler,
        transport=parse_transport(picture_flags.transport).id,
        match=picture_flags.match_id(),
        limit=limit,
        seed=study_flags.seed,
        repeats=study_flags.repeats,
    )
    rules = (*picture_flags.own_rules(), *models.rules)
    costing = cost_flags.costing()
    refuse_as_run(opened, named, models.opened, RunOptions(plan=planned, rules=rules, allows_faults=allow_faults))
    if study_flags.is_used:
        asked = Asked(
            models=tuple(one.identity.spec for one in models.opened),
            limit=limit,
            transport=planned.transport,
            match=planned.match,
            ask_again=() if ask_again is None else tuple(state.value for state in read_states(ask_again)),
        )
        return study_flags.show(opened, named, asked, json=json)
    table = check_benchmark(
        opened,
        named,
        tuple(one.identity for one in models.opened) or FOUR_FAMILIES,
        today=today,
        options=planned,
        own_rules=rules,
        costing=costing,
    )
    for note in models.notes:
        say(f"warning: {note}")
    for told in table.unreadable:
        say(told)
    if json:
        print_json(table if again is None else {**msgspec.structs.asdict(table), "ask_again": again})
    else:
        line = RunLine(
            benchmark=benchmark,
            models=model,
            data=data,
            base_url=base_url,
            option=option,
            boxes=boxes,
            plugin=plugin,
            views=views,
            limit=limit,
            repeats=study_flags.repeats,
            pictures=picture_flags,
            allow_faults=allow_faults,
            settings=setting,
        )
        show_seen(table, line if model else None)
    if again is not None:
        states = ", ".join(f"{n} {state}" for state, n in again.states.items())
        cost = "no price is known" if again.dollars is None else f"about ${again.dollars:.2f}"
        say(f"{out}: --ask-again {ask_again} asks {again.n} requests again ({states}), {cost}")
    failures = cost_flags.found_in(table)
    for failure in failures:
        say(f"fails: {failure}")
    return 1 if failures else 0


def _again(out: Path | None, states: str | None) -> "AskedAgain | None":
    """Return what asking again means for a run folder, None where it was not wanted."""
    from eyechart.runs.asking_again import foresee_again, read_states
    from eyechart.runs.store import RunStore

    if states is None:
        return None
    wanted = read_states(states)
    if out is None:
        raise UsageError("--ask-again counts the errors of a run folder", hint="name it with --out RUN")
    return foresee_again(RunStore(out), wanted)
