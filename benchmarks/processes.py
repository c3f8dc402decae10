"""What a command costs with all processes it starts: CPU, wall, the peak memory of each, and whether cores were free.

A pool's workers are the children of a fork server, which nobody waits for; so this process adopts them (Linux).
"""

import ctypes
import os
import resource
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PR_SET_CHILD_SUBREAPER = 36
_POLL_SECONDS = 0.05
# Of a fork server or a resource tracker; a process that decodes pictures needs more.
_WORKER_MB = 60


class Cost(NamedTuple):
    """Seconds, megabytes of each process by id, and how many cores nothing wanted meanwhile."""

    cpu: float
    wall: float
    peaks_mb: dict[int, float]
    idle_cores: float

    @property
    def worker_peaks_mb(self) -> list[float]:
        """Peaks of the processes that work on pictures, the largest first."""
        return sorted((peak for peak in self.peaks_mb.values() if peak > _WORKER_MB), reverse=True)


def measure(command: list[str], cwd: Path, *, stop_after: float | None = None) -> Cost:
    """Run a command to its end and return its cost.

    Args:
        command: The command.
        cwd: Where it runs.
        stop_after: Kill it and all its processes after so many seconds, as a crash would.

    Raises:
        CalledProcessError: If it fails and was not killed.
    """
    _adopt_orphans()
    before, idle, start = resource.getrusage(resource.RUSAGE_CHILDREN), _idle_core_seconds(), time.perf_counter()
    with subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as main:
        peaks: dict[int, float] = {}
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(main.pid, peaks, done))
        watcher.start()
        stopper = threading.Timer(stop_after, os.killpg, (main.pid, 9)) if stop_after is not None else None
        if stopper is not None:
            stopper.start()
        complaint = main.stderr.read() if main.stderr else b""
        code = main.wait()
        wall = time.perf_counter() - start
        done.set()
        watcher.join()
        if stopper is not None:
            stopper.cancel()
    if code and stop_after is None:
        raise subprocess.CalledProcessError(code, command, stderr=complaint[-2000:].decode())
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-main.pid, 0)  # those of its process group, and no other child of ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall, peaks, (_idle_core_seconds() - idle) / wall)


def _adopt_orphans() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _watch(main: int, peaks: dict[int, float], done: threading.Event) -> None:
    """Note the highest memory of every process of a session; not ru_maxrss, which a child inherits from its parent."""
    while not done.wait(_POLL_SECONDS):
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with suppress(OSError, IndexError, ValueError):  # it ended meanwhile
                    session = int((entry / "stat").read_text().rpartition(")")[2].split()[3])
                    if session == main:
                        status = (entry / "status").read_text()
                        peaks[int(entry.name)] = int(status.split("VmHWM:")[1].split()[0]) / 1024


def _idle_core_seconds() -> float:
    """Seconds that all cores together have been idle since the system started."""
    return float(Path("/proc/uptime").read_text().split()[1])
