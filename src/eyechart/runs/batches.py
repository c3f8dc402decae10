"""Ask through a provider's batches: hand over what is missing, wait, collect, and go on where it was interrupted."""

import asyncio
import secrets
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import msgspec

from eyechart.batching import AsksInBatches, BatchLimits, BatchProgress
from eyechart.errors import (
    AuthenticationError,
    BadRequestError,
    GeometryError,
    ImageError,
    ModelError,
    RefusedInputError,
    TransientModelError,
)
from eyechart.kinds import Ask, Reply
from eyechart.runs.answers import GENERATION
from eyechart.runs.batch_records import BatchLog, BatchRow, OpenBatch, known_batch_ids, read_open_batches
from eyechart.runs.execute import utc_now
from eyechart.runs.final_errors import EqualErrors
from eyechart.runs.listening import Listener
from eyechart.runs.pictures import PictureSource
from eyechart.runs.replies import Asking, error_row, reply_row
from eyechart.runs.retrying import Stop
from eyechart.runs.sight import observed_seen
from eyechart.runs.spending import BATCHED, BatchSpending, CostDoubts
from eyechart.runs.store import AnswerWriter, RunStore
from eyechart.runs.unreadable import fault_of
from eyechart.schema import JsonObject, Request, Value

_FAILURES_IN_A_ROW = 5


class BatchSettings(Value, frozen=True):
    """How a run waits for its batches.

    Args:
        poll_seconds: How often the provider is asked how far they are.
        wait_seconds: How long to wait in this start; 0 hands over and leaves.
    """

    poll_seconds: float = 30.0
    wait_seconds: float = 90_000.0


class BatchDesk(msgspec.Struct, frozen=True):
    """What a batch is made from and where it is noted.

    Args:
        store: The run.
        requests: Every request of it, by id.
        pictures: Where pictures come from.
        writer: Where answers go.
        log: Where the batches are noted.
        listener: Is told how it goes.
    """

    store: RunStore
    requests: Mapping[str, Request]
    pictures: PictureSource
    writer: AnswerWriter
    log: BatchLog
    listener: Listener


class BatchAsker:
    """Asks requests in batches, in any number of starts.

    Each batch is noted on the disk before it is handed over, so a run killed at any moment finds it again.

    Args:
        model: Who is asked.
        limits: What one batch may hold.
        desk: What batches are made from and where they are noted.
        settings: How to wait.
        spending: Says which batches may still be handed over.
        anew: What is stored beside answers to requests that were asked before, by request id.
        own: Ids of the requests of this shard, None where there is but one writer. Batches without any of them belong
            to another process, which may be handing them over at this moment.
    """

    def __init__(
        self,
        model: AsksInBatches,
        limits: BatchLimits,
        desk: BatchDesk,
        *,
        settings: BatchSettings,
        spending: BatchSpending,
        anew: Mapping[str, JsonObject],
        own: Container[str] | None = None,
    ) -> None:
        self.n_asked = 0
        self._own, self._held = own, set[str]()
        self._model, self._limits = model, limits
        self._folder, self._requests = desk.store.folder, desk.requests
        self._pictures, self._writer = desk.pictures, desk.writer
        index = desk.store.index()
        self._settled = {
            id_ for id_, row in index.rows.items() if index.is_settled(id_) and row.generation >= _generation(anew, id_)
        }
        self._log, self._listener = desk.log, desk.listener
        self._settings, self._spending = settings, spending
        self._anew = anew
        self._equal_errors = EqualErrors()
        self._doubts = CostDoubts(spending.price, desk.listener.noted)
        self._stop: Stop | None = None

    async def ask(self, requests: Iterable[Request]) -> Stop | None:
        """Ask all requests that no open batch holds, wait for all batches of the run, and store what comes back.

        Returns:
            Why not everything is answered; None if it is.

        Raises:
            EyechartError: If the run cannot go on.
        """
        own = own_batches(read_open_batches(self._folder), self._own)
        open_batches = await self._found(own)
        handed_over = {request_id for batch in open_batches for request_id in batch.request_ids}
        if open_batches:
            n_batches = len(open_batches)
            what = (
                "1 batch of an earlier start holds" if n_batches == 1 else f"{n_batches} batches of earlier starts hold"
            )
            self._listener.noted(f"{what} {len(handed_over)} requests")
        open_batches += await self._submit(request for request in requests if request.id not in handed_over)
        await self._wait_and_collect(open_batches)
        return self._stop

    async def _found(self, batches: list[OpenBatch]) -> list[OpenBatch]:
        """Return the batches that the provider has; one that was never handed over is dropped."""
        known = set(known_batch_ids(self._folder))
        found = []
        for batch in batches:
            if batch.batch_id is not None:
                found.append(batch)
                continue
            batch_id = await self._model.find_batch(batch.label, batch.intended_at, len(batch.request_ids), known)
            if batch_id is None or batch_id in known:
                self._note(batch.label, "dropped")
            else:
                known.add(batch_id)
                self._note(batch.label, "submitted", batch_id)
                found.append(msgspec.structs.replace(batch, batch_id=batch_id))
        return found

    async def _submit(self, requests: Iterable[Request]) -> list[OpenBatch]:
        submitted = []
        for bodies, held in self._chunks(requests):
            self._hold_open()
            self._stop = self._spending.begin(held)
            if self._stop is not None:
                break
            label, now = secrets.token_hex(12), utc_now()
            request_ids = tuple(request.id for request in held)
            self._log.note(BatchRow(label=label, event="intended", at=now.isoformat(), request_ids=request_ids))
            batch_id = await self._model.submit_batch(bodies, label)
            self._note(label, "submitted", batch_id)
            self._held.update(request_ids)
            self._listener.noted(f"batch {batch_id}: {len(held)} requests handed over")
            submitted.append(OpenBatch(label, request_ids, now, batch_id))
        return submitted

    def _hold_open(self) -> None:
        """Count what the provider holds of this run, that of other shards included, against the bound on cost."""
        ids = {id_ for batch in read_open_batches(self._folder) for id_ in batch.request_ids} - self._held
        self._held |= ids
        self._spending.hold([self._requests[id_] for id_ in ids - self._settled if id_ in self._requests])

    def _chunks(self, requests: Iterable[Request]) -> Iterator[tuple[dict[str, JsonObject], list[Request]]]:
        """Yield request bodies as large as one batch may be, made one chunk at a time."""
        bodies: dict[str, JsonObject] = {}
        held: list[Request] = []
        n_bytes = 0
        for request in requests:
            body = self._body_of(request)
            if body is None:
                continue
            weight = len(msgspec.json.encode(body))
            if held and (n_bytes + weight > self._limits.max_bytes or len(held) >= self._limits.max_requests):
                yield bodies, held
                bodies, held, n_bytes = {}, [], 0
            bodies[request.id] = body
            held.append(request)
            n_bytes += weight
        if held:
            yield bodies, held

    def _body_of(self, request: Request) -> JsonObject | None:
        """Return what is handed over for a request; None where its picture cannot be sent, which is stored."""
        error: RefusedInputError | ImageError | GeometryError
        fault = fault_of(request.pictures)
        if fault is not None:
            error = ImageError(fault)
        else:
            try:
                return self._model.body(self._ask_of(request))
            except (RefusedInputError, ImageError, GeometryError) as caught:
                error = caught
        row = error_row(error, self._asking(request))
        self._writer.append(row)
        self.n_asked += 1
        self._listener.answered(request, row)
        return None

    async def _wait_and_collect(self, batches: Sequence[OpenBatch]) -> None:
        until = time.monotonic() + self._settings.wait_seconds
        waiting = {batch.label: batch for batch in batches}
        told: dict[str, int] = {}
        n_failures = 0
        while waiting:
            try:
                for batch in list(waiting.values()):
                    progress = await self._model.batch_progress(str(batch.batch_id))
                    if progress.is_ended:
                        await self._collect(batch, progress)
                        del waiting[batch.label]
                    elif progress.n_done != told.get(batch.label):
                        told[batch.label] = progress.n_done
                        n_all = len(batch.request_ids)
                        self._listener.noted(f"batch {batch.batch_id}: {progress.n_done} of {n_all} are answered")
                n_failures = 0
            except TransientModelError as error:
                n_failures += 1
                if n_failures >= _FAILURES_IN_A_ROW:
                    raise
                self._listener.waiting(self._settings.poll_seconds, error.message)
            if waiting and time.monotonic() + self._settings.poll_seconds > until:
                n_left = sum(len(batch.request_ids) for batch in waiting.values())
                self._stop = self._stop or Stop(
                    f"{n_left} requests are with the provider, in {_counted(len(waiting))}",
                    "run the same command again to collect them",
                )
                return
            if waiting:
                await asyncio.sleep(self._settings.poll_seconds)

    async def _collect(self, batch: OpenBatch, progress: BatchProgress) -> None:
        """Store what came back in a batch that has ended; what is stored already is left alone."""
        if progress.failure is not None:
            self._note(batch.label, "dropped", batch.batch_id)
            self._stop = Stop(
                f"batch {batch.batch_id} was not answered ({progress.failure})",
                "run the same command to hand it over again",
            )
            return
        asks, requests = self._wanted(batch)
        for request_id, outcome in await self._model.batch_replies(str(batch.batch_id), asks):
            if request_id not in requests:  # told twice
                continue
            if isinstance(outcome, ModelError) and _ends_run(outcome):
                self._stop = Stop(outcome.message, outcome.hint, leaves_open=True)
                continue
            self._store_outcome(requests.pop(request_id), outcome, str(batch.batch_id))
        if requests and self._stop is None:
            self._stop = Stop(f"batch {batch.batch_id} left out {len(requests)} requests", "run the same command again")
        self._note(batch.label, "collected", batch.batch_id)

    def _wanted(self, batch: OpenBatch) -> tuple[dict[str, Ask], dict[str, Request]]:
        """Return the requests of a batch that no stored answer settles."""
        held = [id_ for id_ in batch.request_ids if id_ in self._requests and id_ not in self._settled]
        requests = {request_id: self._requests[request_id] for request_id in held}
        return {request_id: self._ask_of(request) for request_id, request in requests.items()}, requests

    def _store_outcome(self, request: Request, outcome: Reply | ModelError, batch_id: str) -> None:
        asking = self._asking(request, {BATCHED: batch_id})
        if isinstance(outcome, Reply):
            self._doubts.note(outcome)
            row = reply_row(outcome, asking)
            # The pictures left with an earlier start, perhaps, so their lengths are not known any more.
            seen = observed_seen(request, outcome.seen, ((None, None),) * len(request.pictures))
            self._writer.append(row, seen)
        else:
            row = error_row(outcome, asking)
            self._writer.append(row)
        self.n_asked += 1
        if row.state.is_final:
            self._settled.add(request.id)
            stop = self._equal_errors.note(request, row)
            if stop is not None and (self._stop is None or not self._stop.leaves_open):
                self._stop = stop
        self._listener.answered(request, row)

    def _asking(self, request: Request, extra: JsonObject | None = None) -> Asking:
        return Asking(
            request_id=request.id,
            seconds=None,
            finished_at=utc_now().isoformat(timespec="milliseconds"),
            extra={**(extra or {}), **self._anew.get(request.id, {})},
        )

    def _ask_of(self, request: Request) -> Ask:
        return Ask(
            prompt=request.prompt,
            pictures=tuple(self._pictures.send(picture) for picture in request.pictures),
            choices=request.choices,
            sampling=request.sampling,
        )

    def _note(self, label: str, event: str, batch_id: str | None = None) -> None:
        row = msgspec.convert(
            {"label": label, "event": event, "at": utc_now().isoformat(), "batch_id": batch_id}, BatchRow
        )
        self._log.note(row)


def own_batches(batches: Sequence[OpenBatch], own: Container[str] | None) -> list[OpenBatch]:
    """Return the batches that hold a request of this shard; all of them where ``own`` is None."""
    return [batch for batch in batches if own is None or any(id_ in own for id_ in batch.request_ids)]


def _generation(anew: Mapping[str, JsonObject], request_id: str) -> int:
    generation = anew.get(request_id, {}).get(GENERATION, 0)
    return generation if isinstance(generation, int) else 0


def _counted(n_batches: int) -> str:
    return "1 batch" if n_batches == 1 else f"{n_batches} batches"


def _ends_run(error: ModelError) -> bool:
    """Whether an error would strike every further request as well."""
    return isinstance(error, AuthenticationError) or (
        isinstance(error, BadRequestError) and error.parameter is not None
    )
