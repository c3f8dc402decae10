"""Ask a model every question under every view."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._flags import (
    AskFlags,
    Boxes,
    Data,
    ModelFlags,
    Option,
    PictureFlags,
    Plugin,
    check_targets,
    load_plugins,
    open_named_benchmark,
)
from eyechart.cli._hub import open_streamed_release
from eyechart.cli._output import Json, print_json, say

if TYPE_CHECKING:
    from eyechart.kinds import Benchmark, Prompt
    from eyechart.runs.session import Outcome
    from eyechart.schema import View

_MODEL = ModelFlags()
_ASK = AskFlags()
_PICTURES = PictureFlags()


def run(
    benchmark: str,
    /,
    *,
    model: str,
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
    load_plugins(plugin)
    if ask_flags.protocol is not None:
        ask_flags, option = follow(ask_flags, option, benchmark)
    if stream:
        opened: Benchmark = open_streamed_release(benchmark, data, views or "sum29")
    else:
        opened = open_named_benchmark(benchmark, data, option, boxes)
    outcome = ask(opened, model, views, model_flags=model_flags, ask_flags=ask_flags, picture_flags=picture_flags)
    return show_outcome(outcome, json=json, has_report=ask_flags.report)


def ask(
    benchmark: "Benchmark",
    model: str,
    views: str | None,
    *,
    model_flags: ModelFlags,
    ask_flags: AskFlags,
    picture_flags: PictureFlags,
) -> "Outcome":
    """Run a benchmark with progress on stderr."""
    from eyechart.cli._progress import RunProgress
    from eyechart.opening import open_model
    from eyechart.runs.choosing import defaults_of
    from eyechart.runs.session import run_benchmark

    named, preset = choose_views(benchmark, views)
    if ask_flags.blind:
        named = with_blind_views(named)
    options = ask_flags.run_options(model_flags, picture_flags, preset)
    opened = open_model(model, model_flags.options())
    prompt = open_wording(benchmark, ask_flags.prompt or defaults_of(benchmark).prompt, is_trusted=ask_flags.trust)
    with RunProgress() as progress:
        return run_benchmark(benchmark, opened, named, prompt, options=options, listener=progress)


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
            f"{benchmark.identity.name} is no release and has no prompts of its own", hint="eyechart ls prompts"
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
    if outcome.stop is not None:
        say(f"error: {outcome.stop.reason}")
        if outcome.stop.hint:
            say(f"hint: {outcome.stop.hint}")
    if outcome.n_missing:
        say(f"{outcome.n_missing} of {outcome.n_planned} answers are missing: run the same command again to ask them")
    if outcome.n_unanswerable:
        say(f"{outcome.n_unanswerable} of {outcome.n_planned} requests have no answer for good; the causes stand above")
    return outcome.exit_code
