"""Bounds on requests and dollars: kept, said, and refused where no price is known."""

import datetime

import pytest

from eyechart.errors import UsageError
from eyechart.kinds import Reply
from eyechart.runs.execute import LoopSettings
from eyechart.runs.folders import Destination
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.runs.spending import SpendingLimits, check_spending
from eyechart.schema import TokenPrice, Usage
from eyechart.views import resolve_views

PRICE = TokenPrice(input_per_million=10.0, output_per_million=20.0, date=datetime.date(2026, 1, 2), source="test")
# One answer: 900 in and 50 out make one cent.
CENT = Usage(input_tokens=900, output_tokens=50)


@pytest.fixture
def run(make, tmp_path, tiny_letter):
    def start(limits, *, reply=None, n=10, concurrency=1, price=PRICE):
        model = make.model(lambda ask: reply or Reply(text="A", usage=CENT))
        outcome = run_benchmark(
            make.benchmark(make.question(index) for index in range(n)),
            model,
            resolve_views("original")[0],
            make.prompt(),
            options=RunOptions(
                scorer=tiny_letter,
                loop=LoopSettings(concurrency=concurrency, spending=limits),
                where=Destination(out=tmp_path / "run"),
                price=price,
            ),
        )
        return outcome, model

    return start


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
