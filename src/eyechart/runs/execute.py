"""The loop that asks: bounded, patient, and never losing or inventing an answer."""

import asyncio
import os
import platform
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from math import inf

import msgspec

from eyechart.errors import (
    AuthenticationError,
    BadRequestError,
    EyechartError,
    GeometryError,
    ImageError,
    ModelError,
    RefusedInputError,
    StoreError,
    TransientModelError,
    UsageError,
)
from eyechart.kinds import Ask, AskedIdentity, Model, Reply, TellsFingerprint
from eyechart.runs.final_errors import EqualErrors
from eyechart.runs.listening import Listener
from eyechart.runs.pace import Pace
from eyechart.runs.patience import Patience
from eyechart.runs.pictures import LazyPicture, PictureSource, weight_bytes
from eyechart.runs.rate import Rate, RateLimits, Turn, check_rates
from eyechart.runs.replies import Asking, error_row, reply_row
from eyechart.runs.retrying import MOST_EQUAL_FAULTS, Retrying, Stop
from eyechart.runs.room import Room
from eyechart.runs.sight import observed_seen
from eyechart.runs.spending import CostDoubts, CountsSpending, Spending, SpendingLimits, check_spending
from eyechart.runs.store import AnswerWriter
from eyechart.runs.unreadable import fault_of
from eyechart.runs.watch import Watch
from eyechart.schema import JsonObject, ModelIdentity, Request, Response, ResponseState, Sampling, Seen, Value

# A server that is down is said at once; waiting for one is what wait_for_server_seconds is for.
_FINGERPRINT_ATTEMPTS = 3
# How often to look whether the first answer under --max-cost is in.
_FIRST_COST_SECONDS = 0.02


class LoopSettings(Value, frozen=True):
    """Limits of the loop; none of them changes an answer.

    Args:
        concurrency: Most requests in flight; a model may allow fewer, and an overloaded server gets fewer.
        max_bytes_in_flight: Bound of the pictures in flight, by their size as sent or, where drawn, as raw pixels.
        patience: Limits of retries and waits.
        rates: Requests and tokens a minute.
        spending: Bounds of what is asked and spent.
    """

    concurrency: int = 8
    max_bytes_in_flight: int = 256 << 20
    patience: Patience = Patience()
    rates: RateLimits = RateLimits()
    spending: SpendingLimits = SpendingLimits()


def check_limits(settings: LoopSettings, sampling: Sampling) -> None:
    """Refuse limits under which no answer can come back.

    Raises:
        UsageError: If concurrency, the longest wait for an answer, the longest answer, temperature or top_p is out of
            range.

    Example:
        >>> check_limits(LoopSettings(), Sampling())
    """
    if settings.concurrency < 1:
        raise UsageError(
            f"concurrency {settings.concurrency} asks nothing", hint="give --concurrency a whole number from 1"
        )
    if settings.patience.attempt_seconds <= 0:
        raise UsageError(
            f"a timeout of {settings.patience.attempt_seconds:g} s waits for no answer", hint="for example --timeout 5m"
        )
    check_rates(settings.rates)
    check_spending(settings.spending)
    if sampling.max_tokens is not None and sampling.max_tokens < 1:
        raise UsageError(
            f"answers of {sampling.max_tokens} tokens say nothing", hint="give --max-tokens from 1, or not-sent"
        )
    if sampling.temperature is not None and not 0.0 <= sampling.temperature < inf:
        raise UsageError(
            f"temperature {sampling.temperature:g} is below 0 or no number",
            hint="give --temperature from 0, or not-sent",
        )
    if sampling.top_p is not None and not 0.0 < sampling.top_p <= 1.0:
        raise UsageError(
            f"top_p {sampling.top_p:g} is not a share of the probability",
            hint="give --top-p above 0 and up to 1, or not-sent",
        )


class Asker:
    """Asks a model request by request and appends every answer.

    Requests are taken one at a time from an iterator by as many workers as may be in flight, so memory does not grow
    with their number. ``ask`` may be called again with further requests; limits and counts go on.

    Args:
        model: Who is asked.
        pictures: Where pictures come from.
        writer: Where answers go.
        settings: Limits.
        listener: Is told of every answer and wait.
        anew: What is stored beside answers to requests that were asked before, by request id.
        spending: Who counts what is sent and spent; this process if None.
        is_reached: Whether the server is known to be there; one that was never reached ends the run at once.
    """

    def __init__(
        self,
        model: Model,
        pictures: PictureSource,
        writer: AnswerWriter,
        settings: LoopSettings,
        *,
        listener: Listener,
        anew: Mapping[str, JsonObject] | None = None,
        spending: CountsSpending | None = None,
        is_reached: bool = False,
    ) -> None:
        self.n_asked = 0
        self._equal_errors = EqualErrors()
        self._model, self._pictures, self._writer, self._listener = model, pictures, writer, listener
        self._settings = settings
        self._anew = anew or {}
        self._retrying = Retrying(settings.patience, listener, is_reached=is_reached)
        self._room = Room(settings.max_bytes_in_flight)
        self._most = min(settings.concurrency, model.max_concurrency or settings.concurrency)
        self._pace = Pace(self._most)
        self._rate = Rate(settings.rates)
        self._spending = spending or Spending(settings.spending)
        self._doubts = CostDoubts(settings.spending.price, listener.noted)
        self._watch = Watch(listener)
        self._threads = ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="picture")
        self._fatal: EyechartError | None = None

    @property
    def stop(self) -> Stop | None:
        """Why nothing more is asked; None while all goes well."""
        return self._retrying.stop

    async def ask(self, requests: Iterable[Request]) -> None:
        """Ask all requests, or until something ends the run; then ``stop`` says why.

        What is in flight when the run must end is awaited and stored, since it is paid for.

        Raises:
            BadRequestError: If the provider refuses a parameter of the run.
            AuthenticationError: If the key is missing or refused.
            TransientModelError: If no server was ever reached.
            StoreError: If an answer cannot be stored; only this drops what is in flight.
        """
        waiting = iter(requests)
        workers = [asyncio.create_task(self._work(waiting)) for _ in range(self._most)]
        try:
            async with self._watch.running():
                await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        if self._fatal is not None:
            raise self._fatal

    def close(self) -> None:
        """End the threads that make pictures."""
        self._threads.shutdown(cancel_futures=True)

    async def _work(self, waiting: Iterator[Request]) -> None:
        while await self._retrying.may_begin():
            async with self._pace.hold():
                if self.stop is not None:  # it may have come while this waited for its place
                    return
                request = next(waiting, None)
                if request is None:
                    return
                async with self._room.hold(self._weight(request)):
                    if self.stop is None:
                        await self._settle(request)

    async def _settle(self, request: Request) -> None:
        """Ask one request until it is settled or given up, and store how it ended."""
        fault = fault_of(request.pictures)
        if fault is not None:
            self._store(request, error_row(ImageError(fault), self._asking(request, time.monotonic(), 1)), None, ())
            return
        pictures = tuple(self._pictures.send(picture) for picture in request.pictures)
        self._watch.begin(request)
        began = time.monotonic()
        try:
            await self._prepare(pictures)
            ended = await self._attempt(request, pictures)
        except (RefusedInputError, ImageError, GeometryError) as error:  # no picture to send; the others are asked
            self._store(request, error_row(error, self._asking(request, began, 1)), None, ())
        except EyechartError as error:
            self._end_by(error)
        else:
            if ended is not None:
                self._store(request, *ended, pictures)
        finally:
            self._watch.end(request)

    def _store(self, request: Request, row: Response, reply: Reply | None, pictures: tuple[LazyPicture, ...]) -> None:
        self._writer.append(row, self._seen(request, reply, pictures))
        self.n_asked += 1
        self._listener.answered(request, row)
        if row.state is not ResponseState.TRANSIENT:
            self._note_equal(request, row)

    def _note_equal(self, request: Request, row: Response) -> None:
        """End the run where one request after the other ends with the same error."""
        stop = self._equal_errors.note(request, row) if self._model.reads == "pixels" else None
        if stop is not None:
            self._retrying.end_by(stop)

    def _seen(self, request: Request, reply: Reply | None, pictures: tuple[LazyPicture, ...]) -> Iterable[Seen]:
        if reply is None or self._model.reads == "identity":
            return ()
        return observed_seen(request, reply.seen, tuple(picture.sent_as for picture in pictures))

    async def _prepare(self, pictures: tuple[LazyPicture, ...]) -> None:
        """Make the pictures in a thread, so that other requests go on meanwhile; small files are read at once."""
        if self._model.reads != "pixels" or not pictures:
            return
        if all(picture.is_quick for picture in pictures):
            self._pictures.prepare(pictures)
        else:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._pictures.prepare, pictures)

    async def _attempt(
        self, request: Request, pictures: tuple[LazyPicture, ...]
    ) -> tuple[Response, Reply | None] | None:
        """Ask until there is an answer, a final error, or no point in trying again; None if it was never sent.

        Raises:
            EyechartError: If the run cannot go on.
        """
        ask = self._ask_of(request, pictures)
        began, n_attempts = time.monotonic(), 0
        n_equal, fault = 0, ""
        ended: tuple[Response, Reply | None] | None = None
        while True:
            turn = self._rate.reserve(request)
            if not await self._retrying.pause(turn.wait_seconds) or not await self._may_send(request):
                return ended
            n_attempts += 1
            attempt_began = time.monotonic()
            outcome = await self._once(request, ask, turn)
            asking = self._asking(request, attempt_began, n_attempts)
            if isinstance(outcome, Reply):
                return reply_row(outcome, asking), outcome
            ended = error_row(outcome, asking), None
            if not isinstance(outcome, TransientModelError):
                return ended
            n_equal, fault = (n_equal + 1 if outcome.fault == fault else 1), outcome.fault
            if fault and n_equal >= MOST_EQUAL_FAULTS:
                self._note_equal(request, ended[0])
                return ended
            if not await self._retrying.may_repeat(outcome, n_attempts, time.monotonic() - began):
                return ended

    async def _once(self, request: Request, ask: Ask, turn: Turn) -> Reply | Exception:
        """Make one attempt and return the reply or why there is none.

        Raises:
            EyechartError: If the run cannot go on.
        """
        began = time.monotonic()
        reply: Reply | None = None
        try:
            reply = await self._answer(ask)
        except TransientModelError as error:
            if error.is_overload and self._pace.note_overload(began):
                self._listener.noted(f"the server has too much: at most {self._pace.limit} requests in flight now")
            return error
        except EyechartError as error:
            if _ends_run(error):
                raise
            self._retrying.note_reached()
            return error
        except Exception as error:  # noqa: BLE001 -- a fault of one call or plug-in must not lose the others
            return error
        finally:
            self._note_end(request, turn, reply)
        self._retrying.note_answer()
        self._pace.note_answer()
        return reply

    async def _may_send(self, request: Request) -> bool:
        """Count an attempt, or end the run where enough was asked or spent."""
        while (begun := self._spending.begin(request)) is False:
            if not await self._retrying.pause(_FIRST_COST_SECONDS):
                return False
        if isinstance(begun, Stop):
            self._retrying.end(begun.reason, begun.hint)
            return False
        return True

    def _note_end(self, request: Request, turn: Turn, reply: Reply | None) -> None:
        self._rate.settle(request, turn, None if reply is None else reply.usage)
        self._spending.end(request, reply)
        if reply is not None:
            self._doubts.note(reply)

    async def _answer(self, ask: Ask) -> Reply:
        seconds = self._settings.patience.attempt_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._model.answer(ask)
        except TimeoutError:
            raise TransientModelError(
                f"no answer within {seconds:g} s", hint="a longer --timeout may help", is_overload=True
            ) from None

    def _end_by(self, error: EyechartError) -> None:
        self._fatal = self._fatal or error
        self._retrying.end(error.message, error.hint)

    def _weight(self, request: Request) -> int:
        return 0 if self._model.reads == "identity" else sum(weight_bytes(picture) for picture in request.pictures)

    def _ask_of(self, request: Request, pictures: tuple[LazyPicture, ...]) -> Ask:
        identity = None
        if self._model.reads == "identity":
            identity = AskedIdentity(
                request_id=request.id,
                question_id=request.question_id,
                view=request.view,
                condition=request.condition,
                repeat=request.repeat,
            )
        return Ask(
            prompt=request.prompt,
            pictures=pictures,
            choices=request.choices,
            sampling=request.sampling,
            identity=identity,
        )

    def _asking(self, request: Request, attempt_began: float, n_attempts: int) -> Asking:
        return Asking(
            request_id=request.id,
            seconds=time.monotonic() - attempt_began,
            finished_at=utc_now().isoformat(timespec="milliseconds"),
            attempts=n_attempts,
            extra=self._anew.get(request.id, {}),
        )


async def read_identity(model: Model, patience: Patience, listener: Listener) -> ModelIdentity:
    """Return the model's identity, with the fingerprint that its server tells where nothing better is known.

    Raises:
        TransientModelError: If the server cannot be reached.
        AuthenticationError: If the key is missing or refused.
        BadRequestError: If the address is wrong, such as one that is redirected.
    """
    identity = model.identity
    if identity.revision is not None or identity.fingerprint is not None or not isinstance(model, TellsFingerprint):
        return identity
    retrying = Retrying(msgspec.structs.replace(patience, max_attempts=_FINGERPRINT_ATTEMPTS), listener)
    began = time.monotonic()
    n_attempts = 0
    try:
        while True:
            n_attempts += 1
            try:
                fingerprint = await model.fingerprint()
            except TransientModelError as error:
                if not await retrying.may_repeat(error, n_attempts, time.monotonic() - began):
                    raise
            else:
                return msgspec.structs.replace(identity, fingerprint=fingerprint)
    except (AuthenticationError, TransientModelError):
        raise
    except ModelError as error:
        if isinstance(error, BadRequestError) and error.parameter in {"base_url", "proxy"}:
            raise  # what stands between would strike every question as well
        return identity  # a server that lists no models
    finally:
        await model.close()


def utc_now() -> datetime:
    """Return the present in UTC."""
    return datetime.now(UTC)


def writer_name() -> str:
    """Return a name for this process's files that no other process has: host, process id and a random end."""
    host = re.sub(r"[^A-Za-z0-9-]+", "-", platform.node()).strip("-")[:40] or "host"
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"


def _ends_run(error: EyechartError) -> bool:
    """Whether an error would strike every further request as well, or is no matter of this request."""
    if isinstance(error, BadRequestError):
        return error.parameter is not None
    return isinstance(error, AuthenticationError | StoreError) or not isinstance(error, ModelError)
