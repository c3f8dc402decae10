"""Repositories for the local hubs: any files, hashed and listed as git and its large-file storage do."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

_LFS_SUFFIXES = frozenset({".bin", ".jpeg", ".jpg", ".parquet", ".png", ".tif", ".tiff", ".tsv", ".zip"})


class HubRepository:
    """Files of one repository, at a commit that follows from their content.

    Args:
        id: ``owner/name``.
        files: Content, or the path of a file, by path inside the repository.
        kind: ``datasets`` or ``models``.
        branches: Names that mean this commit.
        is_private: Whether only the server's key opens it.
    """

    def __init__(
        self,
        id: str,
        files: Mapping[str, bytes | Path],
        *,
        kind: str = "datasets",
        branches: Iterable[str] = ("main",),
        is_private: bool = False,
    ) -> None:
        self.id, self.kind, self.branches, self.is_private = id, kind, tuple(branches), is_private
        self._files = dict(files)
        self._hashes: dict[str, tuple[str, str, int]] = {}

    @classmethod
    def of_folder(cls, id: str, folder: Path, **settings: object) -> "HubRepository":
        """Serve the files under a folder."""
        found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
        return cls(id, {name.replace("\\", "/"): path for name, path in found.items()}, **settings)

    @property
    def commit(self) -> str:
        """Forty hex digits that name the content."""
        listed = "".join(f"{name}\0{self.hashes(name)[0]}\n" for name in sorted(self._files))
        return hashlib.sha1(f"{self.id}\n{listed}".encode()).hexdigest()  # noqa: S324 -- as git names commits

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def put(self, name: str, content: bytes) -> None:
        """Add or replace a file: the repository has another commit then."""
        self._files[name] = content
        self._hashes.pop(name, None)

    def remove(self, name: str) -> None:
        del self._files[name]

    def content(self, name: str) -> bytes:
        found = self._files[name]
        return found if isinstance(found, bytes) else found.read_bytes()

    def hashes(self, name: str) -> tuple[str, str, int]:
        """Return the SHA-256, the git blob id and the length of a file."""
        if name not in self._hashes:
            content = self.content(name)
            blob = hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()  # noqa: S324 -- git's own id
            self._hashes[name] = hashlib.sha256(content).hexdigest(), blob, len(content)
        return self._hashes[name]

    def is_large(self, name: str) -> bool:
        return Path(name).suffix.lower() in _LFS_SUFFIXES

    def is_revision(self, text: str) -> bool:
        return text in self.branches or text == self.commit

    def entry(self, name: str) -> dict:
        """Return what a listing says about a file."""
        sha256, blob, n_bytes = self.hashes(name)
        listed = {"type": "file", "path": name, "size": n_bytes, "oid": blob}
        if self.is_large(name):
            listed["lfs"] = {"oid": sha256, "size": n_bytes, "pointerSize": 130}
        return listed

    def tree(self, folder: str, *, is_recursive: bool) -> list[dict]:
        """Return the entries of a folder, folders themselves included."""
        base = f"{folder}/" if folder else ""
        entries: dict[str, dict] = {}
        for name in self.names:
            if not name.startswith(base):
                continue
            parts = name[len(base) :].split("/")
            for depth in range(1, len(parts) if is_recursive else min(len(parts), 2)):
                path = base + "/".join(parts[:depth])
                entries[path] = {"type": "directory", "path": path, "oid": "0" * 40}
            if is_recursive or len(parts) == 1:
                entries[name] = self.entry(name)
        return list(entries.values())
