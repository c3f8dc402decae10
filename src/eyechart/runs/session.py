"""One run from start to end: plan, resume, ask, score, estimate. Command line and Python API use this one path."""

import asyncio
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import chain
from pathlib import Path

import msgspec

from eyechart.batching import AsksInBatches
from eyechart.errors import EyechartError, UsageError
from eyechart.kinds import Benchmark, Model, Prompt, ReviewsPlan, TakesGold, TakesSizes
from eyechart.opening import DEFAULT_SCORER, open_scorer
from eyechart.releases.fitness import check_collection
from eyechart.runs.answers import ASKED_AGAIN, CARRIED, GENERATION, as_it_ended, stale_ids
from eyechart.runs.asking_again import generations_again, states_again
from eyechart.runs.batch_records import BatchLog, read_open_batches
from eyechart.runs.batches import BatchAsker, BatchDesk, BatchSettings, own_batches
from eyechart.runs.event_loop import run_async
from eyechart.runs.execute import Asker, read_identity, utc_now, writer_name
from eyechart.runs.files import read_records
from eyechart.runs.final_errors import keep_final_errors
from eyechart.runs.folders import Destination, Origin, find_or_create, tell_finished
from eyechart.runs.foresight import Foresight, fit_for, foresee, told_rule
from eyechart.runs.gold import told_answer
from eyechart.runs.kept_plan import foresee_departures
from eyechart.runs.later_plans import RUN_FILE, change_between, matching_contents
from eyechart.runs.listening import Beginning, Listener, Silent
from eyechart.runs.looking import in_order
from eyechart.runs.matching import gauge_for
from eyechart.runs.options import (
    RunOptions,
    batch_limits,
    batch_spending,
    check_scorable,
    checked,
    expected_cost,
    orders_kept,
    with_told_order,
)
from eyechart.runs.outcome import UNANSWERABLE, Asked, Outcome
from eyechart.runs.pictures import PictureSource
from eyechart.runs.plan import Plan, plan_run, shown_answer
from eyechart.runs.preflight import check_first, choose_first, stop_after
from eyechart.runs.ray_engine import RayWork, ask_by_ray
from eyechart.runs.registration import keep_copy, kept_copy
from eyechart.runs.retrying import Stop
from eyechart.runs.score import score_run
from eyechart.runs.shard import ids_of
from eyechart.runs.sights import read_sights, tell_sizes
from eyechart.runs.so_far import ScoringListener, with_scores
from eyechart.runs.spending import OthersSpending, Spending, earlier_dollars
from eyechart.runs.store import AnswerWriter, RunStore
from eyechart.runs.summarise import summarise
from eyechart.runs.unreadable import fault_of, tell_too_large, tell_unreadable
from eyechart.runs.versions import read_versions
from eyechart.runs.writers import check_alone
from eyechart.schema import JsonObject, ModelIdentity, Request, Response, Seen, View

# A served model without revision or fingerprint may be another one tomorrow.
MAX_ANSWER_AGE = timedelta(hours=24)
# What holds until a start has ended in any other way.
_INTERRUPTED: Stop | None = Stop("interrupted")


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
    named = options.scorer
    options = checked(with_told_order(options, benchmark, model), benchmark, model, views)
    open_scorer(options.scorer or DEFAULT_SCORER)
    asked = _ask_all(benchmark, model, views, prompt, options=options, listener=listener)
    kept = None if named is not None else kept_copy(asked.store.folder)
    scorer, mode = open_scorer((options.scorer if kept is None else kept.scorer) or DEFAULT_SCORER)
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


def ask_shard(
    benchmark: Benchmark,
    model: Model,
    views: Sequence[View],
    prompt: Prompt,
    *,
    options: RunOptions,
    listener: Listener | None = None,
) -> Asked:
    """Ask one part of a run, beside any number of other writers; nothing is scored.

    Raises:
        UsageError: If the options name no shard, or no folder.
        EyechartError: If something is wrong that concerns the whole run.
    """
    if options.shard is None:
        raise UsageError("no shard is named", hint="give --shard i/n")
    options = checked(with_told_order(options, benchmark, model), benchmark, model, views)
    return _ask_all(benchmark, model, views, prompt, options=options, listener=listener or Silent())


def _ask_all(
    benchmark: Benchmark,
    model: Model,
    views: Sequence[View],
    prompt: Prompt,
    *,
    options: RunOptions,
    listener: Listener,
) -> Asked:
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
    check_scorable(plan.questions, options.scorer or DEFAULT_SCORER)
    if note := orders_kept(plan.questions, options.plan.rotations):
        listener.noted(note)
    origin = Origin(
        now=utc_now(),
        versions=read_versions(),
        command=options.command,
        price=options.price,
        estimated_dollars=expected_cost(options, plan),
        scorer=options.scorer,
        allowed_faults=check_collection(
            benchmark,
            [question.id for question in plan.questions],
            plan.views,
            allows_faults=options.allows_faults,
        ),
        protocol=options.protocol,
        plan_sha256=None if options.registration is None else options.registration.content_sha256,
    )
    session = _Session(benchmark, model, plan, options, listener, ahead=ahead, origin=origin)
    del plan  # its view images are on the disk now
    stop = session.ask_missing()
    return session.result(stop)


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
        shown = ((request.question_id, request.pictures) for request in plan.requests)
        unreadable = tell_unreadable(shown, len(plan.questions))
        if model.reads == "pixels":
            unreadable += tell_too_large((one.question_id, one.condition, one.pictures) for one in plan.requests)
        self._benchmark, self._model = benchmark, model
        self._options, self._listener = options, with_scores(listener, options.scorer or DEFAULT_SCORER, plan.questions)
        n_plans = _count_plans(options.where.out)
        self.store, self.is_resumed = find_or_create(
            plan, options.where, origin, ahead.ledger(plan.requests), may_grow=True, again=options.ask_again
        )
        self._start = secrets.token_hex(8)
        self._writer = self.store.open_writer(writer_name(), self._start if model.reads == "pixels" else None)
        if options.registration is not None:
            keep_copy(options.registration, self.store.folder)
        pictures = {question.id: question.image_group for question in plan.questions}
        ordered = in_order(
            kept_copy(self.store.folder), [pictures[one.question_id] for one in plan.requests], plan.requests
        )
        self._plan = msgspec.structs.replace(plan, view_images=(), requests=ordered)
        self._own = ids_of(options.shard, plan.questions, plan.requests)
        self._index = self.store.index()
        if self._carry_over():
            self._index = self.store.index()
        self._again = states_again(self._index, options.ask_again)
        stale = self._find_stale(plan.model)
        self._n_stale = len(stale.keys() - self._again.keys())
        self._stale = {**stale, **generations_again(self._index, self._again)}
        self.n_asked = 0
        self.n_open = sum(self._is_open(request) for request in plan.requests)
        self._listener.began(self._beginning(has_prediction=ahead.is_known))
        finished = None
        if options.where == Destination(runs=options.where.runs) and not self.is_resumed and model.reads == "pixels":
            finished = tell_finished(options.where.runs, plan)
        notes = (*self._growth(n_plans), *unreadable, *self._departures())
        for line in (*notes, *([finished] if finished else [])):
            self._listener.noted(line)
        if isinstance(self._listener, ScoringListener) and self._index.rows:
            self._listener.judge_earlier(filter(self._is_fresh, plan.requests), self.store.responses(self._index))
        if isinstance(model, ReviewsPlan):
            places = ((one.question_id, name) for one in plan.requests for name in (one.condition, one.view))
            for note in model.review_plan(places):
                listener.noted(note)

    def ask_missing(self) -> Stop | None:
        """Ask what is not settled, the first answers before the rest; return why it ended early."""
        if self.n_open == 0:
            self._writer.close()
            run_async(self._model.close())
            return None
        if isinstance(self._model, TakesGold):
            self._model.take_gold(self._gold())
        if isinstance(self._model, TakesSizes):
            tell_sizes(self._model, self.store)
        return run_async(self._ask())

    def result(self, stop: Stop | None) -> Asked:
        """Count what was asked, and what is still missing; a stale answer that was not replaced is."""
        rows = self.store.index().rows
        answered = {
            request_id
            for request_id, row in rows.items()
            if row.state.is_final and row.generation >= self._stale.get(request_id, 0)
        }
        own = [request.id for request in self._plan.requests if self._is_own(request)]
        return Asked(
            store=self.store,
            n_planned=len(own),
            n_missing=sum(request_id not in answered for request_id in own),
            n_missing_in_all=len(self._plan.requests) - len(answered),
            n_open=self.n_open,
            n_asked=self.n_asked,
            n_missing_pictures=len(self._plan.missing),
            stop=stop,
            n_unanswerable=sum(rows[id_].state in UNANSWERABLE for id_ in own if id_ in rows),
        )

    async def _ask(self) -> Stop | None:
        pictures = PictureSource(
            self._benchmark, max_decoded_bytes=self._options.max_decoded_bytes, kept=self._options.view_store
        )
        writer = self._writer
        others = self._others_spending()
        spending = Spending(self._options.loop.spending, self._spent(), others=others)
        asker = Asker(
            self._model,
            pictures,
            writer,
            self._options.loop,
            listener=self._listener,
            anew=self._anew(),
            spending=spending,
        )
        is_doubted, stop = False, _INTERRUPTED
        try:
            if self._options.shard is None and (warning := check_alone(writer.begin(), utc_now())):
                self._listener.noted(warning)
            stop = await self._ask_first_and_rest(asker, pictures, writer, spending)
            is_doubted = stop is not None and stop.leaves_open
        except EyechartError:
            is_doubted = True
            raise
        else:
            return stop
        finally:
            self.n_asked += asker.n_asked
            asker.close()
            try:
                if not is_doubted:
                    keep_final_errors(self.store, writer)
                if stop is None or stop.gives_up:
                    self._give_up(writer.path.stem)
            finally:
                writer.close()
                await self._model.close()

    def _give_up(self, writer: str) -> None:
        """Note what this start, which reached its end, asked in vain: without an answer a run is finished by this."""
        index = self.store.index()
        asked = (one.id for one in self._plan.requests if self._is_own(one) and one.id in index.rows)
        self.store.give_up(writer, (request_id for request_id in asked if not index.is_settled(request_id)))

    async def _ask_first_and_rest(
        self, asker: Asker, pictures: PictureSource, writer: AnswerWriter, spending: Spending
    ) -> Stop | None:
        if self._options.batches is None and (held := self._held_by_batches()):
            self._listener.noted(
                f"batches of an earlier start hold {len(held)} of these requests: without --batch they are asked and "
                "paid once more"
            )
        first = self._first()
        await asker.ask(first)
        stop = asker.stop or self._check(first, writer)
        if stop is not None:
            return stop
        left = self._open_requests({request.id for request in first})
        if self._options.ray is not None:
            return await self._ask_by_ray(self._options.ray, tuple(left), spending)
        if self._options.batches is not None:
            return await self._ask_in_batches(left, pictures, writer, spending)
        await asker.ask(left)
        return asker.stop

    async def _ask_by_ray(self, work: RayWork, requests: Sequence[Request], spending: Spending) -> Stop | None:
        """Ask over a Ray cluster; return why not everything is answered."""
        n_before = self.store.index().n_rows
        try:
            return await asyncio.to_thread(
                ask_by_ray,
                work,
                self.store.folder,
                requests,
                self._options.loop,
                start=self._start,
                anew=self._anew(),
                spending=spending,
                listener=self._listener,
            )
        finally:
            self.n_asked += self.store.index().n_rows - n_before

    async def _ask_in_batches(
        self, requests: Iterable[Request], pictures: PictureSource, writer: AnswerWriter, spending: Spending
    ) -> Stop | None:
        """Ask through the provider's batches; return why not everything is answered."""
        limits = batch_limits(self._model)
        assert limits is not None  # noqa: S101 -- checked before the run
        assert isinstance(self._model, AsksInBatches)  # noqa: S101 -- the same
        log = BatchLog(self.store.folder, writer_name())
        asker = BatchAsker(
            self._model,
            limits,
            BatchDesk(
                self.store,
                {request.id: request for request in (*self._plan.requests, *self.store.earlier_requests())},
                pictures,
                writer,
                log,
                self._listener,
            ),
            settings=self._options.batches or BatchSettings(),
            spending=batch_spending(self._options, self._plan.model, spending.dollars, spending.n_sent),
            anew=self._anew(),
            own=self._own,
        )
        try:
            return await asker.ask(requests)
        finally:
            self.n_asked += asker.n_asked
            log.close()

    def _carry_over(self) -> bool:
        """Store answers to questions that only got another id, a row number say, under their new one; whether any was.

        A model that answers by ids is asked anew, which costs nothing.
        """
        if self.store.run.n_plans == 1 or self._model.reads == "identity":
            return False
        index = self.store.index(of_all_plans=True)
        rows = {row.request_id: row for row in self.store.responses(index)}
        used = {row.extra.get(CARRIED) for row in rows.values()}
        open_requests = [one for one in self._plan.requests if self._is_own(one) and not index.is_settled(one.id)]
        answered = (
            one
            for one in self.store.earlier_requests()
            if one.id in rows and not rows[one.id].state.is_error and one.id not in used
        )
        pairs = {older.id: newer.id for older, newer in matching_contents(answered, open_requests)}
        seen: dict[str, list[Seen]] = {}
        for one in self.store.observed() if pairs else ():
            if one.request_id in pairs:
                seen.setdefault(one.request_id, []).append(one)
        for older_id, newer_id in pairs.items():
            row = rows[older_id]
            self._writer.append(
                msgspec.structs.replace(row, request_id=newer_id, extra={**row.extra, CARRIED: older_id}),
                [msgspec.structs.replace(one, request_id=newer_id) for one in seen.get(older_id, ())],
            )
        return bool(pairs)

    def _growth(self, n_plans: int) -> tuple[str, ...]:
        """Say what is kept of a folder whose questions changed before this start; nothing where they did not."""
        if not n_plans or self.store.run.n_plans == n_plans:
            return ()
        n_kept = sum(
            not row.state.is_error and request_id not in self._stale for request_id, row in self._index.rows.items()
        )
        change = change_between(self.store.planned_before(), (self._plan.questions, self._plan.requests))
        answers = "answer" if n_kept == 1 else "answers"
        questions = "question" if change.n_new == 1 else "questions"
        changed = f", {change.n_changed} changed" if change.n_changed else ""
        kept = f"{n_kept} {answers} kept, {change.n_new} {questions} new{changed}, {change.n_gone} gone"
        return (f"the questions changed since this folder was planned: {kept}",)

    def _departures(self) -> tuple[str, ...]:
        """Say before anything is paid for why results will not be confirmatory, as far as settings tell."""
        plan = self._options.registration
        departures = () if plan is None else foresee_departures(plan, self.store.run)
        return tuple(f"results will be exploratory, since this run does not keep its plan: {one}" for one in departures)

    def _first(self) -> tuple[Request, ...]:
        """Return the requests to check first, of those that are open; none where looking costs nothing.

        What an earlier start was told says nothing of the server as it is now. What a batch holds is paid already.
        """
        if not self._options.has_preflight or self._model.reads == "identity":
            return ()
        held = self._held_by_batches() if self._options.batches is not None else frozenset()
        return choose_first(
            request
            for request in self._plan.requests
            if self._is_open(request) and request.id not in held and fault_of(request.pictures) is None
        )

    def _held_by_batches(self) -> frozenset[str]:
        """Return which open requests of this process an earlier start has handed over in batches."""
        batches = own_batches(read_open_batches(self.store.folder), self._own)
        held = {id_ for batch in batches for id_ in batch.request_ids}
        return frozenset(one.id for one in self._plan.requests if one.id in held and self._is_open(one))

    def _check(self, first: Sequence[Request], writer: AnswerWriter) -> Stop | None:
        """Show the first answers of this start; return why to stop if too many are bad and there is more to ask."""
        if not first:
            return None
        wanted = {request.id for request in first}
        own = read_records(writer.path, Response, may_be_torn=True) if writer.path.is_file() else ()
        responses = {row.request_id: as_it_ended(row) for row in own}
        questions = {question.id: question for question in self._plan.questions}
        scorer, mode = open_scorer(self._options.scorer or DEFAULT_SCORER)
        scores = {}
        for request in first:
            if request.id in responses:
                question = questions[request.question_id]
                gold = shown_answer(question, request)
                scores[request.id] = scorer.score(responses[request.id], question, request.choices, gold, mode)
        sights = read_sights(row for row in self.store.seen() if row.request_id in wanted)
        checked = check_first(first, responses, scores, sights)
        self._listener.checked(checked)
        return stop_after(checked) if self.n_open > len(first) else None

    def _open_requests(self, but: set[str]) -> Iterator[Request]:
        return (request for request in self._plan.requests if request.id not in but and self._is_open(request))

    def _is_own(self, request: Request) -> bool:
        return self._own is None or request.id in self._own

    def _is_fresh(self, request: Request) -> bool:
        return self._is_own(request) and request.id not in self._stale

    def _is_open(self, request: Request) -> bool:
        return self._is_own(request) and not self._is_settled(request)

    def _is_settled(self, request: Request) -> bool:
        return request.id not in self._stale and self._index.is_settled(request.id)

    def _find_stale(self, identity: ModelIdentity) -> dict[str, int]:
        is_known = identity.revision is not None or identity.fingerprint is not None
        if is_known or self._model.reads == "identity" or self._options.is_same_weights:
            return {}
        return stale_ids(self._index, utc_now(), MAX_ANSWER_AGE)

    def _anew(self) -> dict[str, JsonObject]:
        """Return what is stored beside every new answer that is to count before an older one."""
        known = {request_id: row.generation for request_id, row in self._index.rows.items() if row.generation}
        again = {request_id: {ASKED_AGAIN: state.value} for request_id, state in self._again.items()}
        generations = {**known, **self._stale}
        return {id_: {GENERATION: generation, **again.get(id_, {})} for id_, generation in generations.items()}

    def _spent(self) -> tuple[float, ...]:
        """Return what every answer of earlier starts cost, where that is bounded; those to gone questions as well."""
        rows = self.store.responses(self.store.index(of_all_plans=True))
        paid = (row for row in rows if CARRIED not in row.extra)
        asked = chain(self._plan.requests, self.store.earlier_requests())
        return tuple(earlier_dollars(paid, asked, self._options.loop.spending))

    def _others_spending(self) -> Callable[[], float]:
        """Return what tells the dollars that other shards spend from now on, and say how the bound on cost holds."""
        limits = self._options.loop.spending
        if self._options.shard is None or limits.max_dollars is None:
            return lambda: 0.0
        if self._options.ray is not None:  # the files of Ray's workers cannot be told from those of other shards
            self._listener.noted(f"--max-cost {limits.max_dollars:g} holds for this shard and not for all together")
            return lambda: 0.0
        self._listener.noted(
            f"--max-cost {limits.max_dollars:g} holds for all shards together: what the others have stored here "
            "counts, what they have in flight does not yet"
        )
        return OthersSpending(self._writer.path, {one.id: one for one in self._plan.requests}, limits.price)

    def _gold(self) -> dict[str, str | None]:
        questions = {question.id: question for question in self._plan.questions}
        return {
            request.id: told_answer(questions[request.question_id], request.view, request.choice_order)
            for request in self._plan.requests
        }

    def _beginning(self, *, has_prediction: bool) -> Beginning:
        n_planned = dict.fromkeys(self._plan.views, 0)
        n_settled = dict.fromkeys(self._plan.views, 0)
        for request in filter(self._is_own, self._plan.requests):
            n_planned[request.condition] = n_planned.get(request.condition, 0) + 1
            n_settled[request.condition] = n_settled.get(request.condition, 0) + self._is_settled(request)
        return Beginning(
            folder=str(self.store.folder),
            is_resumed=self.is_resumed,
            n_planned=n_planned,
            n_settled=n_settled,
            n_stale=self._n_stale,
            n_again=len(self._again),
            n_missing_pictures=len(self._plan.missing),
            predicts_seen=has_prediction,
            estimated_dollars=self.store.run.estimated_dollars,
            price=self.store.run.price,
        )


def _count_plans(out: Path | None) -> int:
    """Return how many plans a folder has, 0 where there is no run yet."""
    return RunStore(out).run.n_plans if out is not None and (out / RUN_FILE).is_file() else 0
