"""A release whose images are loaded when they are asked for and dropped soon after."""

import tempfile
from collections import OrderedDict
from pathlib import Path, PurePosixPath
from threading import Lock

from eyechart.benchmarks.sum import SumBenchmark
from eyechart.errors import HubError
from eyechart.hub.hosts import Host, RemoteFile, check_arrival
from eyechart.hub.record import read_record

MAX_KEPT = 64
"""Images kept on disk at once: more than a run has in flight, and few enough to forget."""

_N_LOCKS = 64


class StreamedShelf:
    """Images on a host; the latest few are kept in a temporary folder. May be used by several threads.

    Args:
        host: Where they are.
        commit: Of the release.
        max_kept: Images kept on disk.
    """

    def __init__(self, host: Host, commit: str, *, max_kept: int = MAX_KEPT) -> None:
        self.n_loaded = 0
        self._host, self._commit, self._max_kept = host, commit, max_kept
        self._scratch = tempfile.TemporaryDirectory(prefix="eyechart-stream-")
        self._listed: dict[str, dict[str, RemoteFile]] = {}
        self._kept: OrderedDict[str, Path] = OrderedDict()
        self._guard = Lock()
        # One thread loads an image while the others that want it wait.
        self._locks = tuple(Lock() for _ in range(_N_LOCKS))

    def holds(self, name: str) -> bool:
        """Return whether the host has an image."""
        return name in self._folder_of(name)

    def path(self, name: str) -> Path:
        """Return where an image lies now; it stays for the next ``max_kept`` images at least.

        Raises:
            HubError: If the host lacks it, or it arrives damaged.
        """
        with self._locks[hash(name) % _N_LOCKS]:
            with self._guard:
                if name in self._kept:
                    self._kept.move_to_end(name)
                    return self._kept[name]
            file = self._folder_of(name).get(name)
            if file is None:
                raise HubError(f"{self._host.repository} has no {name}", hint="see its card for images withdrawn")
            scratch = Path(self._scratch.name)
            self._host.download(self._commit, file, scratch)
            check_arrival(scratch / name, file, self._host.repository)
            self._keep(name, scratch / name)
            return scratch / name

    def _keep(self, name: str, path: Path) -> None:
        with self._guard:
            self.n_loaded += 1
            self._kept[name] = path
            while len(self._kept) > self._max_kept:
                _, oldest = self._kept.popitem(last=False)
                oldest.unlink(missing_ok=True)

    def _folder_of(self, name: str) -> dict[str, RemoteFile]:
        folder = str(PurePosixPath(name).parent)
        with self._guard:
            if folder not in self._listed:
                files = self._host.list_folder(self._commit, folder, is_recursive=False)
                self._listed[folder] = {file.path: file for file in files}
            return self._listed[folder]


def open_streamed(host: Host, folder: Path) -> SumBenchmark:
    """Return a release whose papers and rows were fetched into a folder and whose images stay on the host.

    Args:
        host: Where the images are.
        folder: Filled by ``fetch`` without images.

    Raises:
        HubError: If nothing was fetched into the folder, or from another repository.
        BenchmarkError: If the folder holds no release.
    """
    record = read_record(folder)
    if record is None:
        raise HubError(f"{folder} was not filled by eyechart fetch", hint=f"eyechart fetch sum --stream --out {folder}")
    return SumBenchmark(folder, StreamedShelf(host, record.revision))
