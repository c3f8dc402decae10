"""One model behind a network: the part that is the same whatever interface it speaks."""

from abc import ABC, abstractmethod
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec

from eyechart.errors import BadRequestError, ModelError, TransientModelError
from eyechart.kinds import Ask, ModelOptions, Reply
from eyechart.models._chat_reply import body_failure, read_json
from eyechart.models._chat_settings import recorded_settings
from eyechart.models._endings import unreadable
from eyechart.models._endpoint import Provider, check_base_url, key_hint, without_key
from eyechart.models._failure_table import Dialect
from eyechart.models._http_errors import Failure, is_content_filter, model_error
from eyechart.models._network import Line, open_line
from eyechart.models._repeats import RepeatedReplies, request_mark
from eyechart.schema import JsonObject, ModelIdentity

Client = TypeVar("Client")


@runtime_checkable
class Closable(Protocol):
    """A connection of the HTTP libraries."""

    async def aclose(self) -> None:
        """Close it."""
        ...


class Exchange(NamedTuple):
    """A reply with a good status.

    Args:
        content_type: Its header, empty where it has none.
        payload: Its body.
        connection: What it came over, None if unknown.
    """

    content_type: str
    payload: bytes
    connection: object | None = None


class HostedModel(ABC, Generic[Client]):
    """A model that reads pixels and is asked through a vendor's SDK, which never retries: the run loop does.

    The client is made at the first question, so planning needs neither key nor SDK.
    """

    reads: Literal["pixels", "identity"] = "pixels"
    max_concurrency: int | None = None

    def __init__(self, provider: Provider, name: str, settings: msgspec.Struct, options: ModelOptions) -> None:
        if options.base_url is not None:
            check_base_url(options.base_url, "--base-url")
        self.identity = ModelIdentity(
            provider=provider.name,
            name=name,
            revision=options.revision,
            settings=recorded_settings(settings, options.extra_body),
        )
        self._provider = provider
        self._options = options
        self._clients: list[Client] = []  # none before the first question, one from then on
        self._repeats = RepeatedReplies()
        self._tells_endings = False
        self._line = Line("", "", options.timeout_seconds)

    async def answer(self, ask: Ask) -> Reply:
        """Answer one request.

        Raises:
            ModelError: One of its subclasses says whether to try again.
        """
        if ask.sampling.score_mode == "logprob" and not self.reads_letters:
            raise BadRequestError(
                f"{self.identity.spec} tells no token probabilities under these settings",
                hint="leave out --score-mode logprob, or ask chat completions",
                parameter="score_mode",
            )
        return await self._settled(await self._decoded(await self._exchange(self._connected(), ask), ask), ask)

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """The interface that is spoken, in batches too."""

    @property
    def reads_letters(self) -> bool:
        """Whether the interface tells the probabilities of an answer's first token."""
        return False

    async def close(self) -> None:
        """Release the connections."""
        for client in self._clients:
            await self._close_client(client)
        self._clients = []

    @abstractmethod
    def _connect(self, line: Line) -> Client:
        """Return a new client of the SDK."""

    @abstractmethod
    async def _close_client(self, client: Client) -> None:
        """Release a client's connections."""

    @abstractmethod
    async def _exchange(self, client: Client, ask: Ask) -> Exchange | Failure:
        """Send one question.

        Raises:
            TransientModelError: If there was no whole reply in time.
        """

    @abstractmethod
    def _read(self, body: JsonObject, ask: Ask) -> Reply:
        """Return the reply in a decoded body.

        Raises:
            TransientModelError: If there is none in it.
        """

    def _failure_in(self, body: JsonObject) -> Failure | None:
        """Return the error inside a body that came with a good status."""
        return body_failure(body)

    async def _name_hint(self) -> str:
        """Return what to do about a name or address that does not exist."""
        return f"check the model's name and the base URL {self._line.place}"

    def _connected(self) -> Client:
        if not self._clients:
            self._line = open_line(self._provider, self._options)
            self._clients.append(self._connect(self._line))
        return self._clients[0]

    async def _told(self, outcome: Exchange | Failure) -> JsonObject:
        """Return the JSON of a reply that answers no question.

        Raises:
            ModelError: If it is an error.
        """
        if isinstance(outcome, Failure):
            await self._filtered_or_raise(outcome)
            raise TransientModelError(outcome.message)
        return read_json(outcome.content_type, outcome.payload)  # a server may well say the same twice

    async def _outcome(self, body: JsonObject | Failure, ask: Ask) -> Reply | ModelError:
        """Return the reply to a question of a batch, or what went wrong with it."""
        try:
            return await self._settled(body, ask)
        except ModelError as error:
            return error

    async def _settled(self, body: JsonObject | Failure, ask: Ask) -> Reply:
        """Return the reply to a question, or raise what the body says went wrong."""
        failure = body if isinstance(body, Failure) else self._failure_in(body)
        if failure is not None:
            return await self._filtered_or_raise(failure)
        assert not isinstance(body, Failure)  # noqa: S101 -- narrows the type; failure is set where it is one
        reply = self._read(body, ask)
        if reply.finish is None and self._tells_endings:
            raise unreadable("the reply lacks the ending that this server tells", "it was cut; it is asked again", body)
        self._tells_endings = self._tells_endings or reply.finish is not None
        clean = without_key(reply.text, self._line.key)
        thoughts = None if reply.reasoning is None else without_key(reply.reasoning, self._line.key)
        return msgspec.structs.replace(reply, text=clean, reasoning=thoughts)

    async def _decoded(self, exchange: Exchange | Failure, ask: Ask) -> JsonObject | Failure:
        """Return the JSON body of a reply.

        Raises:
            TransientModelError: If it is damaged, or a copy of the reply before on the same connection.
        """
        if isinstance(exchange, Failure):
            return exchange
        body = read_json(exchange.content_type, exchange.payload)
        verdict = self._repeats.judge(exchange.connection, body, exchange.payload, request_mark(ask))
        if verdict != "new" and isinstance(exchange.connection, Closable):
            # A true reply may still be on its way there, so no later question may use this connection.
            await exchange.connection.aclose()
        if verdict == "copy":
            raise TransientModelError(
                f"{self._line.place} sent one reply twice", hint="is there a proxy that repeats replies?"
            )
        return body

    async def _filtered_or_raise(self, failure: Failure) -> Reply:
        """Return the reply of a content filter, which is an answer; raise everything else."""
        failure = failure._replace(message=without_key(failure.message, self._line.key))
        if is_content_filter(failure, self.dialect):
            return Reply(text="", finish="content_filter", extra={"filter": failure.message})
        error = model_error(failure, key_hint(self._provider), "", self.dialect)
        if getattr(error, "parameter", None) == "model" and not error.hint:
            error.hint = await self._name_hint()
        raise error
