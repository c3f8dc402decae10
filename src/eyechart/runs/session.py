"""One run from start to end: plan, resume, ask, score, estimate. Command line and Python API use this one path."""

import asyncio
import platform
import threading
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from datetime import timedelta
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

import msgspec

from eyechart.kinds import Benchmark, HoldsRelease, Model, Prompt, ReviewsPlan, TakesGold
from eyechart.opening import DEFAULT_SCORER, open_scorer
from eyechart.releases.fitness import check_fitness
from eyechart.runs.answers import stale_ids
from eyechart.runs.choosing import defaults_of
from eyechart.runs.execute import Asker, LoopSettings, check_limits, read_identity, utc_now, writer_name
from eyechart.runs.folders import Destination, Origin, find_or_create
from eyechart.runs.foresight import Foresight, fit_for, foresee, told_rule
from eyechart.runs.gold import told_answer
from eyechart.runs.listening import Beginning, Listener, Silent
from eyechart.runs.matching import gauge_for
from eyechart.runs.pictures import PictureSource, check_drawing
from eyechart.runs.plan import Plan, PlanOptions, check_counts, plan_run, shown_answer
from eyechart.runs.preflight import check_first, choose_first, stop_after
from eyechart.runs.registration import StudyPlan, keep_copy
from eyechart.runs.retrying import Stop
from eyechart.runs.score import score_run
from eyechart.runs.sights import read_sights
from eyechart.runs.store import RunStore
from eyechart.runs.summarise import summarise
from eyechart.schema import ModelIdentity, Request, ResponseState, Sampling, Summary, View
from eyechart.seen.rules import Rule

# A served model without revision or fingerprint may be another one tomorrow.
MAX_ANSWER_AGE = timedelta(hours=24)
EXIT_DONE, EXIT_MISSING = 0, 3

_RECORDED_PACKAGES = ("eyechart", "msgspec", "numpy", "pillow", "openai", "pyvips")
Result = TypeVar("Result")


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a run besides benchmark, model, views and prompt.

    Args:
        sampling: Sampling parameters.
        plan: Policies, limit, seed, repeats.
        loop: Concurrency and patience.
        where: Which folder.
        scorer: ``name``, ``name.mode`` or ``name.mode@version``; the benchmark's own if None.
        has_preflight: Whether the first answers are checked before the rest is asked.
        is_same_weights: The user vouches that the served model did not change, so that old answers are reused.
        command: The command line, for ``run.json``.
        registration: The plan that was written before; a copy is kept in the run folder.
        rules: The user's own rules of what models see, which come before the bundled ones.
        max_decoded_bytes: Bound of the decoded originals kept in memory.
        allows_faults: Whether a published collection with errors is asked all the same.
        protocol: Name of the protocol that fixed prompt, order, extraction and judge.
    """

    sampling: Sampling = Sampling()
    plan: PlanOptions = PlanOptions()
    loop: LoopSettings = LoopSettings()
    where: Destination = Destination()
    scorer: str | None = None
    has_preflight: bool = True
    is_same_weights: bool = False
    command: tuple[str, ...] = ()
    registration: StudyPlan | None = None
    rules: tuple[Rule, ...] = ()
    max_decoded_bytes: int = 512 << 20
    allows_faults: bool = False
    protocol: str | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended.

    Args:
        store: The run folder.
        summary: What was estimated, also stored in ``estimates.json``.
        n_planned: All requests of the plan.
        n_reused: Of these, settled before this process began.
        n_asked: Requests that this process asked.
        n_missing: Requests without an answer or final error.
        n_missing_pictures: Released pictures that do not exist; not asked, and no failure of the run.
        stop: Why the run ended early; None if it did not.
    """

    store: RunStore
    summary: Summary
    n_planned: int
    n_reused: int
    n_asked: int
    n_missing: int
    n_missing_pictures: int = 0
    stop: Stop | None = None

    @property
    def n_unanswerable(self) -> int:
        """Requests that ended in a final error other than a refused picture, such as rows that a file does not hold."""
        return sum(one.states.get(ResponseState.BAD_REQUEST, 0) for one in self.summary.conditions)

    @property
    def exit_code(self) -> int:
        """0 if every request has an answer or its picture was refused, which is a finding and no gap; else 3."""
        return EXIT_MISSING if self.n_missing or self.n_unanswerable else EXIT_DONE


def run_benchmark(
    benchmark: Benchmark,
    model: Model,
    views: Sequence[View],
    prompt: Prompt,
    *,
    options: RunOptions | None = None,
    listener: Listener | None = None,
) -> Outcome:
    """Ask a model every question of a benchmark under every view, score the answers and estimate.

    Interrupt it at any moment and call it again: what was answered is kept and not asked again. Works inside a
    running event loop too (a notebook). The model is closed at the end.

    Args:
        benchmark: Where the questions come from.
        model: Who answers.
        views: How each picture is shown.
        prompt: The wording.
        options: Everything else.
        listener: Is told how the run goes.

    Returns:
        Folder, estimates, counts, and the exit code.

    Raises:
        EyechartError: If something is wrong that concerns the whole run; what was answered before is kept.
        KeyboardInterrupt: On Ctrl-C, with a clean store.
    """
    options, listener = options or RunOptions(), listener or Silent()
    options = msgspec.structs.replace(options, scorer=options.scorer or defaults_of(benchmark).scorer)
    check_drawing(options.plan)
    check_counts(views, options.plan)
    check_limits(options.loop, options.sampling)
    scorer, mode = open_scorer(options.scorer or DEFAULT_SCORER)
    asked = _ask_all(benchmark, model, views, prompt, options=options, listener=listener)
    scorer_id = score_run(asked.store, scorer, mode)
    summary = summarise(asked.store, scorer_id, options.registration)
    return Outcome(
        store=asked.store,
        summary=summary,
        n_planned=asked.n_planned,
        n_reused=asked.n_planned - asked.n_open,
        n_asked=asked.n_asked,
        n_missing=asked.n_missing,
        n_missing_pictures=asked.n_missing_pictures,
        stop=asked.stop,
    )


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a plan once it was asked: counts, and no request in memory."""

    store: RunStore
    n_planned: int
    n_open: int
    n_asked: int
    n_missing: int
    n_missing_pictures: int
    stop: Stop | None


def _ask_all(
    benchmark: Benchmark,
    model: Model,
    views: Sequence[View],
    prompt: Prompt,
    *,
    options: RunOptions,
    listener: Listener,
) -> _Asked:
    """Plan a run, find its folder and ask what is missing there."""
    identity = run_async(read_identity(model, options.loop.patience, listener))
    told = run_async(told_rule(model, utc_now().date()))
    if told.reason:
        listener.noted(told.reason)
    ahead = foresee(model, identity, options.rules if told.rule is None else (*options.rules, told.rule))
    plan = plan_run(
        benchmark,
        views,
        prompt,
        model=identity,
        sampling=options.sampling,
        options=options.plan,
        fit=fit_for(options.plan.transport, ahead),
        gauge=None if options.plan.match is None else gauge_for(ahead),
    )
    origin = Origin(
        now=utc_now(),
        versions=_versions(),
        command=options.command,
        scorer=options.scorer,
        allowed_faults=_check_collection(benchmark, plan, options),
        protocol=options.protocol,
    )
    session = _Session(benchmark, model, plan, options, listener, ahead=ahead, origin=origin)
    del plan  # its view images are on the disk now
    stop = session.ask_missing()
    return session.result(stop)


def _check_collection(benchmark: Benchmark, plan: Plan, options: RunOptions) -> tuple[str, ...]:
    """Return the errors of a published collection that the user allows; none for any other benchmark.

    Raises:
        BenchmarkError: If it has errors and they are not allowed.
    """
    if not isinstance(benchmark, HoldsRelease):
        return ()
    return check_fitness(
        benchmark.root,
        [question.id for question in plan.questions],
        plan.views,
        has_images=not benchmark.is_streamed,
        allows_faults=options.allows_faults,
    )


class _Session:
    """A plan in its folder, with a model to ask."""

    def __init__(
        self,
        benchmark: Benchmark,
        model: Model,
        plan: Plan,
        options: RunOptions,
        listener: Listener,
        *,
        ahead: Foresight,
        origin: Origin,
    ) -> None:
        self._benchmark, self._model = benchmark, model
        self._options, self._listener = options, listener
        self.store, self.is_resumed = find_or_create(plan, options.where, origin, ahead.ledger(plan.requests))
        if options.registration is not None:
            keep_copy(options.registration, self.store.folder)
        self._index = self.store.index()
        self._stale = self._find_stale(plan.model)
        self._plan = msgspec.structs.replace(plan, view_images=())
        self.n_asked = 0
        self.n_open = sum(self._is_open(request) for request in plan.requests)
        listener.began(self._beginning(has_prediction=ahead.is_known))
        if isinstance(model, ReviewsPlan):
            for note in model.review_plan(_places(plan.requests)):
                listener.noted(note)

    def ask_missing(self) -> Stop | None:
        """Ask what is not settled, the first answers before the rest; return why it ended early."""
        if self.n_open == 0:
            run_async(self._model.close())
            return None
        if isinstance(self._model, TakesGold):
            self._model.take_gold(self._gold())
        return run_async(self._ask())

    def result(self, stop: Stop | None) -> _Asked:
        """Count what was asked, and what is still missing; a stale answer that was not replaced is."""
        rows = self.store.index().rows
        n_answered = sum(
            row.state.is_final and row.generation >= self._stale.get(request_id, 0) for request_id, row in rows.items()
        )
        return _Asked(
            store=self.store,
            n_planned=len(self._plan.requests),
            n_open=self.n_open,
            n_asked=self.n_asked,
            n_missing=len(self._plan.requests) - n_answered,
            n_missing_pictures=len(self._plan.missing),
            stop=stop,
        )

    async def _ask(self) -> Stop | None:
        pictures = PictureSource(self._benchmark, max_decoded_bytes=self._options.max_decoded_bytes)
        writer = self.store.open_writer(writer_name())
        asker = Asker(
            self._model,
            pictures,
            writer,
            self._options.loop,
            listener=self._listener,
            generations=self._generations(),
        )
        try:
            first = self._first()
            await asker.ask(request for request in first if self._is_open(request))
            stop = asker.stop or self._check(first)
            if stop is None:
                asked = {request.id for request in first}
                await asker.ask(self._open_requests(asked))
                stop = asker.stop
            return stop
        finally:
            self.n_asked = asker.n_asked
            asker.close()
            writer.close()
            await self._model.close()

    def _first(self) -> tuple[Request, ...]:
        """Return the requests to check first; none where looking costs nothing or was not wanted."""
        if not self._options.has_preflight or self._model.reads == "identity":
            return ()
        return choose_first(self._plan.requests)

    def _check(self, first: Sequence[Request]) -> Stop | None:
        """Show the first answers; return why to stop if too many are bad and there is more to ask."""
        if not first:
            return None
        wanted = {request.id for request in first}
        responses = {row.request_id: row for row in self.store.responses() if row.request_id in wanted}
        questions = {question.id: question for question in self._plan.questions}
        scorer, mode = open_scorer(self._options.scorer or DEFAULT_SCORER)
        scores = {
            request.id: scorer.score(
                responses[request.id],
                questions[request.question_id],
                request.choices,
                shown_answer(questions[request.question_id], request),
                mode,
            )
            for request in first
            if request.id in responses
        }
        sights = read_sights(row for row in self.store.seen() if row.request_id in wanted)
        checked = check_first(first, responses, scores, sights)
        self._listener.checked(checked)
        return stop_after(checked) if self.n_open > len(first) else None

    def _open_requests(self, but: set[str]) -> Iterator[Request]:
        return (request for request in self._plan.requests if request.id not in but and self._is_open(request))

    def _is_open(self, request: Request) -> bool:
        return request.id in self._stale or not self._index.is_settled(request.id)

    def _find_stale(self, identity: ModelIdentity) -> dict[str, int]:
        is_known = identity.revision is not None or identity.fingerprint is not None
        if is_known or self._model.reads == "identity" or self._options.is_same_weights:
            return {}
        return stale_ids(self._index, utc_now(), MAX_ANSWER_AGE)

    def _generations(self) -> dict[str, int]:
        """Return the generation of every new answer that is to count before an older one."""
        known = {request_id: row.generation for request_id, row in self._index.rows.items() if row.generation}
        return {**known, **self._stale}

    def _gold(self) -> dict[str, str | None]:
        questions = {question.id: question for question in self._plan.questions}
        return {
            request.id: told_answer(questions[request.question_id], request.view, request.choice_order)
            for request in self._plan.requests
        }

    def _beginning(self, *, has_prediction: bool) -> Beginning:
        n_planned = dict.fromkeys(self._plan.views, 0)
        n_settled = dict.fromkeys(self._plan.views, 0)
        for request in self._plan.requests:
            n_planned[request.condition] = n_planned.get(request.condition, 0) + 1
            n_settled[request.condition] = n_settled.get(request.condition, 0) + (not self._is_open(request))
        return Beginning(
            folder=str(self.store.folder),
            is_resumed=self.is_resumed,
            n_planned=n_planned,
            n_settled=n_settled,
            n_stale=len(self._stale),
            n_missing_pictures=len(self._plan.missing),
            predicts_seen=has_prediction,
        )


def _places(requests: Iterable[Request]) -> Iterator[tuple[str, str]]:
    """Yield question with condition, and question with view, of every request."""
    for request in requests:
        yield request.question_id, request.condition
        yield request.question_id, request.view


def run_async(work: Coroutine[object, object, Result]) -> Result:
    """Run a coroutine to its end, in a thread of its own where this thread already runs an event loop.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after the coroutine was cancelled and has cleaned up.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_in_thread(work)


def _run_in_thread(work: Coroutine[object, object, Result]) -> Result:
    results: list[Result] = []
    errors: list[BaseException] = []
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def run() -> None:
        try:
            results.append(loop.run_until_complete(task))
        except BaseException as error:  # noqa: BLE001 -- carried to the thread that waits
            errors.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="eyechart-run")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if errors:
        raise errors[0]
    return results[0]


def _versions() -> dict[str, str]:
    """Return the versions that drew, asked and estimated."""
    found = {"python": platform.python_version()}
    for package in _RECORDED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
