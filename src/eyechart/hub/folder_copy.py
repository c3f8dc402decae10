"""A copy of a collection on disk, in the place of a hub."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from eyechart.errors import HubError
from eyechart.hub.hosts import RemoteFile, check_inside
from eyechart.hub.record import RECORD_NAME, read_record

__all__ = ["FolderHost"]

_COMMIT = re.compile(r"[0-9a-f]{40}")


class FolderHost:
    """A folder that holds a repository's files, such as a snapshot in the hub's cache or a mounted disk.

    Its commit is the one it was fetched at, or the folder's own name where that is one (as in the hub's cache), else a
    hash of names and lengths.

    Raises:
        HubError: If there is no such folder.
    """

    name = "folder"

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise HubError(f"{folder} is not a folder", hint="give --data the folder of a copy", concerns_all=True)
        self.repository = folder.name
        self._folder = folder

    def resolve(self, revision: str | None) -> str:
        """Return the commit of the copy.

        Raises:
            HubError: If another revision is asked for: a copy holds one.
        """
        record = read_record(self._folder)
        name = self._folder.resolve().name if record is None else record.revision
        commit = name if _COMMIT.fullmatch(name) else self._digest()
        if revision not in {None, commit}:
            hint = "leave --revision out for a copy on disk"
            raise HubError(f"{self._folder} holds revision {commit}, not {revision}", hint=hint, concerns_all=True)
        return commit

    def list_folder(self, commit: str, folder: str, *, is_recursive: bool) -> tuple[RemoteFile, ...]:  # noqa: ARG002 -- one revision
        """Return the files of a folder."""
        return tuple(self._under(folder, is_recursive=is_recursive))

    def describe(self, commit: str, paths: Sequence[str]) -> dict[str, RemoteFile]:  # noqa: ARG002 -- one revision
        """Return the files that are there."""
        sizes = {path: self._size(path) for path in paths}
        return {path: RemoteFile(path, size) for path, size in sizes.items() if size is not None}

    def download(self, commit: str, file: RemoteFile, out: Path) -> None:  # noqa: ARG002 -- one revision
        """Copy one file."""
        target = out / check_inside(file.path, self.repository)
        part = target.with_name(f".{target.name}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._folder / file.path, part)
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            hint = "check the disk, then run the same command again"
            raise HubError(f"{self._folder / file.path}: cannot copy ({error.strerror})", hint=hint) from error

    def _under(self, folder: str, *, is_recursive: bool) -> Iterator[RemoteFile]:
        root = self._folder / folder
        if not root.is_dir():
            return
        for parent, folders, names in os.walk(root, followlinks=False):
            folders[:] = sorted(name for name in folders if not name.startswith(".")) if is_recursive else []
            for name in sorted(names):
                path = (Path(parent) / name).relative_to(self._folder).as_posix()
                size = self._size(path)
                if size is not None and path != RECORD_NAME:
                    yield RemoteFile(path, size)

    def _size(self, path: str) -> int | None:
        try:
            return (self._folder / path).stat().st_size if (self._folder / path).is_file() else None
        except OSError:
            return None

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for file in self._under("", is_recursive=True):
            digest.update(f"{file.path}\0{file.n_bytes}\n".encode())
        return digest.hexdigest()[:40]
