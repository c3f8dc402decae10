"""Find out what an endpoint does to pictures, by blank pictures of many sizes."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._events import switch_events
from eyechart.cli._flags import ModelFlags, Plugin, load_plugins
from eyechart.cli._output import Json, print_json, print_table, say

if TYPE_CHECKING:
    from eyechart.runs.probe import Probed
    from eyechart.seen.rules import Rule

_MODEL = ModelFlags()
_SMALLEST_BOUND_PX = 512


def probe(
    *,
    model: str,
    max_side: Annotated[int, Parameter(help="Longer side of the largest picture in pixels; the tokens are paid.")] = (
        4096
    ),
    out: Annotated[Path | None, Parameter(help="Rule file to write; PROVIDER-MODEL-DATE.toml if left out.")] = None,
    rules: Annotated[Path | None, Parameter(help="TOML file of your own rules, to compare with first.")] = None,
    plugin: Plugin = (),
    model_flags: ModelFlags = _MODEL,
    json: Json = False,
) -> int:
    """Send blank pictures of many sizes, read the tokens, and work out caps and steps. Nothing but whites is sent.

    The rule that gives every reading exactly is written to a file for --rules of check and run. A size that fits no
    known rule writes no file.

    Args:
        model: provider/name, for example openai/gpt-4o or vllm/NAME.
    """
    from eyechart.cli._progress import RunProgress
    from eyechart.errors import UsageError
    from eyechart.opening import open_model
    from eyechart.runs.event_loop import run_async
    from eyechart.runs.probe import probe_model
    from eyechart.runs.probe_record import probed_rule, sentences
    from eyechart.seen.probing.readings import ladder
    from eyechart.seen.rules import look_up, read_rule_file

    if max_side < _SMALLEST_BOUND_PX:
        raise UsageError(f"--max-side {max_side}", hint=f"give at least {_SMALLEST_BOUND_PX}, so that steps show")
    switch_events(json)
    load_plugins(plugin)
    opened = open_model(model, model_flags.options())
    known = look_up(opened.identity, read_rule_file(rules) if rules else ()).rule
    sizes = ladder(max_side)
    say(f"asking {opened.identity.spec} about {len(sizes)} blank pictures{_expected(known, len(sizes), max_side)}")
    today = datetime.datetime.now(tz=datetime.UTC).date()
    with RunProgress(work="probe") as progress:
        probed = run_async(probe_model(opened, sizes, today=today, rule=known, listener=progress))
    rule = probed_rule(probed)
    if json:
        print_json(probed)
    else:
        _show(probed)
    for sentence in sentences(probed):
        say(sentence)
    if rule is not None:
        _write(rule, out or Path(f"{probed.model.provider}-{probed.model.name.replace('/', '-')}-{today}.toml"))
    return 0


def _show(probed: "Probed") -> None:
    differing = {one.sent: one.expected for one in probed.differences}
    rows = []
    for reading in probed.readings:
        expected = "" if probed.known_rule_id is None else "same"
        if reading.sent in differing:
            expected = str(differing[reading.sent])
        rows.append([f"{reading.sent.width}×{reading.sent.height}", str(reading.tokens), expected])
    title = f"{probed.model.spec}: tokens of a blank picture"
    print_table([">sent", ">tokens", f">by {probed.known_rule_id or 'no known rule'}"], rows, title=title)


def _expected(rule: "Rule | None", n_sizes: int, max_side: int) -> str:
    from eyechart.seen.probing.readings import ladder

    if rule is None:
        return ""
    tokens = [rule.apply(size).tokens or 0 for size in ladder(max_side)]
    return f", about {sum(tokens):,} tokens by rule {rule.id}" if n_sizes and any(tokens) else ""


def _write(rule: "Rule", path: Path) -> None:
    from eyechart.errors import UsageError
    from eyechart.runs.probe_record import rule_text

    try:
        path.write_text(rule_text(rule), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror})", hint="give another --out") from error
    say(f"rule file: {path} (use it with --rules {path})")
