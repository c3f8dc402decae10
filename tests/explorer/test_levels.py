"""A matched design of several levels: every screen compares a view with the original of its own level."""

import json
import re

import pytest
from runs_made import right_at
from tests.runs.conftest import make  # noqa: F401 -- a fixture

from eyechart.errors import UsageError
from eyechart.explorer.filters import Filter
from eyechart.explorer.links import ServerLinks
from eyechart.explorer.pages import compare_page, grid_page
from eyechart.explorer.question import question_page
from eyechart.explorer.screens import Screens
from eyechart.explorer.server import ServedPictures
from eyechart.explorer.site import write_site
from eyechart.explorer.study import read_study
from eyechart.kinds import ObservedPicture
from eyechart.runs.folders import Destination
from eyechart.runs.plan import PlanOptions
from eyechart.runs.session import RunOptions, run_benchmark
from eyechart.schema import Size
from eyechart.views import resolve_views

ACCURACY = {"match_px_8": 0.0, "match_px_16": 1.0, "match_px_8_crop_3x": 1.0, "match_px_16_crop_3x": 1.0}
BASELINES = {
    "match_px_8": "match_px_8",
    "match_px_16": "match_px_8",
    "match_px_8_crop_3x": "match_px_8",
    "match_px_16_crop_3x": "match_px_16",
}


@pytest.fixture
def study(make, tmp_path):  # noqa: F811 -- the fixture
    class Shrinking(make.model):
        def predict_seen(self, sent):
            return ObservedPicture(seen_size=Size(min(200, sent.width), min(150, sent.height)), evidence="executed")

    run_benchmark(
        make.benchmark([make.question(index) for index in range(40)]),
        Shrinking(right_at(ACCURACY, default=0.0)),
        resolve_views("original,crop_3x")[0],
        make.prompt(),
        options=RunOptions(
            scorer="option_letter", plan=PlanOptions(match="target-px=8,16"), where=Destination(out=tmp_path / "run")
        ),
    )
    return read_study([tmp_path / "run"])


def test_comparison_shows_the_difference_of_the_report_for_every_level(study):
    page = compare_page(study, 0, 0, ServerLinks())
    assert page.heading.endswith("every view against the original of its level")
    shown = {row.label: (row.difference, row.gained[0], row.lost[0]) for row in page.rows}
    assert set(shown) == {f"{one} − {base}" for one, base in BASELINES.items() if one != base}
    assert all(re.match(r"[+−]?\d", difference) for difference, _, _ in shown.values())
    assert shown["match_px_16_crop_3x − match_px_16"][1:] == (0, 0)
    assert shown["match_px_8_crop_3x − match_px_8"][1:] == (40, 0)


def test_patterns_of_the_grid_stay_within_a_level(study):
    page = grid_page(study, 0, Filter(), ServerLinks())
    names = [name for name, _, _ in page.shortcuts]
    assert names[0] == "right in match_px_8_crop_3x, wrong in match_px_8"
    assert "right in match_px_16_crop_3x, wrong in match_px_8" not in names


def test_question_opens_with_the_original_and_the_crop_of_one_level(study):
    page = question_page(study, 0, study.runs[0].table.questions[0].id, Filter(), ServerLinks())
    assert page.default_panes == ("match_px_8", "match_px_8_crop_3x")


def test_site_reads_the_same_baselines(study, tmp_path):
    write_site(study, tmp_path / "site")
    page = (tmp_path / "site" / "grid.html").read_text()
    content = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL).group(1)
    (run,) = json.loads(content)["runs"]
    assert run["baselines"] == BASELINES
    assert run["views"] == ["original", "original", "crop_3x", "crop_3x"]


def test_runs_that_share_no_view_are_prepared_and_said_to_be_no_pair(study, make, tmp_path):  # noqa: F811 -- the fixture
    run_benchmark(
        make.benchmark([make.question(index) for index in range(40)]),
        make.model(right_at({})),
        resolve_views("original,crop_3x")[0],
        make.prompt(),
        options=RunOptions(scorer="option_letter", where=Destination(out=tmp_path / "plain")),
    )
    both = read_study([tmp_path / "run", tmp_path / "plain"])
    assert both.alike(0) == (0, 1)
    Screens(both, ServerLinks(), ServedPictures(both, None)).prepare(lambda: True)
    with pytest.raises(UsageError, match="there is nothing to compare"):
        compare_page(both, 0, 1, ServerLinks())
