"""The languages that the local chat server speaks: what a request asks, and how an answer or an error is written."""

import base64
import io
import json
from dataclasses import dataclass
from functools import cached_property

from PIL import Image

DATA_URI = "data:"


@dataclass(frozen=True)
class ReceivedPicture:
    """One picture as it came over the wire."""

    media_type: str
    encoded: bytes

    @cached_property
    def image(self) -> Image.Image:
        """The decoded picture; raises if it is no picture or no media type of its own."""
        opened = Image.open(io.BytesIO(self.encoded))
        if Image.MIME[opened.format or ""] != self.media_type:
            raise ValueError(f"a {opened.format} was declared as {self.media_type}")
        opened.load()
        return opened


@dataclass(frozen=True)
class Received:
    """One request: everything the server knows about it."""

    path: str
    headers: dict[str, str]
    body: bytes
    method: str = "POST"

    @cached_property
    def json(self) -> dict:
        return json.loads(self.body)

    @property
    def dialect(self) -> str:
        """Which interface was addressed: chat, responses, messages or generate."""
        known = {"/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "messages"}
        if self.path.startswith("/v1beta/models/") and self.path.endswith(":generateContent"):
            return "generate"
        return known.get(self.path, "none")

    @property
    def key(self) -> str | None:
        """The key the client sent, however its interface carries it."""
        bearer = self.headers.get("authorization", "")
        return bearer.removeprefix("Bearer ") or self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")

    @cached_property
    def parts(self) -> list[dict]:
        """The parts of the last turn, in order."""
        if self.dialect == "generate":
            return self.json["contents"][-1]["parts"]
        turns = self.json["input"] if self.dialect == "responses" else self.json["messages"]
        content = turns[-1]["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    @cached_property
    def prompt(self) -> str:
        return "".join(part["text"] for part in self.parts if "text" in part)

    @cached_property
    def pictures(self) -> list[ReceivedPicture]:
        return [picture for part in self.parts if (picture := _picture(part)) is not None]


def _picture(part: dict) -> ReceivedPicture | None:
    inline = part.get("inlineData") or part.get("inline_data")
    if inline:
        media_type = inline.get("mimeType") or inline["mime_type"]
        return ReceivedPicture(media_type, _decoded(inline["data"]))
    if part.get("type") == "image":
        source = part["source"]
        return ReceivedPicture(source["media_type"], _decoded(source["data"]))
    url = part.get("image_url")
    if url is None:
        return None
    uri = url["url"] if isinstance(url, dict) else url
    head, _, data = uri.removeprefix(DATA_URI).partition(";base64,")
    return ReceivedPicture(head, _decoded(data))


def _decoded(text: str) -> bytes:
    # The Google SDK writes URL-safe base64.
    return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)


@dataclass(frozen=True)
class Answer:
    """What the server says, before any dialect."""

    text: str | None = "A"
    reasoning: str | None = None
    finish: str = "stop"
    refusal: str | None = None
    input_tokens: object = 100
    output_tokens: object = 3
    image_tokens: object = 85
    reasoning_tokens: object = 0
    top: tuple[tuple[str, float], ...] = ()


def write_answer(dialect: str, answer: Answer, model: str, n: int) -> dict:
    """Return the JSON body of a good reply; ``n`` makes its id unique."""
    body = {"chat": _chat, "responses": _responses, "messages": _messages, "generate": _generate}[dialect](
        answer, model
    )
    return {**body, "responseId" if dialect == "generate" else "id": f"reply-{n}"}


def _chat(answer: Answer, model: str) -> dict:
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if answer.reasoning is not None:
        message["reasoning_content"] = answer.reasoning
    return {
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "system_fingerprint": "fp_local",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": _top(answer)}],
        "usage": {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": 103,
            "prompt_tokens_details": {"image_tokens": answer.image_tokens, "cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
        },
    }


def _top(answer: Answer) -> dict | None:
    """Return the likeliest first tokens as chat completions tell them, None where there are none."""
    tokens = [{"token": token, "logprob": value, "bytes": None} for token, value in answer.top]
    return {"content": [{**tokens[0], "top_logprobs": tokens}]} if tokens else None


def _responses(answer: Answer, model: str) -> dict:
    output: list[dict] = []
    if answer.reasoning is not None:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        output.append({"id": "rs_1", "type": "reasoning", "summary": summary})
    content: list[dict] = []
    if answer.refusal is not None:
        content.append({"type": "refusal", "refusal": answer.refusal})
    elif answer.text is not None:
        content.append({"type": "output_text", "text": answer.text, "annotations": []})
    if content:
        output.append(
            {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
        )
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.finish)
    return {
        "object": "response",
        "created_at": 1,
        "model": model,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": output,
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "image_tokens": answer.image_tokens},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
            "total_tokens": 103,
        },
    }


def _messages(answer: Answer, model: str) -> dict:
    content: list[dict] = []
    if answer.reasoning is not None:
        content.append({"type": "thinking", "thinking": answer.reasoning, "signature": "s"})
    if answer.text is not None:
        content.append({"type": "text", "text": answer.text})
    if answer.refusal is not None:
        content.append({"type": "text", "text": answer.refusal})
    stop = {"stop": "end_turn", "length": "max_tokens"}.get(answer.finish, answer.finish)
    return {
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "refusal" if answer.refusal is not None else stop,
        "stop_sequence": None,
        "usage": {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens},
    }


def _generate(answer: Answer, model: str) -> dict:
    parts: list[dict] = []
    if answer.reasoning is not None:
        parts.append({"text": answer.reasoning, "thought": True})
    if answer.text is not None:
        parts.append({"text": answer.text})
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}.get(answer.finish, answer.finish)
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
    if answer.top:
        tokens = [{"token": token, "logProbability": value} for token, value in answer.top]
        candidate["logprobsResult"] = {"topCandidates": [{"candidates": tokens}]}
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": answer.input_tokens,
            "candidatesTokenCount": answer.output_tokens,
            "thoughtsTokenCount": answer.reasoning_tokens,
            "totalTokenCount": 103,
            "promptTokensDetails": [{"modality": "IMAGE", "tokenCount": answer.image_tokens}],
        },
        "modelVersion": model,
    }


def write_error(dialect: str, status: int, message: str, *, code: str | None, parameter: str | None) -> dict:
    """Return the JSON body of an error."""
    if dialect == "messages":
        kinds = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error"}
        kinds |= {404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}
        text = f"{parameter}: {message}" if parameter else message
        return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": text}}
    if dialect == "generate":
        kinds = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
        kinds |= {429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}
        error: dict = {"code": status, "message": message, "status": kinds.get(status, "INTERNAL")}
        if parameter:
            violation = {"field": f"generation_config.{parameter}", "description": message}
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
        return {"error": error}
    return {"error": {"message": message, "type": "invalid_request_error", "param": parameter, "code": code}}
