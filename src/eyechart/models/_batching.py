"""Questions that wait are answered together, those with pictures of similar sizes in one batch."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from eyechart.kinds import Ask, Reply

AnswerBatch = Callable[[Sequence[Ask]], Sequence[Reply | Exception]]
"""Answers several questions; an exception in the place of a reply concerns that question alone."""


class Batches:
    """Collects questions while a batch is being answered, in the one thread that may touch the model.

    The largest question waiting goes next, with those nearest to it in size: what does not fit into memory shows
    early, and little is padded.

    Args:
        answer_batch: Answers one batch; runs in the thread.
        batch_size: Most questions of a batch.
    """

    def __init__(self, answer_batch: AnswerBatch, batch_size: int) -> None:
        self._answer_batch, self._batch_size = answer_batch, batch_size
        self._waiting: list[tuple[Ask, asyncio.Future[Reply]]] = []
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-model")
        self._running: asyncio.Task[None] | None = None

    async def answer(self, ask: Ask) -> Reply:
        """Answer one question, with others where there are some.

        Raises:
            Exception: What the batch said of this question.
        """
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((ask, answered))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        return await answered

    async def close(self) -> None:
        """Wait for the batch that is being answered, and end the thread."""
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)
        self._thread.shutdown()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-model")

    async def _run(self) -> None:
        await asyncio.sleep(0)  # whoever asks at the same moment belongs to the first batch
        while self._waiting:
            batch = self._take()
            if not batch:
                return
            asks = [ask for ask, _ in batch]
            try:
                outcomes = await asyncio.get_running_loop().run_in_executor(self._thread, self._answer_batch, asks)
            except Exception as error:  # noqa: BLE001 -- whatever it is, it belongs to those who wait for this batch
                outcomes = [error] * len(batch)
            for (_, answered), outcome in zip(batch, outcomes, strict=True):
                if answered.done():  # whoever waited has given up
                    continue
                if isinstance(outcome, Exception):
                    answered.set_exception(outcome)
                else:
                    answered.set_result(outcome)

    def _take(self) -> list[tuple[Ask, asyncio.Future[Reply]]]:
        """Remove the next batch from those who still wait; all of it holds equally many pictures."""
        self._waiting = [entry for entry in self._waiting if not entry[1].done()]
        self._waiting.sort(key=lambda entry: _size(entry[0]), reverse=True)
        alike = [entry for entry in self._waiting if len(entry[0].pictures) == len(self._waiting[0][0].pictures)]
        batch = alike[: self._batch_size]
        self._waiting = [entry for entry in self._waiting if entry not in batch]
        return batch


def _size(ask: Ask) -> tuple[int, int, int]:
    """Return what decides how much is computed: pictures, their pixels, and the length of the prompt."""
    return (len(ask.pictures), sum(picture.size.n_px for picture in ask.pictures), len(ask.prompt))
