"""Read the replies of OpenAI-compatible endpoints, however they spell thoughts, usage and errors."""

from collections.abc import Sequence

import msgspec

from eyechart.errors import TransientModelError
from eyechart.kinds import ObservedPicture, Reply
from eyechart.models._http_errors import Failure
from eyechart.models._reasoning import join_reasoning, split_reasoning
from eyechart.schema import JsonObject, Usage


def read_json(content_type: str, payload: bytes) -> JsonObject:
    """Return the JSON object of a good reply.

    Args:
        content_type: The reply's header, empty where it has none.
        payload: The reply's body.

    Raises:
        TransientModelError: If it is no JSON object, or is declared as something else.

    Example:
        >>> read_json("application/json", b'{"id": 1}')
        {'id': 1}
    """
    if content_type and "json" not in content_type.lower():
        raise TransientModelError(
            f"the server answered {content_type.partition(';')[0]} instead of JSON",
            hint="is there a proxy or a login page in between, or is the base URL of another service?",
        )
    try:
        decoded = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TransientModelError(
            f"the server's JSON of {len(payload)} bytes is damaged ({error})",
            hint="the reply was cut; it is asked again",
        ) from error
    if not isinstance(decoded, dict):
        raise TransientModelError("the server answered JSON that is no object", hint="is the base URL right?")
    return decoded


def body_failure(body: JsonObject) -> Failure | None:
    """Return the error that some gateways put into a reply with status 200, None where there is none.

    Example:
        >>> body_failure({"error": {"code": 429, "message": "slow down"}}).status
        429
    """
    error = body.get("error")
    if not error:
        return None
    return failure_of(500, body, {})


def failure_of(status: int, body: object, headers: dict[str, str]) -> Failure:
    """Return what an error reply says; ``status`` gives way to a status in the body.

    Args:
        status: HTTP status, or what to assume where the reply itself had status 200.
        body: Decoded body or the raw text.
        headers: Reply headers, names in lower case.
    """
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Failure(status, str(error or "no message"), headers=headers)
    code = error.get("code")
    if isinstance(code, int) and 400 <= code < 600:  # noqa: PLR2004 -- the range of HTTP errors
        status = code
    metadata = error.get("metadata")
    inner = error.get("innererror")
    is_filtered = isinstance(metadata, dict) and "flagged_input" in metadata
    is_filtered = is_filtered or (isinstance(inner, dict) and inner.get("code") == "ResponsibleAIPolicyViolation")
    message = error.get("message") or error.get("detail") or "no message"
    detail = metadata.get("raw") if isinstance(metadata, dict) else None
    return Failure(
        status,
        f"{message} ({detail})" if isinstance(detail, str) else str(message),
        code=_text(code) or _text(error.get("type")),
        parameter=_text(error.get("param")),
        headers=headers,
        is_filtered=is_filtered,
    )


def chat_reply(body: JsonObject, n_pictures: int) -> Reply:
    """Return the reply in a chat completion.

    Raises:
        TransientModelError: If there is no choice in it.
    """
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise TransientModelError("the server's reply holds no choice", hint="it is asked again")
    text, thoughts = _content(message.get("content"))
    split = split_reasoning(text)
    refusal = _text(message.get("refusal"))
    usage = read_usage(body.get("usage"))
    finish = _text(choice.get("finish_reason"))
    if split.is_cut_off and not split.answer:
        finish = "length"
    return Reply(
        text=split.answer or refusal or "",
        reasoning=join_reasoning(
            _text(message.get("reasoning_content")) or _text(message.get("reasoning")), *thoughts, split.reasoning
        ),
        finish=finish,
        is_refusal=refusal is not None,
        usage=usage,
        provider_fingerprint=_text(body.get("system_fingerprint")),
        seen=observed(usage, n_pictures),
        extra=_extra(body),
    )


def first_tokens(body: JsonObject) -> list[tuple[str, float]] | None:
    """Return the likeliest first tokens of a chat completion with the logarithms of their probabilities.

    Returns:
        Pairs of text and natural logarithm; None where the server told none.

    Example:
        >>> token = {"token": "A", "logprob": -0.1}
        >>> first_tokens({"choices": [{"logprobs": {"content": [{**token, "top_logprobs": [token]}]}}]})
        [('A', -0.1)]
    """
    choices = body.get("choices")
    choice = _object(choices[0]) if isinstance(choices, list) and choices else {}
    content = _object(choice.get("logprobs")).get("content")
    first = _object(content[0]) if isinstance(content, list) and content else {}
    reported = first.get("top_logprobs") or ([first] if first else [])
    entries = [entry for entry in reported if isinstance(entry, dict)] if isinstance(reported, list) else []
    found = [(entry.get("token"), entry.get("logprob")) for entry in entries]
    return [(str(token), float(value)) for token, value in found if isinstance(value, int | float)] or None


def read_usage(usage: object) -> Usage | None:
    """Return the reported tokens; a count that is no whole number of at least 0 is left out.

    Anthropic counts input that it read from or wrote to its cache apart; it is input all the same. Image tokens stand
    where OpenAI, SGLang, DashScope (``image_tokens``) and vLLM (``multimodal_tokens``) put them.
    """
    if not isinstance(usage, dict):
        return None
    inside = _object(usage.get("prompt_tokens_details")) or _object(usage.get("input_tokens_details"))
    outside = _object(usage.get("completion_tokens_details")) or _object(usage.get("output_tokens_details"))
    by_kind = _object(inside.get("multimodal_tokens"))
    given = _count(usage, "prompt_tokens", "input_tokens")
    cached = (_count(usage, "cache_read_input_tokens") or 0) + (_count(usage, "cache_creation_input_tokens") or 0)
    return Usage(
        input_tokens=given if given is None or "prompt_tokens" in usage else given + cached,
        output_tokens=_count(usage, "completion_tokens", "output_tokens"),
        image_tokens=_count(inside, "image_tokens") if "image_tokens" in inside else _count(by_kind, "image"),
        reasoning_tokens=_count(outside, "reasoning_tokens"),
    )


def observed(usage: Usage | None, n_pictures: int) -> tuple[ObservedPicture, ...]:
    """Return what the provider reported of the picture; nothing where several pictures share one count."""
    if usage is None or usage.image_tokens is None or n_pictures != 1:
        return ()
    return (ObservedPicture(seen_size=None, evidence="reported", visual_tokens=usage.image_tokens),)


def _content(content: object) -> tuple[str, Sequence[str]]:
    """Return text and thoughts of a message whose content is a text or a list of parts."""
    if not isinstance(content, list):
        return _text(content) or "", ()
    parts = [part for part in content if isinstance(part, dict)]
    text = "".join(_text(part.get("text")) or "" for part in parts if part.get("type") in {"text", "output_text"})
    return text, [_thought(part["thinking"]) for part in parts if part.get("type") == "thinking" and "thinking" in part]


def _thought(thinking: object) -> str:
    # Mistral nests the thought as a list of text parts.
    return _content(thinking)[0]


def _extra(body: JsonObject) -> JsonObject:
    usage = _object(body.get("usage"))
    found = {
        "model": body.get("model"),
        "provider": body.get("provider"),
        "response_id": body.get("id"),
        "cost": usage.get("cost"),
    }
    return {key: value for key, value in found.items() if isinstance(value, str | int | float)}


def _count(values: JsonObject, *keys: str) -> int | None:
    for key in keys:
        value = values.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
