"""What every host of published files can do, and how one of its files is told from another."""

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol, runtime_checkable

from eyechart.errors import HubError, ImageError
from eyechart.images.hash import file_sha256

_BLOCK_BYTES = 1 << 20


class RemoteFile(NamedTuple):
    """One file of a repository; what the host does not tell is None.

    Args:
        path: Path inside the repository, with ``/``.
        n_bytes: Length.
        sha256: SHA-256 of the content, lower-case hex.
        git_blob: Git's own hash of the content, where the host keeps the file in git itself.
    """

    path: str
    n_bytes: int | None = None
    sha256: str | None = None
    git_blob: str | None = None


@runtime_checkable
class Host(Protocol):
    """One repository on one host. Methods may be called by several threads."""

    name: str
    repository: str

    def resolve(self, revision: str | None) -> str:
        """Return the commit that a branch, tag or commit means; the newest of the main branch for None.

        Raises:
            HubError: If there is no such repository or revision, or the host cannot be asked.
        """
        ...

    def list_folder(self, commit: str, folder: str, *, is_recursive: bool) -> tuple[RemoteFile, ...]:
        """Return the files of a folder (the root for ``""``); none if there is no such folder.

        Raises:
            HubError: If the host cannot be asked.
        """
        ...

    def describe(self, commit: str, paths: Sequence[str]) -> dict[str, RemoteFile]:
        """Return what the host tells of these files by path; files that it does not have are left out.

        Raises:
            HubError: If the host cannot be asked.
        """
        ...

    def download(self, commit: str, file: RemoteFile, out: Path) -> None:
        """Write one file to ``out / file.path``, whole or not at all; its hash is not checked.

        Raises:
            HubError: If it cannot be fetched.
        """
        ...


def check_arrival(path: Path, file: RemoteFile, repository: str) -> tuple[str, int]:
    """Return SHA-256 and length of a file that arrived, after comparing them with what the host tells.

    Raises:
        HubError: If length or hash differ.
    """
    try:
        sha256, n_bytes = file_sha256(path)
    except ImageError as error:
        raise HubError(error.message, hint=error.hint) from error
    fault = None
    if file.n_bytes is not None and file.n_bytes != n_bytes:
        fault = f"{n_bytes} bytes arrived, not {file.n_bytes}"
    elif file.sha256 is not None and file.sha256 != sha256:
        fault = f"what arrived has the SHA-256 {sha256[:12]}…, not {file.sha256[:12]}…"
    elif file.sha256 is None and file.git_blob is not None and file.git_blob != git_blob_id(path, n_bytes):
        fault = f"what arrived is not the content of git blob {file.git_blob[:12]}…"
    if fault is not None:
        hint = "run the same command again: it loads what is missing"
        raise HubError(f"{repository}/{file.path}: {fault}", hint=hint)
    return sha256, n_bytes


def git_blob_id(path: Path, n_bytes: int) -> str:
    """Return the hash by which git names a file's content."""
    digest = hashlib.sha1(b"blob %d\0" % n_bytes, usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def check_inside(path: str, repository: str) -> str:
    """Return a path inside a repository unchanged.

    Raises:
        HubError: If it would leave the folder it is written to.

    Example:
        >>> check_inside("data/crop_3x/test/metadata.jsonl", "RL-MIND/SUM")
        'data/crop_3x/test/metadata.jsonl'
    """
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\\" in path:
        raise HubError(f"{repository}: the path {path!r} leaves the repository", hint="do not trust this repository")
    return path
