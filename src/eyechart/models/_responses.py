"""OpenAI's responses interface: the request body and the reply."""

from eyechart.kinds import Ask, Reply, SentPicture
from eyechart.models._chat_reply import observed, read_usage
from eyechart.models._chat_settings import NOT_SENT, ChatSettings, data_uri, merged, sampling_fields, sent
from eyechart.models._endings import ended, unreadable
from eyechart.models._reasoning import join_reasoning, split_reasoning
from eyechart.schema import JsonObject


def body(name: str, ask: Ask, settings: ChatSettings, extra_body: JsonObject) -> JsonObject:
    """Return the body of a response request: pictures first, then the prompt; nothing is stored at the provider.

    A sampling parameter that the interface does not know (``seed``) is sent all the same when it is set, so that the
    refusal names it and nobody believes it had an effect.
    """
    content: list[JsonObject] = [_picture_part(picture, settings) for picture in ask.pictures]
    content.append({"type": "input_text", "text": ask.prompt})
    fields = settings.body_fields()
    effort, verbosity = fields.pop("reasoning_effort", None), fields.pop("verbosity", None)
    own: JsonObject = {
        "model": name,
        "input": [{"role": "user", "content": content}],
        "store": False,
        **sampling_fields(ask.sampling, "max_output_tokens"),
        **fields,
        **sent(
            {
                "instructions": settings.system_prompt,
                "reasoning": None if effort is None else {"effort": effort},
                "text": None if verbosity is None else {"verbosity": verbosity},
            }
        ),
    }
    return merged(own, extra_body)


def reply(response: JsonObject, n_pictures: int) -> Reply:
    """Return the reply in a response object.

    Raises:
        TransientModelError: If it has no output and no reason for that, or its ending is not a whole one.
    """
    output = response.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if not items and reason is None:
        raise unreadable("the server's reply holds no output", "it is asked again", response)
    _check_shapes(items, response)
    split = split_reasoning("".join(_texts(items, "message", "text")))
    refusal = "".join(_texts(items, "message", "refusal"))
    usage = read_usage(response.get("usage"))
    read = Reply(
        text=split.answer or refusal,
        reasoning=join_reasoning(*_texts(items, "reasoning", "text"), split.reasoning),
        is_refusal=bool(refusal),
        usage=usage,
        seen=observed(usage, n_pictures),
        extra={key: value for key in ("model", "id") if isinstance(value := response.get(key), str)},
    )
    return ended("responses", response.get("status") if reason is None else reason, read, response)


def _texts(items: list[JsonObject], kind: str, field: str) -> list[str]:
    """Return the texts inside output items of one kind; thoughts come as content or as a summary."""
    found: list[str] = []
    for item in items:
        if (item.get("type") or "message") != kind:
            continue
        for place in ("summary", "content"):
            parts = item.get(place)
            for part in parts if isinstance(parts, list) else [parts]:
                text = part.get(field) if isinstance(part, dict) else part if field == "text" else None
                if isinstance(text, str) and text:
                    found.append(text)
    return found


def _check_shapes(items: list[JsonObject], response: JsonObject) -> None:
    """Refuse an output in which nothing was said, or something that is not text.

    Raises:
        TransientModelError: If it is one.
    """
    kinds = ((item, item.get("type") or ("message" if "content" in item else None)) for item in items)
    said = [(item, kind) for item, kind in kinds if kind in ("message", "reasoning")]
    if items and not said:
        raise unreadable("the reply's output holds neither message nor thoughts", "it is asked again", response)
    for item, kind in said:
        content = item.get("content")
        parts = content if isinstance(content, list) else [content]
        if any(not isinstance(part, str | dict) for part in parts) and content is not None:
            raise unreadable("the reply's content is not a text", "it is asked again", response)
        if isinstance(content, dict):
            raise unreadable("the reply's content is an object, not a text", "it is asked again", response)
        told = [part.get("text", part.get("refusal")) if isinstance(part, dict) else part for part in parts]
        if kind == "message" and content and not any(isinstance(text, str) for text in told):
            raise unreadable("the reply's content holds parts without a text", "it is asked again", response)


def _picture_part(picture: SentPicture, settings: ChatSettings) -> JsonObject:
    detail = None if settings.detail == NOT_SENT else settings.detail
    return {"type": "input_image", "image_url": data_uri(picture), **sent({"detail": detail})}
