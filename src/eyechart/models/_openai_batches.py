"""OpenAI's batches: the file of requests, the progress, and the file of replies."""

from collections.abc import Iterator, Mapping

import msgspec

from eyechart.batching import BatchLimits, BatchProgress
from eyechart.models._chat_reply import failure_of, json_lines, token_count
from eyechart.models._http_errors import Failure
from eyechart.schema import JsonObject

BATCH_LABEL = "eyechart"
BATCH_SECONDS = 600.0
# OpenAI takes 50,000 requests and 200 MB; less is asked for, since a batch is held in memory while it is sent.
OPENAI_BATCHES = BatchLimits(max_requests=50_000, max_bytes=64 << 20)

_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_GOOD = 200


def batch_lines(bodies: Mapping[str, JsonObject], path: str) -> bytes:
    r"""Return the file of a batch: one request a line, under its id.

    Example:
        >>> batch_lines({"r": {"model": "m"}}, "/v1/responses")
        b'{"custom_id":"r","method":"POST","url":"/v1/responses","body":{"model":"m"}}\n'
    """
    lines = ({"custom_id": id_, "method": "POST", "url": path, "body": body} for id_, body in bodies.items())
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def progress_of(batch: JsonObject) -> BatchProgress:
    """Return how far a batch is.

    Example:
        >>> progress_of({"status": "in_progress", "request_counts": {"completed": 3, "failed": 1}}).n_done
        4
    """
    counts = batch.get("request_counts")
    numbers = counts if isinstance(counts, dict) else {}
    status = str(batch.get("status"))
    has_replies = batch.get("output_file_id") or batch.get("error_file_id")
    failure = None
    if status in _ENDED - {"completed"} and not has_replies:
        errors = batch.get("errors")
        entries = errors.get("data") if isinstance(errors, dict) else None
        known = entries if isinstance(entries, list) else []
        messages = [str(one.get("message")) for one in known if isinstance(one, dict)]
        failure = f"{status}: {'; '.join(messages[:3]) or 'no reason was told'}"
    return BatchProgress(
        is_ended=status in _ENDED,
        n_done=sum(token_count(numbers.get(name)) or 0 for name in ("completed", "failed")),
        failure=failure,
    )


def batch_entries(payload: bytes) -> Iterator[tuple[str, JsonObject | Failure]]:
    """Yield request id and body of every line in a file of replies; a line that cannot be read answers nothing.

    Raises:
        TransientModelError: If the last line is damaged, so that the file was cut.
    """
    for entry in json_lines(payload):
        response = entry.get("response")
        request_id = str(entry.get("custom_id"))
        if not isinstance(response, dict):
            yield request_id, failure_of(None, {"error": entry.get("error") or "no response"}, {})
        elif response.get("status_code") == _GOOD and isinstance(response.get("body"), dict):
            yield request_id, response["body"]
        else:
            status = response.get("status_code")
            yield request_id, failure_of(status if isinstance(status, int) else None, response.get("body"), {})
