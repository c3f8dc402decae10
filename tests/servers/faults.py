"""Misbehaviour on demand: each fault is a name, some with a value after a colon (``429-retry-after:0.2``)."""

import email.utils
import hashlib
import random
import time
from dataclasses import dataclass, field, replace

from servers.dialects import Answer


@dataclass(frozen=True)
class ErrorReply:
    """A reply with an error status."""

    status: int
    message: str
    code: str | None = None
    parameter: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


def error_reply(fault: str) -> ErrorReply | None:
    """Return the error that a fault answers with, None if the fault is no error status."""
    name, _, value = fault.partition(":")
    if name == "429-retry-after":
        return ErrorReply(429, "Rate limit reached", headers={"retry-after": value or "1"})
    if name == "429-hour":
        return ErrorReply(429, "Rate limit reached", headers={"retry-after": "3600"})
    if name == "429-date":
        date = email.utils.formatdate(time.time() + float(value or 30), usegmt=True)
        return ErrorReply(429, "Rate limit reached", headers={"retry-after": date})
    if name == "400-parameter":
        parameter = value or "temperature"
        message = f"Unsupported value: '{parameter}' does not support 0 with this model."
        return ErrorReply(400, message, code="unsupported_value", parameter=parameter)
    return _FIXED.get(name) or (ErrorReply(int(name), f"error {name}") if name.isdigit() else None)


_FIXED = {
    "413": ErrorReply(413, "Request body too large"),
    "401": ErrorReply(401, "Incorrect API key provided", code="invalid_api_key"),
    "404": ErrorReply(404, "The model does not exist", code="model_not_found"),
    "429-quota": ErrorReply(429, "You exceeded your current quota", code="insufficient_quota"),
    "400-image": ErrorReply(400, "You uploaded an unsupported image.", code="invalid_image_format"),
    "400-pixels": ErrorReply(400, "Image exceeds the maximum of 30,000 patches: 32,400 patches"),
    "400-context": ErrorReply(
        400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"
    ),
    "400-filter": ErrorReply(400, "The response was filtered", code="content_filter"),
    "400-plain": ErrorReply(400, "Something about this request is wrong"),
    "400-blind": ErrorReply(400, "Invalid content type. image_url is only supported by certain models."),
}

ANSWERS: dict[str, dict[str, object]] = {
    "empty": {"text": ""},
    "null": {"text": None},
    "refusal": {"text": None, "refusal": "I cannot help with that."},
    "length": {"text": "The sign on the", "finish": "length"},
    "content-filter": {"text": None, "finish": "content_filter"},
    "think": {"text": "<think>Could be A or B.</think>\n\nB"},
    "think-cut": {"text": "<think>Could be A or", "finish": "length"},
    "reasoning": {"reasoning": "Could be A or B.", "text": "B", "reasoning_tokens": 7},
    "reasoning-cut": {"reasoning": "Could be A or", "text": None, "finish": "length"},
    "wrong-usage": {"input_tokens": -5, "output_tokens": "many", "image_tokens": 1e30, "reasoning_tokens": None},
}
"""Faults that are well-formed replies of another kind."""

TRANSPORT = (
    "slow-loris",
    "truncated-json",
    "cut-body",
    "wrong-content-type",
    "drop",
    "hang",
    "duplicate",
    "empty-choices",
    "error-200",
)
"""Faults of the connection or of the body as a whole."""


def faulty_answer(fault: str | None, answer: Answer) -> Answer:
    """Return the answer changed by a fault of ``ANSWERS``, unchanged by any other."""
    changes = ANSWERS.get(fault or "")
    return answer if changes is None else replace(answer, **changes)


@dataclass(frozen=True)
class Script:
    """Which request suffers what.

    Args:
        faults: By order of arrival: the n-th request gets the n-th entry; None and what follows the end is well.
        repeat: Start again at the first entry after the last.
        first: By body: the k-th arrival of the same body gets the k-th entry, so retries are told apart at any
            concurrency.
        share: Fault → probability, drawn from the body's hash, its arrival number and ``seed``.
        seed: For ``share``.
    """

    faults: tuple[str | None, ...] = ()
    repeat: bool = False
    first: tuple[str | None, ...] = ()
    share: dict[str, float] = field(default_factory=dict)
    seed: int = 0

    def fault(self, arrival: int, body_sha256: str, attempt: int) -> str | None:
        """Return the fault of one request; both counters start at 0."""
        if self.faults and (self.repeat or arrival < len(self.faults)):
            return self.faults[arrival % len(self.faults)]
        if attempt < len(self.first):
            return self.first[attempt]
        key = hashlib.sha256(f"{self.seed} {body_sha256} {attempt}".encode()).hexdigest()
        draw = random.Random(key).random()  # noqa: S311 -- a fault plan, no secret
        for fault, probability in self.share.items():
            draw -= probability
            if draw < 0:
                return fault
        return None
