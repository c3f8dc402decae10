"""One model behind an OpenAI-compatible endpoint, asked through the official SDK."""

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, cast

from eyechart.errors import ModelError, TransientModelError
from eyechart.kinds import Ask, ModelOptions, Reply
from eyechart.models._chat_reply import body_failure, chat_reply, failure_of, read_json
from eyechart.models._chat_settings import ChatSettings, chat_body, merged, read_sent_settings, recorded_settings
from eyechart.models._endpoint import (
    Provider,
    check_base_url,
    find_base_url,
    find_key,
    key_hint,
    shown_url,
    without_key,
)
from eyechart.models._http_errors import Failure, is_content_filter, model_error
from eyechart.models._repeats import RepeatedReplies
from eyechart.schema import JsonObject, ModelIdentity, content_sha256

if TYPE_CHECKING:
    import openai

LISTING_SECONDS = 10.0
N_LISTED = 8
# What eyechart sends by itself, so that --extra-body cannot contradict what a run records.
_OWN_FIELDS: JsonObject = dict.fromkeys(
    [
        *("model", "messages", "input", "stream", "n", "temperature", "top_p", "seed"),
        *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    ]
)


class _RawReply(Protocol):
    """The part of the SDK's raw response that is read."""

    @property
    def content(self) -> bytes: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def http_response(self) -> "_HttpResponse": ...


class _HttpResponse(Protocol):
    extensions: Mapping[str, object]


def open_compatible(
    provider: Provider, declared: type[ChatSettings], name: str, options: ModelOptions
) -> "CompatibleModel":
    """Return a model of a provider that speaks OpenAI's chat completions, without contacting it.

    Raises:
        UsageError: If a setting, the base URL or ``extra_body`` is wrong.
    """
    settings = read_sent_settings(declared, options, f"{provider.name}/{name}")
    if options.base_url is not None:
        check_base_url(options.base_url, "--base-url")
    merged({**_OWN_FIELDS, **settings.body_fields()}, options.extra_body)
    return CompatibleModel(provider, name, settings, options)


class CompatibleModel:
    """A chat model that reads pixels. The SDK never retries: that is the run loop's business.

    ``fingerprint`` asks the server what it serves; nothing else is ever asked besides the questions.
    """

    reads: Literal["pixels", "identity"] = "pixels"
    max_concurrency: int | None = None

    def __init__(self, provider: Provider, name: str, settings: ChatSettings, options: ModelOptions) -> None:
        self.identity = ModelIdentity(
            provider=provider.name,
            name=name,
            revision=options.revision,
            settings=recorded_settings(settings, options.extra_body),
        )
        self._provider = provider
        self._settings = settings
        self._options = options
        self._client: openai.AsyncOpenAI | None = None
        self._abandoned: list[openai.AsyncOpenAI] = []
        self._repeats = RepeatedReplies()
        self._base_url = ""
        self._key = ""

    async def answer(self, ask: Ask) -> Reply:
        """Answer one request.

        Raises:
            ModelError: One of its subclasses says whether to try again.
        """
        body = chat_body(self.identity.name, ask, self._settings, self._options.extra_body)
        client = self._connected()
        create = cast("Callable[..., Awaitable[_RawReply]]", client.chat.completions.with_raw_response.create)
        model, messages = body.pop("model"), body.pop("messages")
        outcome = await self._call(create, model=model, messages=messages, extra_body=body)
        if isinstance(outcome, Failure):
            return await self._filtered_or_raise(outcome)
        failure = body_failure(outcome)
        if failure is not None:
            return await self._filtered_or_raise(self._clean(failure))
        return chat_reply(outcome, len(ask.pictures))

    async def fingerprint(self) -> str | None:
        """Ask the server which weights it serves; None where it does not say.

        vLLM and SGLang name the weights' origin as ``root`` in ``/v1/models``.

        Raises:
            ModelError: If the server cannot be asked.
        """
        for entry in await self._listed():
            if entry.get("id") == self.identity.name and isinstance(entry.get("root"), str):
                return content_sha256({"root": entry["root"]})
        return None

    async def close(self) -> None:
        """Release the connections."""
        for client in (self._client, *self._abandoned):
            if client is not None:
                await client.close()
        self._client, self._abandoned = None, []

    def _connected(self) -> "openai.AsyncOpenAI":
        if self._client is None:
            import openai  # deferred: it takes half a second, and planning needs none of it

            self._base_url = find_base_url(self._provider, self._options.base_url)
            self._key = find_key(self._provider, self._base_url)
            # The SDK reads OPENAI_ORG_ID and OPENAI_PROJECT_ID by itself; they are nobody else's business.
            omitted = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
            headers = {} if self._provider.name == "openai" else cast("dict[str, str]", omitted)
            self._client = openai.AsyncOpenAI(
                api_key=self._key,
                base_url=self._base_url,
                max_retries=0,
                timeout=self._options.timeout_seconds,
                default_headers=headers,
            )
        return self._client

    async def _call(self, ask: Callable[..., Awaitable[_RawReply]], **arguments: object) -> JsonObject | Failure:
        """Return the decoded reply, or what an error status says.

        Raises:
            TransientModelError: If there was no whole reply in time.
        """
        import openai  # deferred, see above

        seconds = self._options.timeout_seconds
        try:
            # The SDK's timeout is per read: a server that drips one byte a second would never meet it.
            async with asyncio.timeout(seconds):
                raw = await ask(**arguments)
        except (TimeoutError, openai.APITimeoutError):
            raise TransientModelError(
                f"no reply from {shown_url(self._base_url)} within {seconds:g} s", hint="a longer --timeout may help"
            ) from None
        except openai.APIStatusError as error:
            return self._clean(failure_of(error.status_code, error.body, dict(error.response.headers)))
        except openai.APIConnectionError as error:
            raise self._no_connection(error) from None
        self._refuse_repeat(raw)
        return read_json(raw.headers.get("content-type", ""), raw.content)

    def _refuse_repeat(self, raw: _RawReply) -> None:
        """Refuse a reply that a connection already gave to the request before: it answers another question.

        Raises:
            TransientModelError: If it is one.
        """
        if not self._repeats.is_repeat(raw.http_response.extensions.get("network_stream"), raw.content):
            return
        # The true reply is still on its way on that connection, so no later request may use the same pool.
        if self._client is not None:
            self._abandoned.append(self._client)
            self._client = None
        raise TransientModelError(
            f"{shown_url(self._base_url)} sent one reply twice", hint="is there a proxy that repeats replies?"
        )

    async def _filtered_or_raise(self, failure: Failure) -> Reply:
        """Return the reply of a content filter, which is an answer; raise everything else."""
        if is_content_filter(failure):
            return Reply(text="", finish="content_filter", extra={"filter": failure.message})
        error = model_error(failure, key_hint(self._provider), "")
        if getattr(error, "parameter", None) == "model" and not error.hint:
            error.hint = await self._name_hint()
        raise error

    async def _name_hint(self) -> str:
        """Return what the server offers instead of a name that it does not know."""
        place = shown_url(self._base_url)
        try:
            offered = [str(entry["id"]) for entry in await self._listed() if "id" in entry]
        except ModelError:
            offered = []
        near = difflib.get_close_matches(self.identity.name, offered, n=1)
        if near:
            return f"did you mean {near[0]}?"
        if offered:
            more = ", …" if len(offered) > N_LISTED else ""
            return f"{place} offers {', '.join(offered[:N_LISTED])}{more}"
        return f"check the model's name and the base URL {place}, which usually ends in /v1"

    async def _listed(self) -> list[JsonObject]:
        client = self._connected()
        listing = cast("Callable[..., Awaitable[_RawReply]]", client.models.with_raw_response.list)
        outcome = await self._call(listing, timeout=LISTING_SECONDS)
        if isinstance(outcome, Failure):
            raise model_error(outcome, key_hint(self._provider), "this server lists no models")
        entries = outcome.get("data")
        return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []

    def _no_connection(self, error: Exception) -> TransientModelError:
        cause = error.__cause__ or error
        # By name, since the SDK moved from httpx to httpx2.
        is_connection = type(cause).__name__ in {"ConnectError", "ConnectTimeout", "UnsupportedProtocol"}
        place = shown_url(self._base_url)
        reason = without_key(str(cause) or type(cause).__name__, self._key)
        what = "no server answered at" if is_connection else "the connection broke at"
        hint = "is the server running, and is --base-url right?" if is_connection else ""
        return TransientModelError(f"{what} {place} ({reason})", hint=hint, is_connection=is_connection)

    def _clean(self, failure: Failure) -> Failure:
        return failure._replace(message=without_key(failure.message, self._key))
