"""The loop: bounded, patient, every failure its own state, nothing lost when it ends."""

import asyncio
import threading
from collections import Counter
from itertools import chain, repeat

import pytest

from eyechart.errors import (
    AuthenticationError,
    BadRequestError,
    GeometryError,
    ImageError,
    RefusedInputError,
    StoreError,
    TransientModelError,
    UnavailableImageError,
    UsageError,
)
from eyechart.kinds import Reply
from eyechart.runs.execute import Asker, LoopSettings, read_identity, writer_name
from eyechart.runs.listening import Silent
from eyechart.runs.patience import Patience
from eyechart.runs.pictures import PictureSource
from eyechart.schema import ModelIdentity, Response, ResponseState

QUICK = Patience(first_wait_seconds=0.001, longest_wait_seconds=0.002, attempt_seconds=5.0)


class Kept:
    """A writer that keeps rows in memory."""

    def __init__(self, n_before_full=None):
        self.rows, self.n_before_full = [], n_before_full

    def append(self, row, seen=()):
        if self.n_before_full is not None and len(self.rows) >= self.n_before_full:
            raise StoreError("disk full", hint="free some space")
        assert list(seen) is not None
        self.rows.append(row)

    @property
    def states(self):
        return Counter(row.state.value for row in self.rows)


class Recorded(Silent):
    def __init__(self):
        self.waits, self.n_answered = [], 0

    def waiting(self, seconds, cause):
        self.waits.append((seconds, cause))

    def answered(self, request: object, response: Response):
        self.n_answered += 1


def ask_all(make, model, *, n=5, writer=None, patience=QUICK, listener=None, **limits):
    plan = make.plan(n, "original,crop_3x")
    writer = writer or Kept()
    settings = LoopSettings(patience=patience, **limits)
    source = PictureSource(make.benchmark([]))
    asker = Asker(model, source, writer, settings, listener=listener or Recorded())
    try:
        asyncio.run(asker.ask(plan.requests))
    finally:
        asker.close()
    return asker, writer


def fail_first(n_failures, error):
    """A script that fails each request ``n_failures`` times before it answers."""
    attempts = Counter()

    def script(ask):
        attempts[ask.identity.request_id] += 1
        return error if attempts[ask.identity.request_id] <= n_failures else "A"

    return script


def test_every_request_is_asked_once_and_stored(make):
    model, listener = make.model(), Recorded()
    asker, writer = ask_all(make, model, listener=listener)
    assert writer.states == {"answered": 10}
    assert set(Counter(model.asked).values()) == {1}
    assert asker.n_asked == listener.n_answered == 10
    assert asker.stop is None


@pytest.mark.parametrize(("concurrency", "of_model", "most"), [(3, None, 3), (8, 2, 2), (1, 4, 1)])
def test_no_more_requests_are_in_flight_than_loop_and_model_allow(make, concurrency, of_model, most):
    model = make.model(seconds=0.002, max_concurrency=of_model)
    ask_all(make, model, n=8, concurrency=concurrency)
    assert model.most_open == most


def test_a_picture_that_takes_long_to_make_holds_up_no_other_request(make, monkeypatch):
    """33 megapixels as PNG take seconds: not in the thread that sends."""
    made = set()

    def prepare(self, pictures):
        made.add((pictures[0].is_quick, threading.current_thread() is threading.main_thread()))

    monkeypatch.setattr(PictureSource, "prepare", prepare)
    ask_all(make, make.model(reads="pixels"), n=3)
    assert (False, False) in made
    assert (False, True) not in made


def test_requests_are_taken_one_at_a_time_and_never_made_ahead(make):
    taken = []
    plan = make.plan(50, "original")
    model = make.model(script=lambda ask: BadRequestError("unknown parameter", parameter="top_k"))

    def requests():
        for request in plan.requests:
            taken.append(request.id)
            yield request

    asker = Asker(model, PictureSource(make.benchmark([])), Kept(), LoopSettings(concurrency=2), listener=Silent())
    with pytest.raises(BadRequestError):
        asyncio.run(asker.ask(requests()))
    asker.close()
    assert len(taken) <= 2


def test_passing_failures_are_retried_until_they_pass(make):
    listener = Recorded()
    model = make.model(script=fail_first(2, TransientModelError("HTTP 503: busy")))
    _, writer = ask_all(make, model, listener=listener)
    assert writer.states == {"answered": 10}
    assert {row.attempts for row in writer.rows} == {3}
    assert len(listener.waits) == 20


def test_a_failure_that_does_not_pass_is_transient_and_says_why(make):
    patience = Patience(first_wait_seconds=0.001, longest_wait_seconds=0.002, max_attempts=3)
    model = make.model(script=lambda ask: TransientModelError("HTTP 429: slow down"))
    asker, writer = ask_all(make, model, patience=patience)
    assert writer.states == {"transient": 10}
    assert {(row.attempts, row.error, row.text) for row in writer.rows} == {(3, "HTTP 429: slow down", None)}
    assert asker.stop is None


def test_a_request_past_its_deadline_is_given_up(make):
    patience = Patience(first_wait_seconds=30.0, deadline_seconds=1.0)
    model = make.model(script=lambda ask: TransientModelError("HTTP 503"))
    _, writer = ask_all(make, model, n=1, patience=patience)
    assert {row.attempts for row in writer.rows} == {1}


def test_a_model_that_never_answers_is_a_passing_failure(make):
    patience = Patience(attempt_seconds=0.01, max_attempts=1)
    _, writer = ask_all(make, make.model(seconds=60), n=1, patience=patience)
    assert [row.error for row in writer.rows] == ["no answer within 0.01 s"] * 2


def test_retry_after_is_honoured_by_everybody(make):
    listener = Recorded()
    model = make.model(script=fail_first(1, TransientModelError("HTTP 429", retry_after_seconds=0.05)))
    _, writer = ask_all(make, model, n=2, listener=listener, concurrency=1)
    assert writer.states == {"answered": 4}
    assert all(seconds >= 0.05 for seconds, _ in listener.waits)


def test_a_wait_beyond_the_limit_ends_the_run_and_says_so(make):
    model = make.model(script=lambda ask: TransientModelError("HTTP 429: quota", retry_after_seconds=3600.0))
    asker, writer = ask_all(make, model, n=50, concurrency=2)
    assert asker.stop is not None
    assert "asks to wait 3,600 s, more than the 600 s allowed (HTTP 429: quota)" in asker.stop.reason
    assert "--max-wait" in asker.stop.hint
    assert len(model.asked) <= 2
    assert writer.states == {"transient": len(model.asked)}


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (RefusedInputError("HTTP 413: too large"), ResponseState.REFUSED_INPUT),
        (BadRequestError("HTTP 400: bad"), ResponseState.BAD_REQUEST),
        (ValueError("a plug-in's fault"), ResponseState.TRANSIENT),
    ],
)
def test_other_failures_are_rows_asked_once(make, error, state):
    model = make.model(script=lambda ask: error)
    _, writer = ask_all(make, model)
    assert writer.states == {state.value: 10}
    assert {row.attempts for row in writer.rows} == {1}


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("HTTP 401: wrong key", hint="set OPENAI_API_KEY"),
        BadRequestError("HTTP 400: unknown parameter top_k", hint="leave it out", parameter="top_k"),
        UsageError("a setting"),
    ],
)
def test_an_error_that_would_strike_every_request_ends_the_run_without_a_row(make, error):
    model = make.model(script=lambda ask: error)
    writer = Kept()
    with pytest.raises(type(error), match=str(error)):
        ask_all(make, model, n=20, writer=writer, concurrency=2)
    assert len(model.asked) <= 2
    assert writer.rows == []


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ImageError("a.png: truncated"), "unreadable_image"),
        (GeometryError("the crop has no pixels"), "unreadable_image"),
        (UnavailableImageError("a.png: cannot read (Input/output error)"), "transient"),
    ],
)
def test_a_picture_that_cannot_be_made_costs_its_own_question_only(make, error, state):
    outcomes = chain([error], repeat("A"))
    _, writer = ask_all(make, make.model(script=lambda ask: next(outcomes)), n=5, concurrency=1)
    assert writer.states == {state: 1, "answered": 9}
    assert writer.rows[0].error == error.message


def test_a_file_that_is_gone_is_asked_again_and_does_not_end_the_run(make):
    model = make.model(script=lambda ask: ask.pictures[0].encoded(), reads="identity")
    _, writer = ask_all(make, model, n=1)
    assert writer.states == {"transient": 2}
    assert writer.rows[0].error == "no picture of this benchmark may be read"


def test_what_is_in_flight_when_the_run_must_end_is_stored(make):
    def script(ask):
        return AuthenticationError("revoked") if ask.identity.request_id == model.asked[0] else "A"

    model = make.model(script=script, seconds=0.01)
    writer = Kept()
    with pytest.raises(AuthenticationError):
        ask_all(make, model, n=20, writer=writer, concurrency=4)
    assert writer.states == {"answered": 3}
    assert len(model.asked) == 4


def test_twenty_attempts_without_the_server_that_was_there_end_the_run(make):
    error = TransientModelError("no server answered at http://127.0.0.1:9", is_connection=True)
    outcomes = chain(["A"] * 4, repeat(error))
    model = make.model(script=lambda ask: next(outcomes))
    asker, writer = ask_all(make, model, n=50, concurrency=4)
    assert asker.stop is not None
    assert "20 attempts in a row reached no server (no server answered at http://127.0.0.1:9)" in asker.stop.reason
    assert 24 <= len(model.asked) <= 28
    assert writer.states["answered"] == 4
    assert set(writer.states) == {"answered", "transient"}


def test_a_server_that_was_never_reached_ends_the_run_at_the_third_attempt(make):
    error = TransientModelError("no server answered at http://127.0.0.1:9", hint="is it running?", is_connection=True)
    model = make.model(script=lambda ask: error)
    with pytest.raises(TransientModelError, match="no server answered at") as caught:
        ask_all(make, model, n=50, concurrency=4)
    assert caught.value.hint == "is it running?"
    assert max(Counter(model.asked).values()) == 3
    assert len(model.asked) <= 12


@pytest.mark.parametrize("first", [RefusedInputError("too large"), TransientModelError("HTTP 503")])
def test_a_server_that_said_anything_is_asked_again_after_its_connection_is_lost(make, first):
    lost = TransientModelError("no server answered", is_connection=True)
    attempts = Counter()

    def script(ask):
        attempts[ask.identity.request_id] += 1
        if len(model.asked) == 1:
            return first
        return lost if len(model.asked) <= 6 else "A"

    model = make.model(script=script)
    asker, _ = ask_all(make, model, n=4, concurrency=1)
    assert asker.stop is None
    assert max(attempts.values()) > 3


def test_an_answer_between_connection_errors_keeps_the_run_going(make):
    error = TransientModelError("connection refused", is_connection=True)
    model = make.model(script=fail_first(1, error))
    asker, writer = ask_all(make, model, n=30, concurrency=1)
    assert asker.stop is None
    assert writer.states == {"answered": 60}


def test_a_server_that_starts_late_is_waited_for(make, monkeypatch):
    monkeypatch.setattr("eyechart.runs.retrying._SERVER_POLL_SECONDS", 0.001)
    patience = Patience(wait_for_server_seconds=30.0, max_connection_errors=3, max_attempts=2)
    listener = Recorded()
    model = make.model(script=fail_first(15, TransientModelError("connection refused", is_connection=True)))
    asker, writer = ask_all(make, model, n=3, patience=patience, listener=listener)
    assert asker.stop is None
    assert writer.states == {"answered": 6}
    assert len(listener.waits) == 90


def test_a_disk_that_fills_ends_the_run_with_everything_before_kept(make):
    writer = Kept(n_before_full=3)
    with pytest.raises(StoreError, match="disk full"):
        ask_all(make, make.model(), n=20, writer=writer, concurrency=2)
    assert len(writer.rows) == 3


def test_pixel_models_never_learn_who_is_asked_about(make):
    asks = []

    def script(ask):
        asks.append(ask)
        return Reply(text="A")

    ask_all(make, make.model(script=script, reads="pixels"), n=2)
    assert all(ask.identity is None for ask in asks)
    assert all("original" not in ask.prompt and "q00" not in ask.prompt for ask in asks)


class Served:
    """A served model that tells its weights, or fails to."""

    def __init__(self, *results):
        self.identity = ModelIdentity("openai", "vlm")
        self.reads, self.max_concurrency, self.results, self.n_closed = "pixels", None, list(results), 0

    async def fingerprint(self):
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    async def answer(self, ask):
        raise NotImplementedError

    async def close(self):
        self.n_closed += 1


def identity_of(model):
    return asyncio.run(read_identity(model, QUICK, Silent()))


def test_a_server_that_tells_its_weights_gives_the_identity_a_fingerprint():
    model = Served(TransientModelError("HTTP 503"), "root-hash")
    assert identity_of(model).fingerprint == "root-hash"
    assert model.n_closed == 1


def test_a_server_that_lists_no_models_has_no_fingerprint():
    assert identity_of(Served(BadRequestError("HTTP 404", parameter="model"))).fingerprint is None
    assert identity_of(Served(None)).fingerprint is None


@pytest.mark.parametrize("error", [TransientModelError("no server answered"), AuthenticationError("wrong key")])
def test_a_server_that_is_down_or_refuses_the_key_is_said_before_anything_is_planned(error):
    with pytest.raises(type(error), match=str(error)):
        identity_of(Served(error, error, error))


def test_writer_names_are_never_the_same():
    assert len({writer_name() for _ in range(100)}) == 100


class TestOverload:
    """A server that takes three requests at a time gets no more for long, and everything is answered."""

    def test_a_storm_of_429_ends_with_every_answer_and_less_in_flight(self, make):
        model = make.model(seconds=0.002)
        n_refused = 0

        def script(ask):
            nonlocal n_refused
            if model.n_open > 3:
                n_refused += 1
                return TransientModelError("HTTP 429: slow down", is_overload=True)
            return "A"

        model._script = script
        told = []
        listener = Recorded()
        listener.noted = told.append
        _, writer = ask_all(make, model, n=60, listener=listener, concurrency=16, patience=QUICK)
        assert writer.states["answered"] == 120
        assert any("the server has too much: at most" in sentence for sentence in told)
        assert n_refused < 120
