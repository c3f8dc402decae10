"""Bytes in flight are bounded, and nobody starves."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.runs.room import Room


@settings(max_examples=50)
@given(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=30), max_bytes=st.integers(1, 40))
def test_no_more_than_the_room_is_inside_unless_one_alone_is_larger(sizes, max_bytes):
    inside: list[int] = []
    order: list[int] = []

    async def visit(room, index):
        async with room.hold(sizes[index]):
            order.append(index)
            inside.append(sizes[index])
            assert sum(inside) <= max_bytes or len([size for size in inside if size]) == 1
            await asyncio.sleep(0)
            inside.remove(sizes[index])

    async def all_visit():
        room = Room(max_bytes)
        await asyncio.gather(*(visit(room, index) for index in range(len(sizes))))
        assert room.n_bytes == 0

    asyncio.run(all_visit())
    assert order == sorted(order)


def test_a_visit_that_fails_leaves_its_room():
    async def fail(room):
        async with room.hold(10):
            await asyncio.wait_for(asyncio.Event().wait(), timeout=0.001)

    async def visit_after_failure():
        room = Room(10)
        with pytest.raises(TimeoutError):
            await fail(room)
        async with room.hold(10):
            return room.n_bytes

    assert asyncio.run(visit_after_failure()) == 10
