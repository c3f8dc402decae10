"""How every provider is reached: whose certificates count, through which proxy, and never by way of a redirect."""

import importlib
import importlib.util
import ipaddress
import os
import ssl
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from types import ModuleType
from typing import NamedTuple, TypeVar

from eyechart.errors import BadRequestError, ModelError, TransientModelError, UsageError
from eyechart.kinds import ModelOptions
from eyechart.models._endpoint import Provider, find_base_url, find_key, host_and_port, shown_url, without_key

HttpClient = TypeVar("HttpClient")

_PORTS = {"http": 80, "https": 443}
_SOCKS = frozenset({"socks5", "socks5h"})
_MOST_HOST_CHARACTERS = 253  # RFC 1035, section 2.3.4
_MOST_CAUSES = 10
_SYSTEM_SETTINGS = "the system's proxy settings"
_PROXY_REFUSES = 407
_REDIRECTS = range(300, 400)
# Read first to last; the first two count together, as they do for OpenSSL.
_TRUST_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


class Proxy(NamedTuple):
    """What stands between this machine and a provider.

    Args:
        variable: The environment variable that names it.
        url: Its address, user and password included; never shown.
        place: Its address as it may be shown.
    """

    variable: str
    url: str
    place: str


class Line(NamedTuple):
    """Where a model is asked, with which key, how long one attempt may take, and through which proxy."""

    base_url: str
    key: str
    seconds: float
    proxy: Proxy | None = None

    @property
    def place(self) -> str:
        """The address as it may be shown."""
        return shown_url(self.base_url)

    def client(self, make: Callable[..., HttpClient], **arguments: object) -> HttpClient:
        """Return an HTTP client for this line and no other: it follows no redirect and reads no environment.

        Args:
            make: A client class of the HTTP library, or the default one of an SDK.
            **arguments: What else it takes.

        Raises:
            UsageError: If the trusted certificates cannot be read.
        """
        return make(
            verify=self.trust(),
            proxy=self.proxy.url if self.proxy else None,
            trust_env=False,
            follow_redirects=False,
            **arguments,
        )

    def trust(self) -> ssl.SSLContext:
        """Return whose certificates count; none are read where nothing is encrypted.

        Raises:
            UsageError: If they cannot be read.
        """
        is_encrypted = "https://" in (self.base_url + (self.proxy.url if self.proxy else "")).lower()
        return trusted() if is_encrypted else _trusting_nobody()

    def timeout(self) -> TransientModelError:
        """Return the error for an attempt that did not end in time."""
        return TransientModelError(
            f"no reply from {self.place} within {self.seconds:g} s{self._by_way}",
            hint="a longer --timeout may help",
            is_overload=True,
        )

    def broken(self, cause: BaseException, *, is_connection: bool) -> ModelError:
        """Return the error for a connection that failed.

        Args:
            cause: What the network library raised.
            is_connection: Whether no server answered at all.
        """
        fault = _tls_fault(cause)
        if isinstance(fault, ssl.SSLCertVerificationError):
            return self._untrusted(fault.verify_message or str(fault))
        reason = without_key(str(cause) or type(cause).__name__, self.key)
        if fault is not None and {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"} & {fault.reason}:
            return BadRequestError(
                f"{self.place} does not speak TLS ({reason}){self._by_way}",
                hint="is --base-url http:// instead of https://?",
                parameter="base_url",
            )
        if type(cause).__name__ == "ProxyError":
            return self._not_connected(reason)
        if is_connection and self.proxy is not None:
            return TransientModelError(
                f"no proxy answered at {self.proxy.place}, which {self.proxy.variable} names for {self.place} "
                f"({_without_password(reason, self.proxy)})",
                hint=f"is the proxy running? {self._without_proxy}",
                is_connection=True,
            )
        what = "no server answered at" if is_connection else "the connection broke at"
        hint = "is the server running, and is --base-url right?" if is_connection else ""
        if is_connection and self.base_url.startswith("https:"):
            hint = "is the server running, and is --base-url right, with https:// and not http://?"
        return TransientModelError(
            f"{what} {self.place} ({reason}){self._by_way}", hint=hint, is_connection=is_connection
        )

    def misled(self, status: int, headers: Mapping[str, str]) -> BadRequestError | None:
        """Return the error for a status that does not come from the model: a redirect, or a proxy that refuses.

        Args:
            status: HTTP status.
            headers: Reply headers, names in lower case.
        """
        if status == _PROXY_REFUSES:
            return self._proxy_refuses(f"HTTP {status}")
        if status not in _REDIRECTS:
            return None
        here, there = _origin(self.base_url), _origin(self.base_url, headers.get("location", ""))
        if there is None:
            return BadRequestError(
                f"{self.place} answers with a redirect (HTTP {status}) that names no web address",
                hint="no redirect is followed: check --base-url",
                parameter="base_url",
            )
        if there == here:
            hint = "--base-url is wrong: this server moves the request to another path (does the address end in /v1?)"
        elif there[1] == (here or there)[1]:
            hint = f"--base-url is wrong: give it as {_written(there)} with the path that it has now"
        else:
            hint = (
                "no redirect is followed, since the key would go along: --base-url is wrong; if the model is there, "
                f"give the address that begins with {_written(there)}"
            )
        return BadRequestError(
            f"{self.place} answers with a redirect (HTTP {status}) to {_written(there)}",
            hint=hint,
            parameter="base_url",
        )

    @property
    def _by_way(self) -> str:
        return "" if self.proxy is None else f", through the proxy {self.proxy.place} of {self.proxy.variable}"

    @property
    def _without_proxy(self) -> str:
        """What to do to reach the provider without the proxy."""
        variable = _SYSTEM_SETTINGS if self.proxy is None else self.proxy.variable
        host = urllib.parse.urlsplit(self.base_url).hostname
        return f"to ask without it, unset {variable}, or add {host} to NO_PROXY"

    def _untrusted(self, reason: str) -> BadRequestError:
        if "mismatch" in reason:
            hint = "give --base-url the name that the certificate is made out to"
        elif "expired" in reason or "not yet valid" in reason:
            hint = "the certificate must be renewed, or this machine's clock is wrong"
        else:
            is_set = [name for name in _TRUST_VARIABLES if os.environ.get(name)]
            hint = (
                "name a file with the certificate of its authority in SSL_CERT_FILE, or a folder of them in "
                "SSL_CERT_DIR; where neither is set, REQUESTS_CA_BUNDLE counts, then CURL_CA_BUNDLE "
                f"(set now: {', '.join(is_set) or 'none'})"
            )
        return BadRequestError(
            f"the certificate of {self.place} is not trusted ({reason.rstrip('.')}){self._by_way}",
            hint=hint,
            parameter="base_url",
        )

    def _not_connected(self, reason: str) -> ModelError:
        """Return the error for a proxy that was there and did not reach the provider."""
        if reason.startswith(str(_PROXY_REFUSES)):
            return self._proxy_refuses(reason)
        proxy = self.proxy or Proxy(_SYSTEM_SETTINGS, "", "")
        return TransientModelError(
            f"the proxy {proxy.place} of {proxy.variable} did not reach {self.place} "
            f"({_without_password(reason, proxy)})",
            hint=self._without_proxy,
            is_connection=True,
        )

    def _proxy_refuses(self, reason: str) -> BadRequestError:
        variable = "HTTPS_PROXY" if self.proxy is None else self.proxy.variable
        place = "a proxy" if self.proxy is None else f"the proxy {self.proxy.place} of {variable}"
        return BadRequestError(
            f"{place} asks for a user and a password on the way to {self.place} ({reason})",
            hint=f"write them into {variable}, as in http://USER:PASSWORD@HOST:PORT; {self._without_proxy}",
            parameter="proxy",
        )


def open_line(provider: Provider, options: ModelOptions) -> Line:
    """Return the line to a provider, with what options and environment say of address, key and proxy.

    Raises:
        BadRequestError: If there is no address, or the environment's is none.
        AuthenticationError: If a key is needed and there is none.
        UsageError: If the environment names a proxy that cannot be used.
    """
    base_url = find_base_url(provider, options.base_url)
    return Line(base_url, find_key(provider, base_url), options.timeout_seconds, find_proxy(base_url))


@cache
def http_library() -> ModuleType:
    """Return the HTTP library that the SDKs brought along: httpx2, or httpx beside older ones."""
    return importlib.import_module("httpx2" if importlib.util.find_spec("httpx2") else "httpx")


# --- certificates ----------------------------------------------------------------------------------------------------


def trusted() -> ssl.SSLContext:
    """Return whom to trust; all clients of a process share it, since reading the certificates takes long.

    ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` say it, else ``REQUESTS_CA_BUNDLE``, else ``CURL_CA_BUNDLE``, else the HTTP
    library's own choice.

    Raises:
        UsageError: If a variable names a file without certificates.
    """
    file, folder, *bundles = (os.environ.get(name, "") for name in _TRUST_VARIABLES)
    if file or folder:
        return _trust(file, folder, "SSL_CERT_FILE")
    for variable, bundle in zip(_TRUST_VARIABLES[2:], bundles, strict=True):
        if bundle:
            return _trust("", bundle, variable) if os.path.isdir(bundle) else _trust(bundle, "", variable)  # noqa: PTH112 -- as the variable spells it
    return _trust("", "", "")


@lru_cache(maxsize=8)
def _trust(file: str, folder: str, variable: str) -> ssl.SSLContext:
    if not file and not folder:
        context: ssl.SSLContext = http_library().create_ssl_context(trust_env=False)
        return context
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except OSError as error:  # an SSLError is one
        reason = error.strerror or str(error)
        raise UsageError(
            f"{variable} names {file or folder}, from which no certificates can be read ({reason})",
            hint=f"name a file of certificates in PEM form, or unset {variable}",
        ) from error


@cache
def _trusting_nobody() -> ssl.SSLContext:
    """Return the context of a client that speaks no TLS."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _tls_fault(cause: BaseException) -> ssl.SSLError | None:
    """Return the fault of the encryption underneath a network library's error, None if there is none."""
    inner: BaseException | None = cause
    for _ in range(_MOST_CAUSES):
        if inner is None or isinstance(inner, ssl.SSLError):
            return inner
        inner = inner.__cause__ or inner.__context__
    return None


# --- proxies ---------------------------------------------------------------------------------------------------------


def find_proxy(base_url: str) -> Proxy | None:
    """Return the proxy that the environment names for an address, None where it is asked directly.

    This machine's own addresses are always asked directly.

    Raises:
        UsageError: If the proxy's address is none, or of a kind that is not known or not installed.
    """
    address = urllib.parse.urlsplit(base_url)
    host = address.hostname or ""
    if _is_this_machine(host):
        return None
    named = urllib.request.getproxies()
    kind = next((kind for kind in (address.scheme, "all") if named.get(kind)), None)
    if kind is None or _is_excepted(host, address.port, named.get("no", "")):
        return None
    return read_proxy(named[kind], _variable_of(kind))


def check_proxies() -> None:
    """Refuse proxies that no client could use, before a library makes clients of its own from the environment.

    Raises:
        UsageError: If an address is none, or of a kind that is not known or not installed.
    """
    named = urllib.request.getproxies()
    for kind in ("http", "https", "all"):
        if named.get(kind):
            read_proxy(named[kind], _variable_of(kind))


def _variable_of(kind: str) -> str:
    """Return the variable that names the proxy of a kind; where both are set, the one in lower case counts."""
    variables = sorted((name for name in os.environ if name.lower() == f"{kind}_proxy"), reverse=True)
    return next((name for name in variables if os.environ[name]), _SYSTEM_SETTINGS)


def read_proxy(value: str, variable: str) -> Proxy:
    """Return the proxy in a variable's value; without ``://`` it is an HTTP proxy.

    Raises:
        UsageError: If it is not an address, or of a kind that is not known or not installed. No message shows the
            value, which may hold a password.

    Example:
        >>> read_proxy("proxy.example:3128", "HTTPS_PROXY").place
        'http://proxy.example:3128'
    """
    url = value if "://" in value else f"http://{value}"
    unset = f"or unset {variable}; NO_PROXY lists hosts that are asked directly"
    scheme = url.partition("://")[0].lower()
    if scheme.isalnum() and scheme not in {*_PORTS, *_SOCKS}:
        raise UsageError(
            f"{variable} names a proxy of the unknown kind {scheme}://",
            hint=f"write http://HOST:PORT, https://, socks5:// or socks5h://, {unset}",
        )
    try:
        parts = urllib.parse.urlsplit(url)
        place = host_and_port(parts)
        http_library().URL(url)
    except (ValueError, http_library().InvalidURL):
        place = ""
    is_bare = place and parts.path in {"", "/"} and not parts.query and not parts.fragment
    if not is_bare or not url.isprintable() or " " in url:
        raise UsageError(
            f"{variable} holds no address of a proxy",
            hint=f"write http://HOST:PORT, with special characters of a password as %XX, {unset}",
        )
    if scheme in _SOCKS and importlib.util.find_spec("socksio") is None:
        raise UsageError(
            f"{variable} names a SOCKS proxy, for which the package socksio is not installed",
            hint=f"python -m pip install socksio, {unset}",
        )
    return Proxy(variable, url, f"{scheme}://{place}")


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return any(one.is_loopback or one.is_unspecified for one in (address, mapped) if one is not None)


def _is_excepted(host: str, port: int | None, exceptions: str) -> bool:
    """Whether ``NO_PROXY`` names a host: by its name or the end of it, its address, a network, or with its port."""
    names = [host] if port is None else [host, f"{host}:{port}"]
    if any(urllib.request.proxy_bypass(name) for name in names):
        return True
    for entry in exceptions.split(","):
        name = entry.strip().lower().rpartition("://")[2].lstrip("*").lstrip(".").strip("[]")
        if name and any(one == name or one.endswith(f".{name}") for one in names):
            return True
        try:
            if ipaddress.ip_address(host) in ipaddress.ip_network(name, strict=False):
                return True
        except ValueError:
            continue
    return False


def _without_password(text: str, proxy: Proxy) -> str:
    user = urllib.parse.urlsplit(proxy.url).netloc.rpartition("@")[0]
    return text.replace(user, "…") if user else text


# --- addresses -------------------------------------------------------------------------------------------------------


def _origin(base_url: str, location: str | None = None) -> tuple[str, str, int] | None:
    """Return scheme, host and port of an address, or of where it leads by a ``Location``; None where that is none."""
    if location is not None and not location.strip():
        return None
    try:
        parts = urllib.parse.urlsplit(urllib.parse.urljoin(base_url, location or ""))
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if port is None or not host or len(host) > _MOST_HOST_CHARACTERS or not host.isprintable() or " " in host:
        return None
    return parts.scheme, host, port


def _written(origin: tuple[str, str, int]) -> str:
    scheme, host, port = origin
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
