"""Anthropic's message batches: the progress, and what came back for one request."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from eyechart.batching import BatchLimits, BatchProgress
from eyechart.models._chat_reply import failure_of
from eyechart.models._http_errors import Failure
from eyechart.schema import JsonObject

# Anthropic takes 100,000 requests and 256 MB; less is asked for, since a batch is held in memory while it is sent.
ANTHROPIC_BATCHES = BatchLimits(max_requests=100_000, max_bytes=64 << 20)

BATCH_SECONDS = 600.0

_CLOCK_TOLERANCE = timedelta(minutes=10)


def progress_of(batch: Mapping[str, object]) -> BatchProgress:
    """Return how far a batch is.

    Example:
        >>> progress_of({"processing_status": "ended", "request_counts": {"processing": 0, "succeeded": 7}})
        BatchProgress(is_ended=True, n_done=7, failure=None)
    """
    counts = _counts(batch)
    n_done = sum(counts.values()) - counts.get("processing", 0)
    return BatchProgress(is_ended=batch.get("processing_status") == "ended", n_done=n_done)


def found_batch(batches: Sequence[Mapping[str, object]], since: datetime, n_requests: int) -> str | None:
    """Return the oldest batch made since then with so many requests, None if there is none.

    Args:
        batches: As the provider lists them, the newest first.
        since: When it was to be made; the provider's clock may be ten minutes behind.
        n_requests: How many it holds.
    """
    for batch in reversed(batches):
        try:
            made = datetime.fromisoformat(str(batch.get("created_at")))
        except ValueError:
            continue
        made = made if made.tzinfo else made.replace(tzinfo=UTC)
        is_later = made >= since - _CLOCK_TOLERANCE
        if is_later and sum(_counts(batch).values()) == n_requests:
            return str(batch.get("id"))
    return None


def batch_body(entry: Mapping[str, object]) -> JsonObject | Failure:
    """Return the message of one entry of a batch's results, or what went wrong.

    Example:
        >>> batch_body({"result": {"type": "expired"}}).status
        503
    """
    result = entry.get("result")
    outcome = result if isinstance(result, dict) else {}
    message = outcome.get("message")
    if outcome.get("type") == "succeeded" and isinstance(message, dict):
        return message
    if outcome.get("type") != "errored":
        kind = str(outcome.get("type"))
        return Failure(503, f"the batch ended before this was answered ({kind})", code=kind)
    return failure_of(None, outcome.get("error"), {})


def _counts(batch: Mapping[str, object]) -> dict[str, int]:
    counts = batch.get("request_counts")
    return {name: n for name, n in counts.items() if isinstance(n, int)} if isinstance(counts, dict) else {}
