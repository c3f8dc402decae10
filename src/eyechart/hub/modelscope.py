"""ModelScope, through modelscope_hub."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from threading import Lock

from eyechart.errors import HubError, MissingDependencyError
from eyechart.hub.hosts import RemoteFile, check_inside

__all__ = ["ModelScopeHost"]

_DATASET = "dataset"
_DEFAULT_BRANCH = "master"
_AGAIN = "run the same command again: it goes on with what is missing"


class ModelScopeHost:
    """A dataset repository on ModelScope.

    ModelScope tells no commit of a branch: the branch's own name is what is pinned, and every file's SHA-256 with it.

    Args:
        repository: ``owner/name``.
        endpoint: Address of the hub; the library's own (``MODELSCOPE_ENDPOINT``) if None.

    Raises:
        MissingDependencyError: If modelscope_hub is not installed.
    """

    name = "modelscope"

    def __init__(self, repository: str, *, endpoint: str | None = None) -> None:
        try:
            from modelscope_hub import HubApi  # deferred: an extra
        except ImportError as error:
            raise MissingDependencyError("modelscope_hub", "modelscope") from error
        self.repository = repository
        self._api: HubApi = HubApi(endpoint=endpoint, user_agent="eyechart")
        self._listed: dict[tuple[str, str], tuple[RemoteFile, ...]] = {}
        self._guard = Lock()

    def resolve(self, revision: str | None) -> str:
        """Return the branch or tag itself, after asking whether it is there."""
        asked = revision or _DEFAULT_BRANCH
        self.list_folder(asked, "", is_recursive=False)
        return asked

    def list_folder(self, commit: str, folder: str, *, is_recursive: bool) -> tuple[RemoteFile, ...]:
        """Return the files of a folder; none if there is no such folder.

        Folders are listed whole and remembered: the hub cannot be asked for single files.
        """
        # The root of a large dataset is not walked for the few files that lie in it.
        is_walked = is_recursive or bool(folder)
        with self._guard:
            key = (commit, f"{folder}/**" if is_walked else folder)
            if key not in self._listed:
                self._listed[key] = self._list(commit, folder, is_walked=is_walked)
            files = self._listed[key]
        base = f"{folder}/" if folder else ""
        return tuple(file for file in files if is_recursive or "/" not in file.path[len(base) :])

    def describe(self, commit: str, paths: Sequence[str]) -> dict[str, RemoteFile]:
        """Return what the hub tells of these files; those that it does not have are left out."""
        wanted = frozenset(paths)
        folders = dict.fromkeys(_parent(path) for path in paths)
        listed = (file for folder in folders for file in self.list_folder(commit, folder, is_recursive=False))
        return {file.path: file for file in listed if file.path in wanted}

    def download(self, commit: str, file: RemoteFile, out: Path) -> None:
        """Write one file to ``out / file.path``; the library tries broken transfers again."""
        with _told(self.repository, file.path):
            self._api.download_file(
                self.repository,
                _DATASET,
                file.path,
                revision=commit,
                local_dir=out,
                expected_sha256=file.sha256,
                file_size=file.n_bytes,
            )

    def _list(self, commit: str, folder: str, *, is_walked: bool) -> tuple[RemoteFile, ...]:
        from modelscope_hub.errors import NotExistError

        with _told(self.repository, None, passing=(NotExistError,) if folder else ()):
            try:
                entries = self._api.legacy.list_repo_files(
                    self.repository, _DATASET, revision=commit, recursive=is_walked, root=folder or None
                )
            except NotExistError:
                if not folder:
                    raise
                return ()
        return tuple(self._remote(entry) for entry in entries if entry.get("Type") != "tree")

    def _remote(self, entry: Mapping[str, object]) -> RemoteFile:
        size, sha256 = entry.get("Size"), entry.get("Sha256")
        return RemoteFile(
            check_inside(str(entry.get("Path") or entry.get("Name") or ""), self.repository),
            size if isinstance(size, int) else None,
            sha256.lower() if isinstance(sha256, str) and sha256 else None,
        )


def _parent(path: str) -> str:
    parent = str(PurePosixPath(path).parent)
    return "" if parent == "." else parent


@contextmanager
def _told(repository: str, path: str | None, passing: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn the library's errors into ours."""
    from modelscope_hub import errors

    place = f"{repository}/{path}" if path else repository
    try:
        yield
    except passing:
        raise
    except errors.NotExistError as error:
        if path is None:
            hint = "check the name and the revision; if it is private, `ms login`"
            raise HubError(f"ModelScope has no dataset {repository}", hint=hint, concerns_all=True) from error
        raise HubError(f"{place} does not exist", hint="its card names images that were withdrawn") from error
    except (errors.AuthenticationError, errors.PermissionDeniedError) as error:
        hint = "log in with `ms login`, or set MODELSCOPE_API_TOKEN"
        raise HubError(f"{place}: ModelScope refused the access token", hint=hint, concerns_all=True) from error
    except errors.RateLimitError as error:
        hint = f"wait some minutes; then {_AGAIN}"
        raise HubError(f"{place}: ModelScope asks for fewer requests", hint=hint, concerns_all=True) from error
    except errors.FileIntegrityError as error:
        raise HubError(f"{place}: what arrived has another length or SHA-256 than it should", hint=_AGAIN) from error
    except (errors.HubError, OSError, ValueError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise HubError(f"{place}: {text[:300]}", hint=f"check the connection and the disk, then {_AGAIN}") from error
