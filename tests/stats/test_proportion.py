import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import cluster_sums, find_clusters
from eyechart.stats.intervals import critical_t, wilson
from eyechart.stats.proportion import estimate_pooled, estimate_proportions, mean_variance

scores = st.lists(st.tuples(st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0]), st.integers(0, 8), st.booleans()), max_size=40)


def _estimate(values, labels, present=None, **options):
    values = np.asarray(values, dtype=float)
    mask = np.full(values.shape, True) if present is None else np.asarray(present)
    return estimate_proportions(values, mask, find_clusters(list(labels)), **options)


def test_mean_and_plain_cluster_standard_error_equal_r(paired, expected):
    table = estimate_proportions(paired.values, paired.present, paired.clusters)
    sums, sizes = cluster_sums(paired.values, paired.clusters), cluster_sums(paired.present, paired.clusters)
    plain = mean_variance(sums, sizes, table.value) ** 0.5
    for index, view in enumerate(paired.views):
        assert table.value[index] == pytest.approx(expected["d1_marginal"][view]["mean"], abs=1e-12)
        assert plain[index] == pytest.approx(expected["d1_marginal"][view]["se_survey"], abs=1e-12)


def test_wilson_on_the_plain_n_effective_equals_reference(paired, reference):
    table = estimate_proportions(paired.values, paired.present, paired.clusters)
    for index, view in enumerate(paired.views):
        row = reference["expected_wilson_kg"][view]
        bounds = wilson(table.value[index], np.array(row["n_eff"]), critical_t(np.array(43), 0.95))
        assert bounds == pytest.approx(row["wilson_kg"], abs=1e-9)
        assert bounds == pytest.approx(row["inspect_ci_wilson_cluster"], abs=1e-9)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=7), min_size=2, max_size=12))
def test_interval_follows_its_formula_cluster_by_cluster(clusters):
    """The docstring's formula, one picture after the other."""
    labels = [index for index, scores in enumerate(clusters) for _ in scores]
    values = [float(score) for scores in clusters for score in scores]
    n, mean = len(values), sum(values) / len(values)
    squares = [(sum(own) - len(own) * mean) ** 2 / (1 - len(own) / n) for own in clusters]
    variance = sum(squares) / n**2
    alike = n**2 / sum(len(own) ** 2 for own in clusters)
    spread = mean * (1 - mean)
    carriers = sum(squares) ** 2 / sum(one**2 for one in squares) if sum(squares) > 1e-15 else 0.0
    pull = min(1.0, 2.0 / carriers) if carriers else 1.0
    variance += max(0.0, spread / alike - variance) * pull
    n_effective = min(n, spread / variance) if spread > 0 else alike
    table = _estimate(values, labels)
    assert float(table.n_effective) == pytest.approx(n_effective)
    assert bool(table.has_interval) == (alike >= 10 - 1e-9)
    gram = np.diag([len(own) for own in clusters]) - np.outer(*[[len(own) for own in clusters]] * 2) / n
    root = np.diag([(1 - len(own) / n) ** -0.5 for own in clusters])
    quadratic = np.linalg.eigvalsh(root @ gram @ root)
    freedom = max(1.0, quadratic.sum() ** 2 / (quadratic**2).sum())
    low, high = wilson(np.array(mean), np.array(n_effective), critical_t(np.array(freedom), 0.95))
    if min(mean, 1 - mean) * n_effective >= 5.0:
        assert [float(table.low), float(table.high)] == pytest.approx([float(low), float(high)])
    else:
        assert table.low <= low + 1e-12
        assert table.high >= high - 1e-12


def test_plain_wilson_equals_r(reference, expected):
    for (x, n), row in zip(reference["inputs"]["d6"]["xn"], expected["d6"], strict=True):
        low, high = wilson(np.array(x / n), np.array(float(n)), np.array(1.959963984540054))
        assert [float(low), float(high)] == pytest.approx(row["wilson"], abs=1e-9)


@given(scores, st.floats(0.5, 0.999))
def test_every_input_gives_a_finite_interval_around_the_mean(rows, confidence):
    values, labels, present = zip(*rows, strict=True) if rows else ((), (), ())
    table = _estimate(values, labels, np.array(present, dtype=bool), confidence=confidence)
    assert 0.0 <= table.low <= table.value + 1e-12
    assert table.value - 1e-12 <= table.high <= 1.0
    assert table.low < table.high
    assert not np.isnan([table.value, table.low, table.high, table.standard_error, table.n_effective]).any()


@given(scores, st.randoms())
def test_row_order_changes_nothing(rows, random):
    first = _estimate([r[0] for r in rows], [r[1] for r in rows], np.array([r[2] for r in rows], dtype=bool))
    random.shuffle(rows)
    second = _estimate([r[0] for r in rows], [r[1] for r in rows], np.array([r[2] for r in rows], dtype=bool))
    for one, other in zip(first, second, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@given(scores)
def test_missing_rows_count_as_if_they_were_not_there(rows):
    kept = [row for row in rows if row[2]]
    masked = _estimate([r[0] for r in rows], [r[1] for r in rows], np.array([r[2] for r in rows], dtype=bool))
    dropped = _estimate([r[0] for r in kept], [r[1] for r in kept])
    for one, other in zip(masked, dropped, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("n", [2, 7, 60])
def test_singleton_clusters_have_the_classical_standard_error(n):
    values = np.random.default_rng(1).integers(0, 2, n).astype(float)
    table = _estimate(values, range(n))
    assert table.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(n), abs=1e-12)


@pytest.mark.parametrize(("score", "bound"), [(0.0, "low"), (1.0, "high")])
def test_all_wrong_or_all_right_touches_the_border_exactly_and_keeps_a_width(score, bound):
    table = _estimate(np.full(50, score), [index // 2 for index in range(50)])
    assert getattr(table, bound) == score
    assert table.high - table.low > 0.05
    assert table.n_effective == 25  # intracluster correlation 1: one per image


def test_balanced_pairs_without_variance_fall_back_to_full_correlation():
    assert _estimate([0.0, 1.0] * 10, [index // 2 for index in range(20)]).n_effective == 10


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 0.0, 1.0]])
def test_without_two_clusters_nothing_is_known(values):
    table = _estimate(values, ["a"] * len(values))
    assert (table.low, table.high, table.standard_error) == (0.0, 1.0, np.inf)
    assert table.n_questions == len(values)


def test_views_pooled_by_question_have_no_more_information_than_questions():
    values = np.repeat(np.random.default_rng(0).integers(0, 2, 40), 11).astype(float)
    table = _estimate(values, np.repeat(np.arange(40), 11))
    assert table.n_effective == pytest.approx(39, abs=1.01)


def test_trailing_axes_are_computed_as_if_alone(paired):
    stacked = np.stack([paired.values, 1 - paired.values], axis=2)
    together = estimate_proportions(stacked, stacked >= 0, paired.clusters)
    alone = estimate_proportions(1 - paired.values[:, 2], paired.present[:, 2], paired.clusters)
    assert together.low[2, 1] == pytest.approx(alone.low, abs=1e-12)
    assert together.value.shape == (4, 2)


def test_less_confidence_is_narrower(paired):
    wide = estimate_proportions(paired.values, paired.present, paired.clusters, confidence=0.99)
    narrow = estimate_proportions(paired.values, paired.present, paired.clusters, confidence=0.8)
    assert (wide.low < narrow.low).all()
    assert (narrow.high < wide.high).all()


def test_bad_confidence_is_refused():
    with pytest.raises(StatisticsError, match="is not between 0 and 1"):
        _estimate([1.0], ["a"], confidence=95)


def test_critical_value_without_freedom_is_infinite():
    assert critical_t(np.array([0, 43]), 0.95) == pytest.approx([np.inf, 2.016692])


def test_pooled_views_carry_more_than_one_view_and_less_than_all():
    rng = np.random.default_rng(0)
    values = rng.binomial(1, np.repeat(rng.beta(2, 2, (100, 1)), 11, axis=1)).astype(float)
    table = estimate_pooled(values, values >= 0, find_clusters(list(range(100))))
    capped = _estimate(values.mean(axis=1), range(100))
    assert table.value == pytest.approx(float(capped.value))
    assert table.standard_error == pytest.approx(float(capped.standard_error))
    assert 100 < table.n_effective < 600
    assert table.n_questions == 100


def test_pooling_one_row_changes_nothing(paired):
    pooled = estimate_pooled(paired.values[..., None], paired.present[..., None], paired.clusters)
    for one, other in zip(pooled, estimate_proportions(paired.values, paired.present, paired.clusters), strict=True):
        assert one == pytest.approx(other)
