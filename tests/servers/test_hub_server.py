"""The local hub is good enough for huggingface_hub: what the library asks is answered, and faults are felt."""

import hashlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError
from servers.hub_repository import HubRepository
from servers.hub_server import PAGE, HubFault, HubServer

FILES = {"README.md": b"# card\n", "data/a/x.png": bytes(range(256)) * 40, "data/b/y.png": b"y" * 999}


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """The library waits whole seconds between attempts; here it does not."""
    hurried = SimpleNamespace(sleep=lambda _: None, time=lambda: 0.0)
    monkeypatch.setattr("huggingface_hub.utils._http.time", hurried)
    monkeypatch.setattr("huggingface_hub.file_download.time", hurried)


@pytest.fixture
def repository():
    return HubRepository("org/set", FILES)


def ask(hub, **settings):
    return HfApi(endpoint=hub.url, token=settings.pop("token", False), **settings)


def download(api, name, folder, revision=None):
    return Path(
        api.hf_hub_download(
            "org/set", name, repo_type="dataset", revision=revision, local_dir=folder, cache_dir=folder / "cache"
        )
    )


def test_files_arrive_byte_for_byte_with_the_commit(repository, tmp_path):
    with HubServer(repository) as hub:
        for name, content in FILES.items():
            path = download(ask(hub), name, tmp_path)
            assert path.read_bytes() == content
        assert ask(hub).dataset_info("org/set").sha == repository.commit
        assert hub.downloaded == dict.fromkeys(FILES, 1)


def test_listings_tell_sizes_and_hashes(repository):
    with HubServer(repository) as hub:
        listed = {
            entry.path: entry for entry in ask(hub).list_repo_tree("org/set", recursive=True, repo_type="dataset")
        }
        asked = ask(hub).get_paths_info("org/set", ["data/b/y.png", "absent"], repo_type="dataset")
        here = [entry.path for entry in ask(hub).list_repo_tree("org/set", "data", repo_type="dataset")]
    assert set(listed) == {*FILES, "data", "data/a", "data/b"}
    assert listed["data/a/x.png"].lfs.sha256 == hashlib.sha256(FILES["data/a/x.png"]).hexdigest()
    assert listed["README.md"].lfs is None
    assert [(entry.path, entry.size) for entry in asked] == [("data/b/y.png", 999)]
    assert here == ["data/a", "data/b"]


def test_a_long_listing_comes_in_pages():
    names = [f"f{number:03d}.txt" for number in range(2 * PAGE + 3)]
    with HubServer(HubRepository("org/set", dict.fromkeys(names, b""))) as hub:
        listed = [entry.path for entry in ask(hub).list_repo_tree("org/set", recursive=True, repo_type="dataset")]
        assert listed == names
        assert len(hub.log) == 3


def test_a_line_that_breaks_is_taken_up_where_it_broke(repository, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1024)
    with HubServer(repository, faults=[HubFault("data/a/x.png", "cut", n_times=1)]) as hub:
        path = download(ask(hub), "data/a/x.png", tmp_path)
        sent = [call for call in hub.log if call.method == "GET" and call.n_bytes]
    assert path.read_bytes() == FILES["data/a/x.png"]
    assert [(call.status, call.n_bytes) for call in sent] == [(200, 5120), (206, 5120)]


def test_the_library_does_not_notice_wrong_bytes_of_the_right_number(repository, tmp_path):
    with HubServer(repository, faults=[HubFault("*.png", "wrong-bytes")]) as hub:
        path = download(ask(hub), "data/a/x.png", tmp_path)
    assert path.read_bytes() != FILES["data/a/x.png"]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [("500", HfHubHTTPError), ("401", HfHubHTTPError), ("gated", GatedRepoError), ("429", HfHubHTTPError)],
)
def test_statuses_become_the_errors_of_the_library(repository, fault, expected):
    with HubServer(repository, faults=[HubFault("*", fault)]) as hub, pytest.raises(expected):
        ask(hub).dataset_info("org/set")


def test_a_rate_limit_that_passes_is_waited_for(repository, tmp_path):
    with HubServer(repository, faults=[HubFault("*.md", "429", n_times=2, headers=(("Retry-After", "1"),))]) as hub:
        download(ask(hub), "README.md", tmp_path)
        assert [call.status for call in hub.log][:2] == [429, 429]


def test_unknown_repositories_and_revisions_are_told_apart(repository):
    with HubServer(repository) as hub:
        with pytest.raises(RepositoryNotFoundError):
            ask(hub).dataset_info("org/other")
        with pytest.raises(RevisionNotFoundError):
            ask(hub).dataset_info("org/set", revision="v9")


def test_a_private_repository_opens_with_its_key_alone():
    right, wrong = "right", "wrong"
    private = HubRepository("org/set", FILES, is_private=True)
    with HubServer(private, key=right) as hub:
        with pytest.raises(RepositoryNotFoundError):
            ask(hub).dataset_info("org/set")
        with pytest.raises(HfHubHTTPError, match="Invalid credentials"):
            ask(hub, token=wrong).dataset_info("org/set")
        assert ask(hub, token=right).dataset_info("org/set").sha == private.commit


def test_new_content_is_a_new_commit(repository):
    before = repository.commit
    repository.put("README.md", b"# other\n")
    assert repository.commit != before
