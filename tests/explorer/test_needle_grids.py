"""Runs of needle grids on every screen: a grid is one row of the run, and its regions are the columns of the grid."""

import pytest
from needles_made import write_needles
from starlette.testclient import TestClient

from eyechart.cli._app import run_app
from eyechart.explorer.server import build_server
from eyechart.explorer.site import write_site
from eyechart.explorer.study import read_study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    home = tmp_path_factory.mktemp("grids")
    write_needles(home / "needles", n=4)
    asked = ["run", "whitebackground", "--option", f"needles={home / 'needles'}", "--option", "grid=1,2"]
    assert run_app([*asked, "--model", "simulated/vlm", "--out", str(home / "run"), "--no-report"]) == 0
    return read_study([home / "run"])


def test_every_screen_shows_a_run_of_grids(study):
    with TestClient(build_server(study, None), base_url="http://127.0.0.1") as client:
        names = study.runs[0].table.conditions
        assert len(names) == 1 + 4
        shown = {path: client.get(path) for path in (
            "/", "/run?run=0", "/grid?run=0", "/compare?first=0&second=0", "/leaderboard", "/question?run=0&id=coco_1",
        )}  # fmt: skip
    assert {path: reply.status_code for path, reply in shown.items()} == dict.fromkeys(shown, 200)
    assert all(name in shown["/grid?run=0"].text for name in names)


def test_a_grid_counts_the_wrong_answers_of_all_its_regions(study):
    run = study.runs[0]
    (whole,) = [grid for grid in run.summary.grids if grid.rows == 2]
    n_wrong = sum(int(run.is_wrong(at).sum()) for at, name in enumerate(run.table.conditions) if "2x2" in name)
    with TestClient(build_server(study, None), base_url="http://127.0.0.1") as client:
        page = client.get("/run?run=0").text
    row = page[
        page.index(f"<code>{whole.name}</code>") if f"<code>{whole.name}</code>" in page else page.index("2x2") :
    ]
    assert f">{n_wrong}</a>" in row[: row.index("</tr>")]


def test_a_site_of_grids_is_written(study, tmp_path):
    write_site(study, tmp_path / "site", None)
    assert (tmp_path / "site" / "run-0.html").is_file()
