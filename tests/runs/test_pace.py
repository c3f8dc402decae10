"""Concurrency finds what the endpoint takes: up with answers, half with an overload, never past its bounds."""

import asyncio
import time

from hypothesis import given
from hypothesis import strategies as st

from eyechart.runs.pace import Pace


async def _fill(pace, n):
    held = [pace.hold() for _ in range(n)]
    for one in held:
        await asyncio.wait_for(one.__aenter__(), 1)
    return held


def test_it_grows_by_one_with_each_answer_until_its_bound():
    async def run():
        pace = Pace(12)
        held = await _fill(pace, pace.limit)
        limits = []
        for _ in range(6):
            pace.note_answer()
            limits.append(pace.limit)
            if pace.n_inside < pace.limit:
                held += await _fill(pace, pace.limit - pace.n_inside)
        return limits, len(held)

    assert asyncio.run(run()) == ([9, 10, 11, 12, 12, 12], 12)


def test_an_unused_allowance_does_not_grow():
    pace = Pace(100)
    for _ in range(50):
        pace.note_answer()
    assert pace.limit == 8


def test_several_failures_of_one_overload_halve_it_once():
    async def run():
        pace = Pace(8)
        held = await _fill(pace, 8)
        began = time.monotonic()
        told = [pace.note_overload(began) for _ in range(8)]
        return told, pace.limit, len(held)

    told, limit, _ = asyncio.run(run())
    assert told == [True, *[False] * 7]
    assert limit == 4


def test_after_an_overload_it_takes_a_full_round_of_answers_to_grow_by_one():
    async def run():
        pace = Pace(16)
        held = await _fill(pace, 8)
        pace.note_overload(time.monotonic())
        for one in held[:4]:
            await one.__aexit__(None, None, None)
        before = pace.limit
        for _ in range(5):
            pace.note_answer()
        return before, pace.limit

    assert asyncio.run(run()) == (4, 5)


@given(st.integers(1, 40), st.lists(st.booleans(), max_size=60))
def test_it_stays_between_one_and_its_bound(highest, answers):
    async def run():
        pace, held = Pace(highest), []
        for is_answer in answers:
            held += await _fill(pace, max(0, pace.limit - pace.n_inside))
            pace.note_answer() if is_answer else pace.note_overload(time.monotonic())
            assert 1 <= pace.limit <= highest

    asyncio.run(run())


def test_whoever_waits_is_let_in_when_another_leaves():
    async def run():
        pace = Pace(1)
        (first,) = await _fill(pace, 1)
        waiting = asyncio.create_task(_fill(pace, 1))
        await asyncio.sleep(0)
        assert not waiting.done()
        await first.__aexit__(None, None, None)
        await asyncio.wait_for(waiting, 1)
        return pace.n_inside

    assert asyncio.run(run()) == 1
