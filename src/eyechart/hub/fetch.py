"""Fetch parts of a collection into a folder: only what was asked for, only what is not there yet, one commit."""

import fnmatch
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eyechart.errors import HubError, UsageError
from eyechart.hub.collections import Collection
from eyechart.hub.hosts import Host, RemoteFile
from eyechart.hub.loading import Loader, OnProgress
from eyechart.hub.offline import ONLINE, OfflineHost
from eyechart.hub.record import FetchRecord, read_record
from eyechart.hub.release_parts import (
    check_ids,
    choose_views,
    describe_images,
    image_paths,
    paper_files,
    row_files,
)
from eyechart.images.files import link_or_copy
from eyechart.schema import Value

_N_SHOWN = 3


class Wanted(Value, frozen=True):
    """What of a collection is asked for.

    Args:
        views: View ids of a release, or ``all``.
        ids: Question ids; all if None.
        patterns: File patterns of a collection that is not a release.
        has_images: Whether pictures are loaded at all; without them a run streams them.
    """

    views: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None
    patterns: tuple[str, ...] = ()
    has_images: bool = True


class FetchReport(Value, frozen=True, kw_only=True):
    """What was, or in a dry run would be, loaded.

    Args:
        collection: Its name.
        host: ``huggingface``, ``modelscope`` or ``folder``.
        repository: Where it came from.
        revision: The commit.
        folder: Where it lies.
        views: The views of a release that were asked for.
        n_files: Files that were asked for, papers and rows included.
        n_bytes: Their length.
        n_loaded: Files that were loaded now (in a dry run: would be).
        n_loaded_bytes: Their length.
        absent: Images that rows name and the host lacks.
    """

    collection: str
    host: str
    repository: str
    revision: str
    folder: str
    views: tuple[str, ...] = ()
    n_files: int = 0
    n_bytes: int = 0
    n_loaded: int = 0
    n_loaded_bytes: int = 0
    absent: tuple[str, ...] = ()


def fetch(
    host: Host,
    collection: Collection,
    folder: Path,
    wanted: Wanted,
    *,
    revision: str | None = None,
    is_dry_run: bool = False,
    n_at_once: int = 8,
    on_progress: OnProgress | None = None,
) -> FetchReport:
    """Load what is asked for and not yet in the folder.

    The commit of the first call is pinned in ``fetched.json``; later calls into the same folder load from it. Every
    file is compared with the length and hash that the host tells.

    Args:
        host: Where the files are.
        collection: What they are.
        folder: Where they go; made if missing.
        wanted: Which of them.
        revision: Branch, tag or commit; the pinned one, else the newest, if None.
        is_dry_run: Load nothing into the folder, only tell files and bytes.
        n_at_once: Downloads side by side.
        on_progress: Told whenever files are to be loaded, and of every one that arrived.

    Raises:
        HubError: If the host refuses or files fail; what arrived is kept and a later call goes on.
        UsageError: If a view or question does not exist, or the folder holds another repository or commit.
        StoreError: If the folder cannot be written.
    """
    record = _pinned(host, collection, folder, revision)
    loader = Loader(host, folder, record, n_at_once=n_at_once, on_progress=on_progress)
    if not is_dry_run:
        return _fetch(_Taking(loader, folder), host, collection, wanted)
    with tempfile.TemporaryDirectory(prefix="eyechart-") as scratch:
        reader = Loader(host, Path(scratch), record, n_at_once=n_at_once)
        return _fetch(_Taking(loader, folder, reader, Path(scratch)), host, collection, wanted)


class _Taking:
    """Loads, or in a dry run counts, what is missing from a folder.

    A dry run loads the papers, from which names are read, into a scratch folder.
    """

    def __init__(self, loader: Loader, folder: Path, reader: Loader | None = None, scratch: Path | None = None) -> None:
        self.loader, self.folder = loader, folder
        self.files: list[RemoteFile] = []
        self.missing: list[RemoteFile] = []
        self._reader, self._scratch = reader, scratch

    @property
    def papers(self) -> Path:
        """Where papers and rows can be read."""
        return self._scratch or self.folder

    def take(self, files: Sequence[RemoteFile], *, is_paper: bool = False) -> None:
        """Load what is missing of these files, or count it."""
        missing = self.loader.missing(files)
        self.files += files
        self.missing += missing
        if missing and isinstance(self.loader.host, OfflineHost):
            shown = ", ".join(file.path for file in missing[:_N_SHOWN])
            raise HubError(f"offline: {len(missing)} files are not in {self.folder}: {shown}", hint=ONLINE)
        if self._reader is None or self._scratch is None:
            self.loader.load(missing)
        elif is_paper:
            self._reader.load(missing)
            for file in files:
                if file not in missing:
                    link_or_copy(self.folder / file.path, self._scratch / file.path)


def _fetch(taking: _Taking, host: Host, collection: Collection, wanted: Wanted) -> FetchReport:
    commit = taking.loader.record.revision
    views: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    if collection.layout == "files":
        taking.take(matching_files(host, commit, wanted.patterns))
    else:
        ids = check_ids(wanted.ids)
        taking.take(paper_files(host, commit), is_paper=True)
        views = choose_views(taking.papers, host, commit, wanted.views)
        taking.take(row_files(host, commit, views), is_paper=True)
        paths = image_paths(taking.papers, views, ids)
        images = describe_images(host, commit, paths, are_whole_views=ids is None) if wanted.has_images else {}
        taking.take(tuple(images.values()))
        absent = tuple(path for path in paths if path not in images) if wanted.has_images else ()
    return FetchReport(
        collection=collection.name,
        host=host.name,
        repository=host.repository,
        revision=commit,
        folder=str(taking.folder),
        views=views,
        n_files=len(taking.files),
        n_bytes=sum(file.n_bytes or 0 for file in taking.files),
        n_loaded=len(taking.missing),
        n_loaded_bytes=sum(file.n_bytes or 0 for file in taking.missing),
        absent=absent,
    )


def matching_files(host: Host, commit: str, patterns: Sequence[str]) -> tuple[RemoteFile, ...]:
    """Return the files whose path fits one of the patterns; ``*`` spans folders.

    Raises:
        UsageError: If a pattern fits none.
    """
    listed = host.list_folder(commit, "", is_recursive=True)
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(file.path, pattern) for file in listed):
            shown = ", ".join(file.path for file in listed[:5]) or "nothing"
            raise UsageError(f"no file of {host.repository} fits {pattern!r}", hint=f"it holds {shown}, …")
    return tuple(file for file in listed if any(fnmatch.fnmatchcase(file.path, pattern) for pattern in patterns))


def _pinned(host: Host, collection: Collection, folder: Path, revision: str | None) -> FetchRecord:
    """Return the record to go on with: the folder's own, or a new one at the commit that is asked for.

    Raises:
        UsageError: If the folder holds another repository or commit.
        HubError: If the commit cannot be told.
    """
    record = read_record(folder)
    if record is None:
        commit = host.resolve(revision)
        return FetchRecord(collection=collection.name, host=host.name, repository=host.repository, revision=commit)
    if (record.host, record.repository) != (host.name, host.repository):
        raise UsageError(
            f"{folder} holds files of {record.repository} ({record.host}), not of {host.repository} ({host.name})",
            hint="choose another folder with --out",
        )
    if revision is not None and revision != record.revision and host.resolve(revision) != record.revision:
        raise UsageError(
            f"{folder} is pinned to revision {record.revision}, and {revision} is another one",
            hint="choose another folder with --out: one folder never mixes two revisions",
        )
    return record
