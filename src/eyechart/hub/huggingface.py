"""The Hugging Face hub, or what speaks like it, through huggingface_hub."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from eyechart.errors import HubError, MissingDependencyError
from eyechart.hub.hosts import RemoteFile, check_inside
from eyechart.models._network import check_proxies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from huggingface_hub import RepoFile
    from huggingface_hub.hf_api import RepoFolder

__all__ = ["HuggingFaceHost"]

Found = TypeVar("Found")

_DATASET = "dataset"
_PATHS_AT_ONCE = 500
_WAITS_SECONDS = (1.0, 2.0, 4.0, 8.0)
_LONGEST_WAIT_SECONDS = 60.0
_TOO_MANY = 429
_FIRST_SERVER_ERROR = 500
_DENIED = frozenset({401, 403})
_LOG_IN = "log in with `hf auth login` or set HF_TOKEN; check that your account may read it"
_AGAIN = "run the same command again: it goes on with what is missing"


class HuggingFaceHost:
    """A dataset repository of the hub.

    Args:
        repository: ``owner/name``.
        endpoint: Address of the hub; the library's own (``HF_ENDPOINT``) if None.
        token: Access token; the one of the login if None.
        pause: Waits so many seconds between attempts; ``time.sleep`` if None.

    Raises:
        MissingDependencyError: If huggingface_hub is not installed.
        UsageError: If the environment names a proxy that cannot be used.
    """

    name = "huggingface"

    def __init__(
        self,
        repository: str,
        *,
        endpoint: str | None = None,
        token: str | None = None,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        try:
            from huggingface_hub import HfApi  # deferred: an extra
        except ImportError as error:
            raise MissingDependencyError("huggingface_hub", "hub") from error
        check_proxies()
        self.repository = repository
        self._pause = pause or time.sleep
        self._api: HfApi = HfApi(
            endpoint=endpoint, token=token, library_name="eyechart", library_version=version("eyechart")
        )

    def resolve(self, revision: str | None) -> str:
        """Return the commit that a branch, tag or commit means."""
        info = self._ask(lambda: self._api.dataset_info(self.repository, revision=revision, expand=["sha"]))
        if not info.sha:
            raise HubError(f"{self.repository}: the hub names no commit of {revision or 'main'}", concerns_all=True)
        return str(info.sha)

    def list_folder(self, commit: str, folder: str, *, is_recursive: bool) -> tuple[RemoteFile, ...]:
        """Return the files of a folder; none if there is no such folder."""
        from huggingface_hub.errors import EntryNotFoundError

        def listed() -> "list[RepoFile]":
            entries = self._api.list_repo_tree(
                self.repository, folder or None, recursive=is_recursive, revision=commit, repo_type=_DATASET
            )
            return _only_files(entries)

        try:
            return tuple(self._remote(entry) for entry in self._ask(listed, passing=(EntryNotFoundError,)))
        except EntryNotFoundError:
            return ()

    def describe(self, commit: str, paths: Sequence[str]) -> dict[str, RemoteFile]:
        """Return what the hub tells of these files; those that it does not have are left out."""
        found: dict[str, RemoteFile] = {}
        for start in range(0, len(paths), _PATHS_AT_ONCE):
            part = list(paths[start : start + _PATHS_AT_ONCE])
            entries = self._ask(
                partial(self._api.get_paths_info, self.repository, part, revision=commit, repo_type=_DATASET)
            )
            found.update((entry.path, self._remote(entry)) for entry in _only_files(entries))
        return found

    def download(self, commit: str, file: RemoteFile, out: Path) -> None:
        """Write one file to ``out / file.path``; a line that breaks is taken up again by the library."""
        with _told(self.repository, file.path):
            self._api.hf_hub_download(
                self.repository,
                file.path,
                repo_type=_DATASET,
                revision=commit,
                local_dir=out,
                tqdm_class=_silent_bar(),
            )

    def _remote(self, entry: "RepoFile") -> RemoteFile:
        path = check_inside(entry.path, self.repository)
        return RemoteFile(path, entry.size, entry.lfs.sha256 if entry.lfs else None, entry.blob_id)

    def _ask(self, call: Callable[[], Found], passing: tuple[type[Exception], ...] = ()) -> Found:
        """Return what a call to the API returns, asked again while the hub is busy; downloads wait by themselves."""
        for wait in (*_WAITS_SECONDS, None):
            try:
                return self._asked(call, passing)
            except _BusyError as busy:
                if wait is None:
                    raise busy.error from busy
                self._pause(wait if busy.wait_seconds is None else min(busy.wait_seconds, _LONGEST_WAIT_SECONDS))
        raise AssertionError  # the last attempt returns or raises

    def _asked(self, call: Callable[[], Found], passing: tuple[type[Exception], ...]) -> Found:
        from huggingface_hub.errors import HfHubHTTPError

        with _told(self.repository, None, passing):
            try:
                return call()
            except HfHubHTTPError as error:
                status = error.response.status_code
                if status != _TOO_MANY and status < _FIRST_SERVER_ERROR:
                    raise
                told = _from_status(status, self.repository, error)
                after = error.response.headers.get("Retry-After", "")
                raise _BusyError(told, float(after) if after.isdecimal() else None) from error


def _only_files(entries: "Iterable[RepoFile | RepoFolder]") -> "list[RepoFile]":
    from huggingface_hub import RepoFile

    return [entry for entry in entries if isinstance(entry, RepoFile)]


class _BusyError(Exception):
    """The hub may answer later."""

    def __init__(self, error: HubError, wait_seconds: float | None) -> None:
        super().__init__(error.message)
        self.error, self.wait_seconds = error, wait_seconds


def _silent_bar() -> type:
    """Return a progress bar that draws nothing: one bar for all files is ours to draw."""
    from tqdm.auto import tqdm

    class SilentBar(tqdm):  # type: ignore[misc]  # tqdm is untyped
        def __init__(self, *arguments: object, **settings: object) -> None:
            settings.pop("name", None)
            super().__init__(*arguments, **{**settings, "disable": True})

    return SilentBar


@contextmanager
def _told(repository: str, path: str | None, passing: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn the library's errors into ours."""
    from huggingface_hub import errors

    # The library's own base class, from whichever HTTP library this version of it uses.
    http_error: type[Exception] = vars(errors)["HTTPError"]
    ours: tuple[type[Exception], ...] = (*passing, HubError, _BusyError)
    try:
        yield
    except ours:
        raise
    except (http_error, OSError, ValueError) as error:
        raise _as_hub_error(error, repository, path) from error


def _as_hub_error(error: BaseException, repository: str, path: str | None) -> HubError:
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    place = f"{repository}/{path}" if path else repository
    if isinstance(error, LocalEntryNotFoundError) and error.__cause__ is not None:
        return _as_hub_error(error.__cause__, repository, path)
    for kind, message, hint, concerns_all in _named_faults():
        if isinstance(error, kind):
            return HubError(message.format(repository=repository, place=place), hint=hint, concerns_all=concerns_all)
    if isinstance(error, HfHubHTTPError):
        return _from_status(error.response.status_code, place, error)
    text = " ".join(str(error).split()) or type(error).__name__
    return HubError(f"{place}: {text[:300]}", hint=f"check the connection and the disk, then {_AGAIN}")


def _named_faults() -> tuple[tuple[type[Exception], str, str, bool], ...]:
    """Return the library's errors that have a name: message, hint, and whether all other files would fail too."""
    from huggingface_hub import errors

    terms = "accept its terms on its page while logged in, then `hf auth login`"
    withdrawn = "it may have been withdrawn; see the card of the collection"
    return (
        (errors.HFValidationError, "{repository!r} names no repository", "write owner/name", True),
        (errors.GatedRepoError, "{repository} is open only to those who accepted its terms", terms, True),
        (
            errors.RepositoryNotFoundError,
            "there is no dataset {repository} that you may read",
            f"check the name; if it is private, {_LOG_IN}",
            True,
        ),
        (
            errors.RevisionNotFoundError,
            "{repository} has no such revision",
            "give a branch, tag or full commit of its history",
            True,
        ),
        (errors.EntryNotFoundError, "{place} does not exist", withdrawn, False),
    )


def _from_status(status: int, place: str, error: BaseException) -> HubError:
    if status in _DENIED:
        return HubError(f"{place}: the hub refused the access token ({status})", hint=_LOG_IN, concerns_all=True)
    if status == _TOO_MANY:
        hint = f"wait some minutes, or log in for a higher limit; then {_AGAIN}"
        return HubError(f"{place}: the hub asks for fewer requests (429)", hint=hint, concerns_all=True)
    if status >= _FIRST_SERVER_ERROR:
        return HubError(f"{place}: the hub failed ({status})", hint=_AGAIN)
    text = " ".join(str(error).split())
    return HubError(f"{place}: the hub answered {status} ({text[:200]})", hint=_AGAIN)
