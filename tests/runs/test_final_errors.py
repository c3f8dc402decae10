"""Final errors: kept by a start that ended well, asked again after one that its own errors ended, or when wanted."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.errors import AuthenticationError, BadRequestError, RefusedInputError, TransientModelError, UsageError
from eyechart.kinds import Reply
from eyechart.runs.answers import as_it_ended, left_open
from eyechart.runs.asking_again import ASKABLE, foresee_again, read_states
from eyechart.runs.execute import LoopSettings
from eyechart.runs.final_errors import MOST_EQUAL_ERRORS, EqualErrors
from eyechart.runs.folders import Destination
from eyechart.runs.patience import Patience
from eyechart.runs.session import RunOptions, ask_shard, run_benchmark
from eyechart.runs.shard import Shard
from eyechart.runs.store import RunStore
from eyechart.schema import Response, ResponseState, TokenPrice
from eyechart.views import resolve_views

ONE_BY_ONE = LoopSettings(
    concurrency=1, patience=Patience(first_wait_seconds=0.001, longest_wait_seconds=0.002, max_attempts=8)
)
ODD = BadRequestError("HTTP 400: the gateway is odd today (request 8f3a19c2d4e5b6a7c8)")
EMPTY = Reply(text="", finish="stop", says_nothing=True)
FILTERED = Reply(text="", finish="content_filter")


@pytest.fixture
def run(make, tmp_path, tiny_letter):
    """A function that asks ``n`` questions under two views of a model that reads pixels."""

    def start(script, n=10, *, asks=run_benchmark, **changes):
        model = make.model(reads="pixels")
        model._script = lambda ask: script(len(model.asked))
        changes.setdefault("has_preflight", False)
        changes.setdefault("loop", ONE_BY_ONE)
        changes.setdefault("where", Destination(out=tmp_path / "run", runs=tmp_path / "runs"))
        benchmark = make.benchmark(make.question(index) for index in range(n))
        options = RunOptions(scorer=tiny_letter, **changes)
        outcome = asks(benchmark, model, resolve_views("original,crop_3x")[0], make.prompt(), options=options)
        return outcome, model

    return start


def states(outcome):
    found = {}
    for row in outcome.store.responses():
        found[row.state.value] = found.get(row.state.value, 0) + 1
    return found


# --- equal errors in a row ------------------------------------------------------------------------------------------


def test_eight_equal_errors_in_a_row_end_the_run_and_store_nothing_final(run):
    """A gateway that changed its mind after twenty answers left 55 requests in a final error."""
    outcome, model = run(lambda n: "A" if n <= 5 else ODD)
    assert len(model.asked) == 5 + MOST_EQUAL_ERRORS
    assert "8 requests in a row ended with the same error (HTTP 400: the gateway is odd" in outcome.stop.reason
    assert (states(outcome), outcome.exit_code, outcome.n_missing) == ({"answered": 5, "transient": 8}, 3, 15)
    mended, model = run(lambda n: "A")
    assert len(model.asked) == 15
    assert (states(mended), mended.exit_code) == ({"answered": 20}, 0)


def test_all_final_errors_of_such_a_start_are_asked_again_not_only_the_last(run):
    script = {1: ODD, 2: RefusedInputError("HTTP 413"), 4: EMPTY}
    outcome, _ = run(lambda n: script.get(n, "A" if n < 8 else ODD))
    assert states(outcome) == {"answered": 4, "transient": 3 + 8}
    mended, model = run(lambda n: "A")
    assert len(model.asked) == 16
    assert states(mended) == {"answered": 20}


def test_fewer_equal_errors_are_final_and_asked_no_more(run):
    outcome, _ = run(lambda n: ODD if n % 8 else "A")
    assert outcome.stop is None
    assert states(outcome) == {"bad_request": 18, "answered": 2}
    again, model = run(lambda n: "A")
    assert (model.asked, states(again)) == ([], states(outcome))


def test_the_count_starts_anew_with_each_start(run):
    from eyechart.runs.spending import SpendingLimits

    seven = msgspec.structs.replace(ONE_BY_ONE, spending=SpendingLimits(max_requests=7))
    first, _ = run(lambda n: ODD, loop=seven)
    assert states(first) == {"bad_request": 7}
    second, _ = run(lambda n: ODD, loop=seven)
    assert states(second) == {"bad_request": 14}
    assert "--max-requests" in second.stop.reason


@pytest.mark.parametrize("outcome", [RefusedInputError("HTTP 413: too large"), FILTERED, EMPTY])
def test_what_depends_on_the_picture_ends_no_run(run, outcome):
    ended, model = run(lambda n: outcome)
    assert (len(model.asked), ended.stop) == (20, None)
    assert sum(states(ended).values()) == 20
    assert "transient" not in states(ended)


def test_errors_of_different_causes_end_no_run(run):
    words = ["odd", "even", "gone", "lost"]
    ended, model = run(lambda n: BadRequestError(f"HTTP 400: {words[n % 4]}"))
    assert (len(model.asked), ended.stop) == (20, None)


def test_a_reply_that_is_wrong_in_the_same_way_is_asked_three_times_and_ends_a_run_that_gives_no_other(run):
    """A login page was fetched eight times for every request."""
    page = TransientModelError("the server answered text/html instead of JSON", fault="page")
    outcome, model = run(lambda n: page)
    assert len(model.asked) == 3 * MOST_EQUAL_ERRORS
    assert "text/html" in outcome.stop.reason
    assert states(outcome) == {"transient": MOST_EQUAL_ERRORS}


def test_faults_that_differ_are_chance_and_asked_on(run):
    outcome, model = run(lambda n: "A" if n % 6 == 0 else TransientModelError("damaged", fault=f"f{n}"), n=2)
    assert states(outcome) == {"answered": 4}
    assert len(model.asked) == 24


def test_one_question_that_fails_under_every_view_ends_no_run(make_once):
    requests = make_once.plan(1).requests
    row = Response(request_id="r", state=ResponseState.BAD_REQUEST, error="HTTP 400: this question is odd")
    errors = EqualErrors()
    assert not any(errors.note(requests[n % 3], row) for n in range(29))
    assert errors.note(make_once.plan(2).requests[-1], row) is not None


@settings(max_examples=40, deadline=None)
@given(kinds=st.lists(st.sampled_from("abAFRE"), max_size=40))
def test_only_a_whole_row_of_one_cause_ends_a_run(make_once, kinds):
    requests = make_once.plan(2).requests
    rows = {
        "A": Response(request_id="r", state=ResponseState.ANSWERED, text="A"),
        "F": Response(request_id="r", state=ResponseState.FILTERED, text=""),
        "R": Response(request_id="r", state=ResponseState.REFUSED_INPUT, error="HTTP 413"),
        "E": Response(request_id="r", state=ResponseState.EMPTY_REPLY, error="nothing"),
        "a": Response(request_id="r", state=ResponseState.BAD_REQUEST, error="HTTP 400: a"),
        "b": Response(request_id="r", state=ResponseState.BAD_REQUEST, error="HTTP 400: b"),
    }
    counted, errors = "", EqualErrors()
    for n, kind in enumerate(kinds):
        counted += kind if kind in "abA" else ""
        stop = errors.note(requests[-(n % 2)], rows[kind])
        is_row = kind in "ab" and counted.endswith(kind * MOST_EQUAL_ERRORS)
        assert (stop is not None) is is_row


# --- starts that end badly, or are killed ---------------------------------------------------------------------------


def test_the_first_answers_leave_no_final_error_and_a_mended_server_is_asked_on(run):
    words = iter("abcdefghijklmnopqrstuvwxyz")
    outcome, model = run(lambda n: BadRequestError(f"HTTP 418: {next(words)}"), has_preflight=True)
    assert len(model.asked) == 4
    assert "4 of the first 4 answers" in outcome.stop.reason
    assert states(outcome) == {"transient": 4}
    mended, model = run(lambda n: "A", has_preflight=True)
    assert (len(model.asked), states(mended), mended.exit_code) == (20, {"answered": 20}, 0)


def test_an_account_without_credit_leaves_no_final_error(run):
    """After the account was topped up, the errors before the stop were never asked again."""
    script = {3: ODD, 6: AuthenticationError("HTTP 400: Your credit balance is too low")}
    with pytest.raises(AuthenticationError, match="credit balance"):
        run(lambda n: script.get(n, "A"))
    resumed, model = run(lambda n: "A")
    assert (len(model.asked), states(resumed)) == (16, {"answered": 20})


def test_what_is_stored_while_a_start_goes_on_is_not_final_so_that_a_kill_loses_nothing(run, tmp_path):
    seen = []

    def script(n):
        if n == 4:
            seen.extend(RunStore(tmp_path / "run").responses())
        return ODD if n == 2 else "A"

    outcome, _ = run(script)
    assert [row.state.value for row in seen] == ["answered", "transient", "answered"]
    assert as_it_ended(seen[1]).state is ResponseState.BAD_REQUEST
    assert states(outcome) == {"answered": 19, "bad_request": 1}
    last = next(row for row in outcome.store.responses() if row.state is ResponseState.BAD_REQUEST)
    assert "open_error" not in last.extra


def test_a_start_that_is_interrupted_keeps_its_final_errors(run, tmp_path):
    def script(n):
        if n == 6:
            raise KeyboardInterrupt
        return ODD if n == 2 else "A"

    with pytest.raises(KeyboardInterrupt):
        run(script)
    kept = [row.state.value for row in RunStore(tmp_path / "run").responses()]
    assert sorted(kept) == ["answered"] * 4 + ["bad_request"]


def test_each_shard_judges_its_own_errors(run):
    asked, _ = run(lambda n: ODD if n % 4 == 0 else "A", asks=ask_shard, shard=Shard(1, 2))
    other, model = run(lambda n: ODD, asks=ask_shard, shard=Shard(2, 2))
    assert (asked.stop, len(model.asked)) == (None, MOST_EQUAL_ERRORS)
    assert states(other) == {"answered": 8, "bad_request": 2, "transient": 8}


@given(st.sampled_from(list(ResponseState)))
def test_an_open_error_is_told_as_it_ended(state):
    row = Response(request_id="r", state=state, error="no" if state.is_error else None, extra={"a": 1})
    stored = left_open(row, "start")
    assert as_it_ended(stored) == row
    assert stored.state.is_final is (row.state.is_final and not row.state.is_error)
    assert left_open(row, None) is row


# --- asking again ---------------------------------------------------------------------------------------------------


def first_errors(run):
    script = {1: ODD, 2: FILTERED, 3: EMPTY, 4: RefusedInputError("HTTP 413"), 5: FILTERED}
    return run(lambda n: script.get(n, "A"))[0]


@pytest.mark.parametrize(
    ("text", "n"),
    [("bad_request", 1), ("filtered", 2), ("content_filter", 2), ("empty_reply, refused_input", 2)],
)
def test_stored_errors_of_named_states_are_asked_again_and_the_new_answers_count(run, text, n):
    first_errors(run)
    outcome, model = run(lambda n: "A", ask_again=read_states(text))
    assert len(model.asked) == n
    assert states(outcome)["answered"] == 15 + n
    again = [row for row in outcome.store.responses() if "asked_again" in row.extra]
    assert {row.extra["asked_again"] for row in again} == {state.value for state in read_states(text)}
    assert {row.extra["generation"] for row in again} == {1}
    assert not any("more than once" in one for one in outcome.summary.warnings)
    assert any(f"{n} requests were asked again in the place of an error" in one for one in outcome.summary.warnings)
    counted, model = run(lambda n: "A")
    assert (model.asked, states(counted)) == ([], states(outcome))


def test_an_error_that_comes_again_stands_and_one_that_passes_is_missing(run):
    first_errors(run)
    outcome, _ = run(lambda n: ODD, ask_again=read_states("bad_request"))
    assert (states(outcome)["bad_request"], outcome.n_missing) == (1, 0)
    down = msgspec.structs.replace(ONE_BY_ONE, patience=msgspec.structs.replace(ONE_BY_ONE.patience, max_attempts=1))
    outcome, _ = run(lambda n: TransientModelError("HTTP 503"), ask_again=read_states("bad_request"), loop=down)
    assert (states(outcome)["transient"], outcome.n_missing, outcome.exit_code) == (1, 1, 3)
    outcome, model = run(lambda n: "A")
    assert (len(model.asked), states(outcome)["answered"]) == (1, 16)


def test_without_a_folder_the_finished_run_with_such_errors_is_found(run, tmp_path):
    where = Destination(runs=tmp_path / "runs")
    script = {1: ODD}
    first, _ = run(lambda n: script.get(n, "A"), where=where)
    again, model = run(lambda n: "A", where=where, ask_again=read_states("bad_request"))
    assert (again.store.folder, len(model.asked)) == (first.store.folder, 1)


def test_a_new_run_holds_nothing_to_ask_again(run, tmp_path):
    with pytest.raises(UsageError, match="holds no error to ask again"):
        run(lambda n: "A", where=Destination(runs=tmp_path / "runs", is_new=True), ask_again=read_states("filtered"))


@pytest.mark.parametrize("text", ["answered", "transient", "odd", "bad_request,odd", "", ","])
def test_an_unknown_state_is_a_usage_error_that_lists_the_states(text):
    with pytest.raises(UsageError, match="--ask-again") as caught:
        read_states(text)
    assert all(name in caught.value.hint for name in ("bad_request", "empty_reply", "filtered", "refused_input"))


def test_what_asking_again_costs_is_known_before(run):
    outcome = first_errors(run)
    found = foresee_again(outcome.store, read_states("filtered,bad_request"))
    assert (found.states, found.n, found.dollars) == ({"content_filter": 2, "bad_request": 1}, 3, None)
    path = outcome.store.folder / "run.json"
    price = TokenPrice(input_per_million=2.0, output_per_million=8.0, date="2026-01-01", source="own")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"price": msgspec.to_builtins(price)}))
    assert foresee_again(outcome.store, ASKABLE).dollars > found.n * 64 * 8e-6


def test_an_empty_reply_is_missing_and_costs_what_it_costs(run):
    from eyechart.schema import Usage

    price = TokenPrice(input_per_million=1.0, output_per_million=1.0, date="2026-01-01", source="own")
    paid = Usage(input_tokens=1_000_000, output_tokens=0)
    outcome, _ = run(
        lambda n: msgspec.structs.replace(EMPTY, usage=paid) if n == 1 else Reply(text="A", finish="stop", usage=paid),
        n=2,
        price=price,
    )
    assert [condition.accuracy_sum for condition in outcome.summary.conditions] == [0.5, 1.0]
    assert [estimate.value for estimate in outcome.summary.estimates] == [1.0, 1.0]
    assert outcome.summary.expense.dollars == 4.0
    assert outcome.exit_code == 3
    failure = outcome.summary.failures[0]
    assert (failure.state, failure.n) == ("empty_reply", 1)
