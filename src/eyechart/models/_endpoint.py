"""Where a provider is reached, and with which key: from environment or keyring, and never into a message or a file."""

import importlib.util
import os
import re
import urllib.parse
from collections.abc import Mapping

from eyechart.errors import AuthenticationError, BadRequestError, UsageError
from eyechart.schema import Value

NO_KEY = "not-needed"
KEYRING_SERVICE = "eyechart"
_MIN_REDACTED_CHARACTERS = 4


class Provider(Value, frozen=True):
    """A service that speaks a known interface.

    Args:
        name: As in ``provider/name``.
        key_variable: Environment variable that holds the key.
        base_url: Where it is reached unless told otherwise; None if there is no such place.
        base_url_variable: Environment variable that names another place.
        needs_key: Whether its own place refuses requests without a key.
        other_key_variable: Where the key is looked for next.
    """

    name: str
    key_variable: str
    base_url: str | None = None
    base_url_variable: str | None = None
    needs_key: bool = True
    other_key_variable: str | None = None


def check_base_url(base_url: str, source: str) -> None:
    """Refuse an address that is not a web address.

    Raises:
        UsageError: If it does not begin with ``http://`` or ``https://`` and a host.
    """
    try:
        parts = urllib.parse.urlsplit(base_url)
        is_address = parts.scheme in {"http", "https"} and bool(host_and_port(parts))
    except ValueError:  # a port that is not a number or above 65535, or half an IPv6 address
        is_address = False
    if not is_address:
        shown = re.sub(r"//[^@]*@", "//", base_url)
        raise UsageError(f"{source} {shown!r} is not a web address", hint="for example http://localhost:8000/v1")


def find_base_url(provider: Provider, given: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """Return the address to ask: as given, else from the environment, else the provider's own.

    Raises:
        BadRequestError: If there is none, or the environment's is not a web address.

    Example:
        >>> find_base_url(Provider("ollama", "OLLAMA_API_KEY", "http://localhost:11434/v1"), None, {})
        'http://localhost:11434/v1'
    """
    if given:
        return given
    variable = provider.base_url_variable
    found = environment.get(variable) if variable else None
    if found:
        try:
            check_base_url(found, str(variable))
        except UsageError as error:
            raise BadRequestError(error.message, hint=error.hint, parameter="base_url") from error
    address = found or provider.base_url
    if not address:
        also = f" or set {variable}" if variable else ""
        raise BadRequestError(
            f"{provider.name} has no address of its own", hint=f"give --base-url{also}", parameter="base_url"
        )
    return address


def find_key(provider: Provider, base_url: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the key from the environment, else from the system keyring, or a placeholder where none is needed.

    The keyring is looked at where the ``keyring`` package is installed and the provider's own place needs a key.

    Raises:
        AuthenticationError: If the provider's own place needs a key and there is none, or what was found cannot be one.
    """
    variables = tuple(filter(None, (provider.key_variable, provider.other_key_variable)))
    for variable in variables:
        key = environment.get(variable, "").strip()
        if key:
            return _checked(key, variable)
    if provider.needs_key and base_url == provider.base_url:
        for variable in variables:
            key = _from_keyring(variable)
            if key:
                return _checked(key, f"{variable} in the system keyring")
        raise AuthenticationError(f"{provider.key_variable} is not set", hint=key_hint(provider))
    return NO_KEY


def _checked(key: str, source: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise AuthenticationError(f"{source} holds characters that no key has", hint="copy the key again")
    return key


def _from_keyring(variable: str) -> str:
    """Return what the system keyring holds for ``eyechart`` under a variable's name, empty if nothing."""
    if importlib.util.find_spec("keyring") is None:
        return ""
    import keyring  # deferred: it looks for the desktop's service
    import keyring.errors

    try:
        return (keyring.get_password(KEYRING_SERVICE, variable) or "").strip()
    except keyring.errors.KeyringError:
        return ""  # a locked keyring, or a machine without one: the error that follows names the variable


def key_hint(provider: Provider) -> str:
    """Return what to do about a missing or rejected key."""
    return (
        f"set the environment variable {provider.key_variable} to a key that may use this model, "
        f"or store it: keyring set {KEYRING_SERVICE} {provider.key_variable}"
    )


def without_key(text: str, key: str) -> str:
    """Return a text with every occurrence of the key blotted out.

    Example:
        >>> without_key("Incorrect key sk-secret", "sk-secret")
        'Incorrect key [key]'
    """
    return text.replace(key, "[key]") if len(key) >= _MIN_REDACTED_CHARACTERS and key != NO_KEY else text


def shown_url(base_url: str) -> str:
    """Return an address without user, password and query, for messages.

    Example:
        >>> shown_url("https://user:secret@host.example:8000/v1?key=abc")
        'https://host.example:8000/v1'
    """
    parts = urllib.parse.urlsplit(base_url)
    return f"{parts.scheme}://{host_and_port(parts)}{parts.path}"


def host_and_port(parts: urllib.parse.SplitResult) -> str:
    """Return host and port of an address as they may be shown, empty where there is no host.

    Raises:
        ValueError: If the port is not a number from 0 to 65535.

    Example:
        >>> host_and_port(urllib.parse.urlsplit("http://user:secret@[::1]:8000/v1"))
        '[::1]:8000'
    """
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if host and parts.port is not None else host
