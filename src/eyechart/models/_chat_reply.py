"""Read the replies of OpenAI-compatible endpoints, however they spell thoughts, usage and errors."""

import codecs
import json
import re
from collections.abc import Iterator, Sequence

import msgspec

from eyechart.errors import TransientModelError
from eyechart.kinds import ObservedPicture, Reply
from eyechart.models._endings import ended, unreadable
from eyechart.models._failure_table import STATUS_OF_TYPE
from eyechart.models._http_errors import CONTENT_PARAMETERS, Failure
from eyechart.models._reasoning import join_reasoning, split_reasoning
from eyechart.schema import JsonObject, Usage

# A gateway's message may hold the error of the one behind it: {"error":{"code":"Arrearage",…}}, with either quotes.
_QUOTED_CODE = re.compile(r"""\\?["'](?:code|type|status)\\?["']\s*:\s*\\?["']?([\w.-]+)""")
_QUOTED_CHARACTERS = 2000
# Stands for an error without a status whose type is unknown: the server's.
_NO_STATUS = 500
# What a body of status 200 holds in any dialect where it is an answer, and where it is nothing but an error.
_ANSWER_KEYS = ("choices", "output", "content", "candidates", "promptFeedback")
_ERROR_KEYS = ("message", "detail", "errors", "error_msg", "msg")
# The longest context that is known is 10 million tokens (Llama 4 Scout).
_MOST_TOKENS = 1_000_000_000
# No reply of a dialect has a dozen levels; what walks one by recursion fails at some hundred.
_MOST_LEVELS = 100


def read_json(content_type: str, payload: bytes) -> JsonObject:
    """Return the JSON object of a good reply, whatever it is declared as.

    A byte order mark is skipped, ``NaN`` and ``Infinity`` are read as null, and half a surrogate pair as U+FFFD.

    Args:
        content_type: The reply's header, empty where it has none; named where the body is not JSON.
        payload: The reply's body.

    Raises:
        TransientModelError: If it is not a JSON object.

    Example:
        >>> read_json("text/plain", b'{"id": 1}')
        {'id': 1}
    """
    try:
        decoded = lenient_json(payload)
    except ValueError as error:
        if content_type and "json" not in content_type.lower():
            raise unreadable(
                f"the server answered {content_type.partition(';')[0]} instead of JSON",
                "is there a proxy or a login page in between, or is the base URL of another service?",
                payload,
            ) from error
        raise unreadable(
            f"the server's JSON of {len(payload)} bytes is damaged ({error})",
            "the reply was cut; it is asked again",
            payload,
        ) from error
    if not isinstance(decoded, dict):
        raise unreadable("the server answered JSON that is not an object", "is the base URL right?", payload)
    return decoded


def lenient_json(payload: bytes) -> object:
    r"""Return what JSON holds, also where it is spelled as some servers spell it.

    Raises:
        ValueError: If it is not JSON.

    Example:
        >>> lenient_json(b'\xef\xbb\xbf{"a": NaN}')
        {'a': None}
    """
    payload = payload.removeprefix(codecs.BOM_UTF8)
    try:
        return _shallow(msgspec.json.decode(payload), payload)
    except (msgspec.DecodeError, RecursionError):
        pass  # NaN, half a surrogate pair or a bare line break are read below
    try:
        decoded = json.loads(payload.decode(), parse_constant=lambda _: None, strict=False)
        return _shallow(_mended(decoded), payload)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def json_lines(payload: bytes) -> Iterator[JsonObject]:
    r"""Yield every object in a file of replies, one a line; a line that cannot be read answers nothing.

    Raises:
        TransientModelError: If the last line is damaged, so that the file was cut.

    Example:
        >>> list(json_lines(b'{"custom_id":"r"}\n\noh\n{"a":NaN}\n'))
        [{'custom_id': 'r'}, {'a': None}]
    """
    lines = [line for line in payload.splitlines() if line.strip()]
    for number, line in enumerate(lines, start=1):
        try:
            entry = lenient_json(line)
        except ValueError as error:
            if number == len(lines):
                raise TransientModelError(f"the last line of the batch's replies is damaged ({error})") from error
            continue
        if isinstance(entry, dict):
            yield entry


def _shallow(value: object, payload: bytes) -> object:
    """Return a value that can be walked by recursion.

    Raises:
        ValueError: If it is nested too deeply for that.
    """
    if payload.count(b"[") + payload.count(b"{") <= _MOST_LEVELS:
        return value
    level = [value]
    for _ in range(_MOST_LEVELS):
        holders = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [inner for holder in holders for inner in holder]
        if not level:
            return value
    raise ValueError("nested too deeply")


def _mended(value: object) -> object:
    """Return a value without halves of surrogate pairs, which no file can hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(one) for one in value]
    if isinstance(value, dict):
        return {str(_mended(key)): _mended(one) for key, one in value.items()}
    return value


def body_failure(body: JsonObject) -> Failure | None:
    """Return the error that some gateways put into a reply with status 200, None where there is none.

    It stands in the place of the choices, beside them, inside the first of them, or as MiniMax's ``base_resp``.

    Example:
        >>> body_failure({"error": {"code": 429, "message": "slow down"}}).status
        429
    """
    choices = _list(body.get("choices"))
    for holder in (body, _object(choices[0]) if choices else {}):
        if holder.get("error"):
            return failure_of(None, holder, {})
    if _object(body.get("base_resp")).get("status_code"):
        return failure_of(None, body, {})
    is_bare = not any(body.get(key) for key in _ANSWER_KEYS)
    says_error = any(isinstance(body.get(key), str | list) for key in _ERROR_KEYS)
    return failure_of(None, body, {}) if is_bare and says_error else None


def failure_of(status: int | None, body: object, headers: dict[str, str]) -> Failure:
    """Return what an error reply says, however it is spelled; ``status`` gives way to a status in the body.

    Args:
        status: HTTP status; None where the reply itself had a good one, so that the type of the error stands for it.
        body: Decoded body or the raw text.
        headers: Reply headers, names in lower case.
    """
    error = _error_object(body)
    if not error:
        return Failure(
            status or _NO_STATUS,
            str(body or "no message"),
            headers=headers,
            codes=_embedded(str(body or "")),
            has_status=status is not None,
        )
    code = error.get("code")
    number = next((n for key in ("code", "status", "status_code") if (n := _http_status(error.get(key)))), None)
    metadata, inner = _object(error.get("metadata")), _object(error.get("innererror"))
    details = [_object(one) for one in _list(error.get("details"))]
    message = _message(error)
    raw = metadata.get("raw")
    message = f"{message} ({raw})" if isinstance(raw, str) and raw else message
    violations = [_object(one) for detail in details for one in _list(detail.get("violations"))]
    fields = [_object(one) for detail in details for one in _list(detail.get("fieldViolations"))]
    named = (
        *(error.get(key) for key in ("code", "type", "status", "error_type", "__type", "status_code", "reason")),
        inner.get("code"),
        *(one.get("reason") for one in details),
        *(one.get("quotaId") for one in violations),
        "flagged_input" if "flagged_input" in metadata else None,
        headers.get("x-amzn-errortype", "").partition(":")[0],
    )
    codes = tuple(str(one).rpartition("#")[2] for one in named if isinstance(one, str | int) and one not in ("", True))
    known = next((STATUS_OF_TYPE[one.lower()] for one in codes if one.lower() in STATUS_OF_TYPE), None)
    found = number or status or known
    return Failure(
        found or _NO_STATUS,
        message,
        code=_text(code) or _text(error.get("type")),
        parameter=_text(error.get("param")) or _parameter_in(error, fields),
        headers=_with_wait(headers, details),
        codes=(*codes, *_embedded(message)),
        has_status=found is not None,
    )


def _error_object(body: object) -> JsonObject:
    """Return the object that describes an error: inside ``error``, ``errors``, ``detail`` …, or the body itself."""
    body = body[0] if isinstance(body, list) and body else body
    if not isinstance(body, dict):
        return {}
    for key in ("error", "errors", "detail", "base_resp"):
        held = body.get(key)
        held = held[0] if key == "errors" and isinstance(held, list) and held else held
        if isinstance(held, dict):
            return _error_object(held) if key == "detail" and "error" in held else {**held}
        if held and isinstance(held, str | list) and key != "errors":
            own = body.get("message")
            message = f"{held}: {own}" if isinstance(held, str) and isinstance(own, str | list) else held
            return {**{name: value for name, value in body.items() if name != key}, "message": message}
    return body


def _message(error: JsonObject) -> str:
    """Return what an error says; a list of complaints as FastAPI writes it without the input that it repeats."""
    keys = ("message", "detail", "msg", "status_msg", "error_msg", "error", "title")
    told = next((error[key] for key in keys if error.get(key)), None)
    if isinstance(told, list):
        parts = [_object(one) for one in told]
        words = [f"{_place(one)}: {one.get('msg')}" if one.get("msg") else _place(one) for one in parts if one]
        return "; ".join(words) or str(told)
    return str(told or "no message")


def _parameter_in(error: JsonObject, fields: list[JsonObject]) -> str | None:
    """Return the parameter that FastAPI's ``loc`` or Google's field violation names."""
    for one in (error.get("message"), error.get("detail")):
        for complaint in _list(one):
            loc = _object(complaint).get("loc")
            if isinstance(loc, list) and len(loc) > 1 and loc[0] == "body" and isinstance(loc[1], str):
                # What follows the name of a setting may be the type that was tried; inside the question it is a place.
                return ".".join(str(part) for part in loc[1:]) if loc[1] in CONTENT_PARAMETERS else loc[1]
    return next((field for one in fields if (field := _text(one.get("field")))), None)


def _place(complaint: JsonObject) -> str:
    return ".".join(str(part) for part in _list(complaint.get("loc")))


def _with_wait(headers: dict[str, str], details: list[JsonObject]) -> dict[str, str]:
    """Return headers with the wait that Google writes into the body."""
    wait = next((str(one["retryDelay"]) for one in details if one.get("retryDelay")), "")
    return {"retry-after": wait.removesuffix("s"), **headers} if wait.endswith("s") else headers


def _http_status(code: object) -> int | None:
    """Return a code that is an HTTP status of an error, as a number or, as LiteLLM writes it, as a text."""
    number = int(code) if isinstance(code, str) and len(code) == 3 and code.isdecimal() else code  # noqa: PLR2004 -- digits
    return number if isinstance(number, int) and 400 <= number < 600 else None  # noqa: PLR2004 -- errors of HTTP


def _embedded(message: str) -> tuple[str, ...]:
    """Return the codes of an error that a gateway quotes in its message."""
    return tuple(_QUOTED_CODE.findall(message[:_QUOTED_CHARACTERS]))


def chat_reply(body: JsonObject, n_pictures: int) -> Reply:
    """Return the reply in a chat completion.

    Raises:
        TransientModelError: If it has no choice, its content has a wrong type, or its ending is not a whole one.
    """
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise unreadable("the server's reply holds no choice", "it is asked again", body)
    text, thoughts = content_text(message.get("content"), body)
    split = split_reasoning(text)
    refusal = _text(message.get("refusal"))
    usage = read_usage(body.get("usage"))
    reply = Reply(
        text=split.answer or refusal or "",
        reasoning=join_reasoning(
            _text(message.get("reasoning_content")) or _text(message.get("reasoning")), *thoughts, split.reasoning
        ),
        is_refusal=refusal is not None,
        usage=usage,
        provider_fingerprint=_text(body.get("system_fingerprint")),
        seen=observed(usage, n_pictures),
        extra=_extra(body),
    )
    return ended("chat", choice.get("finish_reason"), reply, body)


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
    """Return the reported tokens; a count that is not a whole number of at least 0 is left out.

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


def content_text(content: object, body: JsonObject) -> tuple[str, Sequence[str]]:
    """Return text and thoughts of a message whose content is a text, or a list of texts and parts.

    Args:
        content: As the server sent it.
        body: The whole body, to notice a fault that repeats.

    Raises:
        TransientModelError: If it is anything else, or a list in which there is nothing to read.
    """
    if content is None or isinstance(content, str):
        return content or "", ()
    if not isinstance(content, list):
        raise unreadable(f"the reply's content is {_kind(content)}, not a text", "it is asked again", body)
    texts, thoughts = [], []
    for part in content:
        text = part if isinstance(part, str) else _part_text(_object(part))
        if text is not None:
            texts.append(text)
        elif "thinking" in _object(part):
            thoughts.append(content_text(_object(part)["thinking"], body)[0])  # Mistral nests it as a list of parts
        elif _object(part).get("type") == "redacted_thinking":
            thoughts.append("")
        elif not isinstance(part, dict):
            raise unreadable(f"the reply's content holds {_kind(part)}, not a text", "it is asked again", body)
    if content and not texts and not thoughts:
        raise unreadable("the reply's content holds parts without a text", "it is asked again", body)
    return "".join(texts), thoughts


def _part_text(part: JsonObject) -> str | None:
    """Return the text of a part, with or without its type; some write ``{"text": {"value": …}}``."""
    if (part.get("type") or "text") not in ("text", "output_text"):
        return None
    text = part.get("text")
    return text if isinstance(text, str) else _text(_object(text).get("value"))


def _kind(value: object) -> str:
    names = {bool: "a truth value", int: "a number", float: "a number", dict: "an object", list: "a list"}
    return names.get(type(value), "nothing")


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
    return next((count for key in keys if (count := token_count(values.get(key))) is not None), None)


def token_count(value: object) -> int | None:
    """Return a reported number of tokens, None where it cannot be one: below 0, or beyond what any request holds.

    Example:
        >>> token_count(1445), token_count(-1), token_count(10**400), token_count("1445")
        (1445, None, None, None)
    """
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
