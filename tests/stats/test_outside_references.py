"""Independent programs that compute the same numbers another way."""

import numpy as np
import pytest

from eyechart.stats.clusters import cluster_sums
from eyechart.stats.paired import subtract
from eyechart.stats.proportion import estimate_proportions, mean_variance


@pytest.fixture(scope="module")
def long(paired):
    n, n_views = paired.values.shape
    view = np.tile(np.arange(n_views), n)
    design = np.stack([np.ones(n * n_views), *(view == index for index in range(1, n_views))], axis=1)
    return paired.values.ravel(), design, np.repeat(paired.images, n_views)


@pytest.mark.parametrize(
    ("structure", "row"), [("Independence", "d1_gee_logit_indep"), ("Exchangeable", "d1_gee_logit_exch")]
)
def test_log_odds_of_the_views_equal_r_geepack(long, expected, reference, structure, row):
    import statsmodels.api as sm

    y, design, images = long
    fit = sm.GEE(
        y, design, groups=images, family=sm.families.Binomial(), cov_struct=getattr(sm.cov_struct, structure)()
    ).fit()
    tolerance = reference["_about"]["tolerances"]["gee"]
    rounding = 2 if structure == "Exchangeable" else 1  # the two programs estimate the working correlation differently
    assert fit.params == pytest.approx(expected[row]["est"], abs=tolerance * rounding)
    assert fit.bse == pytest.approx(expected[row]["robust_se"], abs=tolerance)


def test_independence_estimates_are_the_logits_of_our_accuracies(paired, expected):
    value = estimate_proportions(paired.values, paired.present, paired.clusters).value
    logit = np.log(value / (1 - value))
    assert np.r_[logit[0], logit[1:] - logit[0]] == pytest.approx(expected["d1_gee_logit_indep"]["est"], abs=1e-6)


def test_standard_error_equals_statsmodels_up_to_its_factor(paired):
    import statsmodels.api as sm

    values = paired.values[:, 0]
    groups = np.unique(paired.images, return_inverse=True)[1]
    fit = sm.OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    sums, sizes = cluster_sums(values, paired.clusters), cluster_sums(paired.present[:, 0], paired.clusters)
    ours = mean_variance(sums, sizes, np.array(values.mean())) ** 0.5
    assert float(ours) == pytest.approx(float(fit.bse[0]), abs=1e-9)


def test_unclustered_bonett_price_equals_evalstats(paired, reference):
    difference, _ = subtract(paired.values, paired.present, np.array([3]), np.array([0]))
    gained, lost, n = (difference > 0).sum(), (difference < 0).sum(), 60
    p1, p2 = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = 1.959963984540054 * np.sqrt((p1 + p2 - (p1 - p2) ** 2) / (n + 2))
    row = reference["cross_library"]["evalstats_bonett_price_D_minus_A_unclustered"]
    assert [p1 - p2 - half, p1 - p2 + half] == pytest.approx(row, abs=1e-9)
