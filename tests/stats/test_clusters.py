import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import cluster_sums, find_clusters


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(-9, 9)), max_size=30), st.randoms())
def test_sums_are_those_of_a_dictionary_whatever_the_row_order(rows, random):
    totals: dict[str, int] = {}
    for label, value in rows:
        totals[label] = totals.get(label, 0) + value
    random.shuffle(rows)
    clusters = find_clusters([label for label, _ in rows])
    sums = cluster_sums(np.array([value for _, value in rows], dtype=float), clusters)
    assert sums.tolist() == [totals[label] for label in sorted(totals)]
    assert clusters.sizes.sum() == clusters.n_questions == len(rows)


def test_trailing_axes_are_kept():
    assert cluster_sums(np.ones((3, 4, 5)), find_clusters([7, 7, 2])).shape == (2, 4, 5)


def test_variance_inflation_of_sum_is_as_published():
    sizes = [2] * 36 + [1] * 628  # 664 images for 700 questions
    labels = [index for index, size in enumerate(sizes) for _ in range(size)]
    assert find_clusters(labels).variance_inflation == pytest.approx(1.103, abs=5e-4)


def test_nothing_has_no_inflation():
    assert find_clusters([]).variance_inflation == 1.0


def test_labels_must_be_one_per_question():
    with pytest.raises(StatisticsError, match="cluster labels of shape"):
        find_clusters(np.zeros((2, 2), dtype=np.int64))


@pytest.mark.parametrize("values", [np.zeros(3), np.array(1.0)])
def test_rows_must_match_the_labels(values):
    with pytest.raises(StatisticsError, match="cluster labels for 2"):
        cluster_sums(values, find_clusters(["a", "b"]))
