"""Five lines from a folder of needles to what each region costs, with a name, and with a model of one's own."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from servers.chat_server import ChatServer

import eyechart


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """A folder of pictures with a question each."""
    home = tmp_path / "my_photos"
    home.mkdir()
    rows = []
    for index, colour in enumerate(("red", "lime", "blue", "red", "lime", "blue")):
        Image.new("RGB", (40 + index, 30), colour).save(home / f"{index}.png")
        rows.append({"image": f"{index}.png", "question": "Which colour?", "answers": [colour] * 10})
    (home / "needles.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.chdir(tmp_path)
    return home


class NearSighted:
    """Names the colour of the tile unless it lies in the last row of the picture."""

    name = "near-sighted"

    def answer(self, prompt, pictures):
        pixels = np.asarray(pictures[0])
        rows, columns = np.nonzero((pixels < 250).any(axis=2))
        if len(rows) == 0 or rows[0] >= pixels.shape[0] - 448 > 0:
            return "I see nothing"
        return ("red", "lime", "blue")[int(pixels[rows[0], columns[0]].argmax())]


def test_five_lines_with_a_model_of_ones_own(photos, capsys):
    bench = eyechart.benchmark("whitebackground", grid=(1, 2), needles="my_photos/")
    run = eyechart.run(bench, model=NearSighted(), limit=50)
    print(run.regions())  # noqa: T201 -- one of the five lines
    run.report("report.html")

    alone, grid = run.regions().grids
    assert alone.perf.value == 1.0
    assert [cell.estimate.value for cell in grid.cells] == [1.0, 1.0, 0.0, 0.0]
    assert grid.perf.value == 0.5
    assert grid.size.value == -0.5
    assert (grid.region.value, grid.region_std.value, grid.region_map_gap.value) == (0.5, 0.5, 0.5)
    text = capsys.readouterr().out
    assert "Region, map gap, points" in text
    assert "row 1" in text
    page = (photos.parent / "report.html").read_text(encoding="utf-8")
    assert "Needle grids" in page
    assert "own/near-sighted" in page


def test_five_lines_of_the_design_work_word_for_word(photos, capsys, monkeypatch):
    def answer(received):
        centres = np.asarray(received.pictures[0].image.convert("RGB"))[224::448, 224::448].reshape(-1, 3)
        needle = centres[(centres != 255).any(axis=1)][0]
        return ("red", "lime", "blue")[int(needle.argmax())]

    rows = (photos / "needles.jsonl").read_text().splitlines()
    (photos / "needles.jsonl").write_text("\n".join(rows[:2]))
    with ChatServer(answer=answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        lines = """
import eyechart
bench = eyechart.benchmark("whitebackground", grid=5, needles="my_photos/")
run = eyechart.run(bench, model="openai/gpt-4o", limit=50)
print(run.regions())               # per-region accuracy, interval, noise floor
run.report("report.html")
"""
        exec(lines, {})  # noqa: S102 -- the example itself, word for word
        assert sum(server.asked.values()) == 2 * 25
    text = capsys.readouterr().out
    assert "Perf, %" in text
    assert "100.0 [" in text
    assert "… without positional effect" in text
    assert (photos.parent / "report.html").is_file()


def test_method_that_fails_costs_its_own_requests_and_no_other(photos):
    class Fragile:
        def answer(self, prompt, pictures):
            pixels = np.asarray(pictures[0])
            if (pixels[-1, -1] != 255).any():
                raise ValueError("cannot see")
            return "red"

    bench = eyechart.benchmark("whitebackground", grid=2, needles="my_photos/")
    run = eyechart.run(bench, model=Fragile())
    grid = run.regions().grids[0]
    assert [cell.n_scored for cell in grid.cells] == [6, 6, 6, 0]
    assert grid.perf is None
    assert any("cannot see" in failure.cause for failure in run.summary.failures)
    assert "no base sample is complete" in str(run.regions())


def test_complexgrid_knows_that_pointing_at_random_is_right_by_chance(photos):
    rows = [{"image": f"{index}.png", "caption": f"tile {index}"} for index in range(6)]
    (photos / "needles.jsonl").write_text("\n".join(map(json.dumps, rows)))

    class Corner:
        def answer(self, prompt, pictures):
            return "<row>1</row><col>1</col>"

    bench = eyechart.benchmark("complexgrid", grid=2, needles="my_photos/")
    grid = eyechart.run(bench, model=Corner()).regions().grids[0]
    assert [cell.estimate.value for cell in grid.cells] == [1.0, 0.0, 0.0, 0.0]
    assert grid.chance == 0.25
    assert grid.perf_corrected.value == pytest.approx(0.0)


def test_printed_run_is_its_table_and_not_its_record(photos):
    run = eyechart.run(eyechart.benchmark("demo"), model="simulated/oracle", views="original,crop_3x")
    text = str(run)
    assert text.startswith("Accuracy of simulated/oracle on demo under 2 views, n = 40 questions")
    assert "cannot be told apart" in text
    assert text.endswith(f"run folder: {run.folder}")
    assert "2 views, 40 questions, 0 answers missing" in repr(run)
    assert len(repr(run)) < 200


def test_uncaught_error_shows_its_hint_and_nothing_else_that_went_wrong(tmp_path):
    """A script ends in one traceback: what is wrong, and what to do about it."""
    script = "import eyechart; eyechart.run(eyechart.benchmark('demo'), model='openai/gpt-4o', views='original')"
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.returncode == 1
    assert "AuthenticationError: OPENAI_API_KEY is not set\nhint: set the environment variable" in done.stderr
    assert done.stderr.count("Traceback") == 1
