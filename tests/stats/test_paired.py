import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import cluster_sums, find_clusters
from eyechart.stats.paired import bonett_price, check_differences, estimate_differences, subtract
from eyechart.stats.proportion import mean_variance

differences = st.lists(st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.integers(0, 9)), max_size=40)


def _estimate(values, labels, **options):
    values = np.asarray(values, dtype=float)
    return estimate_differences(values, np.full(values.shape, True), find_clusters(list(labels)), **options)


def test_contrasts_equal_r(paired, expected):
    for row in expected["d1_contrasts"]:
        condition, baseline = (np.array([paired.views.index(view)]) for view in row["contrast"].split("-"))
        diff, present = subtract(paired.values, paired.present, condition, baseline)
        table = estimate_differences(diff, present, paired.clusters)
        assert table.value[0] == pytest.approx(row["diff"], abs=1e-12)
        # R's interval has the plain CR1 variance; ours is never narrower by more than what the factors differ
        assert table.high[0] - table.low[0] >= 0.98 * np.diff(row["ci_cluster_bonett_price_t"])
        assert (table.gained[0], table.lost[0]) == (row["gained"], row["lost"])
        sums, sizes = cluster_sums(diff, paired.clusters), cluster_sums(present, paired.clusters)
        error = mean_variance(sums, sizes, table.value)[0] ** 0.5
        assert error == pytest.approx(row["se_cluster_CR1"], abs=1e-12)
        assert bonett_price(diff, present, paired.clusters)[0][0] == pytest.approx(row["est_bonett_price"], abs=1e-12)
        t = table.value[0] / error
        assert t == pytest.approx(row["t"], abs=1e-9)
        p_value = 2.0 * scipy.stats.t.sf(abs(t), paired.clusters.n_clusters - 1)
        assert p_value == pytest.approx(row["p_cluster_t"], abs=1e-9)


@given(differences)
def test_swapping_the_sides_mirrors_everything(rows):
    values, labels = np.array([r[0] for r in rows]), [r[1] for r in rows]
    one, other = _estimate(values, labels), _estimate(-values, labels)
    assert one.value == pytest.approx(-other.value, abs=1e-12)
    assert [one.low, one.high] == pytest.approx([-other.high, -other.low], abs=1e-12)
    assert (one.gained, one.lost) == (other.lost, other.gained)


@given(differences, st.randoms())
def test_row_order_changes_nothing(rows, random):
    first = _estimate([r[0] for r in rows], [r[1] for r in rows])
    random.shuffle(rows)
    for one, other in zip(first, _estimate([r[0] for r in rows], [r[1] for r in rows]), strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@given(differences)
def test_every_input_gives_an_interval_of_some_width(rows):
    table = _estimate([r[0] for r in rows], [r[1] for r in rows])
    assert -1.0 <= table.low < table.high <= 1.0


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=60))
def test_gained_less_lost_is_n_times_the_difference(values):
    table = _estimate(values, range(len(values)))
    assert table.gained - table.lost == pytest.approx(table.n_questions * table.value)


def test_identical_views_of_700_questions_give_four_tenths_of_a_point():
    table = _estimate(np.zeros(700), range(700))
    assert [table.low, table.high] == pytest.approx([-0.00396, 0.00396], abs=5e-6)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=60))
def test_singleton_clusters_give_the_bonett_price_interval_with_t(values):
    n, b, c = len(values), values.count(1.0), values.count(-1.0)
    p1, p2 = (b + 1) / (n + 2), (c + 1) / (n + 2)
    wald_variance = (p1 + p2 - (p1 - p2) ** 2) / (n + 2)  # Bonett and Price, no clusters
    from scipy.special import stdtrit

    half = stdtrit(n + 1, 0.975) * np.sqrt(wald_variance * (n + 2) / (n + 1))
    table = _estimate(values, range(n))
    assert table.high == pytest.approx(min(p1 - p2 + half, 1.0), abs=1e-12)


def test_a_question_missing_on_one_side_leaves_both():
    values = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    present = np.array([[True, True], [True, False], [True, True]])
    diff, mask = subtract(values, present, np.array([1]), np.array([0]))
    assert diff[:, 0].tolist() == [-1.0, 0.0, 1.0]
    assert mask[:, 0].tolist() == [True, False, True]
    assert estimate_differences(diff, mask, find_clusters(["a", "b", "c"])).n_questions[0] == 2


def test_differences_of_differences_may_reach_two():
    assert _estimate([2.0, -2.0, 2.0], range(3), limit=2.0).value == pytest.approx(2 / 3)


def test_differences_beyond_the_limit_are_refused():
    with pytest.raises(StatisticsError, match=r"difference 2.0 at index \(0,\) exceeds 1.0"):
        _estimate([2.0], ["a"])


def test_differences_where_a_side_is_missing_are_refused():
    with pytest.raises(StatisticsError, match="or a side is missing there"):
        check_differences(np.array([1.0]), np.array([False]))


def test_shapes_must_agree():
    with pytest.raises(StatisticsError, match=r"differences of shape \(2,\)"):
        check_differences(np.zeros(2), np.full(3, True))
