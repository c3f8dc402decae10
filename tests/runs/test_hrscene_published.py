"""HRScene's published numbers: sizes from levels, gaps from heat maps, curves from both, and what cannot be right."""

import numpy as np
import pytest

from eyechart.benchmarks._published import read_published
from eyechart.stats.manhattan import distance_weights

PUBLISHED = read_published("hrscene")
ROWS = {(row.model, row.grid): row for row in PUBLISHED.grids}
SIZED = [row for row in PUBLISHED.grids if row.size is not None]


def test_published_table_has_62_grids_of_17_models():
    assert len(SIZED) == 62
    assert len({row.model for row in PUBLISHED.grids}) == 17


@pytest.mark.parametrize("row", SIZED, ids=lambda row: f"{row.model}-{row.grid}")
def test_size_is_perf_less_perf_at_1x1_in_every_published_cell(row):
    assert row.perf - ROWS[row.model, "1x1"].perf == pytest.approx(row.size, abs=0.011)


def test_size_at_1x1_is_missing_and_not_zero():
    assert all(row.size is None and row.region is None for row in PUBLISHED.grids if row.grid == "1x1")


def test_level_plus_per_sample_gap_exceeds_100_in_the_suspect_row_alone():
    # as the mean over base samples of best − mean, Region plus Perf is the mean score of the best region
    beyond = [(row.model, row.grid) for row in SIZED if row.perf + row.region > 100]
    assert beyond == [("Gemini-2.0-Flash", "10x10")]


@pytest.mark.parametrize(
    ("title", "gaps"),
    [
        ("WhiteBackground GPT-4o-mini", (4.22, 2.48, 4.63, 9.07)),
        ("WhiteBackground InternVL2-40B", (0.44, 2.04, 1.86, 3.09)),
    ],
)
def test_gap_of_the_published_map_is_not_the_published_region(title, gaps):
    maps = {one.grid: np.array(one.matrix) for one in PUBLISHED.maps if one.title == title}
    grids = ("3x3", "5x5", "7x7", "10x10")
    found = [100 * (maps[grid].max() - maps[grid].mean()) for grid in grids]
    assert found == pytest.approx(gaps, abs=0.006)
    regions = [ROWS[title.split()[1], grid].region for grid in grids]
    assert all(region > 2 * gap for region, gap in zip(regions, found, strict=True))


@pytest.mark.parametrize("one", PUBLISHED.maps, ids=lambda one: f"{one.title}-{one.grid}")
def test_curve_weighted_by_its_regions_is_the_mean_of_the_map(one):
    matrix = np.array(one.matrix)
    weights = distance_weights(*matrix.shape)
    curve, n_regions = weights @ matrix.ravel(), np.count_nonzero(weights, axis=1)
    assert np.average(curve, weights=n_regions) == pytest.approx(matrix.mean())


def test_regions_per_distance_are_those_of_the_published_curves():
    assert np.count_nonzero(distance_weights(5, 5), axis=1).tolist() == [1, 2, 3, 4, 5, 4, 3, 2, 1]
    assert {grid: len(curve) for grid, curve in PUBLISHED.curves.items()} == {"5x5": 9, "7x7": 13, "10x10": 19}
    for grid, curve in PUBLISHED.curves.items():
        side = int(grid.partition("x")[0])
        assert len(distance_weights(side, side)) == len(curve)


def test_published_curve_of_10x10_lies_above_that_of_7x7():
    def level(grid):
        side = int(grid.partition("x")[0])
        return np.average(PUBLISHED.curves[grid], weights=np.count_nonzero(distance_weights(side, side), axis=1))

    assert [level(grid) for grid in ("5x5", "7x7", "10x10")] == pytest.approx([0.442, 0.179, 0.227], abs=0.001)


def test_random_row_is_marked_unreliable():
    random = next(row for row in PUBLISHED.references if row.model == "Random")
    assert random.note.startswith("Unreliable")
