"""Who else is asking a run at this moment, as far as the files that writers append to can tell."""

import os
import re
import time
from datetime import datetime
from pathlib import Path

from eyechart.errors import UsageError

_NAME = re.compile(r"(?P<host>.+)-(?P<pid>\d+)-[0-9a-f]{8}(?:-\d+)?")
_RECENT_SECONDS = 60.0
# Times of files tick, by 10 ms on some systems: whoever looks after a tick sees every file that is not surely later.
_TICK_SECONDS = 0.02
_OWN_DESCRIPTORS = Path("/proc/self/fd")
_WAY_OUT = "end one, or share the work with --shard i/n"


def check_alone(own: Path, now: datetime) -> str | None:
    """Refuse to ask beside another process of this machine; return a warning where one elsewhere may be asking.

    No lock is taken: a process is asking while it has its file open, so one that was killed is in nobody's way. Of
    processes that begin together the one whose file was made first goes on. Where open files cannot be told (another
    user, no ``/proc``, another machine) a file that changed within the last minute is only warned of.

    Args:
        own: The file of this process, already made and still empty, beside those of the others.
        now: The present.

    Returns:
        The warning, None if nobody else is asking.

    Raises:
        UsageError: If another process of this machine is asking.
    """
    matched = _NAME.fullmatch(own.stem)
    host = matched["host"] if matched else ""
    warning = None
    time.sleep(_TICK_SECONDS)
    for path in sorted(own.parent.glob("*.jsonl")):
        name = _NAME.fullmatch(path.stem)
        if name is None or (name["host"] == host and int(name["pid"]) == os.getpid()):
            continue
        is_open = _is_open_in(int(name["pid"]), path) if name["host"] == host else None
        if is_open and _was_first(path, own):
            raise UsageError(
                f"process {name['pid']} on this machine is asking this run too: both would ask the same questions",
                hint=_WAY_OUT,
            )
        if is_open is None and _has_changed(path, now):
            warning = (
                f"a process on {name['host']} ({name['pid']}) wrote into this run less than a minute ago: if it is "
                f"still asking, both ask the same questions; {_WAY_OUT}"
            )
    return warning


def _is_open_in(pid: int, path: Path) -> bool | None:
    """Whether a process of this machine has a file open; None if that cannot be told."""
    if not _OWN_DESCRIPTORS.is_dir():
        return None if _is_alive(pid) else False
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except PermissionError:
        return None  # a process of somebody else
    except OSError:
        return False  # no such process
    return any(_is_same(descriptor, path) for descriptor in descriptors)


def _is_alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # elsewhere signal 0 is not a question
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_same(descriptor: Path, path: Path) -> bool:
    try:
        return descriptor.samefile(path)
    except OSError:
        return False  # closed, or removed, meanwhile


def _was_first(path: Path, own: Path) -> bool:
    """Whether another file was made before ours; one with answers in it was, since ours has none yet."""
    try:
        other, mine = path.stat(), own.stat()
    except OSError:
        return False  # removed meanwhile: that process gave way
    return other.st_size > 0 or (other.st_mtime_ns, path.name) < (mine.st_mtime_ns, own.name)


def _has_changed(path: Path, now: datetime) -> bool:
    try:
        return now.timestamp() - path.stat().st_mtime < _RECENT_SECONDS
    except OSError:
        return False
