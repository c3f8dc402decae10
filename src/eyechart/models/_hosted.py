"""One model behind a network: the part that is the same whatever interface it speaks."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
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
from eyechart.models._network import Line, http_library, open_line
from eyechart.models._repeats import RepeatedReplies, request_mark
from eyechart.schema import JsonObject, ModelIdentity

Client = TypeVar("Client")

_GOOD_STATUS = 200


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
    """

    content_type: str
    payload: bytes


class Body(AsyncIterable[bytes], Closable, Protocol):
    """The part of an HTTP library's stream of a response that is used."""


class HttpResponse(Protocol):
    """The part of an HTTP library's response that is used before an SDK reads it."""

    status_code: int
    headers: Mapping[str, str]
    extensions: Mapping[str, object]
    stream: Body

    async def aread(self) -> bytes:
        """Read the whole body, unpacked."""
        ...


ReplyHook = Callable[[HttpResponse], Awaitable[None]]


@dataclass
class _Sent:
    """A question that is on its way.

    Args:
        mark: What is asked, from ``request_mark``.
        is_copied: Whether its reply is that of the question before on the same connection.
        body: The JSON of a good reply in which there is no error, None where that is not known.
    """

    mark: int
    is_copied: bool = False
    body: JsonObject | None = None


# The SDKs tell neither what a reply came over nor when its connection is free again; the question that this task has
# sent is known here to the hook that is called before.
_sent: ContextVar[_Sent | None] = ContextVar("sent", default=None)


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
        sent = _Sent(request_mark(ask))
        token = _sent.set(sent)
        try:
            outcome = await self._exchange(self._connected(), ask)
        finally:
            _sent.reset(token)
        if sent.is_copied:
            raise TransientModelError(
                f"{self._line.place} sent one reply twice", hint="is there a proxy that repeats replies?"
            )
        if isinstance(outcome, Failure):
            return await self._filtered_or_raise(outcome)
        return await self._settled(read_json(*outcome), ask) if sent.body is None else self._answered(sent.body, ask)

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
        return self._answered(body, ask)

    def _answered(self, body: JsonObject, ask: Ask) -> Reply:
        """Return the reply in a body in which there is no error.

        Raises:
            TransientModelError: If there is none in it, or it was cut.
        """
        reply = self._read(body, ask)
        if reply.finish is None and self._tells_endings:
            raise unreadable("the reply lacks the ending that this server tells", "it was cut; it is asked again", body)
        self._tells_endings = self._tells_endings or reply.finish is not None
        clean = without_key(reply.text, self._line.key)
        thoughts = None if reply.reasoning is None else without_key(reply.reasoning, self._line.key)
        return msgspec.structs.replace(reply, text=clean, reasoning=thoughts)

    @property
    def _hooks(self) -> dict[str, list[ReplyHook]]:
        """What the HTTP client calls for every reply, before the SDK reads it."""
        return {"response": [self._received]}

    async def _received(self, response: HttpResponse) -> None:
        """Read a reply, and close its connection where the next reply on it might be a copy of this one.

        This comes before the connection is free again, so that no other question can be on its way there by then.
        """
        body, line = response.stream, response.extensions.get("network_stream")
        try:
            response.stream = http_library().ByteStream(b"".join([chunk async for chunk in body]))
            payload = await response.aread()
            if not self._tells_copies(response, line, payload) and isinstance(line, Closable):
                await line.aclose()
        finally:
            response.stream = body
            await body.aclose()

    def _tells_copies(self, response: HttpResponse, line: object | None, payload: bytes) -> bool:
        """Whether a copy of this reply would be noticed, were it taken for the reply to the next question.

        A copied error would end another question, so that no connection is used again after one.
        """
        sent = _sent.get()
        if sent is None or response.status_code != _GOOD_STATUS:
            return False
        try:
            body = read_json(response.headers.get("content-type", ""), payload)
        except TransientModelError:
            return False
        if self._failure_in(body) is not None:
            return False
        sent.body = body
        verdict = self._repeats.judge(line, body, payload, sent.mark)
        sent.is_copied = verdict == "copy"
        return verdict == "told apart"

    async def _filtered_or_raise(self, failure: Failure) -> Reply:
        """Return the reply of a content filter, which is an answer; raise everything else."""
        failure = failure._replace(message=without_key(failure.message, self._line.key))
        if is_content_filter(failure, self.dialect):
            return Reply(text="", finish="content_filter", extra={"filter": failure.message})
        error = model_error(failure, key_hint(self._provider), "", self.dialect)
        if getattr(error, "parameter", None) == "model" and not error.hint:
            error.hint = await self._name_hint()
        raise error
