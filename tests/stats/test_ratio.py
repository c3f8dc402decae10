import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import find_clusters
from eyechart.stats.ratio import correct_for_chance, estimate_ratios, estimate_retention


def test_retention_equals_r_survey(paired, expected):
    for row in expected["d1_contrasts"]:
        after, before = (paired.values[:, paired.views.index(view)] for view in row["contrast"].split("-"))
        table = estimate_retention(before, after, paired.present[:, 0], paired.clusters)
        assert float(table.value) == pytest.approx(row["retention"], abs=1e-9)
        assert float(table.standard_error) == pytest.approx(row["retention_se"], abs=1e-9)


def test_chance_corrected_accuracy_equals_r(paired, expected):
    table = correct_for_chance(paired.values, paired.present, paired.chance, paired.clusters)
    for index, row in enumerate(expected["d1_chance_corrected"]):
        assert table.value[index] == pytest.approx(row["kappa"], abs=1e-9)
        assert table.standard_error[index] == pytest.approx(row["se_cluster"], abs=1e-9)
        per_item = (paired.values[:, index] - paired.chance) / (1 - paired.chance)
        assert per_item.mean() == pytest.approx(row["mean_item"], abs=1e-9)  # and is another number


def test_chance_of_sum_is_not_a_quarter():
    chance = np.r_[np.full(679, 0.25), np.full(21, 0.5)]
    table = correct_for_chance(np.ones(700), np.full(700, True), chance, find_clusters(list(range(700))))
    assert float(table.chance) == pytest.approx(0.2575)
    assert float(table.value) == 1.0


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 5), st.booleans()), max_size=30))
def test_every_input_gives_an_interval_without_nan(rows):
    values, present = np.array([r[0] for r in rows]), np.array([r[2] for r in rows], dtype=bool)
    clusters = find_clusters([r[1] for r in rows])
    corrected = correct_for_chance(values, present, np.full(len(rows), 0.25), clusters)
    retained = estimate_retention(values, values[::-1].copy(), present & present[::-1], clusters)
    for table in (corrected, retained):
        assert not np.isnan([table.value, table.low, table.high]).any()
        assert table.low <= table.high


def test_ratio_over_nothing_is_undefined_not_nan():
    table = estimate_ratios(np.ones(4), np.zeros(4), np.full(4, True), find_clusters(list("abcd")))
    assert not table.is_defined
    assert (float(table.value), float(table.low), float(table.high)) == (0.0, -np.inf, np.inf)


def test_ratio_of_one_cluster_is_undefined():
    assert not estimate_ratios(np.ones(4), np.ones(4), np.full(4, True), find_clusters(list("aaaa"))).is_defined


def test_shapes_must_agree():
    with pytest.raises(StatisticsError, match="differ"):
        estimate_ratios(np.ones(3), np.ones(4), np.full(4, True), find_clusters(list("abcd")))


@pytest.mark.parametrize("chance", [np.full(2, 0.25), np.array([0.25, 0.25, 1.0])])
def test_guess_rates_must_leave_room(chance):
    with pytest.raises(StatisticsError, match=r"or outside \[0, 1\)"):
        correct_for_chance(np.ones(3), np.full(3, True), chance, find_clusters(list("abc")))
