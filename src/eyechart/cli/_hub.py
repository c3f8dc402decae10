"""Which host a command loads from: flags and the hub's own environment variables."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from eyechart.errors import HubError, UsageError

if TYPE_CHECKING:
    from eyechart.benchmarks.sum import SumBenchmark
    from eyechart.hub.collections import Collection
    from eyechart.hub.hosts import Host

HostName = Literal["huggingface", "modelscope"]

_TRUE = frozenset({"1", "on", "yes", "true"})


def open_host(
    collection: "Collection",
    folder: Path,
    *,
    host: HostName | None = None,
    repository: str | None = None,
    data: Path | None = None,
) -> "Host":
    """Return where a collection is loaded from.

    A folder that was filled before goes on with its own host and repository, unless others are named.

    Args:
        collection: What is loaded.
        folder: Where to.
        host: Which hub.
        repository: ``owner/name``, if not the usual one.
        data: A copy on disk, in place of a hub.

    Raises:
        HubError: If the network is switched off and nothing was fetched yet, or the folder's record is damaged.
        UsageError: If the collection is not on that hub, or a copy and a hub are named together.
        MissingDependencyError: If the hub's library is not installed.
    """
    from eyechart.hub.folder_copy import FolderHost
    from eyechart.hub.offline import OfflineHost
    from eyechart.hub.record import read_record

    record = read_record(folder)
    if data is not None:
        if repository is not None or host is not None:
            raise UsageError("--data takes the files from a copy on disk", hint="leave --host and --repository out")
        return FolderHost(data)
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in _TRUE:
        if record is None:
            hint = "unset HF_HUB_OFFLINE, or give --data a copy on disk such as a snapshot in the hub's cache"
            raise HubError(f"HF_HUB_OFFLINE is set, and nothing was fetched into {folder} yet", hint=hint)
        return OfflineHost(record)
    is_same_hub = record is not None and record.host != "folder" and host in {None, record.host}
    if record is not None and is_same_hub:
        return _online(record.host, repository or record.repository)
    if host == "modelscope":
        if repository is None and collection.modelscope is None:
            raise UsageError(f"{collection.name} is not known on ModelScope", hint="name it with --repository")
        return _online("modelscope", repository or collection.modelscope or "")
    return _online("huggingface", repository or collection.huggingface)


def open_streamed_release(name: str, data: Path | None, views: str) -> "SumBenchmark":
    """Return a release whose images stay on the hub; its papers are fetched first where they are not there yet.

    Args:
        name: Of the collection.
        data: Folder for papers and rows; the collection's name if None.
        views: Comma-separated view ids whose rows are needed, or ``sum29`` for all.

    Raises:
        UsageError: If the collection is not in the layout of a release, or has no such view.
        HubError: If the hub cannot be asked.
    """
    from eyechart.cli._output import say
    from eyechart.hub.collections import find_collection
    from eyechart.hub.fetch import Wanted, fetch
    from eyechart.hub.streaming import open_streamed

    collection = find_collection(name)
    if collection.layout != "release":
        raise UsageError(f"{name} cannot be streamed", hint=f"eyechart fetch {name}, then leave --stream out")
    folder = data or Path(name)
    host = open_host(collection, folder)
    asked = tuple(part.strip() for part in views.split(",") if part.strip())
    fetch(host, collection, folder, Wanted(views=asked, has_images=False))
    say(f"images come from {host.repository} ({host.name}) as they are needed, and none is kept")
    return open_streamed(host, folder)


def _online(host: str, repository: str) -> "Host":
    if host == "modelscope":
        from eyechart.hub.modelscope import ModelScopeHost

        # Its library draws a bar per file and logs every page it lists; both are read when it is imported.
        os.environ.setdefault("TQDM_DISABLE", "1")
        os.environ.setdefault("MODELSCOPE_LOG_LEVEL", "WARNING")
        return ModelScopeHost(repository, endpoint=os.environ.get("MODELSCOPE_ENDPOINT") or None)
    from eyechart.hub.huggingface import HuggingFaceHost

    return HuggingFaceHost(repository, endpoint=os.environ.get("HF_ENDPOINT") or None)
