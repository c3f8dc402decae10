import numpy as np
import pytest

from eyechart.stats.clusters import find_clusters
from eyechart.stats.proportion import estimate_proportions
from eyechart.stats.repeats import average_repeats, measure_noise


def test_repeats_add_no_questions():
    values = np.repeat(np.random.default_rng(0).integers(0, 2, (50, 1)), 10, axis=1).astype(float)
    means, present = average_repeats(values, values >= 0)
    table = estimate_proportions(means, present, find_clusters(list(range(50))))
    assert (table.n_questions, means.tolist()) == (50, values[:, 0].tolist())


def test_missing_repeats_do_not_count():
    means, present = average_repeats(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[True, False], [False, False]]))
    assert means.tolist() == [1.0, 0.0]
    assert present.tolist() == [True, False]


def test_noise_of_guessing_is_all_within_questions():
    values = np.random.default_rng(0).integers(0, 2, (400, 8)).astype(float)
    noise = measure_noise(values, values >= 0)
    assert noise.flip_rate == pytest.approx(0.5, abs=0.03)
    assert noise.within_share == pytest.approx(7 / 8, abs=0.03)


def test_constant_answers_have_no_noise():
    values = np.repeat(np.array([[1.0], [0.0]]), 3, axis=1)
    assert tuple(measure_noise(values, values >= 0)) == (0.0, 0.0, 6)
    assert tuple(measure_noise(values[:, :1], values[:, :1] >= 0)) == (0.0, 0.0, 0)
