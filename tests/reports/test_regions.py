"""Needle grids in tables: one row per grid, every number with interval and n, and the same text everywhere."""

import msgspec
import pytest
from grid_summaries import estimate, grid_summary, make_grid
from summaries import make_summary

from eyechart.api import RunResult
from eyechart.errors import UsageError
from eyechart.figures import format_estimate
from eyechart.reports import grid_tables, render_table
from eyechart.reports.html import HtmlReport
from eyechart.reports.latex import LatexReport
from eyechart.reports.markdown import MarkdownReport
from eyechart.runs.grid_rows import collapse_grids


def test_table_of_views_has_one_row_per_grid_with_perf_and_size():
    table = render_table(grid_summary(1, 3))
    assert [row.condition for row in table.rows] == ["grid_white_1x1", "grid_white_3x3"]
    cells = dict(zip([column.key for column in table.columns], table.rows[1].cells, strict=True))
    assert cells["accuracy"] == "62.0 [52.0, 72.0]"
    assert cells["difference"].startswith("−28.0 [−40.0, −10.0]")
    assert cells["missing"] == "9"


def test_collapsing_twice_is_collapsing_once():
    once = collapse_grids(grid_summary(1, 3))
    assert collapse_grids(once) == once
    assert collapse_grids(make_summary()) == make_summary()


def test_measures_stand_beside_their_noise_floor_and_n():
    text = str(grid_tables(grid_summary(1, 3))[0][2])
    assert "Region, map gap, points" in text
    for number in ("8.0 [0.0, 18.0]", "7.0", "0.430", "−1.0", "31.0 [21.0, 41.0]", "22.0 [12.0, 32.0]", "−28.0"):
        assert number in text
    assert "left out: b7." in text


def test_every_region_is_printed_with_its_interval_in_every_format(tmp_path):
    summary = grid_summary(1, 3)
    page = HtmlReport().render(summary)
    markdown = MarkdownReport().write(summary, tmp_path).read_text(encoding="utf-8")
    tex = LatexReport().write(summary, tmp_path).read_text(encoding="utf-8")
    for cell in summary.grids[1].cells:
        for text in (page, markdown, tex.replace("{[}", "[").replace("{]}", "]")):
            assert format_estimate(cell.estimate) in text
    assert "n = 40 base samples in every region" in page
    assert "Shape of grid_<wbr>white" in page or "Shape of grid_white_3x3" in page


def test_labels_of_latex_tables_are_distinct(tmp_path):
    tex = LatexReport().write(grid_summary(1, 3), tmp_path).read_text(encoding="utf-8")
    labels = [line.strip() for line in tex.splitlines() if "\\label" in line]
    assert len(labels) == len(set(labels)) == 5


def test_regions_of_a_run_are_printed_as_text(tmp_path):
    regions = RunResult(folder=tmp_path, summary=grid_summary(1, 3)).regions()
    assert len(regions.grids) == 2
    assert "Score in percent by region" in str(regions)
    assert "row 2" in str(regions)


def test_run_without_grids_has_no_regions(tmp_path):
    with pytest.raises(UsageError, match="has no needle grid") as caught:
        RunResult(folder=tmp_path, summary=make_summary()).regions()
    assert "whitebackground" in caught.value.hint


def test_differing_n_is_said_in_every_region():
    grid = make_grid(2)
    cells = (msgspec.structs.replace(grid.cells[0], estimate=estimate("score", "x", 0.5, n=7)), *grid.cells[1:])
    summary = msgspec.structs.replace(grid_summary(2), grids=(msgspec.structs.replace(grid, cells=cells),))
    table = grid_tables(summary)[1][2]
    assert "n differs" in table.caption
    assert "n=7" in table.rows[0].cells[1]
    assert "n=40" in table.rows[0].cells[2]


def test_unscored_region_is_words_and_not_zero():
    grid = make_grid(2)
    cells = (msgspec.structs.replace(grid.cells[0], estimate=None), *grid.cells[1:])
    summary = msgspec.structs.replace(grid_summary(2), grids=(msgspec.structs.replace(grid, cells=cells),))
    assert grid_tables(summary)[1][2].rows[0].cells[1] == "not scored"
