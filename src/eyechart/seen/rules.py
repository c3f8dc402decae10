"""Published rules by which hosted models resize pictures: bundled data, or the user's own file."""

import datetime
import re
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, Protocol, TypeVar, get_args, runtime_checkable

import msgspec
import msgspec.structs

from eyechart.errors import UsageError
from eyechart.schema import Evidence, ModelIdentity, Size, Value, content_sha256
from eyechart.seen.algorithms import AnyAlgorithm, Resized, Unpublished

NOT_SENT = "not-sent"
MAX_RULE_AGE = datetime.timedelta(days=90)

_FOLDER = Path(__file__).with_name("rule_files")
_HOSTS_FILE = "hosts.toml"
# A dated snapshot is the model without its date: gpt-4o-2024-08-06, claude-sonnet-4-5-20250929.
_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$")

File = TypeVar("File", bound=msgspec.Struct)
Confidence = Literal["A", "B", "C"]
"""A: the vendor's text or code; B: the vendor quoted by others; C: inferred."""
Obtained = Literal["documented", "probed", "executed", "reported"]


class Limits(Value, frozen=True):
    """What a provider refuses; None means that no bound is known.

    ``max_side_px_of_many`` holds for every picture once a request holds more than ``many_images``.
    ``max_base64_bytes`` bounds a picture after base64, which is four thirds of its bytes.
    """

    max_side_px: int | None = None
    max_side_px_of_many: int | None = None
    many_images: int | None = None
    max_patches: int | None = None
    patch_px: int | None = None
    max_images: int | None = None
    max_image_bytes: int | None = None
    max_base64_bytes: int | None = None
    max_request_bytes: int | None = None
    media_types: tuple[str, ...] = ()


class Rule(Value, frozen=True, kw_only=True):
    """How one family of models under some settings resizes pictures.

    Args:
        id: ``name@version``.
        models: Names, or patterns with ``*``, ``?`` and ``[…]``; a dated snapshot of a name counts as the name.
        algorithm: What is done.
        source: Where it is published.
        date: When that was read.
        confidence: See ``Confidence``.
        when: Settings under which it holds, by name, each with its values as text (``not-sent`` where it is not sent).
        overrides: Algorithm parameter → setting that replaces it if it is sent.
        limits: What is refused.
        obtained: How it is known: published, or found out by probing, by running the model's processor, or from the
            model's server.
        note: What a reader should know.
        provider: Filled from the file.
    """

    id: str
    models: tuple[str, ...]
    algorithm: AnyAlgorithm
    source: str
    date: datetime.date
    confidence: Confidence
    when: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    overrides: dict[str, str] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
    obtained: Obtained = "documented"
    note: str = ""
    provider: str = ""

    @property
    def evidence(self) -> Evidence:
        """How it was obtained, or ``inferred`` where no vendor says it."""
        return "inferred" if self.confidence == "C" and self.obtained == "documented" else self.obtained

    @property
    def sha256(self) -> str:
        """Hash of everything in the rule, lower-case hex."""
        return content_sha256(self)

    def apply(self, sent: Size) -> Resized:
        """Return what becomes of a picture that is sent alone."""
        return self.algorithm.apply(sent)

    def apply_to_all(self, sent: Sequence[Size]) -> tuple[Resized, ...]:
        """Return what becomes of the pictures of one request, in order."""
        return tuple(self.apply(size) for size in sent)


class Resizer(Protocol):
    """Something that shows what becomes of pictures by doing it, such as a model's own processor."""

    @property
    def configuration_sha256(self) -> str:
        """Hash of everything that decides it, lower-case hex."""
        ...

    def resize(self, sent: Sequence[Size]) -> tuple[Resized, ...]:
        """Return what becomes of the pictures of one request, in order; they may change each other's way."""
        ...


@runtime_checkable
class TellsRule(Protocol):
    """A model that can say by itself what becomes of pictures: by its processor here, or by its server."""

    async def seen_rule(self, today: datetime.date) -> Rule | None:
        """Return the rule, None if it cannot be told.

        Raises:
            ModelError: If a server cannot be asked.
            UsageError: If there is no such processor.
        """
        ...


class LiveRule(Rule, frozen=True, kw_only=True):
    """A rule that is carried out and not written down; ``algorithm`` says nothing."""

    resizer: Resizer
    algorithm: AnyAlgorithm = Unpublished()

    @property
    def sha256(self) -> str:
        """Hash of the configuration that is carried out."""
        return self.resizer.configuration_sha256

    def apply(self, sent: Size) -> Resized:
        """Return what becomes of a picture that is sent alone."""
        return self.resizer.resize((sent,))[0]

    def apply_to_all(self, sent: Sequence[Size]) -> tuple[Resized, ...]:
        """Return what becomes of the pictures of one request, in order."""
        return self.resizer.resize(sent)


class Lookup(Value, frozen=True):
    """The rule of a model, or why there is none."""

    rule: Rule | None
    reason: str = ""


class _RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    provider: str
    rules: tuple[Rule, ...]
    limits: Limits = Limits()


class _Host(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A host of other makers' models; ``makers`` maps its prefixes to providers where pictures go on unchanged."""

    provider: str
    source: str
    date: datetime.date
    note: str
    makers: dict[str, str] = msgspec.field(default_factory=dict)


class _HostFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hosts: tuple[_Host, ...]


def rule_for(model: ModelIdentity, own: Sequence[Rule] = ()) -> Rule | None:
    """Return the rule by which a model resizes pictures under its settings, None if no rule is known.

    Example:
        >>> from eyechart.schema import Size
        >>> rule = rule_for(ModelIdentity("openai", "gpt-4o-2024-08-06", settings={"detail": "high"}))
        >>> rule.id, rule.algorithm.apply(Size(3840, 2160)).size
        ('openai-tile-gpt4o@1', Size(width=1365, height=768))
        >>> rule_for(ModelIdentity("openai", "gpt-4o-audio-preview")) is None
        True
    """
    return look_up(model, own).rule


def look_up(model: ModelIdentity, own: Sequence[Rule] = ()) -> Lookup:
    """Return the rule of a model, or the reason why it is unknown; a near name is never taken instead.

    Args:
        model: Provider, name and settings; a setting that is missing counts as not sent.
        own: The user's rules, which come before the bundled ones.

    Example:
        >>> look_up(ModelIdentity("together", "Qwen/Qwen3-VL-8B-Instruct")).reason
        'every model is billed by the tiles of Llama 3.2, which are not its own grid'
    """
    for rules in (own, bundled_rules()):
        found = _among(rules, model)
        if found is not None:
            return found
    host = next((host for host in _hosts() if host.provider == model.provider), None)
    if host is None:
        return Lookup(None, f"no rule is known for {model.spec}")
    maker, _, name = model.name.partition("/")
    if maker not in host.makers:
        return Lookup(None, host.note)
    passed_on = look_up(msgspec.structs.replace(model, provider=host.makers[maker], name=name), own)
    if passed_on.rule is None:
        return passed_on
    # A host in between may resize or choose another server, so the vendor's word is no more than an inference.
    note = "; ".join(part for part in (host.note, passed_on.rule.note) if part)
    return Lookup(msgspec.structs.replace(passed_on.rule, confidence="C", note=note))


@cache
def bundled_rules() -> tuple[Rule, ...]:
    """Return all rules of the package, in the order of their files."""
    files = sorted(path for path in _FOLDER.glob("*.toml") if path.name != _HOSTS_FILE)
    return tuple(rule for path in files for rule in read_rule_file(path))


def read_rule_file(path: Path) -> tuple[Rule, ...]:
    """Read rules from a TOML file: ``provider``, optional ``[limits]``, and ``[[rules]]``.

    Limits of the file hold for every rule, unless the rule gives its own.

    Raises:
        UsageError: If the file cannot be read, a field is unknown or missing, or two rules share an id.
    """
    content = _decode(path, _RuleFile, "provider, limits, rules")
    ids = [rule.id for rule in content.rules]
    twins = sorted({id_ for id_ in ids if ids.count(id_) > 1})
    if twins:
        raise UsageError(f"{path}: two rules are named {twins[0]}", hint="give each rule its own id, name@version")
    return tuple(
        msgspec.structs.replace(rule, provider=content.provider, limits=_joined(content.limits, rule.limits))
        for rule in content.rules
    )


def warnings_of(rule: Rule, settings: Mapping[str, object], today: datetime.date) -> tuple[str, ...]:
    """Return what a reader must know before trusting a rule: its age, an ``auto`` setting, an inference.

    Example:
        >>> rule = rule_for(ModelIdentity("openai", "gpt-5.4", settings={"detail": "auto"}))
        >>> warnings_of(rule, {"detail": "auto"}, rule.date)[0]
        'detail auto means another thing in each model; send a fixed value'
    """
    found = []
    if settings.get("detail") == "auto":
        found.append("detail auto means another thing in each model; send a fixed value")
    if today - rule.date > MAX_RULE_AGE:
        days = (today - rule.date).days
        found.append(f"rule {rule.id} was read on {rule.date}, {days} days ago; providers change such rules silently")
    if rule.obtained == "reported" and rule.note:
        found.append(f"by the server's own word, {rule.note}")
    if rule.confidence == "C":
        found.append(f"rule {rule.id} is inferred, not documented{f': {rule.note}' if rule.note else ''}")
    return tuple(found)


def _among(rules: Sequence[Rule], model: ModelIdentity) -> Lookup | None:
    """Return what these rules say of a model; None if none of them names it."""
    named = [rule for rule in rules if rule.provider == model.provider and closeness_of(rule.models, model.name) > 0]
    fitting = [rule for rule in named if _holds(rule, model.settings)]
    if fitting:
        rule = max(fitting, key=lambda rule: closeness_of(rule.models, model.name))
        return Lookup(_with_overrides(rule, model.settings))
    if not named:
        return None
    known = sorted({f"{name} {value}" for rule in named for name, values in rule.when.items() for value in values})
    given = ", ".join(
        f"{name} {_text(model.settings.get(name))}" for name in sorted({n for r in named for n in r.when})
    )
    return Lookup(None, f"no rule of {model.spec} is known for {given}; known are {', '.join(known)}")


def closeness_of(patterns: Sequence[str], name: str) -> int:
    """Return how exactly patterns name a model: 0 not at all, more for longer patterns, most for the name itself.

    A dated snapshot of a name counts as the name.

    Example:
        >>> closeness_of(["gpt-4o"], "gpt-4o-2024-08-06") > closeness_of(["gpt-*"], "gpt-4o") > 0
        True
    """
    bare = _SNAPSHOT.sub("", name)
    exact = 1_000_000
    scores = [
        exact if pattern in {name, bare} else len(pattern)
        for pattern in patterns
        if fnmatchcase(name, pattern) or fnmatchcase(bare, pattern)
    ]
    return max(scores, default=0)


def _holds(rule: Rule, settings: Mapping[str, object]) -> bool:
    return all(_text(settings.get(name)) in values for name, values in rule.when.items())


def _text(value: object) -> str:
    if value is None:
        return NOT_SENT
    return str(value).lower() if isinstance(value, bool) else str(value)


def _with_overrides(rule: Rule, settings: Mapping[str, object]) -> Rule:
    sent = {parameter: settings[name] for parameter, name in rule.overrides.items() if settings.get(name) is not None}
    if not sent:
        return rule
    return msgspec.structs.replace(rule, algorithm=msgspec.structs.replace(rule.algorithm, **sent))


def _joined(common: Limits, own: Limits) -> Limits:
    given = {field: value for field, value in msgspec.structs.asdict(own).items() if value not in {None, ()}}
    return msgspec.structs.replace(common, **given)


@cache
def _hosts() -> tuple[_Host, ...]:
    return _decode(_FOLDER / _HOSTS_FILE, _HostFile, "hosts").hosts


def _decode(path: Path, kind: type[File], known: str) -> File:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), kind)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint="check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a TOML file: {error}", hint="see the rule files in the package") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}", hint=_fields_at(str(error), known)) from error


def _fields_at(error: str, known: str) -> str:
    """Return which fields stand at the place of an error."""
    if ".algorithm" in error:
        kinds = get_args(AnyAlgorithm)
        return f"an algorithm is one of {'; '.join(f'{_tag(kind)} ({_names(kind)})' for kind in kinds)}"
    if ".limits" in error:
        return f"limits are {_names(Limits)}"
    return f"a rule holds {_names(Rule, but='provider')}" if ".rules" in error else f"the file holds {known}"


def _names(kind: type[msgspec.Struct], but: str = "") -> str:
    return ", ".join(field.encode_name for field in msgspec.structs.fields(kind) if field.encode_name != but)


def _tag(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)
