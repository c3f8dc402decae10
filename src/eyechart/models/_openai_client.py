"""One model behind an OpenAI-compatible endpoint, asked through the official SDK."""

import difflib
from typing import TYPE_CHECKING, cast

from eyechart.errors import ModelError
from eyechart.kinds import Ask, ModelOptions, Reply
from eyechart.models import _responses
from eyechart.models._chat_reply import body_failure, chat_reply, first_tokens
from eyechart.models._chat_settings import ChatSettings, chat_body, merged, read_sent_settings
from eyechart.models._endpoint import Provider, key_hint
from eyechart.models._hosted import Exchange, HostedModel, Line
from eyechart.models._http_errors import Failure, model_error
from eyechart.models._letter_probabilities import with_likeliest_letter
from eyechart.models._stainless import RawCall, ask_sdk
from eyechart.schema import JsonObject, content_sha256

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


def open_compatible(
    provider: Provider, declared: type[ChatSettings], name: str, options: ModelOptions
) -> "CompatibleModel":
    """Return a model of a provider that speaks OpenAI's chat completions, without contacting it.

    Raises:
        UsageError: If a setting, the base URL or ``extra_body`` is wrong.
    """
    settings = read_sent_settings(declared, options, f"{provider.name}/{name}")
    merged({**_OWN_FIELDS, **settings.body_fields()}, options.extra_body)
    return CompatibleModel(provider, name, settings, options)


class CompatibleModel(HostedModel["openai.AsyncOpenAI"]):
    """A model asked by chat completions, or by responses where its settings say so.

    ``fingerprint`` asks the server what it serves; nothing else is ever asked besides the questions.
    """

    def __init__(self, provider: Provider, name: str, settings: ChatSettings, options: ModelOptions) -> None:
        super().__init__(provider, name, settings, options)
        self._settings = settings

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

    def _failure_in(self, body: JsonObject) -> Failure | None:
        return _responses.failure(body) if self._settings.interface == "responses" else body_failure(body)

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
        outcome = self._decoded(await ask_sdk(openai, self._line._replace(seconds=LISTING_SECONDS), listing))
        if isinstance(outcome, Failure):
            raise model_error(outcome, key_hint(self._provider), "this server lists no models")
        entries = outcome.get("data")
        return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
