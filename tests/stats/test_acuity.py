"""Laws of the half-accuracy target size: it covers the truth, and a model that ignores the pixels has none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.errors import StatisticsError
from eyechart.stats.acuity import estimate_half_size

CHANCE = 0.25
LAYOUTS = {
    "one a picture": np.arange,
    "four a picture": lambda n: np.arange(n) // 4,
    "unequal": lambda n: np.repeat(np.arange(400), np.maximum(1, 0.12 * n * 0.85 ** np.arange(400)).astype(int))[:n],
}  # fmt: skip


def simulate(n, rng, *, log2_half=3.5, correlation=0.0, spread=0.6, plateau=0.9, n_levels=5, layout="one a picture"):
    """Scores and sizes of n questions whose thresholds spread about a truth, correlated with their targets' sizes."""
    labels = LAYOUTS[layout](n)

    def normal():
        return np.sqrt(0.5) * rng.normal(size=labels.max() + 1)[labels] + np.sqrt(0.5) * rng.normal(size=n)

    shared = normal()
    own = log2_half + spread * (correlation * shared + np.sqrt(1 - correlation**2) * normal())
    log2_px = (5.5 + 0.7 * shared)[:, None] - np.linspace(0, 4, n_levels)
    reads = plateau / (1 + np.exp(-3.0 * (log2_px - own[:, None])))
    scores = (rng.random(log2_px.shape) < CHANCE + (1 - CHANCE) * reads).astype(float)
    return scores, 2.0**log2_px, labels


def ignore_pixels(n, rng, *, n_levels=5, layout="one a picture", is_steady=False):
    """Answers that do not depend on the picture: 90 % right where targets are large, chance where they are small."""
    labels = LAYOUTS[layout](n)
    is_easy = rng.random(labels.max() + 1)[labels] < 0.5
    log2_px = np.where(is_easy, 6.0, 2.6)[:, None] + 0.5 * rng.normal(size=n)[:, None] - np.linspace(0, 4, n_levels)
    dice = np.repeat(rng.random((n, 1)), n_levels, axis=1) if is_steady else rng.random(log2_px.shape)
    return (dice < np.where(is_easy, 0.9, CHANCE)[:, None]).astype(float), 2.0**log2_px, labels


def estimate(scores, sizes, labels, **options):
    return estimate_half_size(scores, sizes > 0, np.full(len(scores), CHANCE), labels, sizes, **options)


@settings(max_examples=10, deadline=None)
@given(
    log2_half=st.floats(2.5, 4.5),
    correlation=st.sampled_from([-0.6, 0.0, 0.6]),
    layout=st.sampled_from(sorted(LAYOUTS)),
    seed=st.integers(0, 99),
)
def test_half_size_lies_near_the_truth_wherever_thresholds_and_sizes_go_together(log2_half, correlation, layout, seed):
    rng = np.random.default_rng(seed)
    found = estimate(*simulate(300, rng, log2_half=log2_half, correlation=correlation, layout=layout))
    if found.status == "estimated":
        assert found.log2_px == pytest.approx(log2_half, abs=0.8)
        assert found.low is None or found.low < found.log2_px < found.high
    else:
        assert "the interval" in found.reason


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 999),
    n=st.integers(40, 200),
    n_levels=st.integers(3, 8),
    layout=st.sampled_from(sorted(LAYOUTS)),
    is_steady=st.booleans(),
)
def test_easy_questions_with_large_targets_make_no_half_size(seed, n, n_levels, layout, is_steady):
    """T8: a model that ignores the pixels was said to have an acuity of 8.4 px, in 50 of 50 such data sets."""
    rng = np.random.default_rng([1, seed])
    answers = ignore_pixels(n, rng, n_levels=n_levels, layout=layout, is_steady=is_steady)
    found = estimate(*answers, slope_alpha=1e-5)  # many examples at 0.01 would find one by chance
    assert found.log2_px is None
    assert "points an octave" in found.reason or "too few" in found.reason
    assert not found.has_curve


def test_of_models_that_ignore_pixels_97_of_100_have_no_half_size():
    rng = np.random.default_rng(7)
    numbers = [estimate(*ignore_pixels(100, rng)).log2_px for _ in range(100)]
    assert sum(number is not None for number in numbers) <= 3


@pytest.mark.slow(seconds=40)
@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.6])
@pytest.mark.parametrize(("n", "n_levels", "layout"), [
    (40, 3, "one a picture"), (40, 12, "four a picture"), (100, 5, "one a picture"), (240, 5, "unequal"),
])  # fmt: skip
def test_interval_covers_the_truth_where_thresholds_go_with_the_size(n, n_levels, layout, correlation):
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(150):
        found = estimate(*simulate(n, rng, n_levels=n_levels, layout=layout, correlation=correlation))
        if found.status == "estimated":
            covered.append((found.low if found.low is not None else -np.inf) <= 3.5 <= found.high)
    assert len(covered) >= 75
    assert np.mean(covered) >= 0.93 - 2.33 * np.sqrt(0.93 * 0.07 / len(covered))


def test_plateau_that_falls_with_the_size_is_not_read_as_an_effect_of_size():
    """Large targets whose questions are easier at every size: a common plateau would put the size 0.4 octaves off."""
    rng = np.random.default_rng(3)
    scores, sizes, labels = simulate(700, rng, n_levels=8, correlation=0.6)
    large = np.log2(sizes[:, 0])
    knows = rng.random(len(scores)) < np.clip(0.78 + 0.2 * (large - large.mean()), 0, 1)
    scores = np.where(knows[:, None], scores, rng.random(scores.shape) < CHANCE)
    found = estimate(scores, sizes, labels)
    assert found.low <= 3.6 <= found.high
    assert found.high - found.low < 0.6


def test_order_of_views_and_rows_and_a_view_asked_twice_change_nothing():
    scores, sizes, labels = simulate(200, np.random.default_rng(1))
    first = estimate(scores, sizes, labels)
    views, rows = np.array([3, 0, 4, 2, 1]), np.random.default_rng(0).permutation(200)
    assert estimate(scores[:, views], sizes[:, views], labels).log2_px == pytest.approx(first.log2_px, abs=1e-4)
    assert estimate(scores[rows], sizes[rows], labels[rows]).high == pytest.approx(first.high, abs=1e-3)
    twice = estimate(np.hstack([scores, scores]), np.hstack([sizes, sizes]), labels)
    assert twice.log2_px == pytest.approx(first.log2_px, abs=0.05)
    assert twice.high == pytest.approx(first.high, abs=0.1)


def test_twice_the_pixels_is_twice_the_size():
    scores, sizes, labels = simulate(200, np.random.default_rng(2))
    first, second = estimate(scores, sizes, labels), estimate(scores, 2 * sizes, labels)
    assert second.log2_px == pytest.approx(first.log2_px + 1, abs=1e-6)
    assert second.high == pytest.approx(first.high + 1, abs=1e-6)


def test_questions_asked_at_one_size_only_do_not_count():
    scores, sizes, labels = simulate(100, np.random.default_rng(4))
    more = np.vstack([scores, np.ones((50, 5))]), np.vstack([sizes, np.full((50, 5), 64.0)]), np.arange(150)
    found = estimate(*more)
    assert found.used.sum() == 100
    assert found.log2_px == pytest.approx(estimate(scores, sizes, labels).log2_px)


def test_bands_fall_and_their_fitted_curve_too():
    found = estimate(*simulate(200, np.random.default_rng(3)))
    bands = found.bands
    assert found.has_curve
    assert (np.diff(bands.log2_px) < 0).all()
    assert (np.diff(bands.fitted) <= 1e-9).all()
    assert (bands.low <= bands.corrected + 1e-9).all()
    assert (bands.corrected <= bands.high + 1e-9).all()
    assert bands.n_rows.max() <= 200


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"log2_half": -6, "n": 150}, "not identified", "so it reads all sizes alike or does not look"),
        ({"log2_half": 0.3}, "not reached", "more than half of the plateau is left"),
        ({"plateau": 0.0}, "not identified", "does not clearly rise"),
        ({"log2_half": 8.5}, "not identified", ""),
        ({"n": 20}, "not identified", "20 questions on 20 effective pictures are too few"),
        ({"n": 36, "layout": "four a picture"}, "not identified", "36 questions on 9 effective pictures are too few"),
    ],
)
def test_what_the_answers_do_not_tell_is_said(change, status, reason):
    found = estimate(*simulate(**{"n": 200, "rng": np.random.default_rng(5), **change}))
    assert (found.status, found.log2_px) == (status, None)
    assert reason in found.reason


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_right_and_all_wrong_are_a_sentence(value):
    _, sizes, labels = simulate(50, np.random.default_rng(6))
    found = estimate(np.full(sizes.shape, value), sizes, labels)
    assert "does not clearly rise with the size of the target (+0.0 points an octave, p = 1" in found.reason


def test_views_close_in_size_are_too_few():
    scores, sizes, labels = simulate(50, np.random.default_rng(6), n_levels=3)
    found = estimate(scores, 2 ** (0.2 * np.log2(sizes)), labels)
    assert found.reason == "a typical question was asked over 0.8 octaves of size: too few"
    same = estimate(scores, np.full(sizes.shape, 30.0), labels)
    assert same.reason == "no question was asked at two sizes of its target, by views that only resize"
    assert not same.used.any()


def test_sizes_that_do_not_belong_to_scores_are_refused():
    scores, sizes, labels = simulate(40, np.random.default_rng(8))
    with pytest.raises(StatisticsError, match="target sizes of shape"):
        estimate_half_size(scores, scores >= 0, np.full(40, CHANCE), labels, sizes[:, :2])
    with pytest.raises(StatisticsError, match="or not positive"):
        estimate_half_size(scores, scores >= 0, np.full(40, CHANCE), labels, 0 * sizes)
