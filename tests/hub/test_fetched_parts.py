"""A part of a built release, fetched: it verifies clean, runs under the views that are there, and says what is not."""

import json

import pytest
from releases.made import CLEAN_QUESTIONS, make_release
from servers.hub_repository import HubRepository
from servers.hub_server import HubServer

from eyechart.cli._app import run_app
from eyechart.hub.record import read_record
from eyechart.releases.verify import verify_release


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("made"), CLEAN_QUESTIONS)


@pytest.fixture
def part(release, tmp_path, monkeypatch):
    """Two views of three of the four questions, fetched into ``sum``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with HubServer(HubRepository.of_folder("RL-MIND/SUM", release)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        assert run_app(["fetch", "sum", "--views", "original,crop_3x", "--ids", "0,1,3"]) == 0
    return tmp_path / "sum"


def test_a_fetched_part_verifies_without_errors_and_names_what_was_left_out(part):
    report = verify_release(part, n_processes=1)
    assert {(finding.level, finding.code) for finding in report.findings} == {("known", "not_fetched")}
    assert len(report.findings) == 9
    assert report.n_images == 6


def test_a_fetched_image_that_was_lost_is_still_an_error(part):
    (part / "data/crop_3x/test/images/000001.png").unlink()
    errors = verify_release(part, n_processes=1).errors
    assert [(finding.code, finding.id) for finding in errors] == [("missing_image", "000001")]


def test_a_run_asks_the_views_that_are_there(part, capsys):
    assert run_app(["run", "sum", "--data", "sum", "--model", "simulated/oracle", "--no-report"]) in {0, 3}
    shown = capsys.readouterr()
    assert "crop_3x" in shown.out
    assert "crop_1x" not in shown.out
    assert "no rows on disk" in shown.err


def test_a_run_records_where_its_release_came_from(part):
    run_app(["run", "sum", "--data", "sum", "--model", "simulated/oracle", "--no-report", "--out", "kept"])
    stored = json.loads((part.parent / "kept" / "run.json").read_bytes())
    pinned = read_record(part)
    assert stored["benchmark"]["options"]["fetched_from"] == {
        "host": "huggingface",
        "repository": "RL-MIND/SUM",
        "revision": pinned.revision,
    }
