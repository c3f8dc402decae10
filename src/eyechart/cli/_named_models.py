"""Models named on the command line, with the settings a run would send and what they tell of themselves."""

import datetime
from collections.abc import Sequence
from typing import NamedTuple, cast

import msgspec.structs

from eyechart.kinds import Model, ModelKind, ModelOptions
from eyechart.registry import load, names
from eyechart.runs.balanced import open_balanced
from eyechart.runs.event_loop import run_async
from eyechart.runs.foresight import told_rule
from eyechart.seen.rules import Rule


class NamedModels(NamedTuple):
    """The models of a command line.

    Args:
        opened: The models, under the settings they would be asked with, defaults included.
        rules: What models tell by themselves, by their processor or their server.
        notes: Why one does not, where it should.
    """

    opened: tuple[Model, ...]
    rules: tuple[Rule, ...]
    notes: tuple[str, ...]


def name_models(
    specs: tuple[str, ...], options: ModelOptions, today: datetime.date, base_urls: Sequence[str] = ()
) -> NamedModels:
    """Open models by ``provider/name`` as a run does, and let them tell what they see.

    Args:
        specs: The names.
        options: What opens them; each setting goes to the models that know it.
        today: For the rules' dates.
        base_urls: Where servers are.

    Raises:
        UsageError: If a name is not a model, or no model knows a setting.
        MissingDependencyError: If a provider's extra is not installed.
    """
    opened, rules, notes = [], [], []
    settings = options.settings
    known_to_none = {key for key in settings if not any(knows_setting(spec, key) for spec in specs)}
    for spec in specs:
        # What no model knows is given all the same, so that it is refused as a run would.
        own = {key: value for key, value in settings.items() if key in known_to_none or knows_setting(spec, key)}
        model = open_balanced(spec, msgspec.structs.replace(options, settings=own), base_urls)
        told = run_async(told_rule(model, today))
        opened.append(model)
        rules.extend([] if told.rule is None else [told.rule])
        notes.extend([told.reason] if told.reason else [])
    return NamedModels(tuple(opened), tuple(rules), tuple(notes))


def knows_setting(spec: str, name: str) -> bool:
    """Whether a model takes a setting; one of no known provider takes any.

    Example:
        >>> knows_setting("openai/gpt-4o", "detail"), knows_setting("google/gemini-3-pro", "detail")
        (True, False)
    """
    provider = spec.partition("/")[0]
    return provider not in names("model") or name in _settings_of(provider)


def _settings_of(provider: str) -> tuple[str, ...]:
    kind = cast("type[ModelKind]", load("model", provider))
    return tuple(field.encode_name for field in msgspec.structs.fields(kind.settings))
