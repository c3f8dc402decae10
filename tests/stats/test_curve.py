import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eyechart.errors import StatisticsError
from eyechart.stats.bootstrap import draw_weights
from eyechart.stats.clusters import find_clusters
from eyechart.stats.curve import estimate_curve, flat_ace, summarise_curves

SCALES = np.array([1, 0.9375, 0.875, 0.8125, 0.75, 0.6875, 0.625, 0.5, 0.375, 0.25, 0.125, 0.0625])


def _estimate(values, present=None, seed=0, **options):
    n = len(values)
    rng = np.random.default_rng(seed)
    present = values >= 0 if present is None else present
    levels = SCALES[: values.shape[1]]
    clusters = find_clusters(list(range(n)))
    return estimate_curve(values, present, clusters, levels, weights=draw_weights(n, rng), rng=rng, **options)


def test_summary_equals_r(reference, expected):
    summary, row = summarise_curves(np.array(reference["inputs"]["d7"]["acc"]), SCALES), expected["d7"]
    found = [summary.ace, summary.rce, summary.spearman, summary.kendall]
    assert [float(number) for number in found] == pytest.approx(
        [row["ACE"], row["RCE"], row["spearman"], row["kendall"]], abs=1e-9
    )


@given(st.lists(st.integers(0, 20), min_size=2, max_size=12))
def test_correlations_equal_scipy(counts):
    accuracies, levels = np.array(counts) / 20, np.arange(len(counts))
    summary = summarise_curves(accuracies, levels)
    if len(set(counts)) == 1:
        assert (float(summary.spearman), float(summary.kendall)) == (0.0, 0.0)
    else:
        assert float(summary.spearman) == pytest.approx(stats.spearmanr(levels, accuracies).statistic)
        assert float(summary.kendall) == pytest.approx(stats.kendalltau(levels, accuracies).statistic)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_ace_is_at_least_the_net_change_with_equality_for_monotone_curves(values):
    curve, levels = np.array(values), np.arange(len(values))
    summary = summarise_curves(curve, levels)
    assert summary.roughness >= -1e-12
    assert float(summary.rce) == pytest.approx(float(summary.ace) / curve.mean() if curve.mean() else 0.0)
    assert float(summarise_curves(np.sort(curve), levels).roughness) == pytest.approx(0.0, abs=1e-12)


def test_flat_curve_has_the_ace_of_its_noise():
    rng = np.random.default_rng(0)
    difficulty = rng.random(700)[:, None]
    found = _estimate((rng.random((700, 12)) < difficulty).astype(float))
    assert found.p_ace > 0.01
    assert abs(found.excess_ace) < 0.08
    discordance = float((2 * difficulty * (1 - difficulty)).mean())
    assert float(found.floor.ace) == pytest.approx(flat_ace(12, 700, discordance), rel=0.15)
    assert float(found.floor.spearman) == pytest.approx(0.25, abs=0.05)


def test_falling_curve_stands_out_from_its_floor():
    rng = np.random.default_rng(0)
    found = _estimate((rng.random((300, 1)) < 0.2 + 0.6 * SCALES).astype(float))
    assert found.p_ace == found.p_spearman == 1 / 200
    assert found.ace_low < float(found.observed.ace) < found.ace_high + 0.2
    assert found.excess_ace > 0.2


def test_questions_with_a_gap_are_left_out():
    present = np.full((50, 12), True)
    present[:10, 3] = False
    assert _estimate(np.ones((50, 12)), present).n_questions == 40


def test_run_without_a_complete_question_is_refused():
    with pytest.raises(StatisticsError, match="has an answer at every level"):
        _estimate(np.ones((50, 3)), np.full((50, 3), False))


@pytest.mark.parametrize(("curve", "levels"), [([1.0], [1.0]), ([1.0, 0.5], [1.0])])
def test_movement_needs_two_levels(curve, levels):
    with pytest.raises(StatisticsError, match=r"over 1 levels"):
        summarise_curves(np.array(curve), np.array(levels))


@pytest.mark.parametrize("per_picture", [1, 5])
def test_flat_curve_is_rarely_called_moving_though_questions_of_a_picture_move_together(per_picture):
    """T13: with five questions a picture, shuffled one by one, a flat curve was called moving in 31 % of runs."""
    rng, n_pictures, n_runs = np.random.default_rng(2), 40, 150
    labels = np.repeat(np.arange(n_pictures), per_picture)
    clusters, n_alarms = find_clusters(labels), 0
    for _ in range(n_runs):
        of_picture = rng.random((n_pictures, 6))[labels]  # what a picture gives in a view, its questions share
        own = rng.random((len(labels), 6))
        values = (np.where(rng.random(own.shape) < 0.5, of_picture, own) < 0.6).astype(float)
        found = estimate_curve(
            values, values >= 0, clusters, SCALES[:6],
            weights=np.ones((2, n_pictures)), rng=rng, n_permutations=99,
        )  # fmt: skip
        n_alarms += found.p_ace <= 0.05
    assert n_alarms <= 0.05 * n_runs + 2.33 * np.sqrt(0.05 * 0.95 * n_runs)


def test_movement_does_not_depend_on_the_order_of_questions():
    rng = np.random.default_rng(3)
    values, labels = rng.integers(0, 2, (60, 5)).astype(float), np.repeat(np.arange(20), 3)
    order = rng.permutation(60)
    one, other = (
        estimate_curve(
            rows, rows >= 0, find_clusters(own), SCALES[:5], weights=np.ones((2, 20)), rng=np.random.default_rng(0)
        )
        for rows, own in ((values, labels), (values[order], labels[order]))
    )
    assert one.p_ace == other.p_ace
    assert float(one.floor.ace) == pytest.approx(float(other.floor.ace), abs=1e-12)
