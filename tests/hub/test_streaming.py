"""Laws of ``--stream``: a run needs no image on disk, loads each when it is asked about, and keeps none."""

import pytest
from servers.hub_server import HubFault

from eyechart.cli._app import run_app
from eyechart.errors import HubError
from eyechart.hub.huggingface import HuggingFaceHost
from eyechart.hub.streaming import StreamedShelf, open_streamed

RUN = ("run", "sum", "--stream", "--model", "simulated/oracle", "--no-report", "--out", "kept")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_streamed_run_keeps_no_image(hub, here):
    assert run_app([*RUN, "--views", "original,crop_3x"]) == 0
    assert not list(here.glob("sum/data/*/test/images/*"))
    assert (here / "sum/data/crop_3x/test/metadata.jsonl").is_file()


def test_a_streamed_run_finds_what_a_run_on_fetched_files_finds(hub, here, capsys):
    for mode in (("--stream",), ()):
        if not mode:
            run_app(["fetch", "sum", "--views", "original,crop_3x"])
        capsys.readouterr()
        out = ("--out", f"run{len(mode)}")
        command = ["run", "sum", "--data", "sum", "--model", "simulated/chance", "--views", "original,crop_3x", *out]
        run_app([*command, *mode, "--no-report"])
    first, second = (here / name / "estimates.json" for name in ("run1", "run0"))
    requests = [(path.parent / "requests.jsonl").read_text() for path in (first, second)]
    assert requests[0] == requests[1]


def test_fetch_without_images_prepares_a_streamed_run(hub, here):
    assert run_app(["fetch", "sum", "--views", "crop_3x", "--stream", "--out", "papers"]) == 0
    assert not [name for name in hub.downloaded if "/images/" in name]
    assert run_app([*RUN, "--data", "papers", "--views", "crop_3x"]) == 0


def test_only_the_latest_images_are_kept_and_a_dropped_one_comes_again(hub, repository):
    shelf = StreamedShelf(HuggingFaceHost("RL-MIND/SUM", endpoint=hub.url), repository.commit, max_kept=2)
    names = [f"data/original/test/images/{name}.png" for name in ("000075", "000602", "000669")]
    paths = [shelf.path(name) for name in names]
    assert [path.exists() for path in paths] == [False, True, True]
    assert shelf.path(names[1]) == paths[1]
    assert shelf.n_loaded == 3
    assert shelf.path(names[0]).read_bytes() == repository.content(names[0])
    assert shelf.n_loaded == 4


def test_a_streamed_image_that_arrives_damaged_is_refused(hub, repository):
    hub.add_fault(HubFault("*.png", "wrong-bytes"))
    shelf = StreamedShelf(HuggingFaceHost("RL-MIND/SUM", endpoint=hub.url), repository.commit)
    with pytest.raises(HubError, match="has the SHA-256"):
        shelf.path("data/original/test/images/000075.png")
    assert not shelf.holds("data/original/test/images/absent.png")
    with pytest.raises(HubError, match="has no data"):
        shelf.path("data/original/test/images/absent.png")


def test_what_cannot_be_streamed_is_refused(hub, here, capsys):
    assert run_app(["run", "vstar", "--stream", "--model", "simulated/oracle"]) == 2
    assert "vstar cannot be streamed" in capsys.readouterr().err
    with pytest.raises(HubError, match="was not filled by eyechart fetch"):
        open_streamed(HuggingFaceHost("RL-MIND/SUM", endpoint=hub.url), here)
