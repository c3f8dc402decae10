"""Key–value settings from the command line or a TOML file, checked against the struct that declares them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin

import msgspec
import msgspec.structs

from eyechart.errors import UsageError
from eyechart.registry import unknown_name

Settings = TypeVar("Settings", bound=msgspec.Struct)


def read_settings(
    declared: type[Settings], given: Mapping[str, object], what: str, elsewhere: Mapping[str, str] | None = None
) -> Settings:
    """Return a struct filled with the given values; text is converted to the declared types.

    Args:
        declared: The struct class; every field should have a default.
        given: Values by field name, as text or as JSON values.
        what: Whose settings these are, for the error message.
        elsewhere: What is set in another way: name → that way, for the hint.

    Raises:
        UsageError: If a key is unknown (the hint names the nearest), missing, or its value has the wrong type (the hint
            names the values that a choice allows).

    Example:
        >>> class Detail(msgspec.Struct):
        ...     detail: str = "high"
        ...     n_tiles: int = 1
        >>> read_settings(Detail, {"n_tiles": "4"}, "the model")
        Detail(detail='high', n_tiles=4)
    """
    known = tuple(field.encode_name for field in msgspec.structs.fields(declared))
    for key in given:
        if key not in known:
            raise _unknown_setting(what, key, known, elsewhere or {})
    try:
        return msgspec.convert(dict(given), declared, strict=False)
    except msgspec.ValidationError as error:
        hint = _allowed_values(declared, given) or f"known settings: {', '.join(known) or 'none'}"
        raise UsageError(f"setting of {what}: {_plainly(str(error), given)}", hint=hint) from error


_AT = re.compile(r"(?P<what>.*) - at `\$\.(?P<name>\w+)(?P<part>.*)`", re.DOTALL)
_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text", "array": "a list"}
_KINDS |= {"object": "a table of names and values", "null": "nothing"}


def _plainly(message: str, given: Mapping[str, object]) -> str:
    """Return what msgspec says of a setting in everyday words."""
    found = _AT.fullmatch(message)
    if found is None or found["name"] not in given:
        return message
    shown = f"{found['name']}={given[found['name']]}" + (f" at {found['part']}" if found["part"] else "")
    expected = re.fullmatch(r"Expected `([\w |]+)`(?:, got `\w+`)?(?P<bound>.*)", found["what"])
    if expected is not None:
        kinds = (_KINDS.get(kind.strip(), kind.strip()) for kind in expected[1].split("|") if kind.strip() != "null")
        return f"{shown} is not {' or '.join(kinds)}{expected['bound']}"
    return f"{shown} is not known" if found["what"].startswith("Invalid enum value") else f"{shown}: {found['what']}"


def _unknown_setting(what: str, key: str, known: tuple[str, ...], elsewhere: Mapping[str, str]) -> UsageError:
    error = unknown_name(f"setting of {what}", key, (*known, *elsewhere))
    moved = next((name for name in elsewhere if key == name or error.hint == f"did you mean {name}?"), None)
    if moved is None:
        return error
    return UsageError(error.message, hint=f"{moved} is set by {elsewhere[moved]}")


def _allowed_values(declared: type[msgspec.Struct], given: Mapping[str, object]) -> str:
    """Return the values that the first misfit among the choices allows; empty if the fault is another."""
    for field in msgspec.structs.fields(declared):
        members = get_args(field.type) if get_origin(field.type) in {Union, UnionType} else (field.type,)
        allowed = [value for member in members if get_origin(member) is Literal for value in get_args(member)]
        if allowed and field.encode_name in given and given[field.encode_name] not in allowed:
            return f"{field.encode_name} is one of: {', '.join(map(str, allowed))}"
    return ""


def parse_pairs(pairs: Sequence[str], flag: str) -> dict[str, object]:
    """Read repeated ``key=value`` arguments; a later pair wins.

    Raises:
        UsageError: If a pair has no ``=``.

    Example:
        >>> parse_pairs(["detail=high", "n_tiles=4"], "--set")
        {'detail': 'high', 'n_tiles': '4'}
    """
    settings: dict[str, object] = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"{flag} {pair!r} is not key=value", hint=f"for example {flag} detail=high")
        settings[key.strip()] = value.strip()
    return settings


def read_toml(path: Path) -> dict[str, object]:
    """Read a TOML file of settings.

    Raises:
        UsageError: If the file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint="check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a TOML file: {error}", hint='write lines such as detail = "high"') from error
