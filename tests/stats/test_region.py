from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.bootstrap import draw_weights
from eyechart.stats.clusters import find_clusters
from eyechart.stats.manhattan import estimate_size_drop
from eyechart.stats.region import (
    band_cells,
    complete_bases,
    cross_fitted_gap,
    expected_maximum,
    gap_p,
    noise_variance,
    position_sd,
    rarefied_sample_gap,
    shuffled_cell_means,
    shuffled_gaps,
    summarise_regions,
)


@pytest.fixture
def grid(reference):
    return np.array(reference["inputs"]["d2"]["y"], dtype=float)


def test_summary_equals_r(grid, expected):
    row = expected["d2_grid"]
    found = summarise_regions(grid, grid >= 0, rng=np.random.default_rng(0))
    assert found.cell_means == pytest.approx(row["cell_means"], abs=1e-12)
    assert found.gap == pytest.approx(row["RD"], abs=1e-12)
    assert noise_variance(grid) == pytest.approx(row["tau2"], abs=1e-12)
    assert found.position_sd == pytest.approx(row["sd_cells_mom"], abs=1e-9)
    assert found.sample_gap == pytest.approx(row["RD_sample"], abs=1e-12)
    assert rarefied_sample_gap(grid, 4) == pytest.approx(row["RD_sample_rarefied_k4"], abs=1e-12)
    p = gap_p(grid, rng=np.random.default_rng(0), n_permutations=4999)
    assert p == pytest.approx(row["perm_RD_p"], abs=row["perm_tolerance"])
    assert shuffled_gaps(grid, rng=np.random.default_rng(0)).mean() == pytest.approx(row["perm_RD_mean"], abs=0.005)
    assert found.noise_floor == pytest.approx(row["perm_RD_mean"], rel=0.1)
    assert found.omnibus.statistic == pytest.approx(row["cochranQ"], abs=1e-9)


def test_expected_maximum_equals_the_published_constants(expected):
    for n_cells, value in expected["constants"]["e_max_normal"].items():
        assert expected_maximum(int(n_cells)) == pytest.approx(value, abs=1e-4)
    assert expected_maximum(1) == pytest.approx(0.0, abs=1e-12)
    assert expected_maximum(2) == pytest.approx(1 / np.sqrt(np.pi), abs=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_shuffling_cells_within_bases_leaves_what_is_blind_to_position(seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice([0.0, 1 / 3, 1.0], (8, 9))
    shuffled = rng.permuted(rows, axis=1)
    alone = rng.random(8)
    assert noise_variance(shuffled) == pytest.approx(noise_variance(rows))
    assert rarefied_sample_gap(shuffled, 9) == pytest.approx(rarefied_sample_gap(rows, 9))
    assert estimate_size_drop(shuffled, alone).value == pytest.approx(estimate_size_drop(rows, alone).value)
    assert shuffled.mean(axis=1) == pytest.approx(rows.mean(axis=1))


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_rarefied_gap_is_the_mean_over_all_subsets(n_drawn, seed):
    row = np.random.default_rng(seed).random(6)
    brute = np.mean([max(subset) for subset in combinations(row, n_drawn)]) - row.mean()
    assert rarefied_sample_gap(row[None], n_drawn) == pytest.approx(brute)


def test_without_effect_the_gap_is_its_floor_and_the_debiased_numbers_are_zero():
    gaps, floors, fitted, spreads, p = [], [], [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = (rng.random((50, 25)) < rng.beta(8, 2, 50)[:, None]).astype(float)
        found = summarise_regions(rows, rows >= 0, rng=rng, n_permutations=39)
        gaps.append(found.gap)
        floors.append(found.noise_floor)
        fitted.append(found.cross_fitted_gap)
        spreads.append(found.position_sd)
        p.append(found.p)
    assert np.mean(gaps) == pytest.approx(np.mean(floors), rel=0.1)
    assert np.mean(fitted) == pytest.approx(0.0, abs=0.015)
    assert np.mean(spreads) < 0.03
    assert (np.array(p) <= 0.05).mean() <= 0.15


def test_hot_cell_shows_in_every_number():
    rng = np.random.default_rng(0)
    rows = (rng.random((200, 9)) < np.r_[0.95, np.full(8, 0.5)]).astype(float)
    found = summarise_regions(rows, rows >= 0, rng=rng, n_permutations=199)
    assert found.p == 1 / 200
    assert found.cross_fitted_gap == pytest.approx(0.4, abs=0.08)
    assert found.position_sd == pytest.approx(0.15, abs=0.03)
    clusters = find_clusters(list(range(200)))
    band = band_cells(rows, clusters, weights=draw_weights(200, rng))
    assert band.is_apart[0]
    assert band.difference.sum() == pytest.approx(0.0, abs=1e-12)


def test_band_holds_for_all_cells_together():
    hits = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        rows = (rng.random((60, 9)) < rng.beta(4, 2, 60)[:, None]).astype(float)
        weights = draw_weights(30, rng, n_resamples=400)
        hits += band_cells(rows, find_clusters(list(np.arange(60) // 2)), weights=weights).is_apart.any()
    assert hits <= 0.05 * 120 + 7


def test_partial_run_gives_no_fake_gap():
    rows = np.ones((12, 4))
    present = np.full((12, 4), True)
    present[10:, 2:] = False  # an aborted run: the last cells miss two base samples
    found = summarise_regions(rows, present, rng=np.random.default_rng(0), n_permutations=9)
    assert (found.gap, found.n_bases, found.n_dropped) == (0.0, 10, 2)


def test_fractional_scores_are_tested_by_friedman(grid):
    fractional = summarise_regions(grid / 3, grid >= 0, rng=np.random.default_rng(0), n_permutations=9)
    assert fractional.omnibus.statistic == pytest.approx(16.4050632911392)


def test_small_grid_has_no_rarefied_gap():
    rows = np.eye(4)
    assert summarise_regions(rows, rows >= 0, rng=np.random.default_rng(0), n_permutations=9).rarefied_gap is None


def test_tied_best_cells_share_the_cross_fitted_gain():
    assert cross_fitted_gap(np.ones((9, 4)), rng=np.random.default_rng(0)) == 0.0
    assert position_sd(np.ones((9, 4))) == 0.0


@pytest.mark.parametrize("shape", [(5,), (5, 1)])
def test_grid_needs_cells(shape):
    with pytest.raises(StatisticsError, match="grid scores of shape"):
        complete_bases(np.ones(shape), np.full(shape, True))


def test_grid_needs_complete_bases():
    with pytest.raises(StatisticsError, match="0 of 5 base samples have every cell"):
        complete_bases(np.ones((5, 4)), np.full((5, 4), False))


@pytest.mark.parametrize("n_drawn", [0, 5])
def test_more_cells_than_there_are_cannot_be_drawn(n_drawn):
    with pytest.raises(StatisticsError, match="of 4 cells"):
        rarefied_sample_gap(np.eye(4), n_drawn)


def test_no_cells_have_no_maximum():
    with pytest.raises(StatisticsError, match="a grid of 0 cells"):
        expected_maximum(0)


def test_one_image_has_no_band():
    with pytest.raises(StatisticsError, match="1 image under the grid"):
        band_cells(np.eye(4), find_clusters(["a"] * 4), weights=np.ones((1, 1)))


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 0.3, 0.6, 0.9, 1.0), tuple(np.linspace(0, 1, 11)), (0.5,)])
def test_shuffles_keep_every_total_and_vary_as_theory_says(values):
    rng = np.random.default_rng(0)
    rows = rng.choice(values, (40, 9))
    rows[0] = values[-1]
    means = shuffled_cell_means(rows, rng=rng, n_permutations=2000)
    assert means.mean(axis=1) == pytest.approx(np.full(2000, rows.mean()))
    assert means.min() >= 0.0
    assert means.max() <= 1.0
    # cells are exchangeable, with variance τ²·(1 − 1/K) each
    assert means.var(axis=0).mean() == pytest.approx(noise_variance(rows) * (1 - 1 / 9), rel=0.05)
