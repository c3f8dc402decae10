import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.bootstrap import draw_weights
from eyechart.stats.clusters import find_clusters
from eyechart.stats.psychometric import fit_psychometric, misfit_p


def _counts(counts, n):
    return (np.arange(n)[:, None] < np.array(counts)).astype(float)


@pytest.fixture
def log2_scales(reference):
    return np.log2(reference["inputs"]["d4"]["scales"])


def _arguments(values, chance, levels):
    return values, values >= 0, np.full(len(values), chance), find_clusters(list(range(len(values)))), levels


def test_guess_rate_logit_equals_r_psyphy(reference, expected, log2_scales):
    values = _counts(reference["inputs"]["d4"]["k4_noLapse"], 200)
    fit, row = fit_psychometric(*_arguments(values, 0.25, log2_scales), has_ceiling=False), expected["d4_mafc_logit"]
    assert (fit.intercept, fit.slope) == pytest.approx((row["intercept"], row["slope"]), abs=1e-6)
    assert fit.standard_errors == pytest.approx(row["se"], abs=1e-6)
    assert fit.midpoint == pytest.approx(row["alpha"], abs=1e-6)
    assert fit.deviance == pytest.approx(row["deviance"], abs=1e-6)
    assert fit.has_converged


def test_half_of_the_fitted_accuracy_is_left_at_log2_half(reference, log2_scales):
    fit = fit_psychometric(*_arguments(_counts(reference["inputs"]["d4"]["k4"], 200), 0.25, log2_scales))
    assert float(fit.corrected(np.array(fit.log2_half))) == pytest.approx(float(fit.corrected(np.array(0.0))) / 2)
    assert 0.8 < fit.ceiling < 1.0
    assert fit.has_converged


def test_parameters_are_recovered_with_mixed_guess_rates():
    rng = np.random.default_rng(0)
    levels = np.linspace(0, -5, 11)
    chance = np.where(rng.random(4000) < 0.2, 0.5, 0.25)
    seen = 0.9 / (1 + np.exp(-(3.0 + 1.5 * levels)))
    values = (rng.random((4000, 11)) < chance[:, None] + (1 - chance[:, None]) * seen).astype(float)
    fit = fit_psychometric(values, values >= 0, chance, find_clusters(list(range(4000))), levels)
    assert abs(fit.intercept - 3.0) < 3 * fit.standard_errors[0]
    assert abs(fit.slope - 1.5) < 3 * fit.standard_errors[1]
    assert fit.ceiling == pytest.approx(0.9, abs=0.02)
    assert fit.cluster_errors == pytest.approx(fit.standard_errors, rel=0.1)


def test_repeated_questions_widen_the_cluster_errors():
    values = np.repeat(_counts([95, 80, 45, 30], 100), 4, axis=0)
    labels = list(np.repeat(np.arange(100), 4))
    levels = -np.arange(4.0)
    arguments = values, values >= 0, np.full(400, 0.25)
    clustered = fit_psychometric(*arguments, find_clusters(labels), levels)
    alone = fit_psychometric(*arguments, find_clusters(list(range(400))), levels)
    assert clustered.cluster_errors == pytest.approx(2 * alone.cluster_errors)


def test_misfit_is_found_for_two_kinds_of_questions_and_not_for_one():
    rng = np.random.default_rng(1)
    levels = np.linspace(0, -4, 9)
    weights = draw_weights(600, rng)
    two = np.where(rng.random(600) < 0.5, -0.7, -3.3) + rng.normal(0, 0.1, 600)
    one = rng.logistic(-2, 0.6, 600)
    p = {}
    for name, thresholds in (("one", one), ("two", two)):
        seen = levels >= thresholds[:, None]
        arguments = _arguments((seen | (rng.random(seen.shape) < 0.25)).astype(float), 0.25, levels)
        p[name] = misfit_p(fit_psychometric(*arguments), *arguments, weights=weights)
    assert p["two"] < 0.01
    assert p["one"] > 0.05


def test_shapes_must_agree():
    with pytest.raises(StatisticsError, match="for 9 guess rates and 4 levels"):
        fit_psychometric(*_arguments(np.ones((9, 3)), 0.25, np.arange(4.0)))


def test_levels_must_outnumber_parameters():
    with pytest.raises(StatisticsError, match="cannot fit 3 parameters"):
        fit_psychometric(*_arguments(np.ones((9, 2)), 0.25, np.arange(2.0)))
