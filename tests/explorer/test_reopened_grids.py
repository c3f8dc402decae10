"""Pictures of a run on grids or a fetched copy: its benchmark is opened again as its command opened it."""

import json

import numpy as np
from needles_made import write_needles

from eyechart.cli._app import run_app
from eyechart.explorer.pictures import BenchmarkPictures
from eyechart.runs.pictures import PictureSource
from eyechart.runs.store import RunStore


def run_grids(tmp_path, monkeypatch, *options):
    monkeypatch.chdir(tmp_path)
    write_needles(tmp_path / "needles", 4)
    write_needles(tmp_path / "others", 8)
    command = [
        "eyechart",
        "run",
        "complexgrid",
        "--model",
        "simulated/oracle",
        "--no-report",
        "--out",
        "kept",
        *options,
    ]
    monkeypatch.setattr("sys.argv", command)
    assert run_app(command[1:]) == 0
    return RunStore(tmp_path / "kept")


def test_a_run_on_needles_named_by_an_option_shows_its_grids_again(tmp_path, monkeypatch):
    options = ("--option", "needles=needles", "--option", "grid=2", "--option=distractors=others")
    store = run_grids(tmp_path, monkeypatch, *options)
    opened = BenchmarkPictures(store.run)
    assert opened.missing == ""
    picture = next(iter(store.requests())).pictures[0]
    pixels = PictureSource(opened.benchmark).draw(picture)
    assert pixels.shape == (1016, 976, 3)
    assert np.unique(pixels.reshape(-1, 3), axis=0).shape[0] > 4


def test_needles_named_as_data_are_not_named_twice(tmp_path, monkeypatch):
    options = ("--option", "needles=needles", "--option", "grid=2")
    store = run_grids(tmp_path, monkeypatch, *options)
    assert BenchmarkPictures(store.run, tmp_path / "needles").missing == ""


def test_where_a_copy_was_fetched_from_is_no_option(tmp_path, monkeypatch):
    store = run_grids(tmp_path, monkeypatch, "--data", "needles", "--option", "grid=2")
    file = tmp_path / "kept" / "run.json"
    stored = json.loads(file.read_bytes())
    stored["benchmark"]["options"]["fetched_from"] = {"host": "huggingface"}
    file.write_text(json.dumps(stored))
    assert BenchmarkPictures(RunStore(tmp_path / "kept").run).missing == ""
    assert store.run.benchmark.name == "complexgrid"
