import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import cluster_sums, find_clusters
from eyechart.stats.rank import rank_models
from eyechart.stats.sign_flip import sign_flip


def _rank(values, present=None, labels=None, n_flips=499):
    clusters = find_clusters(list(range(len(values))) if labels is None else labels)
    return rank_models(values, values >= 0 if present is None else present, clusters, n_flips=n_flips)


def test_always_right_and_never_right_are_told_apart():
    """Their difference has no variance, which once was read as no difference: p = 1.0, places 1-2 and 2."""
    n = 160
    values = np.stack([np.ones(n), np.zeros(n), np.arange(n) < n / 2], axis=1).astype(float)
    sets = _rank(values)
    assert list(zip(sets.best.tolist(), sets.worst.tolist(), strict=True)) == [(1, 1), (3, 3), (2, 2)]


@settings(max_examples=40)
@given(st.integers(2, 5), st.integers(20, 60), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_an_adjusted_p_is_never_below_the_sign_flip_p_of_its_pair(k, n, per_image, seed):
    rng = np.random.default_rng(seed)
    values = (rng.random((n, k)) < rng.random(k)).astype(float)
    labels = list(np.arange(n) // per_image)
    sets = _rank(values, labels=labels)
    clusters = find_clusters(labels)
    if clusters.n_questions**2 / (clusters.sizes**2).sum() < 10:
        assert (sets.p_adjusted == 1.0).all()
        return
    for i in range(k):
        for j in range(i):
            raw = float(sign_flip(cluster_sums(values[:, i] - values[:, j], clusters)).mid)
            assert sets.p[i, j] == sets.p[j, i] == pytest.approx(raw)
            assert sets.p_adjusted[i, j] >= raw


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(20, 60), st.integers(0, 2**32 - 1))
@example(6, 49, 2289)  # a model between two others differs from both, though they do not differ from each other
def test_sets_contain_the_point_rank_and_models_that_cannot_be_told_apart_overlap(k, n, seed):
    rng = np.random.default_rng(seed)
    values = (rng.random((n, k)) < rng.random(k)).astype(float)
    sets = _rank(values)
    assert (sets.best <= sets.worst).all()
    for model in range(k):
        better, worse = (sets.value > sets.value[model]).sum(), (sets.value < sets.value[model]).sum()
        assert sets.best[model] <= 1 + better
        assert k - worse <= sets.worst[model]
        for other in range(k):
            is_between = (sets.p_adjusted[model] <= 0.05) & (sets.p_adjusted[other] <= 0.05)
            if sets.p_adjusted[model, other] > 0.05 and not is_between.any():
                assert sets.best[model] <= sets.worst[other]


def test_order_of_models_changes_nothing():
    values = (np.random.default_rng(0).random((80, 5)) < [0.3, 0.5, 0.5, 0.7, 0.9]).astype(float)
    order = [3, 0, 4, 1, 2]
    one, other = _rank(values), _rank(values[:, order])
    assert one.best[order].tolist() == other.best.tolist()
    assert one.p_adjusted[np.ix_(order, order)] == pytest.approx(other.p_adjusted)


def test_clearly_different_models_have_one_rank_each():
    values = np.stack([np.arange(200) < count for count in (190, 120, 40)], axis=1).astype(float)
    sets = _rank(values)
    assert (sets.best.tolist(), sets.worst.tolist()) == ([1, 2, 3], [1, 2, 3])


def test_identical_models_share_all_ranks():
    sets = _rank(np.tile(np.random.default_rng(0).integers(0, 2, (50, 1)), 4).astype(float))
    assert (sets.best.tolist(), sets.worst.tolist()) == ([1] * 4, [4] * 4)
    assert (sets.p_adjusted == 1.0).all()


def test_tied_models_are_rarely_told_apart():
    wrong = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        values = (rng.random((150, 5)) < rng.random(150)[:, None]).astype(float)
        wrong += (_rank(values, labels=list(np.arange(150) // 2), n_flips=399).best > 1).any()
    assert wrong <= 0.05 * 150 + 6


def test_only_questions_that_all_models_answered_count():
    present = np.full((50, 3), True)
    present[:20, 1] = False
    assert _rank(np.ones((50, 3)), present).n_questions == 30


def test_no_common_question_is_refused():
    with pytest.raises(StatisticsError, match="0 images were answered by all 3 models"):
        _rank(np.ones((50, 3)), np.full((50, 3), False))
