"""Names of people, machines, folders, servers and organisations taken out of a summary."""

import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

from eyechart.runs.escapes import find_base64, find_escaped
from eyechart.schema import Run, Summary

PATH, ENDPOINT, HOST, USER, ORGANISATION, REMOVED = (
    "[path]",
    "[endpoint]",
    "[host]",
    "[user]",
    "[organisation]",
    "[removed]",
)

_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"<>)\]}]+", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_QUOTED_PATH = re.compile(r"(?<=['\"`])(?:~?/|[A-Za-z]:[\\/]|\\\\)[^'\"`\n]*(?=['\"`])")
_PATH = re.compile(r"(?:(?<![\w/.:<~-])~?/|\b[A-Za-z]:[\\/]|\\\\)[^\s'\"`<>,;:()\[\]{}]+")
_RELATIVE_FILE = re.compile(r"(?<![\w@/])(?:\.{1,2}[\\/])?(?:[\w.-]+[\\/])+[\w-]+\.[A-Za-z][A-Za-z0-9]{1,5}\b")
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\w.])|\[[0-9a-f:]*:[0-9a-f:]+\](?::\d+)?", re.I)
_LOCAL_HOST = re.compile(r"\b(?:[\w-]+\.)*(?:localhost|[\w-]+\.(?:local|lan|internal|corp|intranet))\b(?::\d+)?", re.I)
_HOST_WITH_PORT = re.compile(r"\b(?:[a-z0-9-]+\.)+[a-z]{2,}:\d{2,5}\b", re.IGNORECASE)
_ACCOUNT = re.compile(r"\b(?:org|proj|user)[-_][A-Za-z0-9]{6,}\b")
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)([^\s/\\'\"]+)")
_URL_HOST = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^@/\s]*@)?([\w.-]+)", re.IGNORECASE)

_PATTERNS = (
    (_URL, ENDPOINT),
    (_EMAIL, USER),
    (_QUOTED_PATH, PATH),
    (_PATH, PATH),
    (_RELATIVE_FILE, PATH),
    (_ADDRESS, HOST),
    (_HOST_WITH_PORT, HOST),
    (_LOCAL_HOST, HOST),
    (_ACCOUNT, ORGANISATION),
)
# Settings and options whose name says that the value is private, wherever they stand.
_PRIVATE_KEY = re.compile(
    r"(?:^|[_.-])(?:user|username|login|host|hostname|node|base_?url|url|endpoint|server|path|folder|dir|directory|file|"
    r"data|root|org|organi[sz]ation|project|team|account|email|author)$",
    re.IGNORECASE,
)
# Where a name may begin although a letter stands before it; causes of failures have # for digits.
_AFTER_ESCAPE = r"(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f#]{2})|(?<=\\u[0-9A-Fa-f#]{4})|(?<=\\x[0-9A-Fa-f#]{2})"
# Shorter names would be found inside ordinary words.
_SHORTEST_NAME = 3


def anonymise(summary: Summary, names: Collection[str] = ()) -> Summary:
    """Return a summary without user, host, path, endpoint and organisation, every number as it was.

    Removed are URLs, addresses, paths, e-mail addresses and account ids in any text; values of settings and options
    whose name says that they are private; the organisation in a model's name (``org/model``, ``ft:model:org:…``);
    arguments of the command that are paths or addresses; and, everywhere, the given names and those found in home
    folders, in URLs and in private settings, also where they are percent-encoded, escaped as in JSON or in Base64. Ids
    of views, conditions and scorers stay as they are.

    Args:
        summary: The summary.
        names: Further words to remove as a whole, upper and lower case alike: login, host name, organisation, project.
            Words under three characters are not looked for.

    Returns:
        A new summary. Text that names someone in words that no pattern or name covers is not found: read it.
    """
    return cleaner_of(summary, names).summary(summary)


def cleaner_of(summary: Summary, names: Collection[str] = ()) -> "Cleaner":
    """Return what cleans texts that belong to a summary as ``anonymise`` cleans its own."""
    kept = {text for condition in summary.conditions for text in (condition.condition, condition.view)}
    bare = msgspec.structs.replace(summary, run=without_organisation(summary.run))
    found = {*names, *_names_in(msgspec.to_builtins(bare))}
    return _cleaner(summary.run, {*kept, summary.scorer}, found)


def cleaner_of_run(run: Run, kept: Collection[str], names: Collection[str] = ()) -> "Cleaner":
    """Return what cleans texts that belong to a run.

    Args:
        run: Its settings, in which names are looked for.
        kept: Texts that stay as they are: conditions, views, the scorer.
        names: Further words to remove.
    """
    return _cleaner(run, kept, {*names, *_names_in(msgspec.to_builtins(without_organisation(run)))})


def _cleaner(run: Run, kept: Collection[str], names: Collection[str]) -> "Cleaner":
    stays = {*kept, *run.views, run.prompt_id, run.plan_id, run.decode.exif}
    return Cleaner(stays, _name_pattern({*names, *_organisations(run)} - {run.model.provider}))


class Cleaner(msgspec.Struct, frozen=True):
    """What stays untouched, and the names to look for."""

    kept: set[str]
    names: re.Pattern[str] | None

    def clean(self, text: str) -> str:
        """Return a text without private parts, plain or encoded."""
        if text in self.kept:
            return text
        cleaned = self._clean_plain(text)
        for encoded, decoded in find_escaped(cleaned):
            shown = self._clean_plain(decoded)
            if shown != decoded:
                cleaned = cleaned.replace(encoded, shown)
        for encoded, decoded in find_base64(cleaned):
            if self._clean_plain(decoded) != decoded:
                cleaned = cleaned.replace(encoded, REMOVED)
        return cleaned

    def _clean_plain(self, text: str) -> str:
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        return text if self.names is None else self.names.sub(REMOVED, text)

    def distinct(self, texts: Iterable[str]) -> dict[str, str]:
        """Return text → the text without private parts; what would become alike is numbered, so that it stays apart."""
        found: dict[str, str] = {}
        taken: set[str] = set()
        for text in dict.fromkeys(texts):
            cleaned = self.clean(text)
            number, shown = 1, cleaned
            while shown in taken:
                number += 1
                shown = f"{cleaned} {number}"
            taken.add(shown)
            found[text] = shown
        return found

    def numbered(self, texts: Iterable[str], word: str) -> dict[str, str]:
        """Return text → itself if none holds a private part, else ``word`` and its place in their order.

        So groups keep their order, on which random numbers and sums may rest.
        """
        known = sorted(set(texts))
        if all(self.clean(text) == text for text in known):
            return {text: text for text in known}
        return {text: f"{word}-{place:06d}" for place, text in enumerate(known, 1)}

    def summary(self, summary: Summary) -> Summary:
        """Return a summary without private parts."""
        bare = msgspec.structs.replace(summary, run=without_organisation(summary.run))
        return msgspec.convert(self.built_in(bare), Summary)

    def run(self, run: Run) -> Run:
        """Return settings of a run without private parts."""
        return msgspec.convert(self.built_in(without_organisation(run)), Run)

    def built_in(self, value: object) -> object:
        """Return a record as built-in values with every text cleaned, and private settings emptied."""
        return _cleaned(msgspec.to_builtins(value), self)


def _cleaned(value: object, cleaner: Cleaner, key: str = "") -> object:
    """Return built-in values with every text cleaned, and private settings emptied."""
    if isinstance(value, dict):
        return {cleaner.clean(str(name)): _cleaned(inner, cleaner, str(name)) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner, cleaner, key) for inner in value]
    if not isinstance(value, str):
        return value
    return REMOVED if value and _PRIVATE_KEY.search(key) else cleaner.clean(value)


def _names_in(value: object, key: str = "") -> Iterator[str]:
    """Yield names of users and hosts that built-in values give away."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _names_in(inner, str(name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _names_in(inner, key)
    elif isinstance(value, str):
        yield from _HOME.findall(value)
        yield from _URL_HOST.findall(value)
        if _PRIVATE_KEY.search(key) and re.fullmatch(r"[\w.-]+", value):
            yield value


def _name_pattern(names: Collection[str]) -> re.Pattern[str] | None:
    """Return a pattern for whole names, longest first; None if there are none.

    Between the words of a name any sign may stand, as in names of folders; before it the letter of an escape may.
    """
    usable = sorted({name for name in names if len(name) >= _SHORTEST_NAME}, key=lambda name: (-len(name), name))
    if not usable:
        return None
    spelt = (r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", name))) or re.escape(name) for name in usable)
    return re.compile(rf"(?:(?<![A-Za-z0-9])|{_AFTER_ESCAPE})(?:{'|'.join(spelt)})(?![A-Za-z0-9])", re.IGNORECASE)


def _organisations(run: Run) -> tuple[str, ...]:
    """Return the organisations in the model's name: what stands before a slash, and the third part of a fine-tune."""
    name = run.model.name
    parts = name.split(":")
    fine_tuned = (parts[2],) if parts[0] == "ft" and len(parts) > 3 else ()  # noqa: PLR2004 (ft:model:org:suffix:id)
    return (*name.split("/")[:-1], *fine_tuned)


def without_organisation(run: Run) -> Run:
    """Return settings with the bare model name, also in the command."""
    model = run.model
    bare = msgspec.structs.replace(model, name=model.name.split("/")[-1])
    command = tuple(_argument(argument, model.spec, bare.spec) for argument in run.command)
    return msgspec.structs.replace(run, model=bare, command=command)


def _argument(argument: str, spec: str, bare_spec: str) -> str:
    """Return one argument of the command; what holds a path separator and is not the model becomes a placeholder."""
    if spec in argument:
        return argument.replace(spec, bare_spec)
    flag, equals, value = argument.partition("=")
    if equals and flag.startswith("--"):
        return f"{flag}={_argument(value, spec, bare_spec)}"
    if "://" in argument:
        return ENDPOINT
    return PATH if "/" in argument or "\\" in argument else argument
