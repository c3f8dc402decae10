"""Processes that render pictures side by side: one picture, all its views, one decode."""

import ctypes
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from eyechart.errors import EyechartError, ImageError
from eyechart.images.render import DEFAULT_RENDER_SETTINGS, RenderedPicture, RenderSettings, render_views_of_picture
from eyechart.images.resample import check_resampler
from eyechart.schema import Composition, Value

# Parameters of mallopt(3), from glibc's malloc.h.
_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_MAX = -4
_TOP_PAD_BYTES = 64 << 20


class PictureJob(Value, frozen=True):
    """One original and the views to write of it; see ``render_views_of_picture``."""

    path: Path
    views: tuple[tuple[str, Composition], ...]
    place: str = ""


class RenderOutcome(Value, frozen=True):
    """What became of a job: the picture, or the error that says why not."""

    job: PictureJob
    picture: RenderedPicture | None = None
    error: EyechartError | None = None


def n_processors() -> int:
    """Return how many processors this process may use: fewer than there are inside a container or a job."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def render_batches(
    jobs: Sequence[PictureJob],
    out_dir: Path,
    settings: RenderSettings = DEFAULT_RENDER_SETTINGS,
    *,
    n_processes: int | None = None,
) -> Iterator[RenderOutcome]:
    """Render pictures in parallel processes and yield the outcomes in the order of the jobs.

    A picture that fails does not stop the others. Processes are used because most of the work between library calls
    holds the interpreter's lock; with one process everything happens in the caller's.

    Args:
        jobs: The pictures and their views.
        out_dir: Folder that all names are relative to.
        settings: Decode policy, resampler and encoder.
        n_processes: At least 1; the number of processors if None, and never more than there are jobs.

    Raises:
        UsageError: If the resampler is unknown.
        MissingDependencyError: If the resampler's library is not installed.
        ImageError: If a process was killed, usually for lack of memory.
    """
    check_resampler(settings.resampler)
    n_processes = max(1, min(n_processes or n_processors(), len(jobs)))
    if n_processes == 1:
        yield from (_outcome(job, out_dir, settings) for job in jobs)
        return
    # Not fork: a copy of a process whose libraries run threads can hang.
    context = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    pool = ProcessPoolExecutor(n_processes, mp_context=context, initializer=start_worker)
    try:
        futures = [pool.submit(_outcome, job, out_dir, settings) for job in jobs]
        for future in futures:
            yield future.result()
    except BrokenProcessPool as error:
        raise ImageError(
            f"a rendering process ended before its work did, with {n_processes} at once",
            hint="usually too little memory: use fewer processes; in a script, call it under if __name__ == '__main__'",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def start_worker() -> None:
    """Prepare a process that renders: one thread in libvips, and freed memory kept for the next picture."""
    os.environ["VIPS_CONCURRENCY"] = "1"
    keep_freed_memory()


def keep_freed_memory() -> bool:
    """Tell glibc to reuse freed memory instead of returning it, in this process and for good.

    Fresh pages cost a third of the time of a fast pipeline on large pictures. Does nothing on other C libraries.

    Returns:
        Whether all parameters were accepted.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # no glibc
        return False
    parameters = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, -1), (_M_TOP_PAD, _TOP_PAD_BYTES))
    accepted = [mallopt(name, setting) == 1 for name, setting in parameters]
    return all(accepted)


def _outcome(job: PictureJob, out_dir: Path, settings: RenderSettings) -> RenderOutcome:
    try:
        picture = render_views_of_picture(job.path, job.views, out_dir, settings, place=job.place)
    except EyechartError as error:
        return RenderOutcome(job, error=error)
    return RenderOutcome(job, picture)
