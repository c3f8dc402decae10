"""Run a coroutine to its end, from a script or from inside a running event loop such as a notebook's."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import TypeVar

Result = TypeVar("Result")


def run_async(work: Coroutine[object, object, Result]) -> Result:
    """Run a coroutine to its end, in a thread of its own where this thread already runs an event loop.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after the coroutine was cancelled and has cleaned up.
    """
    return _run_in_thread(work) if _is_in_loop() else asyncio.run(work)


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_in_thread(work: Coroutine[object, object, Result]) -> Result:
    results: list[Result] = []
    errors: list[BaseException] = []
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def run() -> None:
        try:
            results.append(loop.run_until_complete(task))
        except BaseException as error:  # noqa: BLE001 -- carried to the thread that waits
            errors.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="eyechart-run")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if errors:
        raise errors[0]
    return results[0]
