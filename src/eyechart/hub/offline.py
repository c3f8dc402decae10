"""The hub's place when the network is switched off: what was fetched before, and nothing else."""

from collections.abc import Sequence
from pathlib import Path

from eyechart.errors import HubError
from eyechart.hub.hosts import RemoteFile
from eyechart.hub.record import FetchRecord

__all__ = ["OfflineHost"]

ONLINE = "unset HF_HUB_OFFLINE and run the same command again, or give --data a copy on disk"


class OfflineHost:
    """A host that knows what was fetched into a folder before, and loads nothing.

    It tells the folder's own record; papers and rows that were never fetched do not exist for it.
    """

    def __init__(self, record: FetchRecord) -> None:
        self.name, self.repository = record.host, record.repository
        self._record = record

    def resolve(self, revision: str | None) -> str:
        """Return the pinned commit.

        Raises:
            HubError: If another revision is asked for.
        """
        if revision not in {None, self._record.revision}:
            raise HubError(f"offline: {revision} of {self.repository} cannot be looked up", hint=ONLINE)
        return self._record.revision

    def list_folder(self, commit: str, folder: str, *, is_recursive: bool) -> tuple[RemoteFile, ...]:  # noqa: ARG002 -- one revision
        """Return what was fetched of a folder."""
        base = f"{folder}/" if folder else ""
        names = (name for name in self._record.files if name.startswith(base))
        return tuple(self._known(name) for name in names if is_recursive or "/" not in name[len(base) :])

    def describe(self, commit: str, paths: Sequence[str]) -> dict[str, RemoteFile]:  # noqa: ARG002 -- one revision
        """Return every path as if it existed: what was not fetched is then found missing."""
        return {path: self._known(path) for path in paths}

    def download(self, commit: str, file: RemoteFile, out: Path) -> None:  # noqa: ARG002 -- one revision
        """Load nothing.

        Raises:
            HubError: Always.
        """
        raise HubError(f"offline: {file.path} is not in the folder", hint=ONLINE)

    def _known(self, path: str) -> RemoteFile:
        known = self._record.files.get(path)
        return RemoteFile(path) if known is None else RemoteFile(path, known.n_bytes, known.sha256)
