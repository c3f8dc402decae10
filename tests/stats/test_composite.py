import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.composite import compare_models, contrast_of_contrasts, decompose, estimate_family
from eyechart.stats.conditions import ScoreTable
from eyechart.stats.proportion import estimate_proportions


def _table(values, present=None, **options):
    values = np.asarray(values, dtype=float)
    images = [f"i{index // 2}" for index in range(len(values))]
    mask = np.full(values.shape, True) if present is None else present
    return ScoreTable(values, mask, images, tuple("abcd"[: values.shape[1]]), **options)


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_decomposition_is_exact_even_with_gaps(n, seed):
    rng = np.random.default_rng(seed)
    table = _table(rng.choice([0.0, 1 / 3, 1.0], (n, 3)), present=rng.random((n, 3)) < 0.8)
    parts = decompose(table, original="a", whiteground="b", crop="c")
    if parts is None:
        assert not table.present.all(axis=1).any()
    else:
        assert parts.distraction.value + parts.canvas.value == pytest.approx(parts.total.value, abs=1e-12)
        assert parts.total.n_questions == parts.distraction.n_questions == table.present.all(axis=1).sum()


def test_parts_carry_their_names_and_one_family():
    parts = decompose(_table(np.random.default_rng(0).integers(0, 2, (60, 3))), original="a", whiteground="b", crop="c")
    assert [part.name for part in parts] == ["total gain", "distraction effect", "canvas effect"]
    assert {part.family for part in parts} == {"decomposition of c − a"}
    assert (parts.canvas.condition, parts.canvas.baseline) == ("c", "b")


def test_interaction_is_the_difference_of_differences():
    values = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(float)
    found = contrast_of_contrasts(_table(values, scorer="s@1"), ("a", "b"), ("c", "d"))
    direct = values[:, 0] - values[:, 1] - values[:, 2] + values[:, 3]
    assert found.value == pytest.approx(direct.mean())
    assert (found.gained, found.lost) == ((direct > 0).sum(), (direct < 0).sum())
    assert found.p_method == "cluster sign-flip mid-p, exact"
    assert (found.condition, found.baseline, found.scorer) == ("a − b", "c − d", "s@1")


def test_interaction_may_reach_two():
    assert contrast_of_contrasts(_table(np.tile([1.0, 0, 0, 1], (40, 1))), ("a", "b"), ("c", "d")).value == 2.0


def test_small_composites_have_no_p():
    found = contrast_of_contrasts(_table(np.zeros((10, 4))), ("a", "b"), ("c", "d"))
    assert found.p is None
    assert found.warnings == (Code.TINY_GROUP,)


def test_models_are_compared_by_the_mean_over_the_views_both_answered():
    values = np.zeros((40, 2, 2))
    values[:, 0, 0] = 1.0
    present = np.full(values.shape, True)
    present[:20, 1, 1] = False
    found = compare_models(values, present, [f"i{k}" for k in range(40)], ("x", "y"))
    assert found.value == pytest.approx((20 * 1.0 + 20 * 0.5) / 40)
    assert (found.condition, found.baseline, found.n_questions) == ("x", "y", 40)


def test_family_mean_is_clustered_by_question_and_not_pooled():
    values = np.repeat(np.random.default_rng(0).integers(0, 2, (60, 1)), 4, axis=1).astype(float)
    table = _table(values, chance=np.full(60, 0.25))
    found = estimate_family(table, list("abcd"), name="all")
    alone = estimate_proportions(values[:, 0], values[:, 0] >= 0, find_clusters(table.image_groups))
    assert (found.low, found.high) == pytest.approx((float(alone.low), float(alone.high)))
    assert (found.condition, found.chance) == ("all", 0.25)


def test_nothing_in_common_has_no_result():
    table = _table(np.zeros((40, 4)), present=np.tile([True, False, True, True], (40, 1)))
    assert decompose(table, original="a", whiteground="b", crop="c") is None
    assert contrast_of_contrasts(table, ("a", "b"), ("c", "d")) is None
    assert estimate_family(table, ["a", "b"], name="none") is None
    empty = np.zeros((3, 1, 2))
    assert compare_models(empty, empty > 0, ["a", "b", "c"], ("x", "y")) is None


def test_empty_family_is_refused():
    with pytest.raises(StatisticsError, match="family 'none' has no member"):
        estimate_family(_table(np.zeros((3, 1))), [], name="none")


@pytest.mark.parametrize("shape", [(3, 2), (3, 2, 3)])
def test_two_models_are_needed(shape):
    with pytest.raises(StatisticsError, match="scores of shape"):
        compare_models(np.zeros(shape), np.full(shape, True), ["a", "b", "c"], ("x", "y"))
