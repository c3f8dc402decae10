"""Ask over a Ray cluster: Ray Data hands missing requests to workers, and each appends to the run folder."""

import importlib.util
import math
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from eyechart.errors import EyechartError, MissingDependencyError
from eyechart.kinds import ModelOptions, Reply
from eyechart.opening import open_benchmark
from eyechart.registry import load_plugin
from eyechart.runs.answers import GENERATION, AnswerIndex
from eyechart.runs.balanced import open_balanced
from eyechart.runs.event_loop import run_async
from eyechart.runs.execute import Asker, LoopSettings, writer_name
from eyechart.runs.listening import Listener, Silent
from eyechart.runs.pictures import PictureSource
from eyechart.runs.rate import RateLimits
from eyechart.runs.retrying import Stop
from eyechart.runs.spending import COST, Spending, SpendingLimits
from eyechart.runs.store import RunStore
from eyechart.schema import JsonObject, Request, Usage, decode_record, encode_record

if TYPE_CHECKING:
    import numpy as np
    from ray.actor import ActorHandle

# A block whose worker dies is tried again so often; then it is left out, and its requests stay missing.
_MOST_RETRIES = 2
_BLOCK_REQUESTS = 16
_SAID_EVERY = 10
_COUNTER_SECONDS = 60.0


class RayWork(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker on another machine opens by name; folders must be the same on all machines.

    Args:
        benchmark: Name of the benchmark.
        data: Its file or folder.
        benchmark_options: Its options.
        model: ``provider/name``.
        model_options: How it is reached.
        base_urls: Its servers; requests are balanced over them.
        plugins: Plug-in files.
        n_workers: Workers; one for each CPU of the cluster if None.
        address: The cluster; None is the one of ``RAY_ADDRESS``, or a new one on this machine.
    """

    benchmark: str
    data: str | None = None
    benchmark_options: JsonObject = {}
    model: str
    model_options: ModelOptions
    base_urls: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    n_workers: int | None = None
    address: str | None = None


def check_ray() -> None:
    """Refuse to ask over a cluster where Ray is not installed.

    Raises:
        MissingDependencyError: If Ray is not installed.
    """
    if importlib.util.find_spec("ray") is None:
        raise MissingDependencyError("ray", "ray")


def ask_by_ray(
    work: RayWork,
    folder: Path,
    requests: Sequence[Request],
    loop: LoopSettings,
    *,
    start: str,
    anew: dict[str, JsonObject],
    spending: Spending,
    listener: Listener,
) -> Stop | None:
    """Ask requests over a cluster and return why not all of them are answered, None if they are.

    Workers append their answers to the run folder themselves, so what was answered before a worker died is kept, and
    a block that is tried again asks only what is not there yet. One counter beside this process counts what all of
    them send and spend; when one worker has a reason to end the run, the counter lets nobody send anything more, and
    what is in flight is awaited.

    Args:
        work: What the workers open.
        folder: The run folder, on a disk that all machines share.
        requests: What is missing.
        loop: Limits of all workers together.
        start: Name of the start whose final errors stay open until it has ended well.
        anew: What is stored beside answers to requests that were asked before, by request id.
        spending: What this start has sent and spent so far.
        listener: Is told how it goes.
    """
    if not requests:
        return None
    import ray  # deferred: it takes seconds, and is an extra
    import ray.data

    owns = not ray.is_initialized()
    if owns:
        ray.init(address=work.address, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        cpus = int(ray.cluster_resources().get("CPU", 1))
        n_blocks = math.ceil(len(requests) / _BLOCK_REQUESTS)
        n_workers = max(1, min(work.n_workers or cpus, n_blocks))
        listener.noted(f"ray: {len(requests)} requests in {n_blocks} blocks for {n_workers} workers")
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.max_errored_blocks = -1  # blocks that are left out are found by comparing asked with answered
        counter = _start_counter(loop, spending)
        arguments = {
            "counter": counter,
            "work": msgspec.to_builtins(work),
            "folder": str(folder.resolve()),
            "loop": msgspec.to_builtins(_share_of(loop, n_workers)),
            "start": start,
            "anew": anew,
        }
        rows = [{"request": encode_record(request)} for request in requests]
        answered = ray.data.from_items(rows, override_num_blocks=n_blocks).map_batches(
            cast("type", RayWorker),
            fn_constructor_kwargs=arguments,
            compute=ray.data.ActorPoolStrategy(size=n_workers, max_tasks_in_flight_per_actor=1),
            num_cpus=min(1.0, cpus / n_workers),
            batch_size=None,
            max_restarts=-1,
            max_task_retries=_MOST_RETRIES,
        )
        batches = cast("Iterable[dict[str, np.ndarray]]", answered.iter_batches(batch_size=None, prefetch_batches=0))
        return _follow(batches, len(requests), listener, counter)
    except ray.exceptions.RayError as error:
        reason = " ".join(str(error).split())[:300]
        return Stop(f"ray gave up: {reason}", "run the same command again to ask the rest")
    finally:
        if owns:
            ray.shutdown()


class RayWorker:
    """Asks blocks of requests on one CPU of the cluster; Ray makes one for each worker."""

    def __init__(
        self,
        counter: "ActorHandle",
        work: JsonObject,
        folder: str,
        loop: JsonObject,
        start: str,
        anew: dict[str, JsonObject],
    ) -> None:
        self._counting = CountedElsewhere(counter)
        opened = msgspec.convert(work, RayWork)
        for plugin in opened.plugins:
            load_plugin(Path(plugin))
        self._benchmark = open_benchmark(
            opened.benchmark, None if opened.data is None else Path(opened.data), opened.benchmark_options
        )
        self._work = opened
        self._pictures = PictureSource(self._benchmark)
        self._store = RunStore(Path(folder))
        self._loop = msgspec.convert(loop, LoopSettings)
        self._anew, self._run_start = anew, start
        self._name = writer_name()
        self._n_blocks = 0
        self._stop: Stop | None = None

    def __call__(self, block: "dict[str, np.ndarray]") -> "dict[str, list[object]]":
        """Ask one block; return how many of it are settled, and why the run should end, if it should."""
        requests = [decode_record(bytes(line), Request, "a block of requests") for line in block["request"]]
        if self._stop is None:
            self._stop = self._ask(requests)
        index = self._store.index()
        n_settled = sum(index.is_settled(request.id, self._run_start) for request in requests)
        stop = self._stop or Stop("")
        told: dict[str, list[object]] = {"n": [len(requests)], "n_settled": [n_settled], "reason": [stop.reason]}
        return {**told, "hint": [stop.hint], "leaves_open": [stop.leaves_open]}

    def _ask(self, requests: Sequence[Request]) -> Stop | None:
        index = self._store.index()
        open_requests = [
            request
            for request in requests
            if not index.is_settled(request.id, self._run_start) or self._is_older(index, request.id)
        ]
        self._n_blocks += 1
        writer = self._store.open_writer(f"{self._name}-{self._n_blocks}", self._run_start)
        model = open_balanced(self._work.model, self._work.model_options, self._work.base_urls)
        asker = Asker(
            model,
            self._pictures,
            writer,
            self._loop,
            listener=Silent(),
            anew=self._anew,
            spending=self._counting,
            is_reached=True,  # the driver had the first answers
        )

        async def ask() -> None:
            try:
                await asker.ask(open_requests)
            finally:
                await model.close()

        try:
            run_async(ask())
        except EyechartError as error:
            return Stop(error.message, error.hint)
        finally:
            asker.close()
            writer.close()
        return asker.stop

    def _is_older(self, index: AnswerIndex, request_id: str) -> bool:
        """Whether what is stored is older than the answer that is wanted."""
        wanted = self._anew.get(request_id, {}).get(GENERATION, 0)
        return isinstance(wanted, int) and index.rows[request_id].generation < wanted


class Counter:
    """The one place that counts what all workers send and spend, and that can end them all; an actor of Ray.

    Args:
        limits: The bounds.
        dollars: What was spent before.
        dearest: The dearest answer so far, None if none is known.
        n_sent: Attempts that this start has sent before.
        wait_seconds: How long the first answer's cost is awaited; whoever asked it may have been killed.
    """

    def __init__(
        self, limits: JsonObject, dollars: float, dearest: float | None, n_sent: int, wait_seconds: float
    ) -> None:
        self._spending = Spending(msgspec.convert(limits, SpendingLimits), (dollars,), n_sent)
        self._spending.dearest = dearest
        self._wait_seconds = wait_seconds
        self._waiting_since: float | None = None
        self._stop: Stop | None = None

    def begin(self, line: bytes) -> tuple[bool, str, str]:
        """Count an attempt; return whether it may be sent, and why nothing more may be, empty if it is to wait."""
        request = decode_record(line, Request, "a request")
        begun = self._stop or self._spending.begin(request)
        if isinstance(begun, Stop):
            return False, begun.reason, begun.hint
        if not begun:
            now = time.monotonic()
            self._waiting_since = now if self._waiting_since is None else self._waiting_since
            if now - self._waiting_since > self._wait_seconds:
                self._spending.give_up_first(request)
        return begun, "", ""

    def end(self, line: bytes, usage: JsonObject | None, extra: JsonObject | None) -> None:
        """Count how an attempt ended; ``extra`` is None for one that failed."""
        told = None if usage is None else msgspec.convert(usage, Usage)
        reply = None if extra is None else Reply(text="", usage=told, extra=extra)
        self._spending.end(decode_record(line, Request, "a request"), reply)

    def stop(self, reason: str, hint: str) -> None:
        """Let nobody send anything more."""
        self._stop = self._stop or Stop(reason, hint)


class CountedElsewhere:
    """Counts attempts at the counter of the cluster."""

    def __init__(self, counter: "ActorHandle") -> None:
        self._counter = counter

    def begin(self, request: Request) -> Stop | bool:
        """Count an attempt and return True; False to wait for the first answer's cost, a stop where enough is spent."""
        import ray  # deferred: an extra

        try:
            begun, reason, hint = ray.get(self._counter.begin.remote(encode_record(request)), timeout=_COUNTER_SECONDS)
        except ray.exceptions.RayError as error:
            gone = f"the process that counts requests is gone ({type(error).__name__})"
            return Stop(gone, "run the same command again to ask the rest")
        return Stop(reason, hint) if reason else bool(begun)

    def end(self, request: Request, reply: Reply | None) -> None:
        """Count how an attempt ended; one that failed costs nothing."""
        usage = None if reply is None or reply.usage is None else msgspec.to_builtins(reply.usage)
        cost = {} if reply is None or COST not in reply.extra else {COST: reply.extra[COST]}
        self._counter.end.remote(encode_record(request), usage, None if reply is None else cost)


def _start_counter(loop: LoopSettings, spending: Spending) -> "ActorHandle":
    """Return the counter, on this machine: it lives as long as the run."""
    import ray  # deferred: an extra
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(Counter).options(num_cpus=0, scheduling_strategy=here)
    return actor.remote(
        msgspec.to_builtins(loop.spending),
        spending.dollars,
        spending.dearest,
        spending.n_sent,
        loop.patience.attempt_seconds,
    )


def _follow(
    batches: "Iterable[dict[str, np.ndarray]]", n_asked: int, listener: Listener, counter: "ActorHandle"
) -> Stop | None:
    """Count what comes back; a reason to end the run ends all workers, and what is missing at the end is said."""
    n_settled = 0
    stop: Stop | None = None
    for n_blocks, batch in enumerate(batches, start=1):
        n_settled += int(sum(batch["n_settled"]))
        reason = next((str(text) for text in batch["reason"] if text), "")
        if reason and stop is None:
            hint = next((str(text) for text in batch["hint"] if text), "")
            stop = Stop(reason, hint, leaves_open=any(batch["leaves_open"]))
            listener.noted(f"{reason}; nothing new is asked, what is in flight is awaited")
            counter.stop.remote(stop.reason, stop.hint)
        if stop is None and n_blocks % _SAID_EVERY == 0:
            listener.noted(f"ray: {n_settled} of {n_asked} answered")
    if stop is not None:
        return stop
    if n_settled < n_asked:
        return Stop(
            f"{n_asked - n_settled} of {n_asked} requests came back without an answer: their workers died "
            f"{_MOST_RETRIES + 1} times, or the server did not answer",
            "run the same command again to ask the rest",
            gives_up=True,
        )
    return None


def _share_of(loop: LoopSettings, n_workers: int) -> LoopSettings:
    """Return one worker's share of the limits of all."""

    def part(rate: float | None) -> float | None:
        return None if rate is None else rate / n_workers

    return msgspec.structs.replace(
        loop,
        concurrency=max(1, loop.concurrency // n_workers),
        max_bytes_in_flight=loop.max_bytes_in_flight // n_workers,
        rates=RateLimits(requests=part(loop.rates.requests), tokens=part(loop.rates.tokens)),
    )
