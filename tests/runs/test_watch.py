"""The watchdog names what it waits for, and is quiet while answers come."""

import asyncio

from eyechart.runs.listening import Silent
from eyechart.runs.watch import Watch


class Noted(Silent):
    def __init__(self):
        self.sentences = []

    def noted(self, message):
        self.sentences.append(message)


def test_a_silence_names_the_oldest_request_in_flight(make):
    requests = make.plan(2, "original").requests
    listener = Noted()
    watch = Watch(listener, silence_seconds=0.02)

    async def run():
        async with watch.running():
            for request in requests:
                watch.begin(request)
            await asyncio.sleep(0.07)
            for request in requests:
                watch.end(request)
            n_told = len(listener.sentences)
            await asyncio.sleep(0.05)
            assert len(listener.sentences) == n_told

    asyncio.run(run())
    assert "2 requests in flight, the oldest (q000 in view original) for" in listener.sentences[0]
