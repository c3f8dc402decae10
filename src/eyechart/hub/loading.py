"""Load files side by side into one folder, each checked as it arrives, and remember which are there."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from eyechart.errors import HubError
from eyechart.hub.hosts import Host, RemoteFile, check_arrival, check_inside
from eyechart.hub.record import FetchedFile, FetchRecord, write_record


class LoadProgress(NamedTuple):
    """How far a fetch is: files and bytes that arrived now, and those known so far to be loaded."""

    n_files: int = 0
    n_files_all: int = 0
    n_bytes: int = 0
    n_bytes_all: int = 0


OnProgress = Callable[[LoadProgress], None]

ARRIVING_NAME = ".fetching"
"""Folder for files on their way; what stands elsewhere is whole and checked."""

_RECORD_EVERY = 200
_TELL_SECONDS = 1.0
_MAX_FAILURES_IN_A_ROW = 10
_SPARE_BYTES = 64 << 20


class Loader:
    """Loads files of one commit into one folder.

    Args:
        host: Where they come from.
        folder: Where they go.
        record: What is known of the folder: its commit, and the files that arrived before.
        n_at_once: Downloads side by side.
        on_progress: Told whenever files are to be loaded, and of every one that arrived.
    """

    def __init__(
        self,
        host: Host,
        folder: Path,
        record: FetchRecord,
        *,
        n_at_once: int = 8,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.record = record
        self.host, self._folder = host, folder
        self._n_at_once, self._on_progress = n_at_once, on_progress
        self._arriving = folder / ARRIVING_NAME
        self._progress = LoadProgress()
        self._arrived: dict[str, FetchedFile] = {}

    def missing(self, files: Iterable[RemoteFile]) -> tuple[RemoteFile, ...]:
        """Return the files that are not in the folder with the length and hash they should have.

        A file that was recorded when it arrived is judged by its length; one of unknown origin is hashed and, where it
        is the right one, recorded.
        """
        return tuple(file for file in files if not self._is_there(file))

    def load(self, files: Sequence[RemoteFile]) -> None:
        """Load files; what arrives is recorded even if others fail.

        Raises:
            HubError: If the disk is too small (nothing is loaded then), or files failed after all others arrived.
            StoreError: If the record cannot be written.
        """
        self._check_room(files)
        failed: list[HubError] = []
        if files:
            self._tell(LoadProgress(n_files_all=len(files), n_bytes_all=sum(file.n_bytes or 0 for file in files)))
        try:
            with ThreadPoolExecutor(max_workers=self._n_at_once) as pool:
                self._load_with(pool, list(files), failed)
        finally:
            self._remember()
            shutil.rmtree(self._arriving, ignore_errors=True)
        if failed:
            first = failed[0]
            rest = f" (and {len(failed) - 1} other files failed)" if len(failed) > 1 else ""
            raise HubError(f"{first.message}{rest}", hint=first.hint, concerns_all=first.concerns_all)

    def _load_with(self, pool: ThreadPoolExecutor, waiting: list[RemoteFile], failed: list[HubError]) -> None:
        """Keep the pool busy until all is done, or until going on makes no sense."""
        waiting.reverse()
        running: dict[Future[FetchedFile], RemoteFile] = {}
        n_in_a_row = 0
        while running or waiting:
            while waiting and len(running) < 2 * self._n_at_once:
                file = waiting.pop()
                running[pool.submit(self._load_one, file)] = file
            done = wait(running, timeout=_TELL_SECONDS, return_when=FIRST_COMPLETED).done
            if not done:
                self._tell_of_parts()
            for future in done:
                file = running.pop(future)
                try:
                    self._note(file, future.result())
                    n_in_a_row = 0
                except HubError as error:
                    failed.append(error)
                    n_in_a_row += 1
                    if error.concerns_all or n_in_a_row >= _MAX_FAILURES_IN_A_ROW:
                        waiting.clear()

    def _load_one(self, file: RemoteFile) -> FetchedFile:
        arriving = self._arriving / check_inside(file.path, self.host.repository)
        arriving.unlink(missing_ok=True)
        self.host.download(self.record.revision, file, self._arriving)
        sha256, n_bytes = check_arrival(arriving, file, self.host.repository)
        target = self._folder / file.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            arriving.replace(target)
        except OSError as error:
            hint = "is something else in its place?"
            raise HubError(f"{target}: cannot be written ({error.strerror})", hint=hint) from error
        return FetchedFile(n_bytes, sha256)

    def _note(self, file: RemoteFile, fetched: FetchedFile) -> None:
        self._arrived[file.path] = fetched
        if len(self._arrived) >= _RECORD_EVERY:
            self._remember()
        self._tell(LoadProgress(n_files=1, n_bytes=fetched.n_bytes))

    def _tell_of_parts(self) -> None:
        """Tell how much has arrived of files that are still on their way: one file may be gigabytes."""
        if self._on_progress is None:
            return
        n_bytes = self._progress.n_bytes
        with suppress(OSError):  # what has just arrived is gone from here
            n_bytes += sum(path.stat().st_size for path in self._arriving.rglob("*") if path.is_file())
        self._on_progress(self._progress._replace(n_bytes=min(n_bytes, self._progress.n_bytes_all)))

    def _tell(self, more: LoadProgress) -> None:
        self._progress = LoadProgress(*(before + new for before, new in zip(self._progress, more, strict=True)))
        if self._on_progress is not None:
            self._on_progress(self._progress)

    def _remember(self) -> None:
        if self._arrived:
            files = {**self.record.files, **self._arrived}
            self.record = msgspec.structs.replace(self.record, files=files)
            self._arrived = {}
            write_record(self._folder, self.record)

    def _is_there(self, file: RemoteFile) -> bool:
        path = self._folder / check_inside(file.path, self.host.repository)
        if not path.is_file():
            return False
        known = self.record.files.get(file.path)
        if known is not None:
            return path.stat().st_size == known.n_bytes and file.sha256 in {None, known.sha256}
        if file.sha256 is None and file.git_blob is None:
            return False
        try:
            sha256, n_bytes = check_arrival(path, file, self.host.repository)
        except HubError:
            return False
        self._arrived[file.path] = FetchedFile(n_bytes, sha256)
        return True

    def _check_room(self, files: Sequence[RemoteFile]) -> None:
        n_bytes = sum(file.n_bytes or 0 for file in files)
        existing = next(parent for parent in (self._folder, *self._folder.absolute().parents) if parent.exists())
        n_free = shutil.disk_usage(existing).free
        if n_bytes + _SPARE_BYTES > n_free:
            raise HubError(
                f"{n_bytes:,} bytes are to be loaded, and {existing} has {n_free:,} free",
                hint="ask for fewer views or ids, use --stream, or choose another --out",
            )
