"""Laws of ``eyechart fetch``: only what was asked for, only what is missing, one commit, nothing unchecked."""

import json
from pathlib import Path

import pytest
from servers.hub_repository import HubRepository
from servers.hub_server import HubFault, HubServer

from eyechart.cli._app import run_app
from eyechart.hub.record import read_record

PAPERS = {
    "README.md",
    "THIRD_PARTY_NOTICES.md",
    "dataset.json",
    "metadata/validation_summary.json",
    "metadata/legacy/boxes.json",
    "scripts/prompts.py",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "sum"


def fetch(*arguments):
    return run_app(["fetch", "sum", *arguments])


def there(folder):
    """Return the files of a folder, hidden ones included, by path."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != "fetched.json")
    return {path.relative_to(folder).as_posix() for path in found}


def images_of(names):
    return {name for name in names if "/images/" in name}


def test_asked_ids_and_views_alone_are_loaded(hub, folder, files):
    assert fetch("--views", "original,crop_3x", "--ids", "000669") == 0
    rows = {f"data/{view_id}/test/metadata.jsonl" for view_id in ("original", "crop_3x")}
    images = {f"data/{view_id}/test/images/000669.png" for view_id in ("original", "crop_3x")}
    assert there(folder) == PAPERS | rows | images
    assert all((folder / name).read_bytes() == files[name] for name in there(folder))
    assert set(hub.downloaded) == there(folder)


def test_ids_alone_are_loaded_in_every_view(hub, folder):
    """The README says that ids alone are enough, and the command asked for views."""
    assert fetch("--ids", "000669") == 0
    images = images_of(there(folder))
    assert {Path(name).name for name in images} == {"000669.png"}
    assert {name.split("/")[1] for name in images} == {"original", "crop_3x", *(p.name for p in folder.glob("data/*"))}


def test_second_call_loads_only_what_is_missing(hub, folder, repository):
    fetch("--views", "crop_3x", "--ids", "669")
    hub.clear()
    assert fetch("--views", "crop_3x") == 0
    assert set(hub.downloaded) == {f"data/crop_3x/test/images/{name}.png" for name in ("000075", "000602")}
    hub.clear()
    assert fetch("--views", "crop_3x") == 0
    assert not hub.downloaded
    assert len(images_of(there(folder))) == 3


def test_a_file_cut_on_disk_is_loaded_again(hub, folder, files):
    fetch("--views", "crop_3x")
    damaged = folder / "data/crop_3x/test/images/000075.png"
    damaged.write_bytes(damaged.read_bytes()[:-4])
    hub.clear()
    fetch("--views", "crop_3x")
    assert set(hub.downloaded) == {"data/crop_3x/test/images/000075.png"}
    assert damaged.read_bytes() == files["data/crop_3x/test/images/000075.png"]


def test_revision_is_pinned_and_recorded(hub, folder, repository, capsys):
    fetch("--views", "original", "--ids", "000075")
    pinned = repository.commit
    record = read_record(folder)
    assert (record.host, record.repository, record.revision) == ("huggingface", "RL-MIND/SUM", pinned)
    assert record.files["README.md"].n_bytes == 6
    repository.put("README.md", b"# newer\n")
    assert fetch("--views", "original", "--ids", "000602") == 1
    assert "no such revision" in capsys.readouterr().err  # this hub keeps no history, and main is not taken instead
    assert fetch("--views", "original", "--revision", "main") == 2
    assert f"pinned to revision {pinned}" in capsys.readouterr().err
    assert fetch("--views", "original", "--out", "newer") == 0
    assert Path("newer/README.md").read_bytes() == b"# newer\n"


def test_dry_run_tells_files_and_bytes_and_leaves_no_trace(hub, folder, files, capsys):
    assert fetch("--views", "original,crop_3x", "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert not folder.exists()
    assert told["n_loaded"] == len(PAPERS) + 2 + 6
    loaded = [name for name in files if name in PAPERS or name.startswith(("data/original/", "data/crop_3x/"))]
    assert told["n_loaded_bytes"] == sum(len(files[name]) for name in loaded)
    assert not images_of(hub.downloaded)
    fetch("--views", "original")
    capsys.readouterr()
    fetch("--views", "original,crop_3x", "--dry-run", "--json")
    assert json.loads(capsys.readouterr().out)["n_loaded"] == 1 + 3


def test_without_views_the_size_of_everything_is_told_first(hub, folder, capsys):
    assert fetch() == 2
    assert "44 GB" in capsys.readouterr().err
    assert not hub.log
    assert fetch("--views", "all") == 0
    assert len(images_of(there(folder))) == 12
    assert "assets/logo.png" not in there(folder)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--views", "orignal"), "did you mean original?"),
        (("--views", "original", "--ids", "000670"), "did you mean 0006"),
        (("--views", "original", "--ids", ","), "for example --ids"),
        (("--ids", "000670"), "did you mean 0006"),
        (("--views", "original", "--part", "4k"), "--views and --ids"),
        (("--files", "*.md", "--views", "original"), "leave --views"),
        (("--files", "*.csv"), "it holds"),
        (("--views", "original", "--jobs", "0"), "from 1"),
        (("--views", "original", "--revision", "v9"), "branch, tag or full commit"),
        (("--views", "original", "--repository", "nobody/nothing"), "check the name"),
        (("--views", "original", "--repository", "no name"), "write owner/name"),
    ],
)
def test_wrong_requests_are_explained(hub, arguments, hint, capsys):
    assert fetch(*arguments) in {1, 2}
    assert hint in capsys.readouterr().err.partition("hint: ")[2]


def test_a_broken_transfer_is_taken_up_again(hub, folder, files):
    hub.add_fault(HubFault("*/crop_3x/*/000075.png", "cut", n_times=2))
    assert fetch("--views", "crop_3x") == 0
    assert (folder / "data/crop_3x/test/images/000075.png").read_bytes() == files["data/crop_3x/test/images/000075.png"]
    assert hub.downloaded["data/crop_3x/test/images/000075.png"] == 3


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("wrong-bytes", "has the SHA-256"),
        ("404", "does not exist"),
        ("500", "the hub failed (500)"),
        ("short", "should be of size"),
        ("cut-at-once", "peer closed connection"),
    ],
)
def test_one_bad_file_stops_no_other_and_the_next_call_mends_it(hub, folder, fault, message, capsys):
    hub.add_fault(HubFault("*/crop_3x/*/000075.png", fault))
    assert fetch("--views", "crop_3x") == 1
    shown = capsys.readouterr().err
    assert "data/crop_3x/test/images/000075.png" in shown
    assert message in shown
    assert {Path(name).name for name in images_of(there(folder))} == {"000602.png", "000669.png"}
    hub.clear()
    assert fetch("--views", "crop_3x") == 0
    assert set(hub.downloaded) == {"data/crop_3x/test/images/000075.png"}


def test_wrong_bytes_of_a_paper_are_found_by_its_git_blob(hub, folder, capsys):
    hub.add_fault(HubFault("dataset.json", "wrong-bytes"))
    assert fetch("--views", "crop_3x") == 1
    assert "git blob" in capsys.readouterr().err
    assert not (folder / "dataset.json").exists()


@pytest.mark.parametrize(
    ("fault", "hint"),
    [("401", "HF_TOKEN"), ("403", "HF_TOKEN"), ("gated", "accept its terms"), ("429", "wait some minutes")],
)
@pytest.mark.parametrize("where", ["api:revision/", "README.md"])
def test_a_refusal_that_concerns_everything_ends_the_fetch(hub, folder, fault, hint, where, capsys):
    hub.add_fault(HubFault(where, fault))
    assert fetch("--views", "all") == 1
    assert hint in capsys.readouterr().err
    assert not images_of(there(folder))


@pytest.mark.parametrize("status", ["429", "503"])
def test_a_hub_that_is_busy_for_a_while_is_waited_for(hub, folder, status):
    for where in ("api:revision/", "api:tree/*", "api:paths-info/", "*.png"):
        hub.add_fault(HubFault(where, status, n_times=2, headers=(("Retry-After", "1"),)))
    assert fetch("--views", "crop_3x", "--jobs", "1") == 0
    assert len(images_of(there(folder))) == 3


def test_a_private_repository_needs_the_token(files, monkeypatch, capsys):
    with HubServer(HubRepository("RL-MIND/SUM", files, is_private=True), key="right") as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        assert fetch("--views", "original") == 1
        assert "there is no dataset RL-MIND/SUM that you may read" in capsys.readouterr().err
        monkeypatch.setenv("HF_TOKEN", "right")
        assert fetch("--views", "original") == 0


def test_a_hub_out_of_reach_is_named(monkeypatch, hub, capsys):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert fetch("--views", "original") == 1
    assert "check the connection" in capsys.readouterr().err


def test_offline_nothing_is_asked_and_what_is_there_is_enough(hub, folder, monkeypatch, capsys):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fetch("--views", "original") == 1
    assert "nothing was fetched into sum yet" in capsys.readouterr().err
    monkeypatch.delenv("HF_HUB_OFFLINE")
    fetch("--views", "original", "--ids", "000075")
    hub.clear()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fetch("--views", "original", "--ids", "000075") == 0
    assert fetch("--views", "original") == 1
    assert "offline: 2 files are not in sum" in capsys.readouterr().err
    assert fetch("--views", "crop_3x") == 1
    assert fetch("--views", "original", "--revision", "main") == 1
    assert not hub.log


def test_a_copy_on_disk_takes_the_place_of_the_hub(hub, folder, repository, capsys):
    fetch("--views", "all")
    hub.clear()
    assert fetch("--data", "sum", "--views", "crop_3x", "--out", "part") == 0
    assert not hub.log
    part = read_record(Path("part"))
    assert (part.host, part.revision) == ("folder", repository.commit)
    assert len(images_of(there(Path("part")))) == 3
    assert fetch("--data", "sum", "--views", "crop_3x", "--out", "part", "--revision", "other") == 1
    assert fetch("--data", "absent", "--views", "crop_3x", "--out", "other") == 1
    assert fetch("--data", "sum", "--host", "huggingface", "--views", "crop_3x", "--out", "other") == 2
    assert fetch("--views", "crop_3x", "--out", "part") == 2
    assert "part holds files of sum (folder)" in capsys.readouterr().err


def test_images_that_rows_name_and_the_host_lacks_are_told(hub, folder, repository, capsys):
    repository.remove("data/crop_1_5x/test/images/000602.png")
    assert fetch("--views", "crop_1_5x") == 0
    assert "lacks 1 image, known to be missing there: data/crop_1_5x/test/images/000602.png" in capsys.readouterr().err
    repository.remove("data/crop_3x/test/images/000602.png")
    assert fetch("--views", "crop_3x", "--out", "other") == 3
    assert "although its rows name them: data/crop_3x/test/images/000602.png" in capsys.readouterr().err


def test_a_path_that_leaves_the_folder_is_refused(hub, files, monkeypatch, capsys):
    with HubServer(HubRepository("RL-MIND/SUM", {**files, "metadata/../../x.json": b"{}"})) as evil:
        monkeypatch.setenv("HF_ENDPOINT", evil.url)
        assert fetch("--views", "original") == 1
    assert "leaves the repository" in capsys.readouterr().err


def test_a_repository_without_release_is_refused_but_its_files_can_be_had(monkeypatch, hub, capsys):
    with HubServer(HubRepository("org/other", {"a/x.txt": b"x", "b/y.txt": b"y"})) as other:
        monkeypatch.setenv("HF_ENDPOINT", other.url)
        assert fetch("--views", "original", "--repository", "org/other") == 1
        assert "no release in SUM's layout" in capsys.readouterr().err
        assert fetch("--files", "a/*", "--repository", "org/other", "--out", "some") == 0
        assert there(Path("some")) == {"a/x.txt"}


def test_parts_of_other_collections_are_chosen_by_name(monkeypatch, hub, capsys):
    tables = {f"hr_bench_{size}.{kind}": size.encode() for size in ("4k", "8k") for kind in ("parquet", "tsv")}
    with HubServer(HubRepository("DreamMr/HR-Bench", tables)) as other:
        monkeypatch.setenv("HF_ENDPOINT", other.url)
        assert run_app(["fetch", "hrbench"]) == 0
        assert there(Path("hrbench")) == {"hr_bench_4k.parquet"}
        assert run_app(["fetch", "hrbench", "--part", "8k"]) == 0
        assert run_app(["fetch", "hrbench", "--part", "2k"]) == 2
        assert run_app(["fetch", "hrbench", "--views", "original"]) == 2
    assert there(Path("hrbench")) == {"hr_bench_4k.parquet", "hr_bench_8k.parquet"}


def test_a_full_disk_is_refused_before_anything_is_loaded(hub, folder, monkeypatch, capsys):
    monkeypatch.setattr("eyechart.hub.loading.shutil.disk_usage", lambda _: type("", (), {"free": 1000})())
    assert fetch("--views", "original") == 1
    assert "has 1,000 free" in capsys.readouterr().err
    assert not hub.downloaded


def test_a_record_by_a_newer_version_is_refused(hub, folder, capsys):
    folder.mkdir()
    (folder / "fetched.json").write_text('{"schema_version": 99}')
    assert fetch("--views", "original") == 1
    assert "schema version 99" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["socks9://user:s3cret@127.0.0.1:9", "http://user:s3c/ret@127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_named_by_its_variable_before_anything_is_loaded(monkeypatch, capsys, value):
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    monkeypatch.setenv("ALL_PROXY", value)
    assert fetch("--ids", "000602", "--views", "original") == 2
    told = capsys.readouterr().err
    assert "error: ALL_PROXY " in told
    assert "s3c" not in told
