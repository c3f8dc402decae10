"""Ask through the SDKs of OpenAI and Anthropic, which share their errors and raw replies."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeVar

from eyechart.models._chat_reply import failure_of, lenient_json
from eyechart.models._hosted import Exchange
from eyechart.models._http_errors import Failure
from eyechart.models._network import Line


class RawReply(Protocol):
    """The part of the SDKs' raw responses that is read."""

    @property
    def http_response(self) -> "HttpResponse":
        """The response of the HTTP library underneath, read to its end."""
        ...


class HttpResponse(Protocol):
    """The part of an httpx response that is read."""

    @property
    def content(self) -> bytes:
        """The body."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, whatever their case."""
        ...


class SdkErrors(Protocol):
    """The error classes of an SDK's module."""

    @property
    def APIStatusError(self) -> type[Exception]:  # noqa: N802 -- the SDKs' own names
        """Raised for a bad status."""
        ...

    @property
    def APIConnectionError(self) -> type[Exception]:  # noqa: N802 -- the SDKs' own names
        """Raised where there was no reply."""
        ...

    @property
    def APITimeoutError(self) -> type[Exception]:  # noqa: N802 -- the SDKs' own names
        """Raised where a read took too long."""
        ...


RawCall = Callable[..., Awaitable[RawReply]]
Result = TypeVar("Result")


async def ask_sdk(sdk: SdkErrors, line: Line, call: RawCall, **arguments: object) -> Exchange | Failure:
    """Make one call and return the raw reply, or what an error status says.

    Args:
        sdk: The SDK's module.
        line: Where is asked, and how long the call may take in all.
        call: A ``with_raw_response`` method.
        **arguments: Its arguments.

    Raises:
        TransientModelError: If there was no whole reply in time.
        BadRequestError: If something stands between, as ``Line.misled`` and ``Line.broken`` tell.
    """
    raw = await call_sdk(sdk, line, call, **arguments)
    if isinstance(raw, Failure):
        return raw
    response = raw.http_response
    return Exchange(response.headers.get("content-type", ""), response.content)


async def call_sdk(
    sdk: SdkErrors, line: Line, call: Callable[..., Awaitable[Result]], **arguments: object
) -> Result | Failure:
    """Make one call and return what it returns, or what an error status says.

    Args:
        sdk: The SDK's module.
        line: Where is asked, and how long the call may take in all.
        call: A method of the SDK, or a coroutine function that uses some.
        **arguments: Its arguments.

    Raises:
        TransientModelError: If there was no whole reply in time.
        BadRequestError: If something stands between, as ``Line.misled`` and ``Line.broken`` tell.
    """
    try:
        # The SDK's timeout is per read: a server that drips one byte a second would never meet it.
        async with asyncio.timeout(line.seconds):
            return await call(**arguments)
    except (TimeoutError, sdk.APITimeoutError):
        raise line.timeout() from None
    except sdk.APIStatusError as error:
        failure = _failure(error)
        status: int = getattr(error, "status_code", 0)  # a body may hold another one
        misled = line.misled(status, failure.headers)
        if misled is not None:
            raise misled from None
        return failure
    except sdk.APIConnectionError as error:
        cause = error.__cause__ or error
        # By name, since the SDKs moved from httpx to httpx2.
        is_connection = type(cause).__name__ in {"ConnectError", "ConnectTimeout", "UnsupportedProtocol"}
        raise line.broken(cause, is_connection=is_connection) from None


def _failure(error: Exception) -> Failure:
    status: int = getattr(error, "status_code", 0)
    response = getattr(error, "response", None)
    headers: Mapping[str, str] = getattr(response, "headers", {})
    return failure_of(status, _body(error, response), {name.lower(): value for name, value in headers.items()})


def _body(error: Exception, response: object) -> object:
    """Return the whole body of an error; the SDKs keep only what is under ``error``."""
    payload = getattr(response, "content", b"")
    try:
        return lenient_json(payload)
    except ValueError:
        return payload.decode("utf-8", "replace") or getattr(error, "body", None)
