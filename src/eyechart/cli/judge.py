"""Ask a judge model about the stored answers of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from eyechart.cli._events import switch_events
from eyechart.cli._flags import ModelFlags, Plugin, load_plugins
from eyechart.cli._output import Json, print_json, say

if TYPE_CHECKING:
    from eyechart.runs.protocols import JudgeRule
    from eyechart.runs.store import RunStore

_MODEL = ModelFlags()


def judge(
    run: Path,
    /,
    *,
    model: str,
    mode: Annotated[
        Literal["yes_no", "letter"] | None,
        Parameter(help="Ask whether an answer is right, or which option it means; as the protocol if left out."),
    ] = None,
    judged: Annotated[
        Literal["all", "unread", "not_right"] | None,
        Parameter(help="Which answers: all, those not read, or those not found right; as the protocol if left out."),
    ] = None,
    rules: Annotated[
        str | None, Parameter(help="Scorer whose verdicts the judge completes; as the protocol if left out.")
    ] = None,
    concurrency: Annotated[int, Parameter(help="Requests in flight.")] = 8,
    plugin: Plugin = (),
    model_flags: ModelFlags = _MODEL,
    json: Json = False,
) -> int:
    """Ask about every answer that the rules leave to a judge, store the replies, and estimate again.

    The replies are a run of their own under RUN/judges, so nothing is asked twice, and eyechart score RUN --scorer
    judge.yes_no estimates again without asking anybody. A reply that is not a plain verdict leaves the answer missing.

    Args:
        run: Run folder.
        model: The judge, provider/name; temperature 0 if nothing else is said.
    """
    from eyechart.cli._progress import RunProgress
    from eyechart.cli._results import show_summary
    from eyechart.opening import open_model, open_scorer
    from eyechart.runs.execute import LoopSettings
    from eyechart.runs.judging import ask_judge
    from eyechart.runs.score import score_run
    from eyechart.runs.store import RunStore
    from eyechart.runs.summarise import summarise

    switch_events(json)
    load_plugins(plugin)
    store = RunStore(run)
    rule, rule_scorer = _rule(store, mode, judged, rules)
    with RunProgress(work="judge") as progress:
        outcome = ask_judge(
            store,
            open_model(model, model_flags.options()),
            rule,
            rule_scorer,
            sampling=model_flags.sampling(),
            loop=LoopSettings(concurrency=concurrency),
            listener=progress,
        )
    if outcome is None:
        say("the rules left nothing to a judge")
        return 0
    scorer, chosen = open_scorer(rule.scorer)
    summary = summarise(store, score_run(store, scorer, chosen))
    if json:
        print_json(summary)
    else:
        show_summary(summary)
    say(f"{outcome.n_planned} answers judged by {model}: {outcome.store.folder}")
    if outcome.stop is not None:
        say(f"error: {outcome.stop.reason}")
    if outcome.n_missing:
        say(f"{outcome.n_missing} of {outcome.n_planned} judgements are missing: run the same command again")
    return outcome.exit_code


def _rule(
    store: "RunStore",
    mode: Literal["yes_no", "letter"] | None,
    judged: Literal["all", "unread", "not_right"] | None,
    rules: str | None,
) -> "tuple[JudgeRule, str]":
    """Return what is asked: what the flags say, the rest from the run's protocol."""
    from eyechart.runs.choosing import choose_scorer
    from eyechart.runs.judging import rule_of
    from eyechart.runs.protocols import JudgeRule
    from eyechart.runs.score import scorer_id_of

    if mode is not None and judged is not None:
        return JudgeRule(mode, judged), scorer_id_of(*choose_scorer(store, rules))
    own, scorer = rule_of(store)
    return JudgeRule(mode or own.mode, judged or own.judged), scorer_id_of(*choose_scorer(store, rules or scorer))
