"""What a failed call means: from an HTTP status and a provider's message to one of the model errors."""

import email.utils
import re
import time
from collections.abc import Mapping
from typing import NamedTuple

from eyechart.errors import (
    AuthenticationError,
    BadRequestError,
    ModelError,
    RefusedInputError,
    TransientModelError,
)

MAX_MESSAGE_CHARACTERS = 500
"""A provider's message is cut here: some echo the whole request, picture included."""

_BAD_REQUEST, _PAYMENT_REQUIRED, _NOT_FOUND, _TOO_LARGE, _TOO_MANY = 400, 402, 404, 413, 429
_FIRST_SERVER_ERROR = 500
_OVERLOAD = frozenset({429, 503, 529})
_TRANSIENT = frozenset({408, 409, 425, _TOO_MANY})
_KEY_REJECTED = frozenset({401, 403})
_WRONG_ADDRESS = frozenset({_NOT_FOUND, 405, 410})

_FILTER_CODES = frozenset(
    {
        *("content_filter", "content_policy_violation", "moderation_blocked", "data_inspection_failed"),
        *("image_content_policy_violation", "bio_policy", "misalignment_policy_violation"),
    }
)
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_PICTURE_CODES = frozenset(
    {
        *("context_length_exceeded", "image_too_large", "image_too_small", "image_parse_error", "invalid_base64_image"),
        *("invalid_image", "invalid_image_format", "unsupported_image_media_type", "string_above_max_length"),
        *("image_file_too_large", "invalid_image_mode", "empty_image_file"),
    }
)
# Real messages of OpenAI, Anthropic, Google, vLLM, SGLang and OpenRouter; see the table in the test.
_PICTURE_FAULT = re.compile(
    r"(image|picture|pixel|patches|base64|media.?type|dimension).{0,80}"
    r"(too (large|small|many|big)|exceed|at most|maximum|at least|below|limit|unsupported|not supported|invalid|corrupt"
    r"|could not|cannot|unable|fail|smaller|larger|not valid|aspect)"
    r"|(unsupported|invalid|corrupt|could not|cannot|unable to|failed to).{0,80}(image|picture|base64|media.?type)"
    r"|aspect ratio must be|at most [1-9]\d* image|(request|payload|body).{0,40}too large",
    re.IGNORECASE,
)
# Prompts are short, so a context that overflows is filled by a picture's tokens.
_TOO_LONG = re.compile(
    r"maximum context length|longer than the maximum model length|prompt is too long|input token count[^.]*exceeds",
    re.IGNORECASE,
)
_BLIND_MODEL = re.compile(
    r"image_url is only supported|not support (image|vision)|not a multimodal model|support image input"
    r"|unknown variant `image_url`|at most 0 image",
    re.IGNORECASE,
)
_NAMED_PARAMETER = re.compile(
    r"(?:unsupported|unknown|unrecognized|invalid) (?:parameter|value|request argument[^:]*|field|argument):? ['\"`]?"
    r"([A-Za-z_][\w.]*)|'loc': \('body', '([A-Za-z_]\w*)'|unknown name \"(\w+)\""
    r"|[`'\"]?\b([a-z_]+)\b[`'\"]? is (?:deprecated|not supported) for this model|^([a-z_.]+): extra inputs",
    re.IGNORECASE,
)
SAMPLING_FLAGS = {
    "temperature": "--temperature",
    **dict.fromkeys(("top_p", "topP"), "--top-p"),
    "seed": "--sampling-seed",
    **dict.fromkeys(("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"), "--max-tokens"),
}
"""Parameters that every model takes by a flag of its own; all others are settings."""

# Parameters that hold the question itself: nothing about them is an option to change.
_CONTENT_PARAMETERS = frozenset({"messages", "input", "contents", "prompt", "content"})


class Failure(NamedTuple):
    """A call that came back with an error.

    Args:
        status: HTTP status.
        message: What the provider said, already without keys.
        code: The provider's code or kind of error, if any.
        parameter: The parameter the provider names, if any.
        headers: Reply headers, names in lower case.
        is_filtered: Whether the provider says that a content filter struck.
    """

    status: int
    message: str
    code: str | None = None
    parameter: str | None = None
    headers: Mapping[str, str] = {}
    is_filtered: bool = False


def is_content_filter(failure: Failure) -> bool:
    """Whether the provider's filter stopped the request, which is an answer and no fault.

    Example:
        >>> is_content_filter(Failure(400, "The response was filtered", code="content_filter"))
        True
    """
    return failure.is_filtered or (failure.code or "") in _FILTER_CODES


def model_error(failure: Failure, key_hint: str, url_hint: str) -> ModelError:
    """Return the error that says what a failed call means and whether to try again.

    Args:
        failure: What came back.
        key_hint: What to do about a rejected key.
        url_hint: What to do about an address or model that does not exist.

    Example:
        >>> model_error(Failure(429, "slow down", headers={"retry-after": "7"}), "", "").retry_after_seconds
        7.0
        >>> type(model_error(Failure(413, "too large"), "", "")).__name__
        'RefusedInputError'
    """
    status, message = failure.status, f"HTTP {failure.status}: {_shortened(failure.message)}"
    if failure.code in _QUOTA_CODES or status == _PAYMENT_REQUIRED:
        return AuthenticationError(message, hint="the account has no credit left: check its plan and billing")
    if status in _TRANSIENT or status >= _FIRST_SERVER_ERROR:
        wait = retry_after_seconds(failure.headers)
        return TransientModelError(message, retry_after_seconds=wait, is_overload=status in _OVERLOAD)
    if status in _KEY_REJECTED:
        return AuthenticationError(message, hint=key_hint)
    return _refusal(failure, message, url_hint)


def _refusal(failure: Failure, message: str, url_hint: str) -> ModelError:
    """Return what a 4xx means that is neither about the key nor about the rate."""
    if _BLIND_MODEL.search(failure.message):
        return BadRequestError(message, hint="choose a model that reads pictures", parameter="model")
    if failure.status in _WRONG_ADDRESS:
        return BadRequestError(message, hint=url_hint, parameter="model")
    parameter = named_parameter(failure)
    if failure.status == _TOO_LARGE or _blames_picture(failure, parameter):
        return RefusedInputError(message, hint="the provider takes no picture of this size or format")
    return BadRequestError(message, hint=_parameter_hint(parameter), parameter=parameter)


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
        match = _NAMED_PARAMETER.search(failure.message)
        named = next((group for group in match.groups() if group), None) if match else None
    if not named:
        return None
    head = re.split(r"[.\[]", named, maxsplit=1)[0]
    last = re.split(r"[.\]]", named)[-1]
    if head in _CONTENT_PARAMETERS:
        return "detail" if last == "detail" else None
    return last or head


def _blames_picture(failure: Failure, parameter: str | None) -> bool:
    if (failure.code or "") in _PICTURE_CODES or _TOO_LONG.search(failure.message):
        return True
    return parameter is None and bool(_PICTURE_FAULT.search(failure.message))


def change_hint(parameter: str) -> str:
    """Return how a parameter is changed or left out on the command line.

    Example:
        >>> change_hint("top_p"), change_hint("verbosity")
        ('--top-p, or --top-p not-sent', '--set verbosity=…, or --set verbosity=not-sent')
    """
    flag = SAMPLING_FLAGS.get(parameter)
    return f"{flag}, or {flag} not-sent" if flag else f"--set {parameter}=…, or --set {parameter}=not-sent"


def _parameter_hint(parameter: str | None) -> str:
    if parameter is None:
        return ""
    if parameter in {"max_tokens", "max_completion_tokens"}:
        other = "max_completion_tokens" if parameter == "max_tokens" else "max_tokens"
        return f"try --set length_parameter={other}, or another --max-tokens"
    return f"change it or leave it out: {change_hint(parameter)}"


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _shortened(message: str) -> str:
    message = " ".join(message.split())
    return message if len(message) <= MAX_MESSAGE_CHARACTERS else f"{message[:MAX_MESSAGE_CHARACTERS]}…"
