from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.stats.clusters import cluster_sums
from eyechart.stats.paired import subtract
from eyechart.stats.sign_flip import fair_binomial, sign_flip


def _by_enumeration(sums):
    observed = abs(sum(sums))
    totals = np.array(
        [abs(sum(s * t for s, t in zip(signs, sums, strict=True))) for signs in product([1, -1], repeat=len(sums))]
    )
    exact = (totals >= observed - 1e-9).mean()
    return exact, exact - (abs(totals - observed) < 1e-9).mean() / 2


def test_p_equals_r_enumeration(paired, expected):
    for row in expected["d1_contrasts"]:
        condition, baseline = (np.array([paired.views.index(view)]) for view in row["contrast"].split("-"))
        sums = cluster_sums(subtract(paired.values, paired.present, condition, baseline)[0], paired.clusters)
        table = sign_flip(sums)
        assert table.exact[0] == pytest.approx(row["signflip_cluster_exact"], abs=1e-12)
        assert table.mid[0] == pytest.approx(row["signflip_cluster_midp"], abs=1e-12)
        assert table.is_exact[0]


def test_singleton_clusters_give_mcnemar(reference, expected):
    for (b, c), row in zip(reference["inputs"]["d9"]["bc"], expected["d9"], strict=True):
        table = sign_flip(np.array([1.0] * b + [-1.0] * c + [0.0]))
        assert table.exact == pytest.approx(row["exact"], rel=1e-10)
        assert table.mid == pytest.approx(row["midp"], rel=1e-10)


@given(st.lists(st.integers(-5, 5).filter(bool), min_size=1, max_size=9), st.sampled_from([1, 2, 3, 7, 30]))
def test_p_equals_enumeration_of_all_sign_patterns(steps, denominator):
    sums = np.array(steps) / denominator
    table = sign_flip(sums)
    assert (table.exact, table.mid) == pytest.approx(_by_enumeration(list(sums)), abs=1e-12)
    assert table.is_exact


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.randoms())
def test_neither_order_nor_side_changes_p(steps, random):
    first = sign_flip(np.array(steps, dtype=float))
    random.shuffle(steps)
    second = sign_flip(-np.array(steps, dtype=float))
    assert float(first.mid) == pytest.approx(float(second.mid), abs=1e-14)
    assert 0.0 < first.mid <= first.exact <= 1.0


def test_no_difference_at_all_has_p_one():
    assert sign_flip(np.zeros((5, 2))).mid.tolist() == [1.0, 1.0]
    assert sign_flip(np.zeros((0, 2))).mid.tolist() == [1.0, 1.0]


def test_tiny_p_keeps_its_relative_precision():
    assert sign_flip(np.ones(400)).exact == pytest.approx(2.0**-399, rel=1e-9)


def test_irrational_scores_are_sampled_reproducibly_and_near_the_truth():
    sums = np.sqrt(np.arange(2, 12)) * np.array([1, 1, 1, -1, 1, 1, -1, 1, 1, -1])
    first, second = sign_flip(sums), sign_flip(sums)
    assert not first.is_exact
    assert first.exact == second.exact
    assert first.exact == pytest.approx(_by_enumeration(list(sums))[0], abs=0.03)


def test_sampled_p_does_not_depend_on_the_other_contrasts():
    one, other = np.sqrt(np.arange(2.0, 12.0)), np.ones(10)
    assert sign_flip(one).mid == sign_flip(np.stack([other, one], axis=1)).mid[1]


def test_sampled_p_is_never_zero():
    assert sign_flip(np.sqrt(np.arange(2.0, 40.0)), n_flips=99, rng=np.random.default_rng(3)).exact == 0.01


def test_total_beyond_the_limit_is_sampled():
    sums = np.full(300, 999 / 1000)
    sums[0] = 0.001
    assert not sign_flip(sums, n_flips=99).is_exact


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 701, 5000])
def test_fair_binomial_sums_to_one_and_equals_scipy(count):
    from scipy.stats import binom

    law = fair_binomial(count)
    assert law.sum() == pytest.approx(1.0, abs=1e-13)
    assert law == pytest.approx(binom.pmf(np.arange(count + 1), count, 0.5), rel=1e-9, abs=1e-300)
