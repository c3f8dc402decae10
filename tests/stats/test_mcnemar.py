import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import cluster_sums
from eyechart.stats.mcnemar import mcnemar, obuchowski, tango
from eyechart.stats.sign_flip import sign_flip


def test_all_versions_equal_r(paired, expected):
    for row in expected["d1_contrasts"]:
        test = mcnemar(row["gained"], row["lost"])
        versions = ("mcnemar_exact", "mcnemar_midp", "mcnemar_chi2_nocc", "mcnemar_chi2_cc")
        assert list(test) == pytest.approx([row[version] for version in versions], abs=1e-9)
        condition, baseline = (paired.views.index(view) for view in row["contrast"].split("-"))
        sums = cluster_sums(paired.values[:, condition] - paired.values[:, baseline], paired.clusters)
        assert obuchowski(sums) == pytest.approx(row["obuchowski_chi2"], abs=1e-9)


def test_counts_equal_r(reference, expected):
    for (b, c), row in zip(reference["inputs"]["d9"]["bc"], expected["d9"], strict=True):
        assert mcnemar(b, c).exact == pytest.approx(row["exact"], rel=1e-9)
        assert mcnemar(b, c).mid == pytest.approx(row["midp"], rel=1e-9)


@given(st.integers(0, 80), st.integers(0, 80))
def test_sign_flip_of_singletons_is_mcnemar(gained, lost):
    flips = sign_flip(np.r_[np.ones(gained), -np.ones(lost)])
    assert float(flips.exact) == pytest.approx(mcnemar(gained, lost).exact, rel=1e-9)
    assert float(flips.mid) == pytest.approx(mcnemar(gained, lost).mid, rel=1e-9)


def test_nothing_discordant_has_no_statistic():
    assert obuchowski(np.zeros(4)) == 0.0


def test_tango_equals_the_reference(reference):
    row = reference["cross_library"]["tango_score_D_minus_A_numpy_bisection"]
    assert tango(6, 17, 60) == pytest.approx(row, abs=1e-9)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 60))
def test_tango_contains_the_difference(gained, lost, concordant):
    n = gained + lost + concordant
    low, high = tango(gained, lost, n)
    assert -1.0 <= low <= (gained - lost) / n <= high <= 1.0


@pytest.mark.parametrize(("gained", "lost", "n"), [(1, 1, 0), (3, 3, 5)])
def test_more_discordant_than_asked_is_refused(gained, lost, n):
    with pytest.raises(StatisticsError, match="discordant of"):
        tango(gained, lost, n)


def test_negative_counts_are_refused():
    with pytest.raises(StatisticsError, match="are not counts"):
        mcnemar(-1, 2)
