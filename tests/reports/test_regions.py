"""Needle grids in tables: one row per grid, every number with interval and n, and the same text everywhere."""

import msgspec
import pytest
from summaries import make_run, make_summary

from eyechart.api import RunResult
from eyechart.errors import UsageError
from eyechart.figures import format_estimate
from eyechart.reports import grid_tables, render_table
from eyechart.reports.html import HtmlReport
from eyechart.reports.latex import LatexReport
from eyechart.reports.markdown import MarkdownReport
from eyechart.runs.region_findings import collapse_grids, find_regions, region_id, size_contrasts
from eyechart.schema import (
    ConditionSummary,
    Contrast,
    DistancePoint,
    Estimate,
    GridEffect,
    GridSummary,
    RegionCell,
    Size,
    Summary,
)


def estimate(name, condition, value, n=40):
    return Estimate(
        name=name,
        condition=condition,
        value=value,
        low=max(0.0, value - 0.1),
        high=min(1.0, value + 0.1),
        n_questions=n,
        n_clusters=n,
        method="Wilson",
    )


def make_grid(size, name=None):
    name = name or f"grid_white_{size}x{size}"
    cells = tuple(
        RegionCell(row, column, 40, estimate("score", f"r{row}", 0.5 + row / 30), 0.01, 0.05, row > 1)
        for row in range(size)
        for column in range(size)
    )
    if size == 1:
        return GridSummary(name, "white", 1, 1, 40, 40, 0, cells, perf=estimate("perf", name, 0.9))
    return GridSummary(
        name,
        "white",
        size,
        size,
        n_asked=41,
        n_bases=40,
        n_dropped=1,
        cells=cells,
        perf=estimate("perf", name, 0.62),
        size=Contrast(
            name="size", condition=name, baseline="grid_white_1x1", value=-0.28, low=-0.4, high=-0.1, n_questions=40,
            n_clusters=40, gained=2, lost=30, method="Bonett", p=0.001, p_method="exact",
        ),
        region=estimate("region", name, 0.31),
        region_std=estimate("region_std", name, 0.22),
        region_map_gap=estimate("region_map_gap", name, 0.08),
        noise_floor=0.07,
        map_gap_p=0.43,
        cross_fitted_gap=-0.01,
        position_sd=0.02,
        omnibus="Friedman's test",
        omnibus_df=size * size - 1,
        omnibus_p=0.2,
        curve=(DistancePoint(0, 1, estimate("score by distance", "d0", 0.7), 0.5, 0.8),),
        effects=(GridEffect("border − interior", -0.0123, -0.03, 0.01, 0.21, "points", 40),),
        p_u=0.9,
        notes=("1 of 41 base samples lack a score in at least one region (1 scores in all) and are left out: b7",),
    )  # fmt: skip


def grid_summary(*sizes) -> Summary:
    """A summary of a run that asked grids only."""
    grids = tuple(make_grid(size) for size in sizes)
    cells = [(grid, cell) for grid in grids for cell in grid.cells]
    views = [region_id(grid, cell) for grid, cell in cells]
    conditions = tuple(
        ConditionSummary(
            view, view, "grid", n_asked=41, n_answered=41, n_scored=40, n_missing=1, median_sent_size=Size(448, 448),
            reasons={"empty": 1},
        )
        for view in views
    )  # fmt: skip
    contrasts = size_contrasts(grids)
    return msgspec.structs.replace(
        make_summary(),
        run=make_run(views),
        conditions=conditions,
        estimates=tuple(msgspec.structs.replace(cell.estimate, name="accuracy") for _, cell in cells),
        contrasts=contrasts,
        findings=find_regions(grids),
        size_bands=(),
        chance=None,
        failures=(),
        warnings=(),
        grids=grids,
    )


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
