"""HRScene from a hub: one split or one grid at a time, checked by hash, and asked."""

import json

import pytest
from hrscene_made import make_rows, picture, write_parquet
from needles_made import write_needles
from servers.hub_repository import HubRepository
from servers.hub_server import HubServer

import eyechart
from eyechart.cli._app import run_app
from eyechart.hub.collections import COLLECTIONS
from eyechart.releases.grid_parquet import build_grids


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A repository with the configs that HRScene's card names; its address is in the environment."""
    folder = tmp_path / "published"
    for split, answer in (("validation", "A"), ("testmini", "B"), ("test", "None")):
        write_parquet(folder / "realworld_combined" / f"{split}-00000-of-00001.parquet", make_rows(4, answer=answer))
    write_needles(tmp_path / "needles", 4)
    for name in ("whitebackground", "complexgrid"):
        opened = eyechart.benchmark(name, needles=str(tmp_path / "needles"), grid=2)
        build_grids(opened, folder, n_processes=1)
    # The published sizes are 3, 5, 7 and 10; two is enough to see that a grid is fetched.
    monkeypatch.setitem(COLLECTIONS["hrscene"].parts, "complexgrid_2x2", ("*complexgrid_2x2/test[-/]*",))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with HubServer(HubRepository.of_folder("Wenliang04/HRScene", folder)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield folder


def there(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*.parquet")}


def test_a_split_is_fetched_alone_and_asked(published, tmp_path, capsys):
    assert run_app(["fetch", "hrscene"]) == 0
    assert "eyechart run hrscene --data hrscene --model" in capsys.readouterr().err
    assert there(tmp_path / "hrscene") == {"realworld_combined/testmini-00000-of-00001.parquet"}
    benchmark = eyechart.benchmark("hrscene", tmp_path / "hrscene")
    questions = list(benchmark.questions())
    assert [question.answer for question in questions] == ["B"] * 4
    assert benchmark.image_path(questions[2].image).read_bytes() == picture(2)
    assert benchmark.identity.options["fetched_from"]["repository"] == "Wenliang04/HRScene"


def test_further_splits_are_added_and_the_hidden_one_is_not_scored(published, tmp_path, capsys):
    assert run_app(["fetch", "hrscene", "--part", "validation"]) == 0
    assert run_app(["fetch", "hrscene", "--part", "test"]) == 0
    assert len(there(tmp_path / "hrscene")) == 2
    shown = capsys.readouterr().err
    assert "eyechart run hrscene --data hrscene --option split=test" in shown
    command = ["run", "hrscene", "--data", "hrscene", "--option", "split=test", "--model", "simulated/oracle"]
    assert run_app([*command, "--no-report", "--out", "kept", "--json"]) == 0
    captured = capsys.readouterr()
    assert "4 of 4 questions are hidden" in captured.err
    assert json.loads(captured.out)["estimates"] == []


def test_a_grid_is_fetched_and_asked_in_its_cells(published, tmp_path, capsys):
    assert run_app(["fetch", "hrscene", "--part", "complexgrid_2x2"]) == 0
    assert "eyechart run complexgrid --data hrscene --option grid=2 --model" in capsys.readouterr().err
    assert there(tmp_path / "hrscene") == {"complexgrid_2x2/test-00000-of-00001.parquet"}
    benchmark = eyechart.benchmark("complexgrid", tmp_path / "hrscene", grid=2)
    assert [question.id for question in benchmark.questions()] == [f"coco_{index}" for index in range(4)]


def test_a_dry_run_tells_what_a_part_weighs(published, tmp_path, capsys):
    assert run_app(["fetch", "hrscene", "--part", "test", "--dry-run"]) == 0
    assert "1 files to load" in capsys.readouterr().err
    assert not (tmp_path / "hrscene").exists()


def test_every_published_grid_and_split_is_a_part():
    parts = COLLECTIONS["hrscene"].parts
    assert {"testmini", "validation", "test", "whitebackground_1x1", "complexgrid_10x10"} <= set(parts)
    assert len([part for part in parts if part[0] in "wc"]) >= 9
