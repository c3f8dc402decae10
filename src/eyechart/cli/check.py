"""Show what models will see of each view; nothing is asked and no pixel is read."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from eyechart.cli._flags import Data, Option, PictureFlags, Plugin, load_plugins, open_named_benchmark
from eyechart.cli._output import Json, print_json, print_table, say
from eyechart.cli._study import StudyFlags

if TYPE_CHECKING:
    from eyechart.kinds import Benchmark
    from eyechart.schema import ModelIdentity, View
    from eyechart.seen.check import ModelCheck, SeenTable, ViewCheck

_PICTURES = PictureFlags()
_STUDY = StudyFlags()


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
    rules: Annotated[Path | None, Parameter(help="TOML file of your own rules; they come first.")] = None,
    views: Annotated[
        str | None, Parameter(help="Comma-separated view ids or a preset; the benchmark's own if left out.")
    ] = None,
    limit: Annotated[int | None, Parameter(help="Look at so many questions.")] = None,
    data: Data = None,
    option: Option = (),
    plugin: Plugin = (),
    picture_flags: PictureFlags = _PICTURES,
    study_flags: StudyFlags = _STUDY,
    json: Json = False,
) -> int:
    """Show size, tokens and target size on each model's grid, by documented and dated rules: geometry only.

    Args:
        benchmark: Name of the benchmark, for example demo or folder.
    """
    from eyechart.cli.run import choose_views
    from eyechart.seen.rules import read_rule_file

    load_plugins(plugin)
    opened = open_named_benchmark(benchmark, data, option)
    named, _ = choose_views(opened, views)
    if study_flags.is_used:
        return study_flags.show(opened, named, limit, json=json)
    table = seen_table(
        opened,
        named,
        models=_identities(model, setting),
        limit=limit,
        picture_flags=picture_flags,
        rules=read_rule_file(rules) if rules else (),
    )
    if json:
        print_json(table)
    else:
        show_seen(table)
    return 0


def seen_table(
    benchmark: "Benchmark",
    views: "tuple[View, ...]",
    *,
    models: "tuple[ModelIdentity, ...]" = (),
    limit: int | None = None,
    picture_flags: PictureFlags = _PICTURES,
    rules: tuple[object, ...] = (),
) -> "SeenTable":
    """Plan the views and work out what each model sees of them; four families if no model is named."""
    from eyechart.opening import open_prompt
    from eyechart.runs.choosing import defaults_of
    from eyechart.runs.plan import PlanOptions, plan_run
    from eyechart.schema import ModelIdentity
    from eyechart.seen.check import FOUR_FAMILIES, check_pictures, shown_pictures
    from eyechart.seen.rules import Rule

    plan = plan_run(
        benchmark,
        views,
        open_prompt(defaults_of(benchmark).prompt),
        model=ModelIdentity("check", "any"),
        options=PlanOptions(
            geometry_policy=picture_flags.geometry_policy(), limit=limit, resampler=picture_flags.resampler
        ),
    )
    return check_pictures(
        shown_pictures(plan.requests),
        models or FOUR_FAMILIES,
        today=datetime.datetime.now(tz=datetime.UTC).date(),
        own_rules=tuple(rule for rule in rules if isinstance(rule, Rule)),
    )


def show_seen(table: "SeenTable") -> None:
    """Print one table per model on stdout, with rule, date and what is one picture to it."""
    for checked in table.models:
        rule = f"rule {checked.rule_id} of {checked.rule_date}, {checked.evidence}" if checked.rule_id else "no rule"
        settings = "".join(f" {name}={value}" for name, value in checked.settings.items())
        title = f"{checked.model}{settings}: {rule}"
        columns = ["view", ">n", ">sent", ">seen", ">tokens", ">target seen, px (quartiles)", "one picture with"]
        print_table(columns, [_row(view) for view in checked.views], title=title)
        for line in _notes(checked):
            say(line)


def _row(view: "ViewCheck") -> list[str]:
    refused = "; ".join(f"refused ({reason}): {n}" for reason, n in view.refused.items())
    same = ", ".join(f"{other}" + (f" ({n} of {view.n})" if n < view.n else "") for other, n in view.same_as.items())
    return [
        view.view,
        str(view.n),
        f"{view.sent_size.width}×{view.sent_size.height}",
        f"{view.seen_size.width}×{view.seen_size.height}" if view.seen_size else "unknown",
        f"{view.tokens:.0f}" if view.tokens is not None else "unknown",
        " / ".join(f"{side:.1f}" for side in view.target_px) if view.target_px else "–",
        "; ".join(part for part in (same, refused) if part),
    ]


def _notes(checked: "ModelCheck") -> list[str]:
    notes = [f"{checked.model}: one picture to this model: {' = '.join(group)}" for group in checked.groups]
    if checked.reason:
        notes.append(f"{checked.model}: {checked.reason}")
    return [*notes, *(f"warning: {warning}" for warning in checked.warnings)]


def _identities(models: tuple[str, ...], settings: tuple[str, ...]) -> "tuple[ModelIdentity, ...]":
    from eyechart.errors import UsageError
    from eyechart.schema import ModelIdentity
    from eyechart.settings import parse_pairs

    identities = []
    for spec in models:
        provider, separator, name = spec.partition("/")
        if not separator or not name:
            raise UsageError(f"model {spec!r} names no model", hint="write provider/name, such as openai/gpt-4o")
        identities.append(ModelIdentity(provider, name, settings=parse_pairs(settings, "--set")))
    return tuple(identities)
