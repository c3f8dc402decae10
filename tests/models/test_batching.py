"""Questions that wait are answered together: largest first, alike in number of pictures, each with its own outcome."""

import asyncio

import pytest
from models.asks import ask, picture

from eyechart.errors import ModelError
from eyechart.kinds import Reply
from eyechart.models._batching import Batches


def ask_all(batches, asks):
    async def run():
        outcomes = await asyncio.gather(*map(batches.answer, asks), return_exceptions=True)
        await batches.close()
        return outcomes

    return asyncio.run(run())


def widths(batch):
    return [picture.size.width for one in batch for picture in one.pictures]


def test_batches_hold_the_largest_first_and_equally_many_pictures():
    seen = []

    def answer(batch):
        seen.append(widths(batch))
        return [Reply(text=one.prompt) for one in batch]

    sizes = [10, 50, 30, 20, 40]
    asks = [ask(picture(width=width), prompt=str(width)) for width in sizes]
    two = ask(picture(width=1), picture(width=2), prompt="two")
    replies = ask_all(Batches(answer, 3), [*asks, ask(prompt="none"), two])
    assert [reply.text for reply in replies] == [*map(str, sizes), "none", "two"]
    assert seen == [[1, 2], [50, 40, 30], [20, 10], []]


def test_an_error_concerns_its_own_question():
    batches = Batches(lambda batch: [ModelError("no") if "bad" in one.prompt else Reply(text="A") for one in batch], 4)
    outcomes = ask_all(batches, [ask(prompt="good"), ask(prompt="bad"), ask(prompt="good")])
    assert [type(one).__name__ for one in outcomes] == ["Reply", "ModelError", "Reply"]


def test_a_batch_that_fails_as_a_whole_fails_for_all_who_wait_for_it_and_no_other():
    def answer(batch):
        if len(batch) == 2:
            raise RuntimeError("both")
        return [Reply(text="A") for _ in batch]

    outcomes = ask_all(Batches(answer, 2), [ask(picture(width=width)) for width in (30, 20, 10)])
    assert [type(one).__name__ for one in outcomes] == ["RuntimeError", "RuntimeError", "Reply"]


def test_whoever_gave_up_is_not_asked():
    seen = []

    def answer(batch):
        seen.append(widths(batch))
        return [Reply(text="A") for _ in batch]

    async def run():
        batches = Batches(answer, 1)
        waiting = asyncio.create_task(batches.answer(ask(picture(width=7))))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await batches.answer(ask(picture(width=9)))
        await batches.close()

    asyncio.run(run())
    assert seen[-1] == [9]


def test_it_answers_again_after_it_was_closed():
    batches = Batches(lambda batch: [Reply(text="A") for _ in batch], 2)
    assert [ask_all(batches, [ask()])[0].text for _ in range(2)] == ["A", "A"]
