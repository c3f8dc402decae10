"""From what a model returned or raised to the row that is stored: states, thoughts apart, errors never a text."""

import re

import msgspec

from eyechart.errors import (
    BadRequestError,
    EyechartError,
    GeometryError,
    ImageError,
    RefusedInputError,
    UnavailableImageError,
)
from eyechart.kinds import Reply
from eyechart.models._reasoning import join_reasoning, split_reasoning
from eyechart.schema import JsonObject, Response, ResponseState

# A model that speaks a dialect tells its finish in one word; these are of answer files, plug-ins and local models.
_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens"})
_FILTER = frozenset({"content_filter", "safety", "blocklist", "prohibited_content", "recitation", "spii"})
_REFUSAL = frozenset({"refusal"})
EMPTY, ONLY_REASONING = "empty", "only_reasoning"
"""Reasons of an empty reply."""
_SAID_NOTHING = {
    EMPTY: "the reply ended well and holds no text (does the server's chat template fit this model?)",
    ONLY_REASONING: "the reply ended well and holds nothing but thoughts (switch thinking off, or give the server the "
    "reasoning parser of this model)",
}
# JSON can spell half of a surrogate pair, which no file can hold.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How a request was asked, as it is stored beside the answer.

    Args:
        request_id: The request.
        seconds: Time of the last attempt, in seconds; None where it came in a batch.
        finished_at: ISO time at the end.
        attempts: Number of attempts, at least 1.
        extra: What else is stored.
    """

    request_id: str
    seconds: float | None
    finished_at: str
    attempts: int = 1
    extra: JsonObject = {}


def reply_row(reply: Reply, asking: Asking) -> Response:
    """Return the row for a reply. Thoughts in ``<think>`` are parted from the answer.

    Example:
        >>> asking = Asking(request_id="r", seconds=1.0, finished_at="2026-11-30T12:00:00+00:00")
        >>> row = reply_row(Reply(text="<think>A or B?</think>B", finish="stop"), asking)
        >>> row.state.value, row.text, row.reasoning
        ('answered', 'B', 'A or B?')
    """
    split = split_reasoning(reply.text)
    reasoning = join_reasoning(reply.reasoning, split.reasoning)
    state = _state(reply, split.answer, reasoning)
    reason = (ONLY_REASONING if reasoning else EMPTY) if state is ResponseState.EMPTY_REPLY else None
    return Response(
        request_id=asking.request_id,
        state=state,
        text=None if reason else _storable(split.answer),
        error=None if reason is None else _SAID_NOTHING[reason],
        reason=reason,
        reasoning=None if reasoning is None else _storable(reasoning),
        finish=reply.finish,
        usage=reply.usage,
        seconds=_rounded(asking.seconds),
        finished_at=asking.finished_at,
        attempts=asking.attempts,
        provider_fingerprint=reply.provider_fingerprint,
        extra={**reply.extra, **asking.extra},
    )


def error_row(error: Exception, asking: Asking) -> Response:
    """Return the row for a failure; it has a state and a cause, and no text.

    Refused and unreadable pictures and bad requests are final. Everything else, an exception of a plug-in included, is
    asked again on the next run.

    Example:
        >>> asking = Asking(request_id="r", seconds=1.0, finished_at="2026-11-30T12:00:00+00:00")
        >>> error_row(RefusedInputError("HTTP 413: too large"), asking).state.value
        'refused_input'
    """
    if isinstance(error, RefusedInputError):
        state = ResponseState.REFUSED_INPUT
    elif isinstance(error, BadRequestError):
        state = ResponseState.BAD_REQUEST
    elif isinstance(error, ImageError | GeometryError) and not isinstance(error, UnavailableImageError):
        state = ResponseState.UNREADABLE_IMAGE
    else:
        state = ResponseState.TRANSIENT
    cause = error.message if isinstance(error, EyechartError) else f"{type(error).__name__}: {error}"
    return Response(
        request_id=asking.request_id,
        state=state,
        error=_storable(cause) or type(error).__name__,
        seconds=_rounded(asking.seconds),
        finished_at=asking.finished_at,
        attempts=asking.attempts,
        extra=asking.extra,
    )


def _state(reply: Reply, text: str, reasoning: str | None) -> ResponseState:
    finish = (reply.finish or "").lower()
    if finish in _FILTER:
        return ResponseState.FILTERED
    if reply.is_refusal or finish in _REFUSAL:
        return ResponseState.REFUSAL
    # A cut-off answer may still state its letter, so its text is kept and read.
    if finish in _LENGTH:
        return ResponseState.TRUNCATED
    if reply.says_nothing or (reasoning and not text.strip()):
        return ResponseState.EMPTY_REPLY
    return ResponseState.ANSWERED


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _storable(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)
