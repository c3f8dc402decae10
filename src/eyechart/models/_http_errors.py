"""What a failed call means: from an HTTP status and a provider's message to one of the model errors."""

import email.utils
import re
import time
import urllib.parse
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from eyechart.errors import (
    AuthenticationError,
    BadRequestError,
    ModelError,
    RefusedInputError,
    TransientModelError,
)
from eyechart.models._failure_table import (
    FAILURES,
    NAMED_PARAMETERS,
    PICTURE_FAULT,
    SERVER_SIDE,
    UNKNOWN,
    UNKNOWN_4XX,
    Dialect,
    FailureRow,
    Owner,
)

MAX_MESSAGE_CHARACTERS = 500
"""A provider's message is cut here: some echo the whole request, picture included."""

# Families of messages are looked for no further: what follows is an echo of the request, the question included.
_READ_CHARACTERS = 2000
_OVERLOAD = frozenset({429, 503, 529})
_REDIRECTS = range(300, 400)
_FAR_AHEAD = timedelta(days=3650)
SAMPLING_FLAGS = {
    "temperature": "--temperature",
    **dict.fromkeys(("top_p", "topP"), "--top-p"),
    "seed": "--sampling-seed",
    **dict.fromkeys(
        ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max_new_tokens"),
        "--max-tokens",
    ),
}
"""Parameters that every model takes by a flag of its own; all others are settings."""

CONTENT_PARAMETERS = frozenset(
    {"messages", "input", "contents", "prompt", "content", "image", "images", "image_url", "input_image"}
)
"""Parameters that hold the question itself: nothing about them is an option to change."""

# "… will reset at 2099-01-01 00:00:00", "regain access on 2099-07-01", "try again in 6m0s", "retry after 161h39m41s".
_RESET = re.compile(
    r"(?:resets?|reset time|refreshe?s?|regain access|try again|retry|available again|come back)\W{0,3}"
    r"(?:is|at|on|in|after|until)?\W{0,3}(?P<when>[^;\"'{}\[\]]{1,60})",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?")
_YEAR = re.compile(r"\b2[0-2]\d\d\b")
_DURATION = re.compile(
    r"(\d+(?:\.\d+)?) ?(days?|d|hours?|hrs?|h|minutes?|mins?|ms|m|seconds?|secs?|s)\b", re.IGNORECASE
)
_DURATIONS = re.compile(rf"(?:{_DURATION.pattern}|(?:\d+(?:\.\d+)?[dhms])+)", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?) ?(ms|[dhms])", re.IGNORECASE)
_UNIT_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_QUOTA_ENDS = re.compile(r"(?:quota|limit|usage|capacity|allowance)", re.IGNORECASE)


class Failure(NamedTuple):
    """A call that came back with an error.

    Args:
        status: HTTP status.
        message: What the provider said, already without keys.
        code: The provider's code or kind of error, if any.
        parameter: The parameter the provider names, if any.
        headers: Reply headers, names in lower case.
        codes: Every code, type and reason that the error holds.
        has_status: Whether the status was told; an error inside a good reply has none but what its type stands for.
    """

    status: int
    message: str
    code: str | None = None
    parameter: str | None = None
    headers: Mapping[str, str] = {}
    codes: tuple[str, ...] = ()
    has_status: bool = True


def failure_row(failure: Failure, dialect: Dialect = "chat") -> FailureRow:
    """Return the row of the table that a failure falls under.

    Args:
        failure: What came back.
        dialect: Which interface was asked.

    Example:
        >>> failure_row(Failure(400, "no", code="Arrearage")).owner.value
        'account'
    """
    codes = {part for code in (failure.code, *failure.codes) if code for part in _code_parts(code)}
    message = " ".join((failure.message[:_READ_CHARACTERS], *failure.codes))
    names_parameter = named_parameter(failure) is not None
    for row in FAILURES:
        if row is PICTURE_FAULT and names_parameter:
            continue
        if dialect in row.dialects and _fits(row, failure, codes, message):
            return row
    if not failure.has_status:
        return UNKNOWN_4XX if names_parameter else UNKNOWN
    return next((row for row in (SERVER_SIDE, UNKNOWN_4XX) if failure.status in (row.statuses or ())), UNKNOWN)


def _fits(row: FailureRow, failure: Failure, codes: set[str], message: str) -> bool:
    says_more = bool(row.codes or row.text)
    return (
        (row.statuses is None or failure.status in row.statuses or (says_more and not failure.has_status))
        and (not row.codes or bool(row.codes & codes))
        and (row.text is None or row.text.search(message) is not None)
    )


def _code_parts(code: str) -> set[str]:
    """Return a code and its beginnings before each dot: ``InputImageSensitiveContentDetected.Privacy…`` has two."""
    parts = code.lower().split(".")
    return {".".join(parts[:n]) for n in range(1, len(parts) + 1)}


def is_content_filter(failure: Failure, dialect: Dialect = "chat") -> bool:
    """Whether the provider's filter stopped the request, which is an answer and no fault.

    Example:
        >>> is_content_filter(Failure(400, "The response was filtered", code="content_filter"))
        True
    """
    return failure_row(failure, dialect).owner is Owner.FILTER


def model_error(failure: Failure, key_hint: str, url_hint: str, dialect: Dialect = "chat") -> ModelError:
    """Return the error that says what a failed call means and whether to try again.

    Args:
        failure: What came back; no content filter.
        key_hint: What to do about a rejected key.
        url_hint: What to do about an address or model that does not exist.
        dialect: Which interface was asked.

    Example:
        >>> model_error(Failure(429, "slow down", headers={"retry-after": "7"}), "", "").retry_after_seconds
        7.0
        >>> type(model_error(Failure(413, "too large"), "", "")).__name__
        'RefusedInputError'
    """
    row = failure_row(failure, dialect)
    place = f"HTTP {failure.status}" if failure.has_status else "an error in a good reply"
    message = f"{place}: {_shortened(failure.message)}"
    if row.owner is Owner.ACCOUNT:
        return AuthenticationError(message, hint=row.hint or key_hint)
    if row.owner is Owner.SERVER:
        return _passing(failure, message)
    if row.owner is Owner.PICTURE:
        return RefusedInputError(message, hint="the provider takes no picture of this size or format")
    if row.owner is Owner.SETTING:
        if failure.status in _REDIRECTS:
            message = f"{message} ({_target(failure.headers)})"
        return BadRequestError(message, hint=row.hint or url_hint, parameter=row.parameter)
    parameter = named_parameter(failure)
    return BadRequestError(message, hint=_parameter_hint(parameter), parameter=parameter)


def _passing(failure: Failure, message: str) -> ModelError:
    """Return the error of a failure that may pass, with the wait it asks for; a quota without an end does not pass."""
    asked = retry_after_seconds(failure.headers)
    told = reset_seconds(failure.message) if failure.status == 429 else None  # noqa: PLR2004 -- too many requests
    if told == float("inf"):
        return AuthenticationError(message, hint="the quota does not return soon: check the plan")
    waits = [wait for wait in (asked, told) if wait is not None]
    return TransientModelError(
        message,
        retry_after_seconds=max(waits) if waits else None,
        is_overload=failure.status in _OVERLOAD,
    )


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the wait a server asks for, from seconds, milliseconds or an HTTP date; None where it names none.

    Args:
        headers: Reply headers, names in lower case.

    Example:
        >>> retry_after_seconds({"retry-after-ms": "250"}), retry_after_seconds({"retry-after": "soon"})
        (0.25, None)

    References:
        RFC 9110, section 10.2.3. ``retry-after-ms`` is sent by OpenAI and Azure.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max(0.0, date.timestamp() - time.time())


def reset_seconds(message: str) -> float | None:
    """Return the wait that a message names in words, in seconds; None where it names none.

    Infinite where a used-up quota is said to return at a time that cannot be read: a limit of requests a minute never
    names one (QwenLM/qwen-code PR 7842).

    Example:
        >>> reset_seconds("Rate limit reached. Please try again in 6m0.5s."), reset_seconds("slow down")
        (360.5, None)
        >>> reset_seconds("quota exhausted, it will reset at midnight")
        inf
    """
    found = None
    for match in _RESET.finditer(message[:_READ_CHARACTERS]):
        when = match["when"]
        date, duration = _DATE.search(when), _DURATIONS.search(when)
        if date is not None:
            return _seconds_until(date.group())
        if duration is not None:
            return sum(
                float(number) * _UNIT_SECONDS["ms" if unit.lower() == "ms" else unit[0].lower()]
                for number, unit in _PART.findall(when[duration.start() :])
            )
        if (year := _YEAR.search(when)) is not None and (wait := _seconds_until(f"{year.group()}-01-01")) > 0:
            return wait
        is_quota = match.group().lower().startswith("reset") and _QUOTA_ENDS.search(message) is not None
        found = float("inf") if is_quota else found
    return found


def _seconds_until(text: str) -> float:
    cleaned = re.sub(r" ?(?:UTC|Z)$", "+00:00", text.strip())
    try:
        date = datetime.fromisoformat(cleaned)
    except ValueError:
        return _FAR_AHEAD.total_seconds()
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - time.time())


def named_parameter(failure: Failure) -> str | None:
    """Return the parameter that a provider objects to, by its own field or from its message; None for the question.

    Example:
        >>> named_parameter(Failure(400, "Unsupported parameter: 'max_tokens' is not supported with this model."))
        'max_tokens'
        >>> named_parameter(Failure(400, "no", parameter="messages[0].content[1].image_url.detail"))
        'detail'
    """
    named = failure.parameter
    if not named:
        matches = (pattern.search(failure.message[:_READ_CHARACTERS]) for pattern in NAMED_PARAMETERS.values())
        groups = (group for match in matches if match for group in match.groupdict().values() if group)
        named = next(groups, None)
    if not named:
        return None
    head = re.split(r"[.\[]", named, maxsplit=1)[0]
    last = re.split(r"[.\]]", named)[-1]
    if head in CONTENT_PARAMETERS:
        return "detail" if last == "detail" else None
    return last or head


def change_hint(parameter: str) -> str:
    """Return how a parameter is changed or left out on the command line.

    Example:
        >>> change_hint("top_p"), change_hint("verbosity")
        ('--top-p, or --top-p not-sent', '--set verbosity=…, or --set verbosity=not-sent')
    """
    flag = SAMPLING_FLAGS.get(parameter)
    return f"{flag}, or {flag} not-sent" if flag else f"--set {parameter}=…, or --set {parameter}=not-sent"


def _parameter_hint(parameter: str | None) -> str:
    if parameter is None or parameter == "model":  # the model's name gets a hint of its own
        return ""
    if parameter in {"max_tokens", "max_completion_tokens"}:
        other = "max_completion_tokens" if parameter == "max_tokens" else "max_tokens"
        return f"try --set length_parameter={other}, or another --max-tokens"
    return f"change it or leave it out: {change_hint(parameter)}"


def _target(headers: Mapping[str, str]) -> str:
    """Return where a redirect leads, without path and query, which may hold a secret."""
    try:
        parts = urllib.parse.urlsplit(headers.get("location", ""))
        place = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        place = None
    return f"the server sends on to {parts.scheme}://{place}" if place else "the server sends on to another address"


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _shortened(message: str) -> str:
    message = " ".join(message.split())
    return message if len(message) <= MAX_MESSAGE_CHARACTERS else f"{message[:MAX_MESSAGE_CHARACTERS]}…"
