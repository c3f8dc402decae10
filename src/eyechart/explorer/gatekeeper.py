"""Who may look: on this machine every page of its own; from elsewhere only who holds the address that was printed."""

import ipaddress
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PARAMETER = "token"
_COOKIE = "eyechart_token"


def new_token() -> str:
    """Return a random token of 192 bits, as it stands in an address."""
    return secrets.token_urlsafe(24)


class Gatekeeper:
    """Refuses requests whose ``Host`` is not a name of this server, and those without the token where one is needed.

    A web page that binds its own name to this machine's address ("DNS rebinding") sends that name as ``Host``, so it
    reads nothing. Beyond loopback addresses in digits are names too, since no page can bind to them, and whoever asks
    has to know the token: it stands in the address that is printed, and from the first page on in a cookie.

    Args:
        application: What answers whoever may ask.
        token: What has to be known; empty where only this machine can ask.
        host: The address or name that is listened on.
    """

    def __init__(self, application: ASGIApp, token: str = "", host: str = LOOPBACK[0]) -> None:
        self._application = application
        self._token = token
        self._names = {*LOOPBACK, host.lower()}
        if token:
            own = socket.gethostname().lower()
            self._names |= {own, own.partition(".")[0], f"{own.partition('.')[0]}.local"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        refusal = self._refusal(scope) if scope["type"] in {"http", "websocket"} else None
        await (refusal or self._application)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        name = host_name(headers.get("host", ""))
        if name not in self._names and not (self._token and _is_address(name)):
            return PlainTextResponse("this server is not known by that name; use the address that it printed", 400)
        if not self._token or self._is_known(_cookie(headers.get("cookie", ""))):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(key == _PARAMETER and self._is_known(value) for key, value in query):
            return PlainTextResponse("open the whole address that eyechart printed: it ends in a token", 403)
        # The token leaves the address bar, so that it is not in what somebody copies out of it later.
        rest = urlencode([(key, value) for key, value in query if key != _PARAMETER])
        reply = RedirectResponse("/" + scope["path"].lstrip("/") + ("?" + rest if rest else ""), 303)
        reply.set_cookie(_COOKIE, self._token, httponly=True, samesite="lax")
        return reply

    def _is_known(self, value: str) -> bool:
        return secrets.compare_digest(value.encode("utf-8", "surrogatepass"), self._token.encode())


def host_name(host: str) -> str:
    """Return the name in a ``Host`` header, without its port and the brackets of IPv6.

    Example:
        >>> host_name("[::1]:8765"), host_name("Localhost:80"), host_name("10.0.0.5")
        ('::1', 'localhost', '10.0.0.5')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(_COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value
