"""The batch desks of OpenAI and Anthropic: files and batches taken, kept, answered after some polls, and listed."""

import datetime
import email
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from servers.dialects import Answer, Received, write_answer, write_error


@dataclass
class Batch:
    """One batch as the provider keeps it."""

    id: str
    kind: str
    requests: list[tuple[str, dict, str]]
    metadata: dict = field(default_factory=dict)
    created_at: str = ""
    n_polls: int = 0


class BatchDesk:
    """Answers the paths of batch interfaces; everything is kept in memory.

    Args:
        answer: As for the chat server.
        n_polls: How often a batch is asked about before it has ended.
        fate: By order of the requests in a batch: ``expired``, ``errored`` or ``400-parameter`` in place of an answer;
            or status and body of the reply as they stand in its line.
        fail: Reason why every batch fails as a whole, ``""`` for none.
        lose_reply: So many creations are taken, and their replies lost.
    """

    def __init__(
        self,
        answer: Callable[[Received], Answer | str] | Answer | str = "A",
        *,
        n_polls: int = 1,
        fate: dict[int, str | tuple[int, dict]] | None = None,
        fail: str = "",
        lose_reply: int = 0,
    ) -> None:
        self._answer, self.n_polls, self._fate, self._fail = answer, n_polls, fate or {}, fail
        self.lose_reply = lose_reply
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Batch] = {}

    @property
    def asked(self) -> Counter[str]:
        """How often each request id was handed over."""
        return Counter(request[0] for batch in self.batches.values() for request in batch.requests)

    def reply(self, received: Received) -> tuple[int, dict | bytes] | None:
        """Return status and body, None for paths of other interfaces, or for a reply that is lost (status 0)."""
        path, method = received.path, received.method
        if method == "POST":
            taken = {
                "/v1/files": self._take_file,
                "/v1/batches": self._take_openai,
                "/v1/messages/batches": self._take_anthropic,
            }
            return taken[path](received) if path in taken else None
        if path.startswith("/v1/files/"):
            return 200, self.files[path.split("/")[3]]
        if path in {"/v1/batches", "/v1/messages/batches"}:
            kind = "openai" if path == "/v1/batches" else "anthropic"
            listed = [self._told(one) for one in reversed(self.batches.values()) if one.kind == kind]
            return 200, {"object": "list", "data": listed, "has_more": False}
        return self._about(path) if "/batches/" in path else None

    def _take_openai(self, received: Received) -> tuple[int, dict]:
        given = received.json
        requests = [json.loads(line) for line in self.files[given["input_file_id"]].splitlines()]
        rows = [(one["custom_id"], one["body"], one["url"]) for one in requests]
        return self._made(Batch(f"batch_{len(self.batches)}", "openai", rows, given.get("metadata") or {}))

    def _take_anthropic(self, received: Received) -> tuple[int, dict]:
        rows = [(one["custom_id"], one["params"], "/v1/messages") for one in received.json["requests"]]
        return self._made(Batch(f"msgbatch_{len(self.batches)}", "anthropic", rows))

    def _take_file(self, received: Received) -> tuple[int, dict]:
        head = f"content-type: {received.headers['content-type']}\r\n\r\n".encode()
        parts = email.message_from_bytes(head + received.body).get_payload()
        content = next(part.get_payload(decode=True) for part in parts if part.get_filename())
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return 200, {"id": name, "object": "file", "bytes": len(content), "purpose": "batch"}

    def _made(self, batch: Batch) -> tuple[int, dict]:
        batch.created_at = datetime.datetime.now(tz=datetime.UTC).isoformat()
        self.batches[batch.id] = batch
        if self.lose_reply:
            self.lose_reply -= 1
            return 0, {}
        return 200, self._told(batch)

    def _about(self, path: str) -> tuple[int, dict | bytes]:
        is_results = path.endswith("/results")
        batch = self.batches[path.removesuffix("/results").rsplit("/", 1)[1]]
        if is_results:
            lines = (self._anthropic_line(index, batch) for index in range(len(batch.requests)))
            return 200, b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        batch.n_polls += 1
        return 200, self._told(batch)

    def _told(self, batch: Batch) -> dict:
        n_all = len(batch.requests)
        is_ended = batch.n_polls > self.n_polls
        if batch.kind == "anthropic":
            counts = {"processing": 0 if is_ended else n_all, "succeeded": n_all if is_ended else 0}
            return {
                "id": batch.id,
                "type": "message_batch",
                "processing_status": "ended" if is_ended else "in_progress",
                "request_counts": {**counts, "errored": 0, "canceled": 0, "expired": 0},
                "created_at": batch.created_at,
                "expires_at": batch.created_at,
                "results_url": f"/v1/messages/batches/{batch.id}/results" if is_ended else None,
            }
        told = {"id": batch.id, "object": "batch", "metadata": batch.metadata, "endpoint": batch.requests[0][2]}
        if self._fail:
            return {**told, "status": "failed", "errors": {"data": [{"message": self._fail}]}}
        if not is_ended:
            return {**told, "status": "in_progress", "request_counts": {"completed": 0, "failed": 0, "total": n_all}}
        good, bad = self._openai_files(batch)
        counts = {"completed": n_all, "failed": 0, "total": n_all}
        return {**told, "status": "completed", "request_counts": counts, "output_file_id": good, "error_file_id": bad}

    def _openai_files(self, batch: Batch) -> tuple[str | None, str | None]:
        lines: dict[str, list[bytes]] = {"good": [], "bad": []}
        for index, (request_id, body, path) in enumerate(batch.requests):
            fate = self._fate.get(index)
            entry = {"custom_id": request_id, "response": None, "error": None}
            if isinstance(fate, tuple):
                entry["response"] = {"status_code": fate[0], "body": fate[1]}
            elif fate == "expired":
                entry["error"] = {"code": "batch_expired", "message": "This request could not be executed in time."}
            elif fate is not None:
                parameter = "temperature" if fate == "400-parameter" else None
                error = write_error("chat", 400, "Unsupported value", code=None, parameter=parameter)
                entry["response"] = {"status_code": 400, "body": error}
            else:
                entry["response"] = {"status_code": 200, "body": self._body(body, path, index)}
            lines["good" if fate is None else "bad"].append(json.dumps(entry).encode() + b"\n")
        ids = {}
        for kind, content in lines.items():
            ids[kind] = f"{kind}-{batch.id}" if content else None
            if content:
                self.files[f"{kind}-{batch.id}"] = b"".join(reversed(content))
        return ids["good"], ids["bad"]

    def _anthropic_line(self, index: int, batch: Batch) -> dict:
        request_id, body, path = batch.requests[index]
        fate = self._fate.get(index)
        if isinstance(fate, tuple):
            told = (
                {"type": "succeeded", "message": fate[1]} if fate[0] == 200 else {"type": "errored", "error": fate[1]}
            )
            return {"custom_id": request_id, "result": told}
        if fate == "expired":
            return {"custom_id": request_id, "result": {"type": "expired"}}
        if fate is not None:
            parameter = "temperature" if fate == "400-parameter" else None
            error = write_error("messages", 400, "not permitted", code=None, parameter=parameter)
            return {"custom_id": request_id, "result": {"type": "errored", "error": error}}
        return {"custom_id": request_id, "result": {"type": "succeeded", "message": self._body(body, path, index)}}

    def _body(self, body: dict, path: str, index: int) -> dict:
        received = Received(path, {}, json.dumps(body).encode())
        answer = self._answer(received) if callable(self._answer) else self._answer
        answer = Answer(text=answer) if isinstance(answer, str) else answer
        return write_answer(received.dialect, answer, str(body["model"]), index)
