"""Show what models will see of each view; nothing is asked and no pixel is read."""

import datetime
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from eyechart.cli._cost import CostFlags
from eyechart.cli._flags import (
    AllowHidden,
    AskFlags,
    Boxes,
    Data,
    ModelFlags,
    Option,
    Plugin,
    load_plugins,
    open_named_benchmark,
    with_hidden,
    with_order,
)
from eyechart.cli._output import Json, print_json, say
from eyechart.cli._picture_flags import PictureFlags
from eyechart.cli._study import StudyFlags
from eyechart.errors import UsageError

if TYPE_CHECKING:
    from eyechart.runs.asking_again import AskedAgain
    from eyechart.seen.check import SeenTable

_MODEL = ModelFlags()
_ASK = AskFlags()
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
    views: Annotated[
        str | None, Parameter(help="Comma-separated view ids or a preset; the benchmark's own if left out.")
    ] = None,
    data: Data = None,
    option: Option = (),
    boxes: Boxes = None,
    allow_hidden: AllowHidden = False,
    plugin: Plugin = (),
    model_flags: ModelFlags = _MODEL,
    ask_flags: AskFlags = _ASK,
    picture_flags: PictureFlags = _PICTURES,
    cost_flags: CostFlags = _COST,
    study_flags: StudyFlags = _STUDY,
    json: Json = False,
) -> int:
    """Show what each model will see of every view, by dated rules: size, tokens, target, refusals, and the cost.

    It takes the flags of run, and refuses what run would refuse before it asks, in the same words; only keys are not
    needed.

    Args:
        benchmark: Name of the benchmark, for example demo or folder.
    """
    from eyechart.cli._named_models import name_models
    from eyechart.cli._run_line import RunLine
    from eyechart.cli._seen_table import show_seen
    from eyechart.cli.run import choose_views, follow, open_wording, with_blind_views, with_plan
    from eyechart.images.giga import needs_tiles
    from eyechart.runs.checking import Counting, check_benchmark, refuse_as_run
    from eyechart.runs.choosing import defaults_of
    from eyechart.seen.check import FOUR_FAMILIES

    load_plugins(plugin)
    cost_flags.check()
    is_allowed = study_flags.write_plan is not None and ask_flags.out is None
    again = None if is_allowed else _again(ask_flags.out, ask_flags.ask_again)
    option = with_hidden(option, benchmark, allow_hidden=allow_hidden)
    if ask_flags.protocol is not None:
        ask_flags, option = follow(ask_flags, option, benchmark)
    if study_flags.repeats is not None:
        ask_flags = replace(ask_flags, repeat=study_flags.repeats)
    opened = open_named_benchmark(benchmark, data, option, boxes)
    ask_flags, views = with_plan(ask_flags, views)
    named, preset = choose_views(opened, views)
    if ask_flags.blind:
        named = with_blind_views(named)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    options = ask_flags.run_options(model_flags, picture_flags, preset)
    options = with_order(options, ask_flags.options_as, opened)
    models = name_models(model, model_flags.options(ask_flags.timeout), today, model_flags.base_url)
    options = msgspec.structs.replace(options, rules=(*options.rules, *models.rules))
    prompt_id = ask_flags.prompt or defaults_of(opened).prompt
    prompt = open_wording(opened, prompt_id, is_trusted=ask_flags.trust)
    costing = cost_flags.costing(ask_flags.price, ask_flags.concurrency)
    refuse_as_run(opened, named, prompt, models.opened, options)
    if study_flags.is_used:
        planned = tuple(one.identity.spec for one in models.opened)
        return study_flags.show(opened, named, prompt_id, options, models=planned, json=json)
    reads_pixels = not models.opened or any(one.reads == "pixels" for one in models.opened)
    table = check_benchmark(
        opened,
        named,
        tuple(one.identity for one in models.opened) or FOUR_FAMILIES,
        today=today,
        options=options.plan,
        own_rules=options.rules,
        counting=Counting(prompt, costing, options.shard, reads_pixels=reads_pixels),
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
            option=option,
            boxes=boxes,
            plugin=plugin,
            views=views,
            model_flags=model_flags,
            ask_flags=ask_flags,
            pictures=picture_flags,
            has_large=any(needs_tiles(question.image.size) for question in opened.questions()),
        )
        show_seen(table, line if model else None)
    _tell_bounds(table, ask_flags)
    if again is not None:
        states = ", ".join(f"{n} {state}" for state, n in again.states.items())
        cost = "no price is known" if again.dollars is None else f"about ${again.dollars:.2f}"
        say(f"{ask_flags.out}: --ask-again {ask_flags.ask_again} asks {again.n} requests again ({states}), {cost}")
    failures = cost_flags.found_in(table)
    for failure in failures:
        say(f"fails: {failure}")
    return 1 if failures else 0


def _tell_bounds(table: "SeenTable", ask_flags: AskFlags) -> None:
    """Say where a run would end before it has asked everything, and what its calls and costs are of."""
    if ask_flags.shard is not None:
        say(f"calls and costs are those of shard {ask_flags.shard} alone")
    for checked in table.models:
        cost = checked.cost
        if cost is None:
            continue
        if ask_flags.max_requests is not None and ask_flags.max_requests < cost.n_calls:
            told = f"--max-requests ends a start after {ask_flags.max_requests:,} of {cost.n_calls:,} calls"
            say(f"{checked.model}: {told}; the same command goes on")
        if ask_flags.max_cost is not None and cost.usd is not None and ask_flags.max_cost < cost.usd:
            say(f"{checked.model}: --max-cost {ask_flags.max_cost:g} ends the run before all is asked")


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
