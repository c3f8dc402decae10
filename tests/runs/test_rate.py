"""Requests and tokens a minute: evenly spread, corrected by what was used, and refused where they ask nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import UsageError
from eyechart.runs.rate import Rate, RateLimits, Spacing, check_rates
from eyechart.schema import Usage


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@given(st.floats(1, 10_000), st.lists(st.floats(0, 5), min_size=1, max_size=80))
def test_no_minute_sees_more_than_the_rate_allows(per_minute, pauses):
    clock = Clock()
    spacing = Spacing(per_minute, clock)
    began = []
    for pause in pauses:
        clock.seconds += pause
        began.append(clock.seconds + spacing.reserve(1))
    for first in range(len(began)):
        in_minute = [time for time in began[first:] if time < began[first] + 60]
        assert len(in_minute) <= per_minute + 1


def test_what_was_used_beyond_the_reservation_delays_the_next():
    spacing = Spacing(60, Clock())
    assert spacing.reserve(10) == 0
    spacing.settle(5)
    assert spacing.reserve(1) == 15


def test_tokens_are_estimated_by_what_earlier_answers_needed(make):
    request = make.plan(1, "original").requests[0]
    clock = Clock()
    rate = Rate(RateLimits(tokens=6000), clock)
    first = rate.reserve(request)
    rate.settle(request, first, Usage(input_tokens=990, output_tokens=10))
    second = rate.reserve(request)
    assert second.n_tokens == 1000
    assert second.wait_seconds == pytest.approx(10)
    assert rate.reserve(request).wait_seconds == pytest.approx(20)


def test_an_answer_without_usage_keeps_its_reservation(make):
    request = make.plan(1, "original").requests[0]
    rate = Rate(RateLimits(tokens=6000), Clock())
    first = rate.reserve(request)
    rate.settle(request, first, None)
    assert rate.reserve(request).wait_seconds == pytest.approx(first.n_tokens / 100)


@pytest.mark.parametrize(("limits", "flag"), [(RateLimits(requests=0), "--rpm 0"), (RateLimits(tokens=-1), "--tpm -1")])
def test_a_rate_that_asks_nothing_is_refused(limits, flag):
    with pytest.raises(UsageError, match=flag):
        check_rates(limits)
