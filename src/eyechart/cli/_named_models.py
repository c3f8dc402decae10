"""Models named on the command line, with the settings a run would send and what they tell of themselves."""

import datetime
from typing import NamedTuple, cast

import msgspec.structs

from eyechart.errors import UsageError
from eyechart.kinds import ModelKind, ModelOptions
from eyechart.opening import open_model
from eyechart.registry import load, names, unknown_name
from eyechart.runs.event_loop import run_async
from eyechart.runs.foresight import told_rule
from eyechart.schema import ModelIdentity
from eyechart.seen.rules import Rule


class NamedModels(NamedTuple):
    """The models of a command line.

    Args:
        identities: Each with the settings it would be asked under, defaults included.
        rules: What models tell by themselves, by their processor or their server.
        notes: Why one does not, where it should.
    """

    identities: tuple[ModelIdentity, ...]
    rules: tuple[Rule, ...]
    notes: tuple[str, ...]


def name_models(
    specs: tuple[str, ...], settings: dict[str, object], today: datetime.date, base_url: str | None = None
) -> NamedModels:
    """Open models by ``provider/name`` and let them tell what they see; names of no known provider are kept as given.

    Args:
        specs: The names.
        settings: Settings; each goes to the models that know it.
        today: For the rules' dates.
        base_url: Where a server is.

    Raises:
        UsageError: If a name is no model, or no model knows a setting.
        MissingDependencyError: If a provider's extra is not installed.
    """
    identities, rules, notes = [], [], []
    used: set[str] = set()
    for spec in specs:
        provider, separator, name = spec.partition("/")
        if not separator or not name:
            raise UsageError(f"model {spec!r} names no model", hint="write provider/name, such as openai/gpt-4o")
        if provider not in names("model"):
            used |= set(settings)
            unknown = unknown_name("model provider", provider, names("model"))
            if unknown.hint.startswith("did you mean"):
                notes.append(f"{unknown.message}; {unknown.hint}")
            identities.append(ModelIdentity(provider, name, settings=settings))
            continue
        known = _settings_of(provider)
        own = {key: value for key, value in settings.items() if key in known}
        used |= set(own)
        model = open_model(spec, ModelOptions(base_url=base_url, settings=own))
        told = run_async(told_rule(model, today))
        identities.append(model.identity)
        rules.extend([] if told.rule is None else [told.rule])
        notes.extend([told.reason] if told.reason else [])
    for key in settings:
        if specs and key not in used:
            every = {name for spec in specs for name in _settings_of(spec.partition("/")[0])}
            raise unknown_name(f"setting of {', '.join(specs)}", key, tuple(sorted(every)))
    return NamedModels(tuple(identities), tuple(rules), tuple(notes))


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
