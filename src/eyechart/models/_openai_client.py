"""One model behind an OpenAI-compatible endpoint, asked through the official SDK."""

import difflib
from collections.abc import Container, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar, cast

from eyechart.batching import BatchLimits, BatchProgress
from eyechart.errors import ModelError
from eyechart.kinds import Ask, ModelOptions, Reply
from eyechart.models import _responses
from eyechart.models._chat_reply import chat_reply, first_tokens
from eyechart.models._chat_settings import ChatSettings, chat_body, merged, read_sent_settings
from eyechart.models._endpoint import Provider, key_hint
from eyechart.models._failure_table import Dialect
from eyechart.models._hosted import Exchange, HostedModel
from eyechart.models._http_errors import Failure, model_error
from eyechart.models._letter_probabilities import with_likeliest_letter
from eyechart.models._network import Line
from eyechart.models._openai_batches import (
    BATCH_LABEL,
    BATCH_SECONDS,
    OPENAI_BATCHES,
    batch_entries,
    batch_lines,
    progress_of,
)
from eyechart.models._stainless import RawCall, ask_sdk
from eyechart.schema import JsonObject, content_sha256

if TYPE_CHECKING:
    from collections.abc import Callable

    import openai

AnyChatSettings = TypeVar("AnyChatSettings", bound=ChatSettings)
LISTING_SECONDS = 10.0
N_LISTED = 8
# What eyechart sends by itself, so that --extra-body cannot contradict what a run records.
_OWN_FIELDS: JsonObject = dict.fromkeys(
    [
        *("model", "messages", "input", "stream", "n", "temperature", "top_p", "seed"),
        *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    ]
)


def open_compatible(
    provider: Provider,
    declared: type[AnyChatSettings],
    name: str,
    options: ModelOptions,
    make: "Callable[[Provider, str, AnyChatSettings, ModelOptions], CompatibleModel] | None" = None,
) -> "CompatibleModel":
    """Return a model of a provider that speaks OpenAI's chat completions, without contacting it.

    Args:
        provider: The provider.
        declared: Its settings.
        name: The model's name.
        options: How it is reached.
        make: Its class, if it is more than ``CompatibleModel``.

    Raises:
        UsageError: If a setting, the base URL or ``extra_body`` is wrong.
    """
    settings = read_sent_settings(declared, options, f"{provider.name}/{name}")
    merged({**_OWN_FIELDS, **settings.body_fields()}, options.extra_body)
    return (make or CompatibleModel)(provider, name, settings, options)


class CompatibleModel(HostedModel["openai.AsyncOpenAI"]):
    """A model asked by chat completions, or by responses where its settings say so.

    ``fingerprint`` asks the server what it serves; nothing else is ever asked besides the questions.
    """

    def __init__(self, provider: Provider, name: str, settings: ChatSettings, options: ModelOptions) -> None:
        super().__init__(provider, name, settings, options)
        self._settings = settings

    @property
    def dialect(self) -> Dialect:
        """The interface that is spoken."""
        return "responses" if self._settings.interface == "responses" else "chat"

    @property
    def batch_limits(self) -> BatchLimits | None:
        """What one batch may hold; None but for OpenAI itself and what ``--base-url`` puts in its place."""
        return OPENAI_BATCHES if self._provider.name == "openai" else None

    async def submit_batch(self, bodies: Mapping[str, JsonObject], label: str) -> str:
        """Hand over request bodies by id and return the batch's id; ``label`` finds it again.

        Raises:
            ModelError: If the provider did not take it.
        """
        import openai  # deferred, see below

        client, line = self._connected(), self._line._replace(seconds=BATCH_SECONDS)
        path = "/v1/responses" if self._settings.interface == "responses" else "/v1/chat/completions"
        send = cast("RawCall", client.files.with_raw_response.create)
        content = ("requests.jsonl", batch_lines(bodies, path), "application/jsonl")
        file = await self._told(await ask_sdk(openai, line, send, file=content, purpose="batch"))
        create = cast("RawCall", client.batches.with_raw_response.create)
        arguments = {"endpoint": path, "completion_window": "24h", "metadata": {BATCH_LABEL: label}}
        batch = await self._told(await ask_sdk(openai, line, create, input_file_id=file.get("id"), **arguments))
        return str(batch.get("id"))

    async def find_batch(self, label: str, since: datetime, n_requests: int, known: Container[str]) -> str | None:
        """Return the batch with this label, None if there is none.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        import openai  # deferred, see below

        del since, n_requests, known
        after: dict[str, str] = {}
        listing = cast("RawCall", self._connected().batches.with_raw_response.list)
        while True:
            page = await self._told(await ask_sdk(openai, self._line, listing, limit=100, **after))
            entries = [one for one in cast("list[object]", page.get("data") or []) if isinstance(one, dict)]
            for batch in entries:
                if (batch.get("metadata") or {}).get(BATCH_LABEL) == label:
                    return str(batch["id"])
            if not page.get("has_more") or not entries:
                return None
            after = {"after": str(entries[-1]["id"])}

    async def batch_progress(self, batch_id: str) -> BatchProgress:
        """Return how far a batch is.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        return progress_of(await self._batch(batch_id))

    async def batch_replies(self, batch_id: str, asks: Mapping[str, Ask]) -> list[tuple[str, Reply | ModelError]]:
        """Return what came back for the requests among ``asks``, by id.

        Raises:
            ModelError: If the provider cannot be asked.
        """
        import openai  # deferred, see below

        batch = await self._batch(batch_id)
        read = cast("RawCall", self._connected().files.with_raw_response.content)
        line = self._line._replace(seconds=BATCH_SECONDS)
        outcomes = []
        for file_id in filter(None, (batch.get("output_file_id"), batch.get("error_file_id"))):
            told = await ask_sdk(openai, line, read, file_id=file_id)
            if isinstance(told, Failure):
                await self._told(told)
                continue
            for request_id, body in batch_entries(told.payload):
                if request_id in asks:
                    outcomes.append((request_id, await self._outcome(body, asks[request_id])))
        return outcomes

    async def _batch(self, batch_id: str) -> JsonObject:
        import openai  # deferred, see below

        retrieve = cast("RawCall", self._connected().batches.with_raw_response.retrieve)
        return await self._told(await ask_sdk(openai, self._line, retrieve, batch_id=batch_id))

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

    def _connect(self, line: Line) -> "openai.AsyncOpenAI":
        import openai  # deferred: it takes half a second, and planning needs none of it

        # The SDK reads OPENAI_ORG_ID and OPENAI_PROJECT_ID by itself; they are nobody else's business.
        omitted = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        return openai.AsyncOpenAI(
            api_key=line.key,
            base_url=line.base_url,
            max_retries=0,
            timeout=line.seconds,
            http_client=line.client(openai.DefaultAsyncHttpxClient, event_hooks=self._hooks),
            default_headers={} if self._provider.name == "openai" else cast("dict[str, str]", omitted),
        )

    async def _close_client(self, client: "openai.AsyncOpenAI") -> None:
        await client.close()

    async def _exchange(self, client: "openai.AsyncOpenAI", ask: Ask) -> Exchange | Failure:
        import openai  # deferred, see above

        body = self.body(ask)
        if self._settings.interface == "responses":
            create = cast("RawCall", client.responses.with_raw_response.create)
            return await ask_sdk(openai, self._line, create, model=body.pop("model"), extra_body=body)
        create = cast("RawCall", client.chat.completions.with_raw_response.create)
        model, messages = body.pop("model"), body.pop("messages")
        return await ask_sdk(openai, self._line, create, model=model, messages=messages, extra_body=body)

    @property
    def reads_letters(self) -> bool:
        """Whether the interface tells the probabilities of an answer's first token."""
        return self._settings.interface == "chat_completions"

    def body(self, ask: Ask) -> JsonObject:
        """Return the whole body of a request."""
        name, settings, extra = self.identity.name, self._settings, self._options.extra_body
        if settings.interface == "responses":
            return _responses.body(name, ask, settings, extra)
        return chat_body(name, ask, settings, extra)

    def _read(self, body: JsonObject, ask: Ask) -> Reply:
        if self._settings.interface == "responses":
            return _responses.reply(body, len(ask.pictures))
        reply = chat_reply(body, len(ask.pictures))
        return reply if ask.sampling.score_mode == "text" else with_likeliest_letter(reply, first_tokens(body), ask)

    async def _name_hint(self) -> str:
        """Return what the server offers instead of a name that it does not know."""
        try:
            offered = [str(entry["id"]) for entry in await self._listed() if "id" in entry]
        except ModelError:
            offered = []
        near = difflib.get_close_matches(self.identity.name, offered, n=1)
        if near:
            return f"did you mean {near[0]}?"
        if offered:
            more = ", …" if len(offered) > N_LISTED else ""
            return f"{self._line.place} offers {', '.join(offered[:N_LISTED])}{more}"
        return f"check the model's name and the base URL {self._line.place}, which usually ends in /v1"

    async def _listed(self) -> list[JsonObject]:
        import openai  # deferred, see above

        client = self._connected()
        listing = cast("RawCall", client.models.with_raw_response.list)
        outcome = await ask_sdk(openai, self._line._replace(seconds=LISTING_SECONDS), listing)
        if isinstance(outcome, Failure):
            raise model_error(outcome, key_hint(self._provider), "this server lists no models")
        entries = (await self._told(outcome)).get("data")
        return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
