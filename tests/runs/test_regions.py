"""Needle grids of a run: published readings of Region, incomplete base samples, sizes, and silence under the null."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from summaries import make_run, make_summary

from eyechart.runs.cells import AskedQuestion, RunTable
from eyechart.runs.claiming import settle
from eyechart.runs.findings import CANNOT_TELL
from eyechart.runs.grid_rows import region_ids
from eyechart.runs.region_findings import REGION_GAP, find_regions
from eyechart.runs.regions import summarise_grids
from eyechart.schema import Grid
from eyechart.stats.claims import adjust_family

SCORER = "vqa_soft.corrected@1"


def cells_of(size, style="white"):
    """View id → view of every region of a square grid."""
    return {
        f"grid_{style}_{size}x{size}_r{row}_c{column}": Grid(style, size, size, row, column)
        for row, column in product(range(size), repeat=2)
    }


def summarise(rows, *sizes, style="white", present=None, groups=None):
    """Grids of scores whose columns are the regions of the given sizes, one size after the other."""
    values = np.asarray(rows, dtype=float)
    views = {name: view for size in sizes for name, view in cells_of(size, style).items()}
    groups = groups or [f"im{row}" for row in range(len(values))]
    questions = tuple(AskedQuestion(id=f"b{row}", image_group=group, n_choices=0) for row, group in enumerate(groups))
    table = RunTable(
        run=make_run(views),
        questions=questions,
        conditions=tuple(views),
        view_of={name: name for name in views},
        cells={},
    )
    mask = np.ones(values.shape, dtype=bool) if present is None else np.asarray(present)
    return summarise_grids(table, values, mask, views, SCORER)


def draw(seed, n=60, size=3, rate=0.7, spread=0.2):
    rng = np.random.default_rng(seed)
    ease = np.clip(rate + rng.normal(0, spread, (n, 1)), 0.02, 0.98)
    return (rng.random((n, size * size)) < ease).astype(float)


def test_region_has_three_readings_each_under_its_own_name():
    grid = summarise([[1, 1, 0, 0], [0, 0, 0, 1]], 2)[0]
    assert (grid.region.name, grid.region_std.name, grid.region_map_gap.name) == (
        "region",
        "region_std",
        "region_map_gap",
    )
    assert 100 * grid.region.value == pytest.approx(62.5)
    assert 100 * grid.region_std.value == pytest.approx(46.65, abs=0.005)
    assert 100 * grid.region_map_gap.value == pytest.approx(12.5)


def test_constant_scores_have_no_region_gap_in_any_reading():
    grid = summarise(np.ones((30, 9)), 3)[0]
    assert (grid.region.value, grid.region_std.value, grid.region_map_gap.value, grid.noise_floor) == (0, 0, 0, 0)
    assert grid.map_gap_p == 1.0
    assert grid.region.high > 0.0  # 30 base samples do not prove that there is none


def test_rarefied_region_is_region_on_nine_cells_and_smaller_on_more():
    nine, many = summarise(draw(1), 3)[0], summarise(draw(1, size=5), 5)[0]
    assert nine.region_rarefied.value == pytest.approx(nine.region.value)
    assert many.region_rarefied.value < many.region.value
    assert summarise(draw(1, size=2), 2)[0].region_rarefied is None


def test_region_interval_is_a_t_interval_over_base_samples():
    rows = draw(2)
    gaps = rows.max(axis=1) - rows.mean(axis=1)
    low, high = stats.t.interval(0.95, len(gaps) - 1, gaps.mean(), stats.sem(gaps))
    grid = summarise(rows, 3)[0]
    assert (grid.region.low, grid.region.high) == pytest.approx((low, high))


def test_needles_from_one_photograph_are_one_cluster():
    rows = draw(3, n=40)
    alone, shared = summarise(rows, 3)[0], summarise(rows, 3, groups=[f"im{row // 2}" for row in range(40)])[0]
    assert shared.perf.n_clusters == 20
    assert shared.perf.value == alone.perf.value
    assert shared.cells[0].estimate.n_clusters == 20


def test_manhattan_curve_of_a_published_map_with_regions_per_distance():
    # figure 6 of the paper, ComplexGrid 3×3 of Phi-3.5, whose curve was worked out by hand
    published = np.array([0.83, 0.53, 0.22, 0.90, 0.72, 0.60, 0.72, 0.76, 0.54])
    rows = (np.arange(100)[:, None] < 100 * published[None, :] - 1e-9).astype(float)
    grid = summarise(rows, 3, style="captioned")[0]
    assert [point.n_regions for point in grid.curve] == [1, 2, 3, 2, 1]
    assert [point.estimate.value for point in grid.curve] == pytest.approx([0.83, 0.715, 0.5533, 0.68, 0.54], abs=1e-4)
    weights = [point.n_regions for point in grid.curve]
    assert np.average([point.estimate.value for point in grid.curve], weights=weights) == pytest.approx(grid.perf.value)


def test_manhattan_distance_has_nineteen_points_in_a_grid_of_ten():
    grid = summarise(draw(4, n=12, size=10), 10)[0]
    assert len(grid.curve) == 19
    assert sum(point.n_regions for point in grid.curve) == 100


def test_null_band_holds_the_whole_curve_of_a_flat_model_most_of_the_time():
    n_inside = 0
    for seed in range(40):
        curve = summarise(draw(seed, n=30), 3)[0].curve
        n_inside += all(point.null_low - 1e-9 <= point.estimate.value <= point.null_high + 1e-9 for point in curve)
    assert n_inside >= 34


def test_flat_models_are_said_to_be_flat():
    silent = [find_regions(judged(summarise(draw(100 + seed, n=30), 3)))[0].code == CANNOT_TELL for seed in range(60)]
    assert sum(silent) >= 54


def test_preferred_region_is_named_with_its_noise_floor():
    rows = draw(5, n=80)
    rows[:, 4] = 1.0
    grid = summarise(rows, 3)[0]
    finding = find_regions(judged([grid]))[0]
    assert finding.code == REGION_GAP
    assert "row 1, column 1" in finding.text
    assert f"{100 * grid.noise_floor:.1f} are expected without any positional effect" in finding.text
    assert [cell.is_apart for cell in grid.cells].index(True) == 4


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_map_gap_lies_in_its_interval_and_cells_average_to_perf(seed):
    grid = summarise(draw(seed, n=25), 3)[0]
    assert grid.region_map_gap.low <= grid.region_map_gap.value <= grid.region_map_gap.high
    assert np.mean([cell.estimate.value for cell in grid.cells]) == pytest.approx(grid.perf.value)
    assert 0.0 <= grid.region_std.value <= 0.5


def judged(grids):
    """The same grids, with what may be claimed of them in a report that shows nothing else."""
    return settle(make_summary((), contrasts=(), grids=tuple(grids)), "exploratory").grids


class TestSize:
    """A grid less the same base samples alone."""

    def test_size_is_perf_less_perf_at_1x1_and_negative_for_a_drop(self):
        rows = np.hstack([np.ones((40, 1)), draw(6, n=40)])
        alone, grid = summarise(rows, 1, 3)
        assert (alone.name, grid.name) == ("grid_white_1x1", "grid_white_3x3")
        assert grid.size.value == pytest.approx(grid.perf.value - alone.perf.value)
        assert grid.size.low <= grid.size.value <= grid.size.high
        assert grid.size.high < 0
        assert (grid.size.condition, grid.size.baseline) == ("grid_white_3x3", "grid_white_1x1")

    def test_size_is_missing_and_not_zero_without_1x1(self):
        assert summarise(draw(7), 3)[0].size is None

    def test_sizes_of_a_run_are_corrected_together(self):
        rows = np.hstack([np.ones((40, 1)), draw(8, n=40), draw(9, n=40, size=2)])
        sizes = [grid.size for grid in summarise(rows, 1, 3, 2) if grid.size is not None]
        found = adjust_family(sizes, "holm", "sizes").contrasts
        assert len(found) == 2
        assert all(one.correction == "holm" and one.p_adjusted >= one.p for one in found)

    def test_region_of_1x1_is_not_asked_for(self):
        alone = summarise(np.ones((30, 1)), 1)[0]
        assert (alone.region, alone.curve, alone.map_gap_p) == (None, (), None)
        assert alone.perf.value == 1.0


class TestIncompleteRuns:
    """Only base samples with every region are compared, and what was left out is said."""

    def test_one_missing_region_drops_its_base_sample_and_says_which(self):
        rows = np.ones((12, 9))
        present = np.ones((12, 9), dtype=bool)
        present[7, 3] = False
        grid = summarise(rows, 3, present=present)[0]
        assert (grid.n_asked, grid.n_bases, grid.n_dropped) == (12, 11, 1)
        assert "b7" in grid.notes[0]
        assert "left out" in grid.notes[0]

    def test_all_correct_model_with_missing_regions_has_a_flat_map(self):
        # the published heat map divides every region by the number of base samples and would show 1 and 0.5 here
        present = np.array([[True] * 9, [True] + [False] * 8])
        grid = summarise(np.ones((2, 9)), 3, present=present)[0]
        assert {cell.estimate.value for cell in grid.cells} == {1.0}
        assert [cell.n_scored for cell in grid.cells] == [2] + [1] * 8
        assert [cell.estimate.n_questions for cell in grid.cells] == [2] + [1] * 8
        assert grid.perf is None
        assert any("each shows what it scored, with its n" in note for note in grid.notes)

    def test_partial_7x7_run_has_no_fake_gap(self):
        # 500 rows of 7×7 in the order of asking: 10 base samples are whole, the 11th is cut
        rng = np.random.default_rng(0)
        values = (rng.random((11, 49)) < 0.8).astype(float)
        present = np.arange(11 * 49).reshape(11, 49) < 500
        grid = summarise(values, 7, present=present)[0]
        assert grid.n_bases == 10
        assert [cell.estimate.value for cell in grid.cells] == pytest.approx(values[:10].mean(axis=0).tolist())

    def test_run_without_any_score_gives_a_message(self):
        grid = summarise(np.zeros((5, 9)), 3, present=np.zeros((5, 9), dtype=bool))[0]
        assert grid.perf is None
        assert all(cell.estimate is None and cell.n_scored == 0 for cell in grid.cells)
        assert any("no base sample is complete" in note for note in grid.notes)

    def test_region_that_was_never_asked_is_named(self):
        views = cells_of(2)
        views.pop("grid_white_2x2_r1_c0")
        questions = tuple(AskedQuestion(id=f"b{row}", image_group=f"im{row}", n_choices=0) for row in range(4))
        table = RunTable(
            run=make_run(views),
            questions=questions,
            conditions=tuple(views),
            view_of=dict.fromkeys(views, ""),
            cells={},
        )
        grid = summarise_grids(table, np.ones((4, 3)), np.ones((4, 3), dtype=bool), views, SCORER)[0]
        assert "1 of 4 regions were not asked: r1_c0" in grid.notes[0]


def test_complexgrid_is_also_given_above_chance():
    grid = summarise(np.full((30, 9), 1 / 9), 3, style="captioned")[0]
    assert grid.chance == pytest.approx(1 / 9)
    assert grid.perf_corrected.value == pytest.approx(0.0, abs=1e-9)
    assert summarise(draw(1), 3)[0].chance is None


def test_region_ids_are_the_views_that_were_asked():
    views = cells_of(3)
    assert region_ids(summarise(draw(1), 3)[0]) == tuple(views)
