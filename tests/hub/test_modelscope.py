"""Laws of the mirror: the same files by the same command, its two omissions named, its faults explained."""

import pytest
from servers.hub_repository import HubRepository
from servers.hub_server import HubFault
from servers.modelscope_server import ModelScopeServer

from eyechart.cli._app import run_app
from eyechart.hub.record import read_record

OMITTED = ("data/crop_1_5x/test/images/000602.png",)


@pytest.fixture
def mirror(files, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    kept = {name: content for name, content in files.items() if name not in OMITTED}
    with ModelScopeServer(HubRepository("KAIWANG/SUM", kept)) as server:
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", server.url)
        yield server


def fetch(*arguments):
    return run_app(["fetch", "sum", "--host", "modelscope", *arguments])


def test_the_mirror_gives_the_same_files_and_names_its_omissions(mirror, files, tmp_path, capsys):
    assert fetch("--views", "crop_1_5x,original") == 0
    assert f"KAIWANG/SUM lacks 1 image, known to be missing there: {OMITTED[0]}" in capsys.readouterr().err
    record = read_record(tmp_path / "sum")
    assert (record.host, record.repository, record.revision) == ("modelscope", "KAIWANG/SUM", "master")
    assert len([name for name in record.files if "/images/" in name]) == 5
    assert all((tmp_path / "sum" / name).read_bytes() == files[name] for name in record.files)


def test_a_later_call_goes_on_with_the_mirror_and_loads_what_is_missing(mirror, tmp_path):
    fetch("--views", "original", "--ids", "000075")
    mirror.downloaded.clear()
    assert run_app(["fetch", "sum", "--views", "original"]) == 0
    assert set(mirror.downloaded) == {f"data/original/test/images/{name}.png" for name in ("000602", "000669")}


def test_a_broken_transfer_is_tried_again(mirror, files, tmp_path):
    mirror._faults.append([HubFault("*/000075.png", "cut"), 1])
    assert fetch("--views", "original") == 0
    name = "data/original/test/images/000075.png"
    assert (tmp_path / "sum" / name).read_bytes() == files[name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--repository", "nobody/nothing"), "ModelScope has no dataset nobody/nothing"),
        (("--revision", "v9"), "ModelScope has no dataset KAIWANG/SUM"),
    ],
)
def test_what_the_mirror_does_not_have_is_explained(mirror, arguments, message, capsys):
    assert fetch("--views", "original", *arguments) == 1
    assert message in capsys.readouterr().err


def test_a_refused_token_is_explained(mirror, capsys):
    mirror._faults.append([HubFault("tree", "401"), 9])
    assert fetch("--views", "original") == 1
    assert "ms login" in capsys.readouterr().err


def test_a_collection_that_is_not_mirrored_is_refused(mirror, capsys):
    assert run_app(["fetch", "vstar", "--host", "modelscope"]) == 2
    assert "vstar is not known on ModelScope" in capsys.readouterr().err
