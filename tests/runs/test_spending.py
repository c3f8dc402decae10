"""Bounds on requests and dollars: kept, said, and refused where no price is known."""

import datetime
import itertools
import math
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.errors import UsageError
from eyechart.kinds import Reply
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.listening import Silent
from eyechart.runs.ray_engine import Counter
from eyechart.runs.retrying import Stop
from eyechart.runs.session import RunOptions, ask_shard, run_benchmark
from eyechart.runs.shard import Shard
from eyechart.runs.spending import (
    BatchSpending,
    Spending,
    SpendingLimits,
    answer_dollars,
    bounded_dollars,
    check_spending,
    cost_doubt,
)
from eyechart.schema import TokenPrice, Usage, encode_record
from eyechart.views import resolve_views

PRICE = TokenPrice(input_per_million=10.0, output_per_million=20.0, date=datetime.date(2026, 1, 2), source="test")
# One answer: 900 in and 50 out make one cent.
CENT = Usage(input_tokens=900, output_tokens=50)


@pytest.fixture
def run(make, tmp_path, tiny_letter):
    def start(limits, *, reply=None, n=10, concurrency=1, price=PRICE, listener=None, script=None, shard=None):
        model = make.model(script or (lambda ask: reply or Reply(text="A", usage=CENT)))
        outcome = (run_benchmark if shard is None else ask_shard)(
            make.benchmark(make.question(index) for index in range(n)),
            model,
            resolve_views("original")[0],
            make.prompt(),
            options=RunOptions(
                scorer=tiny_letter,
                loop=LoopSettings(concurrency=concurrency, spending=limits),
                where=Destination(out=tmp_path / "run"),
                price=price,
                shard=shard,
            ),
            listener=listener,
        )
        return outcome, model

    return start


class Noted(Silent):
    """Keeps what the reader is told."""

    def __init__(self):
        self.notes = []

    def noted(self, message):
        self.notes.append(message)


def test_shards_that_ask_at_once_keep_one_bound_on_cost_together(run):
    """The second shard runs from start to end while the first one waits for its second answer."""
    limits, others, noted = SpendingLimits(max_dollars=0.055), [], Noted()

    def script(ask):
        own.append(ask)
        if len(own) == 2:
            second = threading.Thread(target=lambda: others.append(run(limits, shard=Shard(2, 2))))
            second.start()
            second.join()
        return Reply(text="A", usage=CENT)

    own = []
    outcome, _ = run(limits, shard=Shard(1, 2), script=script, listener=noted)
    ((other, model),) = others
    # One cent was stored when the second shard began, and one was in flight that it could not know.
    assert (len(model.asked), len(own)) == (4, 2)
    assert "--max-cost 0.055 is reached: $0.0600 spent" in outcome.stop.reason
    assert "--max-cost 0.055 is reached: $0.0500 spent" in other.stop.reason
    assert any("holds for all shards together" in line for line in noted.notes)
    outcome, model = run(SpendingLimits(max_dollars=0.075), shard=Shard(1, 2))
    assert (len(model.asked), outcome.stop.reason[:28]) == (1, "--max-cost 0.075 is reached:")


@pytest.mark.parametrize("concurrency", [1, 4])
def test_max_requests_sends_so_many_and_the_same_command_goes_on(run, concurrency):
    outcome, model = run(SpendingLimits(max_requests=4), concurrency=concurrency)
    assert (len(model.asked), outcome.n_missing, outcome.exit_code) == (4, 6, 3)
    assert outcome.stop.reason == "--max-requests 4 is reached"
    outcome, model = run(SpendingLimits(max_requests=100))
    assert (len(model.asked), outcome.exit_code) == (6, 0)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_max_cost_is_never_passed_by_answers_of_one_price(run, concurrency):
    outcome, model = run(SpendingLimits(max_dollars=0.045), concurrency=concurrency)
    assert len(model.asked) == 4
    assert outcome.summary.expense.dollars == pytest.approx(0.04)
    assert "--max-cost 0.045 is reached: $0.0400 spent" in outcome.stop.reason


def test_what_earlier_starts_spent_counts(run):
    run(SpendingLimits(max_dollars=0.045))
    outcome, model = run(SpendingLimits(max_dollars=0.065))
    assert len(model.asked) == 2
    assert outcome.summary.expense.dollars == pytest.approx(0.06)


def test_expense_names_price_date_and_what_was_expected(run):
    outcome, _ = run(SpendingLimits())
    expense = outcome.summary.expense
    assert (expense.n_priced, expense.n_answers, expense.price) == (10, 10, PRICE)
    # 10 requests: prompt/4 characters, 400 × 300 px at 750 a token, 64 tokens of answer.
    assert expense.estimated == pytest.approx(10 * ((14 + 160) * 10 + 64 * 20) / 1e6, rel=0.05)
    assert outcome.store.run.price == PRICE


def test_what_the_provider_reports_counts_before_any_price(run):
    outcome, _ = run(SpendingLimits(), reply=Reply(text="A", usage=CENT, extra={"cost": 0.5}))
    expense = outcome.summary.expense
    assert (expense.dollars, expense.is_reported, expense.price) == (5.0, True, None)


def test_an_answer_without_tokens_is_counted_as_not_priced(run):
    outcome, _ = run(SpendingLimits(), reply=Reply(text="A"))
    assert (outcome.summary.expense.n_priced, outcome.summary.expense.n_answers) == (0, 10)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_answer_without_tokens_counts_with_what_it_was_expected_to_cost(run, concurrency):
    """Else a server that reports no tokens would be asked one by one, for any amount of money."""
    expected = ((14 + 160) * 10 + 64 * 20) / 1e6
    outcome, model = run(SpendingLimits(max_dollars=4.5 * expected), reply=Reply(text="A"), concurrency=concurrency)
    assert (len(model.asked), outcome.n_missing) == (4, 6)
    assert "--max-cost" in outcome.stop.reason
    outcome, model = run(SpendingLimits(max_dollars=6.5 * expected), reply=Reply(text="A"), concurrency=concurrency)
    assert len(model.asked) == 2


def test_without_a_price_there_is_no_expense(run):
    outcome, _ = run(SpendingLimits(), price=None)
    assert outcome.summary.expense is None


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (SpendingLimits(max_requests=0), "--max-requests 0 asks nothing"),
        (SpendingLimits(max_dollars=0.0, price=PRICE), "--max-cost 0 asks nothing"),
        (SpendingLimits(max_dollars=1.0), "--max-cost needs a price"),
    ],
)
def test_bounds_that_cannot_be_kept_are_refused(limits, message):
    with pytest.raises(UsageError, match=message):
        check_spending(limits)


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(("told", "n_asked"), [(0, 4), (0.0, 4), (0.005, 4), (0.02, 2), (0.044, 1)])
def test_the_bound_counts_the_larger_of_what_is_told_and_what_the_tokens_cost(run, told, n_asked, concurrency):
    reply = Reply(text="A", usage=CENT, extra={"cost": told})
    outcome, model = run(SpendingLimits(max_dollars=0.045), reply=reply, concurrency=concurrency)
    assert len(model.asked) == n_asked
    assert "--max-cost 0.045 is reached" in outcome.stop.reason
    _, model = run(SpendingLimits(max_dollars=0.045), reply=reply, concurrency=concurrency)
    assert model.asked == []  # answers of earlier starts count in the same way


ABSURD = (-1, -0.0001, 1e308, 1e15, 20.0, 10**400, -(10**400), math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("told", ABSURD)
def test_a_cost_that_no_price_list_has_is_said_once_and_the_price_counts(run, told):
    listener = Noted()
    reply = Reply(text="A", usage=CENT, extra={"cost": told})
    outcome, model = run(SpendingLimits(max_dollars=0.045), reply=reply, listener=listener)
    assert len(model.asked) == 4
    said = [note for note in listener.notes if "which no price list has" in note]
    assert len(said) == 1
    assert "the answer is kept, and the price of its tokens counts instead" in said[0]
    expense = outcome.summary.expense
    assert (expense.dollars, expense.is_reported, expense.price) == (pytest.approx(0.04), False, PRICE)
    assert sum(condition.n_correct for condition in outcome.summary.conditions) == 4


@pytest.mark.parametrize("told", ["0.01", None, True, [1], {"usd": 1}])
def test_a_cost_that_is_no_number_is_no_cost(told):
    assert answer_dollars(CENT, {"cost": told}, PRICE) == pytest.approx(0.01)
    assert cost_doubt(CENT, {"cost": told}, PRICE) == ""


def test_a_dear_cost_of_many_tokens_is_believed():
    """A million tokens each way cost $750 at the dearest list price; one's own price may be dearer still."""
    many = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert answer_dollars(many, {"cost": 750.0}, None) == 750.0
    own = TokenPrice(input_per_million=1e6, output_per_million=0.0, date=datetime.date(2026, 1, 2), source="test")
    assert bounded_dollars(many, {"cost": 0.9e6}, own) == 1e6
    assert cost_doubt(many, {"cost": 0.9e6}, own) == ""


def test_answers_without_a_reported_cost_are_priced_beside_those_with_one(run):
    told = itertools.cycle([{"cost": 0.5}, {}])

    def script(ask):
        return Reply(text="A", usage=CENT, extra=next(told))

    outcome, _ = run(SpendingLimits(), reply=None, script=script)
    expense = outcome.summary.expense
    assert expense.dollars == pytest.approx(5 * 0.5 + 5 * 0.01)
    assert (expense.n_priced, expense.is_reported, expense.price) == (10, True, PRICE)


costs = st.one_of(st.none(), st.floats(), st.integers(-5, 5), st.just(10**400))
tokens = st.one_of(st.none(), st.integers(0, 100_000))


@settings(max_examples=80)
@given(st.lists(st.tuples(costs, tokens), max_size=40), st.floats(0.001, 5), st.integers(1, 8))
def test_nothing_is_begun_that_the_dearest_answer_so_far_would_take_beyond_the_bound(make_once, told, bound, most_open):
    """Whatever is told and however answers come back, finite dollars are counted and the bound is kept."""
    request = make_once.plan(1, "original").requests[0]
    spending = Spending(SpendingLimits(max_dollars=bound, price=PRICE))
    n_open = 0
    for cost, n_tokens in told:
        begun = spending.begin(request)
        if isinstance(begun, Stop):
            break
        if begun:
            n_open += 1
            assert spending.dollars + n_open * (spending.dearest or 0.0) <= bound
        if n_open >= most_open or not begun:
            spending.end(request, Reply(text="A", usage=Usage(input_tokens=n_tokens), extra={"cost": cost}))
            n_open -= 1
        assert math.isfinite(spending.dollars)
        assert spending.dollars >= 0


def test_the_counter_of_a_cluster_counts_as_one_process_does(make):
    request = make.plan(1, "original").requests[0]
    counter = Counter({"max_requests": None, "max_dollars": 0.045, "price": PRICE}, 0.0, None, 0, 60.0)
    n_begun = 0
    while counter.begin(encode_record(request))[0]:
        n_begun += 1
        counter.end(encode_record(request), {"input_tokens": 900, "output_tokens": 50}, {"cost": 0})
    assert n_begun == 4


def test_batches_with_the_provider_count_with_what_they_are_expected_to_cost(make):
    requests = make.plan(4, "original").requests

    def spending():
        return BatchSpending(SpendingLimits(max_dollars=1.0, price=PRICE), lambda held: 0.2 * len(held), 0.3, 0)

    assert spending().begin(requests[:3]) is None
    held = spending()
    held.hold(requests[:2])
    assert "$0.7000 is spent or with the provider, these may cost $0.6000" in held.begin(requests[:3]).reason
    assert held.begin(requests[:1]) is None
    assert held.begin(requests[:1]) is not None
