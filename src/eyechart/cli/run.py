"""Ask a model every question under every view."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter

from eyechart.cli._events import switch_events
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
from eyechart.cli._hub import open_streamed_release
from eyechart.cli._output import Json, print_json, say
from eyechart.cli._picture_flags import PictureFlags
from eyechart.cli._suite import run_suite
from eyechart.cli._targets import check_targets
from eyechart.errors import EyechartError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from eyechart.kinds import Benchmark, Prompt
    from eyechart.runs.outcome import Outcome
    from eyechart.runs.ray_engine import RayWork
    from eyechart.runs.retrying import Stop
    from eyechart.schema import View

Result = TypeVar("Result")

_MODEL = ModelFlags()
_ASK = AskFlags()
_PICTURES = PictureFlags()


def run(
    benchmark: str | None = None,
    /,
    *,
    model: str | None = None,
    suite: Annotated[
        Path | None, Parameter(help="TOML file of models × benchmarks × views × settings; each is a run that resumes.")
    ] = None,
    cell: Annotated[int | None, Parameter(help="Run this cell of the suite alone, from 1.")] = None,
    slurm: Annotated[Path | None, Parameter(help="Write the suite as a Slurm job array, and run nothing.")] = None,
    views: Annotated[
        str | None,
        Parameter(help="Comma-separated view ids or a preset; the benchmark's own if left out, else sum29."),
    ] = None,
    stream: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="Load released images from the hub as needed; keep none."),
    ] = False,
    data: Data = None,
    option: Option = (),
    boxes: Boxes = None,
    allow_hidden: AllowHidden = False,
    plugin: Plugin = (),
    model_flags: ModelFlags = _MODEL,
    ask_flags: AskFlags = _ASK,
    picture_flags: PictureFlags = _PICTURES,
    json: Json = False,
) -> int:
    """Ask every question of a benchmark under every view. Interrupt it at any time; the same command goes on.

    Args:
        benchmark: Name of the benchmark, for example folder, sum or demo.
        model: provider/name, for example openai/gpt-4o, ocr/rapidocr or replay/answers.jsonl.
    """
    switch_events(json)
    load_plugins(plugin)
    if suite is not None and ask_flags.options_as is not None:
        raise UsageError("--options-as gives the order of one benchmark", hint="leave it out, or run the cells alone")
    if suite is not None:
        return run_suite(suite, ask_flags, cell=cell, slurm=slurm, json=json)
    if benchmark is None or model is None:
        raise UsageError(
            "a run needs a benchmark and a model", hint="eyechart run BENCH --model provider/name, or --suite FILE"
        )
    option = with_hidden(option, benchmark, allow_hidden=allow_hidden)
    if ask_flags.protocol is not None:
        ask_flags, option = follow(ask_flags, option, benchmark)
    if stream:
        opened: Benchmark = open_streamed_release(benchmark, data, views or "sum29")
    else:
        opened = open_named_benchmark(benchmark, data, option, boxes)
    if ask_flags.shard is not None:
        return _run_shard(opened, model, views, model_flags, ask_flags, picture_flags)
    work = None
    if ask_flags.engine == "ray":
        work = ray_work(
            benchmark,
            model,
            data=data,
            option=option,
            plugin=plugin,
            model_flags=model_flags,
            timeout_seconds=ask_flags.timeout,
        )
    outcome = ask(
        opened, model, views, model_flags=model_flags, ask_flags=ask_flags, picture_flags=picture_flags, work=work
    )
    return show_outcome(outcome, json=json, has_report=ask_flags.report)


def ask(
    benchmark: "Benchmark",
    model: str,
    views: str | None,
    *,
    model_flags: ModelFlags,
    ask_flags: AskFlags,
    picture_flags: PictureFlags,
    work: "RayWork | None" = None,
) -> "Outcome":
    """Run a benchmark with progress on stderr; with ``work``, over a Ray cluster."""
    from eyechart.runs.session import run_benchmark

    return _with_progress(run_benchmark, benchmark, model, views, model_flags, ask_flags, picture_flags, work)


def ray_work(
    benchmark: str,
    model: str,
    *,
    data: Path | None,
    option: tuple[str, ...],
    plugin: tuple[Path, ...],
    model_flags: ModelFlags,
    timeout_seconds: float,
) -> "RayWork":
    """Return what workers of a cluster open, with paths that hold wherever they run."""
    from eyechart.runs.ray_engine import RayWork
    from eyechart.settings import parse_pairs

    return RayWork(
        benchmark=benchmark,
        data=None if data is None else str(data.resolve()),
        benchmark_options=parse_pairs(option, "--option"),
        model=model,
        model_options=model_flags.options(timeout_seconds),
        base_urls=model_flags.base_url,
        plugins=tuple(str(path.resolve()) for path in plugin),
    )


def _with_progress(
    start: "Callable[..., Result]",
    benchmark: "Benchmark",
    model: str,
    views: str | None,
    model_flags: ModelFlags,
    ask_flags: AskFlags,
    picture_flags: PictureFlags,
    work: "RayWork | None" = None,
) -> "Result":
    from eyechart.cli._progress import RunProgress
    from eyechart.runs.balanced import open_balanced
    from eyechart.runs.choosing import defaults_of

    ask_flags, views = with_plan(ask_flags, views)
    named, preset = choose_views(benchmark, views)
    if ask_flags.blind:
        named = with_blind_views(named)
    options = ask_flags.run_options(model_flags, picture_flags, preset, work)
    options = with_order(options, ask_flags.options_as, benchmark)
    opened = open_balanced(model, model_flags.options(ask_flags.timeout), model_flags.base_url)
    prompt = open_wording(benchmark, ask_flags.prompt or defaults_of(benchmark).prompt, is_trusted=ask_flags.trust)
    with RunProgress() as progress:
        return start(benchmark, opened, named, prompt, options=options, listener=progress)


def _run_shard(
    benchmark: "Benchmark",
    model: str,
    views: str | None,
    model_flags: ModelFlags,
    ask_flags: AskFlags,
    picture_flags: PictureFlags,
) -> int:
    """Ask one shard and say what is left; estimates are made once all shards are done."""
    from eyechart.runs.session import ask_shard

    asked = _with_progress(ask_shard, benchmark, model, views, model_flags, ask_flags, picture_flags)
    show_stop(asked.stop)
    folder = asked.store.folder
    say(f"shard {ask_flags.shard}: {asked.n_planned - asked.n_missing} of {asked.n_planned} answers are there")
    if asked.n_missing_in_all:
        say(f"the whole run lacks {asked.n_missing_in_all}; when all shards are done: eyechart report {folder}")
    else:
        say(f"all shards are done: eyechart report {folder}")
    return asked.exit_code


def follow(ask_flags: AskFlags, option: tuple[str, ...], benchmark: str) -> tuple[AskFlags, tuple[str, ...]]:
    """Return the flags with what a protocol fixes.

    Raises:
        UsageError: If it is for another benchmark, or a flag says otherwise.
    """
    from eyechart.runs.protocols import find_protocol, settle, settled_options
    from eyechart.settings import parse_pairs

    protocol = find_protocol(ask_flags.protocol or "", benchmark)
    options = settled_options(protocol, parse_pairs(option, "--option"))
    say(f"protocol {protocol.name}: {protocol.about}")
    if protocol.judge is not None:
        say("what follows is by rules alone until a judge is asked: eyechart judge RUN --model …")
    fixed = replace(
        ask_flags,
        prompt=settle(protocol.prompt, ask_flags.prompt, "--prompt", protocol.name),
        scorer=settle(protocol.scorer, ask_flags.scorer, "--scorer", protocol.name),
    )
    return fixed, tuple(f"{name}={value}" for name, value in options.items())


def with_plan(ask_flags: AskFlags, views: str | None) -> tuple[AskFlags, str | None]:
    """Return the flags and views with what a plan says where the command line leaves it open.

    Where the command line says otherwise it is followed, and the results will not be confirmatory. The conditions of a
    matched design are not views, so that --views and --match are given again.
    """
    if ask_flags.plan is None:
        return ask_flags, views
    from eyechart.opening import open_prompt
    from eyechart.runs.registration import read_plan
    from eyechart.views import parse_view

    plan = read_plan(ask_flags.plan)
    fixed = replace(
        ask_flags,
        limit=plan.limit if ask_flags.limit is None else ask_flags.limit,
        seed=plan.seed if ask_flags.seed is None else ask_flags.seed,
        scorer=ask_flags.scorer or plan.scorer,
        prompt=ask_flags.prompt or _if_known(open_prompt, plan.prompt),
    )
    are_views = all(_if_known(parse_view, name) for name in plan.views)
    return fixed, views or (",".join(plan.views) if are_views else None)


def _if_known(opened: "Callable[[str], object]", name: str) -> str | None:
    try:
        opened(name)
    except EyechartError:
        return None
    return name


def open_wording(benchmark: "Benchmark", prompt_id: str, *, is_trusted: bool) -> "Prompt":
    """Return a prompt by name, from a file, or, where it is trusted, from a release's own program."""
    from eyechart.errors import UsageError
    from eyechart.kinds import HoldsRelease
    from eyechart.opening import open_prompt
    from eyechart.releases.own_prompts import PREFIX, open_release_prompt

    if not prompt_id.startswith(PREFIX):
        return open_prompt(prompt_id)
    if not isinstance(benchmark, HoldsRelease):
        raise UsageError(
            f"{benchmark.identity.name} is not a release and has no prompts of its own", hint="eyechart ls prompts"
        )
    return open_release_prompt(benchmark.root, prompt_id, is_trusted=is_trusted)


def choose_views(benchmark: "Benchmark", text: str | None) -> tuple[tuple["View", ...], str | None]:
    """Return the views named on the command line, else the benchmark's own, and say what a release cannot be asked."""
    from eyechart.runs import choosing

    chosen = choosing.choose_views(benchmark, text)
    for view_id in chosen.unknown:
        say(f"warning: view {view_id} of this release is of no known family and is not asked")
    check_targets(benchmark, chosen.views)
    return chosen.views, chosen.preset


def with_blind_views(views: tuple["View", ...]) -> tuple["View", ...]:
    """Return the views with the two that show nothing of the picture, each once.

    Example:
        >>> from eyechart.schema import Blank, Original
        >>> with_blind_views((Original(), Blank()))
        (Original(), Blank(), NoImage())
    """
    from eyechart.schema import Blank, NoImage

    return (*views, *(view for view in (NoImage(), Blank()) if view not in views))


def show_outcome(outcome: "Outcome", *, json: bool, has_report: bool = True) -> int:
    """Print what a run found, write its report, say what to do next, and return the exit code."""
    from eyechart.cli._results import show_summary
    from eyechart.reports import write_all
    from eyechart.runs.items import read_items

    if json:
        print_json(outcome.summary)
    else:
        show_summary(outcome.summary)
    if has_report:
        items = read_items(outcome.store, outcome.summary.scorer)
        say(f"report: {write_all(outcome.summary, outcome.store.folder, items=items)[0]}")
    show_stop(outcome.stop)
    if outcome.n_missing:
        say(f"{outcome.n_missing} of {outcome.n_planned} answers are missing: run the same command again to ask them")
    if outcome.n_unanswerable:
        say(
            f"{outcome.n_unanswerable} of {outcome.n_planned} requests have no answer for good; the causes stand "
            "above, and --ask-again STATE asks them again"
        )
    if outcome.n_unreadable:
        say("mend the pictures that cannot be read, and the same command asks their questions and no others")
    return outcome.exit_code


def show_stop(stop: "Stop | None") -> None:
    """Say why a run ended early, if it did."""
    if stop is None:
        return
    say(f"error: {stop.reason}")
    if stop.hint:
        say(f"hint: {stop.hint}")
