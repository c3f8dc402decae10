"""Batches of OpenAI and Anthropic: handed over once, collected after any interruption, every fate its own state."""

import hashlib
from collections import Counter
from datetime import UTC, datetime

import pytest
from PIL import Image
from servers.batches import BatchDesk
from servers.chat_server import ChatServer, answer_from_picture

from eyechart.batching import BatchLimits
from eyechart.errors import BadRequestError, TransientModelError, UsageError
from eyechart.images.probe import probe_image
from eyechart.kinds import ModelOptions
from eyechart.opening import open_model
from eyechart.runs.batch_records import BatchLog, BatchRow, read_open_batches
from eyechart.runs.batches import BatchSettings
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.listening import Silent
from eyechart.runs.options import RunOptions
from eyechart.runs.session import ask_shard, run_benchmark
from eyechart.runs.shard import Shard
from eyechart.runs.spending import SpendingLimits
from eyechart.schema import ResponseState
from eyechart.views import resolve_views

COLOURS = [(200, 0, 0), (0, 200, 0), (0, 0, 200), (200, 0, 0), (0, 200, 0), (0, 0, 200)]
PROVIDERS = {"openai": ("openai/gpt-4o", "/v1"), "anthropic": ("anthropic/claude-haiku-4-5", "")}
both = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-planted-0123456789")


@pytest.fixture
def run(make, tmp_path, tiny_letter):
    """A function that runs six questions under two views through a server's batches."""
    questions = []
    for index, colour in enumerate(COLOURS):
        path = tmp_path / f"{index}.png"
        Image.new("RGB", (64 + index, 48), colour).save(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        path.rename(tmp_path / f"{digest}.png")
        image = probe_image(tmp_path / f"{digest}.png")
        questions.append(make.question(index, size=image.size, image=image, answer="ABC"[index % 3]))

    def start(server, provider="openai", *, wait=30.0, **changes):
        spec, path = PROVIDERS[provider]
        model = open_model(spec, ModelOptions(base_url=server.url + path))
        limits, listener = changes.pop("limits", None), changes.pop("listener", None)
        if limits is not None:
            model.__class__ = type("Limited", (type(model),), {"batch_limits": limits})
        changes.setdefault("has_preflight", False)
        changes.setdefault("batches", BatchSettings(poll_seconds=0.01, wait_seconds=wait))
        options = RunOptions(
            scorer=tiny_letter,
            where=Destination(out=tmp_path / "run"),
            is_same_weights=True,
            **changes,
        )
        benchmark = make.benchmark(questions, folder=tmp_path)
        asks = run_benchmark if options.shard is None else ask_shard
        return asks(
            benchmark, model, resolve_views("original,crop_3x")[0], make.prompt(), options=options, listener=listener
        )

    return start


@both
def test_a_batch_answers_from_the_pixels_and_costs_half(run, provider):
    desk = BatchDesk(answer_from_picture, n_polls=2)
    with ChatServer(desk=desk) as server:
        outcome = run(server, provider)
    assert (outcome.exit_code, outcome.n_asked, outcome.stop) == (0, 12, None)
    assert [condition.n_correct for condition in outcome.summary.conditions] == [6, 6]
    assert Counter(desk.asked.values()) == {1: 12}
    assert server.received == []
    expense, price = outcome.summary.expense, outcome.summary.expense.price
    full = 12 * (100 * price.input_per_million + 3 * price.output_per_million) / 1e6
    assert expense.dollars == pytest.approx(full / 2)
    assert 0 < expense.estimated == outcome.store.run.estimated_dollars


@both
def test_leaving_and_coming_back_collects_without_asking_again(run, provider):
    desk = BatchDesk(answer_from_picture, n_polls=1)
    with ChatServer(desk=desk) as server:
        left = run(server, provider, wait=0.0)
        assert (left.exit_code, left.n_asked) == (3, 0)
        assert "12 requests are with the provider, in 1 batch" in left.stop.reason
        back = run(server, provider)
    assert (back.exit_code, back.n_asked) == (0, 12)
    assert Counter(desk.asked.values()) == {1: 12}


@both
def test_a_batch_whose_creation_was_interrupted_is_found_again(run, provider, tmp_path):
    desk = BatchDesk(answer_from_picture, lose_reply=1)
    with ChatServer(desk=desk) as server:
        with pytest.raises(TransientModelError):
            run(server, provider)
        assert [batch.batch_id for batch in read_open_batches(tmp_path / "run")] == [None]
        outcome = run(server, provider)
    assert outcome.exit_code == 0
    assert Counter(desk.asked.values()) == {1: 12}


@both
def test_a_batch_that_never_reached_the_provider_is_handed_over_again(run, provider, tmp_path):
    with ChatServer() as server, pytest.raises(BadRequestError):
        run(server, provider)
    desk = BatchDesk(answer_from_picture)
    with ChatServer(desk=desk) as server:
        assert run(server, provider).exit_code == 0
    assert Counter(desk.asked.values()) == {1: 12}
    assert read_open_batches(tmp_path / "run") == []


@both
def test_the_first_of_a_second_start_is_not_asked_by_itself_while_a_batch_holds_it(run, provider):
    desk = BatchDesk(answer_from_picture, n_polls=1)
    with ChatServer(desk=desk, answer=answer_from_picture) as server:
        assert run(server, provider, wait=0.0, has_preflight=True).n_asked == 4
        assert run(server, provider, has_preflight=True).n_asked == 8
        assert (len(server.received), Counter(desk.asked.values())) == (4, {1: 8})


@both
def test_an_interrupted_batch_is_told_from_one_of_the_same_size(run, provider):
    """Anthropic keeps no label, so that only size and time tell batches apart, and what is known of the others."""
    desk = BatchDesk(answer_from_picture, n_polls=1)
    with ChatServer(desk=desk) as server:
        taken = desk._made

        def loses_the_second(batch):
            desk.lose_reply = int(len(desk.batches) == 1)
            return taken(batch)

        desk._made = loses_the_second
        limits = BatchLimits(max_requests=6, max_bytes=1 << 28)
        with pytest.raises(TransientModelError):
            run(server, provider, limits=limits)
        outcome = run(server, provider, limits=limits)
    assert (outcome.exit_code, len(desk.batches)) == (0, 2)
    assert Counter(desk.asked.values()) == {1: 12}


@both
def test_two_interrupted_batches_of_one_size_are_not_taken_for_each_other(run, provider, tmp_path):
    desk = BatchDesk(answer_from_picture, lose_reply=2)
    with ChatServer(desk=desk) as server:
        for number in (1, 2):
            with pytest.raises(TransientModelError):
                run(server, provider, shard=Shard(number, 2))
        outcome = run(server, provider)
    assert outcome.exit_code == 0
    assert Counter(desk.asked.values()) == {1: 12}
    assert read_open_batches(tmp_path / "run") == []


@both
def test_a_shard_leaves_alone_what_another_one_is_handing_over(run, provider, tmp_path):
    """The second shard starts between the first one's note and the provider's reply."""
    desk = BatchDesk(answer_from_picture, n_polls=1, lose_reply=1)
    with ChatServer(desk=desk) as server:
        with pytest.raises(TransientModelError):
            run(server, provider, wait=0.0, shard=Shard(1, 2))
        (noted,) = read_open_batches(tmp_path / "run")
        _, on_its_way = desk.batches.popitem()
        run(server, provider, wait=0.0, shard=Shard(2, 2))
        on_its_way.id = "first"
        desk.batches["first"] = on_its_way
        log = BatchLog(tmp_path / "run", "first")
        log.note(BatchRow(label=noted.label, event="submitted", at=noted.intended_at.isoformat(), batch_id="first"))
        log.close()
        assert [run(server, provider, shard=Shard(number, 2)).n_asked for number in (1, 2)] == [6, 6]
        outcome = run(server, provider)
    assert (outcome.exit_code, outcome.n_asked) == (0, 0)
    assert Counter(desk.asked.values()) == {1: 12}


def test_a_batch_that_somebody_did_not_find_yet_is_open_once_it_was_handed_over(tmp_path):
    at = "2026-12-01T09:00:00+00:00"
    events = [
        ("a", "intended", "one", None),
        ("b", "dropped", "one", None),
        ("a", "submitted", "one", "batch_1"),
        ("a", "intended", "two", None),
        ("a", "submitted", "two", "batch_2"),
        ("b", "dropped", "two", "batch_2"),
        ("a", "intended", "three", None),
        ("a", "dropped", "three", None),
        ("a", "intended", "four", None),
    ]
    logs = {name: BatchLog(tmp_path, name) for name in "ab"}
    for writer, event, label, batch_id in events:
        ids = ("r",) if event == "intended" else ()
        logs[writer].note(BatchRow(label=label, event=event, at=at, batch_id=batch_id, request_ids=ids))
    for log in logs.values():
        log.close()
    assert {one.label: one.batch_id for one in read_open_batches(tmp_path)} == {"one": "batch_1", "four": None}


def test_a_start_without_batches_says_that_some_hold_its_requests(run):
    class Noted(Silent):
        lines = ()

        def noted(self, message):
            self.lines = (*self.lines, message)

    desk, noted = BatchDesk(answer_from_picture, n_polls=1), Noted()
    with ChatServer(desk=desk, answer=answer_from_picture) as server:
        run(server, wait=0.0)
        run(server, batches=None, listener=noted)
    assert any("hold 12 of these requests: without --batch" in line for line in noted.lines)


@both
def test_each_fate_is_its_own_state_and_what_expired_is_asked_again(run, provider):
    desk = BatchDesk(answer_from_picture, fate={0: "expired", 3: "errored"})
    with ChatServer(desk=desk) as server:
        outcome = run(server, provider)
        states = Counter(row.state for row in outcome.store.responses())
        assert states == {ResponseState.ANSWERED: 10, ResponseState.TRANSIENT: 1, ResponseState.BAD_REQUEST: 1}
        assert outcome.n_missing == 1
        desk._fate = {}
        again = run(server, provider)
    assert (again.n_missing, again.n_asked) == (0, 1)
    assert Counter(desk.asked.values()) == {1: 11, 2: 1}


@both
def test_a_refused_parameter_ends_the_run_and_settles_nothing(run, provider):
    with ChatServer(desk=BatchDesk(fate=dict.fromkeys(range(12), "400-parameter"))) as server:
        outcome = run(server, provider)
    assert outcome.n_missing == 12
    assert "--temperature" in outcome.stop.hint


def told(provider, message, status=400, code=None):
    """Status and body of an error in a line of a batch."""
    error = {"type": code or "invalid_request_error", "message": message}
    return status, {"error": {**error, "code": code}} if provider == "openai" else {"type": "error", "error": error}


def ended(provider, ending, text):
    """Status and body of a reply in a line of a batch."""
    if provider == "openai":
        message = {"role": "assistant", "content": text}
        return 200, {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": ending}]}
    content = [{"type": "text", "text": text}] if text else []
    body = {"id": "r", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": ending}
    return 200, {**body, "usage": {"input_tokens": 1, "output_tokens": 1}}


@both
def test_an_account_without_credit_ends_a_batched_run_and_nothing_of_it_is_final(run, provider):
    credit = told(provider, "Your credit balance is too low to access the Anthropic API.")
    fate = {0: told(provider, "odd"), **dict.fromkeys(range(3, 12), credit)}
    with ChatServer(desk=BatchDesk(answer_from_picture, fate=fate)) as server:
        outcome = run(server, provider)
    assert "credit balance is too low" in outcome.stop.reason
    assert Counter(row.state.value for row in outcome.store.responses()) == {"answered": 2, "transient": 1}
    desk = BatchDesk(answer_from_picture)
    with ChatServer(desk=desk) as server:
        outcome = run(server, provider)
    assert (outcome.exit_code, len(desk.asked)) == (0, 10)


@both
def test_equal_errors_of_a_batch_end_the_run_and_are_asked_again(run, provider):
    fate = dict.fromkeys(range(2, 12), told(provider, "the gateway is odd"))
    with ChatServer(desk=BatchDesk(answer_from_picture, fate=fate)) as server:
        outcome = run(server, provider)
    assert "8 requests in a row ended with the same error" in outcome.stop.reason
    assert Counter(row.state.value for row in outcome.store.responses()) == {"answered": 2, "transient": 10}
    with ChatServer(desk=BatchDesk(answer_from_picture)) as server:
        assert run(server, provider).exit_code == 0


@both
def test_endings_and_filters_are_the_same_in_a_batch(run, provider):
    good, filtered, bad = ("stop", "content_filter", "error") if provider == "openai" else ("end_turn", "refusal", "x")
    fate = {
        0: ended(provider, good, ""),
        1: ended(provider, filtered, "I"),
        2: ended(provider, bad, "The answer is A because"),
        3: told(provider, "Output blocked by content filtering policy"),
        4: told(provider, "image exceeds 5 MB maximum"),
        5: told(provider, "slow down", 429, "rate_limit_error"),
    }
    with ChatServer(desk=BatchDesk(answer_from_picture, fate=fate)) as server:
        outcome = run(server, provider)
    states = Counter(row.state.value for row in outcome.store.responses())
    assert states == {"answered": 6, "empty_reply": 1, "content_filter": 2, "transient": 2, "refused_input": 1}


def test_a_damaged_line_of_a_batch_costs_no_other_answer():
    from eyechart.models._openai_batches import batch_entries

    good = b'{"custom_id":"a","response":{"status_code":200,"body":{"n":NaN}}}'
    assert [name for name, _ in batch_entries(b"\n".join([b'{"custom_id":"x"', good, b"[]", good]))] == ["a", "a"]
    with pytest.raises(TransientModelError, match="last line"):
        list(batch_entries(good + b'\n{"custom_id":"x"'))


def test_a_line_of_an_anthropic_batch_is_read_as_leniently_as_one_of_openai():
    """A NaN, half a surrogate pair or one damaged line lost all answers of a batch that was paid for."""
    from eyechart.models._chat_reply import json_lines

    odd = [b'\xef\xbb\xbf{"custom_id":"a","n":NaN}', b'{"custom_id":"b","t":"\\ud83d"}', b"{damaged", b"[" * 500]
    last = b'{"custom_id":"c"}'
    assert [one["custom_id"] for one in json_lines(b"\n".join([*odd, last]))] == ["a", "b", "c"]


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [5], {"data": 5}, {"completed": None, "failed": "x"}])
def test_a_batch_told_in_an_odd_shape_is_no_traceback(odd):
    """Counts of null, as a gateway may send them, ended the run while the batch was under way."""
    from eyechart.models import _anthropic_batches, _openai_batches

    told = {"status": "failed", "request_counts": odd, "errors": odd}
    assert _openai_batches.progress_of(told).failure == "failed: no reason was told"
    assert _openai_batches.progress_of({"status": "in_progress", "request_counts": odd}).n_done == 0
    assert not _anthropic_batches.progress_of({"request_counts": odd}).is_ended
    since = datetime(2026, 12, 1, tzinfo=UTC)
    batches = [{"id": "a", "created_at": made, "request_counts": odd} for made in (odd, "2026-12-02T00:00:00")]
    assert _anthropic_batches.found_batch(batches, since, 3) is None
    good = {"id": "b", "created_at": "2026-12-02T00:00:00Z", "request_counts": {"processing": 3}}
    assert _anthropic_batches.found_batch([good, *batches], since, 3) == "b"


def test_a_batch_that_fails_as_a_whole_says_why_and_is_handed_over_again(run):
    desk = BatchDesk(answer_from_picture, fail="Enqueued token limit reached")
    with ChatServer(desk=desk) as server:
        outcome = run(server)
        assert "Enqueued token limit reached" in outcome.stop.reason
        desk._fail = ""
        assert run(server).exit_code == 0


def test_large_work_becomes_several_batches(run):
    desk = BatchDesk(answer_from_picture)
    with ChatServer(desk=desk) as server:
        outcome = run(server, limits=BatchLimits(max_requests=5, max_bytes=1 << 20))
    assert outcome.exit_code == 0
    assert [len(batch.requests) for batch in desk.batches.values()] == [5, 5, 2]


def test_the_first_answers_are_checked_before_a_batch_is_handed_over(run):
    desk = BatchDesk("A")
    with ChatServer(answer="I cannot say.", desk=desk) as server:
        outcome = run(server, has_preflight=True)
    assert "of the first 4 answers are empty" in outcome.stop.reason
    assert desk.batches == {}


def test_bounds_hold_before_a_batch_is_handed_over(run):
    desk = BatchDesk(answer_from_picture)
    with ChatServer(desk=desk) as server:
        for limits in (SpendingLimits(max_requests=11), SpendingLimits(max_dollars=0.000_01)):
            outcome = run(server, loop=LoopSettings(spending=limits))
            assert "allows no batch of 12 requests more" in outcome.stop.reason
    assert desk.batches == {}


def test_requests_that_an_earlier_start_handed_over_count_against_the_bound(run):
    """Else each start could hand over as much as the bound allows, before anything comes back."""
    desk = BatchDesk(answer_from_picture, n_polls=10**6)
    small = BatchLimits(max_requests=6, max_bytes=1 << 20)
    with ChatServer(desk=desk) as server:
        bound = LoopSettings(spending=SpendingLimits(max_dollars=0.006))
        for _ in range(3):
            outcome = run(server, wait=0.0, limits=small, loop=bound)
            assert "allows no batch of 6 requests more" in outcome.stop.reason
    assert [len(batch.requests) for batch in desk.batches.values()] == [6]


def test_a_model_without_batches_is_refused(make, tiny_letter):
    options = RunOptions(scorer=tiny_letter, batches=BatchSettings())
    with pytest.raises(UsageError, match="has no batch interface"):
        run_benchmark(
            make.benchmark([make.question(0)]),
            make.model(),
            resolve_views("original")[0],
            make.prompt(),
            options=options,
        )
