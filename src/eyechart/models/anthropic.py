"""Claude: ``anthropic/NAME``, through Anthropic's SDK (extra ``[anthropic]``)."""

import base64
import importlib.util
import re
import urllib.parse
from collections.abc import Container, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, cast

import msgspec

from eyechart.batching import BatchLimits, BatchProgress
from eyechart.errors import BadRequestError, MissingDependencyError, ModelError
from eyechart.kinds import Ask, Model, ModelOptions, Reply, SentPicture
from eyechart.models._anthropic_batches import (
    ANTHROPIC_BATCHES,
    BATCH_SECONDS,
    batch_body,
    found_batch,
    progress_of,
)
from eyechart.models._chat_reply import content_text, json_lines, read_usage
from eyechart.models._chat_settings import merged, read_sent_settings, sent
from eyechart.models._endings import ended, unreadable
from eyechart.models._endpoint import Provider
from eyechart.models._failure_table import Dialect
from eyechart.models._hosted import Exchange, HostedModel
from eyechart.models._http_errors import Failure
from eyechart.models._network import Line, http_library
from eyechart.models._reasoning import join_reasoning, split_reasoning
from eyechart.models._stainless import RawCall, ask_sdk, call_sdk
from eyechart.schema import JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import anthropic

__all__ = ["AnthropicKind"]

PROVIDER = Provider("anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com", "ANTHROPIC_BASE_URL")

_OWN_FIELDS: JsonObject = dict.fromkeys(("model", "messages", "max_tokens", "stream", "temperature", "top_p"))
# "temperature: Extra inputs are not permitted"; paths into the question start with "messages".
_PARAMETER = re.compile(r"([a-z_]+)[a-z_.]*: ")


class AnthropicSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of ``anthropic/…``; None is not sent.

    Args:
        api_version: The ``anthropic-version`` header. 2026-10-21 removed temperature, top_p and top_k for all models;
            2023-06-01 takes them for models up to Claude 4.6.
        system_prompt: Text before the question.
        thinking: ``adaptive``, ``enabled`` (needs ``thinking_budget``) or ``disabled``.
        thinking_budget: Tokens for thoughts, at least 1024 and below the token limit.
        effort: ``low``, ``medium``, ``high``, ``xhigh`` or ``max``.
        top_k: Sample from the k most likely tokens.
        oversized_image: ``downsize`` shrinks what exceeds the model's largest size without telling; ``error`` refuses
            it, so that no picture is ever seen smaller than it was sent.
    """

    api_version: str = "2023-06-01"
    system_prompt: str | None = None
    thinking: Literal["adaptive", "enabled", "disabled"] | None = None
    thinking_budget: int | None = None
    effort: str | None = None
    top_k: int | None = None
    oversized_image: Literal["downsize", "error"] | None = None


class AnthropicKind:
    """Models of Anthropic."""

    settings = AnthropicSettings

    def open(self, name: str, options: ModelOptions) -> Model:
        """Return the model, without contacting it.

        Raises:
            UsageError: If a setting, the base URL or ``extra_body`` is wrong.
            MissingDependencyError: If Anthropic's SDK is not installed.
        """
        if importlib.util.find_spec("anthropic") is None:
            raise MissingDependencyError("anthropic", "anthropic")
        settings = read_sent_settings(AnthropicSettings, options, f"anthropic/{name}")
        merged({**_OWN_FIELDS, **_fields(settings)}, options.extra_body)
        return AnthropicModel(name, settings, options)


class _Results(Protocol):
    """The part of an HTTP response that is read."""

    content: bytes


class AnthropicModel(HostedModel["anthropic.AsyncAnthropic"]):
    """A Claude model, asked by the messages interface."""

    batch_limits: BatchLimits | None = ANTHROPIC_BATCHES

    def __init__(self, name: str, settings: AnthropicSettings, options: ModelOptions) -> None:
        super().__init__(PROVIDER, name, settings, options)
        self._settings = settings

    @property
    def dialect(self) -> Dialect:
        """The interface that is spoken, in batches too."""
        return "messages"

    def _connect(self, line: Line) -> "anthropic.AsyncAnthropic":
        import anthropic  # deferred: it takes a second, and planning needs none of it

        return anthropic.AsyncAnthropic(
            api_key=line.key,
            base_url=line.base_url,
            max_retries=0,
            timeout=line.seconds,
            http_client=line.client(anthropic.DefaultAsyncHttpxClient, event_hooks=self._hooks),
            default_headers={"anthropic-version": self._settings.api_version},
        )

    async def submit_batch(self, bodies: Mapping[str, JsonObject], label: str) -> str:
        """Hand over request bodies by id and return the batch's id.

        Raises:
            ModelError: If the provider did not take it.
        """
        import anthropic  # deferred, see above

        del label  # Anthropic keeps none
        create = cast("RawCall", self._connected().messages.batches.with_raw_response.create)
        requests = [{"custom_id": request_id, "params": body} for request_id, body in bodies.items()]
        line = self._line._replace(seconds=BATCH_SECONDS)
        return str((await self._told(await ask_sdk(anthropic, line, create, requests=requests))).get("id"))

    async def find_batch(self, label: str, since: datetime, n_requests: int, known: Container[str]) -> str | None:
        """Return the oldest batch made since then that may be the one, by its number of requests; None if none is.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        import anthropic  # deferred, see above

        del label
        listing = cast("RawCall", self._connected().messages.batches.with_raw_response.list)
        page = await self._told(await ask_sdk(anthropic, self._line, listing, limit=100))
        entries = [one for one in cast("list[object]", page.get("data") or []) if isinstance(one, dict)]
        return found_batch([one for one in entries if one.get("id") not in known], since, n_requests)

    async def batch_progress(self, batch_id: str) -> BatchProgress:
        """Return how far a batch is.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        import anthropic  # deferred, see above

        retrieve = cast("RawCall", self._connected().messages.batches.with_raw_response.retrieve)
        told = await self._told(await ask_sdk(anthropic, self._line, retrieve, message_batch_id=batch_id))
        return progress_of(told)

    async def batch_replies(self, batch_id: str, asks: Mapping[str, Ask]) -> list[tuple[str, Reply | ModelError]]:
        """Return what came back for the requests among ``asks``, by id.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        import anthropic  # deferred, see above

        # The SDK's own reader would ask whatever address the batch names for its results, and send the key there.
        get = cast("Callable[..., Awaitable[_Results]]", self._connected().get)
        path = f"/v1/messages/batches/{urllib.parse.quote(batch_id, safe='')}/results"
        line = self._line._replace(seconds=BATCH_SECONDS)
        told = await call_sdk(anthropic, line, get, path=path, cast_to=http_library().Response)
        if isinstance(told, Failure):
            await self._told(told)
            return []
        entries = ((str(one.get("custom_id")), one) for one in json_lines(told.content))
        known = [(request_id, batch_body(one)) for request_id, one in entries if request_id in asks]
        named = [(id_, _named(body) if isinstance(body, Failure) else body) for id_, body in known]
        return [(request_id, await self._outcome(body, asks[request_id])) for request_id, body in named]

    async def _close_client(self, client: "anthropic.AsyncAnthropic") -> None:
        await client.close()

    async def _exchange(self, client: "anthropic.AsyncAnthropic", ask: Ask) -> Exchange | Failure:
        import anthropic  # deferred, see above

        body = self.body(ask)
        create = cast("RawCall", client.messages.with_raw_response.create)
        required = {key: body.pop(key) for key in ("model", "messages", "max_tokens")}
        outcome = await ask_sdk(anthropic, self._line, create, **required, extra_body=body)
        return _named(outcome) if isinstance(outcome, Failure) else outcome

    def body(self, ask: Ask) -> JsonObject:
        """Return the whole body of a request."""
        return merged(request_body(self.identity.name, ask, self._settings), self._options.extra_body)

    def _read(self, body: JsonObject, ask: Ask) -> Reply:
        del ask  # Anthropic reports no image tokens
        return read_message(body)


def request_body(name: str, ask: Ask, settings: AnthropicSettings) -> JsonObject:
    """Return the body of a message request: pictures first, then the prompt.

    A parameter that the interface does not know (``seed``) is sent all the same when it is set, so that the refusal
    names it and nobody believes it had an effect.

    Raises:
        BadRequestError: If there is no token limit, which Anthropic insists on.
    """
    sampling = ask.sampling
    if sampling.max_tokens is None:
        raise BadRequestError(
            "Anthropic answers no request without max_tokens", hint="give --max-tokens 1024", parameter="max_tokens"
        )
    content: list[JsonObject] = [_picture_part(picture, settings) for picture in ask.pictures]
    content.append({"type": "text", "text": ask.prompt})
    return {
        "model": name,
        "max_tokens": sampling.max_tokens,
        "messages": [{"role": "user", "content": content}],
        **sent({"temperature": sampling.temperature, "top_p": sampling.top_p, "seed": sampling.seed}),
        **_fields(settings),
    }


def read_message(body: JsonObject) -> Reply:
    """Return the reply in a message.

    Raises:
        TransientModelError: If it has neither content nor a reason for that, or its ending is not a whole one.
    """
    content, stop = body.get("content"), body.get("stop_reason")
    if not content and not isinstance(stop, str):
        raise unreadable("the server's reply holds no content", "it is asked again", body)
    text, thoughts = content_text(content, body)
    split = split_reasoning(text)
    usage = read_usage(body.get("usage"))
    details = body.get("stop_details")
    reply = Reply(
        text=split.answer,
        reasoning=join_reasoning(*thoughts, split.reasoning),
        is_refusal=stop == "refusal",
        usage=usage,
        extra={
            **{key: value for key in ("model", "id") if isinstance(value := body.get(key), str)},
            **({"stop_details": details} if isinstance(details, dict) else {}),
        },
    )
    return ended("messages", stop, reply, body)


def _named(failure: Failure) -> Failure:
    """Return a failure with the parameter that its message begins with."""
    match = _PARAMETER.match(failure.message) if failure.parameter is None else None
    return failure._replace(parameter=match[1]) if match else failure


def _fields(settings: AnthropicSettings) -> JsonObject:
    thinking = sent({"type": settings.thinking, "budget_tokens": settings.thinking_budget})
    return sent(
        {
            "system": settings.system_prompt,
            "thinking": thinking or None,
            "output_config": sent({"effort": settings.effort}) or None,
            "top_k": settings.top_k,
        }
    )


def _picture_part(picture: SentPicture, settings: AnthropicSettings) -> JsonObject:
    source = {
        "type": "base64",
        "media_type": picture.media_type,
        "data": base64.b64encode(picture.encoded()).decode("ascii"),
    }
    transformations = sent({"oversized_image": settings.oversized_image})
    return {"type": "image", "source": source, **sent({"transformations": transformations or None})}
