"""Laws of waiting: doubling within bounds, never shorter than the server asked."""

from hypothesis import given
from hypothesis import strategies as st

from eyechart.runs.patience import Patience, wait_seconds

jitters = st.floats(0, 1, exclude_max=True)


@given(n=st.integers(1, 10_000), jitter=jitters)
def test_own_waits_stay_between_half_of_the_first_and_the_longest(n, jitter):
    patience = Patience()
    wait = wait_seconds(patience, n, None, jitter)
    assert patience.first_wait_seconds / 2 <= wait <= patience.longest_wait_seconds


@given(n=st.integers(1, 8), jitter=jitters)
def test_waits_grow_with_every_failure(n, jitter):
    assert wait_seconds(Patience(), n + 1, None, jitter) >= wait_seconds(Patience(), n, None, jitter)


@given(n=st.integers(1, 20), asked=st.floats(0, 1e6), jitter=jitters)
def test_a_server_is_never_asked_before_it_wants_to_be(n, asked, jitter):
    wait = wait_seconds(Patience(), n, asked, jitter)
    assert asked <= wait <= asked + Patience().longest_wait_seconds
