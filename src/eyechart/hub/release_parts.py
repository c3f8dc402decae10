"""Which files of a release in SUM's layout are needed for some views of some questions."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from eyechart.benchmarks._release import ORIGINAL, config_names, image_name, named_configs, view_rows
from eyechart.errors import HubError, UsageError
from eyechart.hub.hosts import Host, RemoteFile
from eyechart.hub.offline import OfflineHost
from eyechart.registry import unknown_name

EVERY_VIEW = frozenset({"all", "sum29"})
"""Names that mean all views of the release, whatever they are."""

_TEXT_FOLDERS = ("metadata", "scripts")


def paper_files(host: Host, commit: str) -> tuple[RemoteFile, ...]:
    """Return what every part of a release needs: its cards, questions, manifest, errata and scripts, no picture.

    Raises:
        HubError: If the repository holds no release, or cannot be asked.
    """
    papers = [*host.list_folder(commit, "", is_recursive=False)]
    for folder in _TEXT_FOLDERS:
        papers += host.list_folder(commit, folder, is_recursive=True)
    found = tuple(file for file in papers if not PurePosixPath(file.path).name.startswith("."))
    if not any(file.path == "dataset.json" or file.path.startswith("metadata/") for file in found):
        raise HubError(
            f"{host.repository} holds no release in SUM's layout: neither dataset.json nor metadata/",
            hint="name the repository of a release, or fetch single files with --files",
            concerns_all=True,
        )
    return found


def choose_views(folder: Path, host: Host, commit: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the views to load, in the release's order.

    Args:
        folder: Where its papers lie.
        host: Asked which of the names in the papers have rows.
        commit: Of the release.
        asked: View ids; ``all`` or ``sum29`` mean every one.

    Raises:
        UsageError: If the release has no view of this id; the hint names the nearest.
    """
    is_every = bool(EVERY_VIEW & set(asked))
    if isinstance(host, OfflineHost):  # whether a view exists cannot be looked up, only whether it is here
        known = config_names(folder) if is_every else named_configs(folder)
    else:
        known = _views_on(host, commit, named_configs(folder))
    if is_every:
        return known
    for name in asked:
        if name not in known:
            raise unknown_name(f"view of {host.repository}", name, known)
    return tuple(name for name in known if name in asked)


def _views_on(host: Host, commit: str, names: Sequence[str]) -> tuple[str, ...]:
    rows = {row_path(name): name for name in names}
    found = host.describe(commit, tuple(rows))
    return tuple(name for path, name in rows.items() if path in found)


def row_files(host: Host, commit: str, views: Sequence[str]) -> tuple[RemoteFile, ...]:
    """Return the files with the rows of these views and of the originals, which describe the questions."""
    return tuple(host.describe(commit, [row_path(view_id) for view_id in dict.fromkeys((ORIGINAL, *views))]).values())


def row_path(view_id: str) -> str:
    """Return where the rows of a view lie in a repository.

    Example:
        >>> row_path("crop_3x")
        'data/crop_3x/test/metadata.jsonl'
    """
    return f"data/{view_id}/test/metadata.jsonl"


def image_paths(folder: Path, views: Sequence[str], ids: Sequence[str] | None) -> tuple[str, ...]:
    """Return the paths of the images that the rows of these views name, for these questions or for all.

    Raises:
        UsageError: If an id stands in no row; the hint names the nearest.
        BenchmarkError: If a row is damaged.
    """
    wanted = None if ids is None else {_padded(question_id) for question_id in ids}
    paths: dict[str, None] = {}
    known: dict[str, None] = {}
    for view_id in views:
        for row in view_rows(folder, view_id):
            known[row.id] = None
            file_name = row.values.get("file_name")
            path = image_name(view_id, file_name) if isinstance(file_name, str) else None
            if path is not None and (wanted is None or row.id in wanted):
                paths[path] = None
    for question_id in wanted or ():
        if question_id not in known:
            raise unknown_name("question", question_id, tuple(known))
    return tuple(paths)


def describe_images(host: Host, commit: str, paths: Sequence[str], *, are_whole_views: bool) -> dict[str, RemoteFile]:
    """Return what the host tells of these images by path; those that it lacks are left out.

    Args:
        host: The host.
        commit: Of the release.
        paths: Of the images.
        are_whole_views: Whether they are most of their folders, so that listing those is cheaper than asking by name.
    """
    if not are_whole_views or isinstance(host, OfflineHost):
        return host.describe(commit, paths)
    wanted = frozenset(paths)
    folders = dict.fromkeys(str(PurePosixPath(path).parent) for path in paths)
    listed = (file for folder in folders for file in host.list_folder(commit, folder, is_recursive=False))
    return {file.path: file for file in listed if file.path in wanted}


def check_ids(ids: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the ids asked for, None for all of them.

    Raises:
        UsageError: If the list is empty.
    """
    if ids is None:
        return None
    named = tuple(part for part in (text.strip() for text in ids) if part)
    if not named:
        raise UsageError("--ids names no question", hint="for example --ids 000669,000075")
    return named


def _padded(question_id: str) -> str:
    return question_id.zfill(6) if question_id.isdecimal() else question_id
