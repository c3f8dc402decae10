"""The gate keeps its promises: no false pass at the margin, no false fail of equals, silence where nothing is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyechart.stats.clusters import find_clusters
from eyechart.stats.gate import GateTable, foresee_gate, gate_gaps, judge_gate, verdict_of
from eyechart.stats.missing import ScoreBounds, bounds_from


def gaps(new, old, new_present=None, old_present=None):
    sides = ((new, new_present), (old, old_present))
    bounds = [bounds_from(one, np.ones(one.shape, dtype=bool) if mask is None else mask) for one, mask in sides]
    return gate_gaps(*bounds)


def limits(n_views, margin=0.02, view_margin=0.05):
    return -np.array([margin, *([view_margin] * n_views if n_views > 1 else [])])


def verdict(gap, n_views, max_missing=0.01, size=1, **margins):
    table = judge_gate(gap, find_clusters(np.arange(len(gap.lowest)) // size), limits(n_views, **margins))
    return verdict_of(table, max_missing)[0]


def test_the_same_answers_pass_and_lost_ones_fail():
    old = np.ones((400, 3))
    worse = old.copy()
    worse[:60] = 0.0
    assert verdict(gaps(old, old), 3) == "pass"
    assert verdict(gaps(worse, old), 3) == "fail"
    assert verdict(gaps(old[:60], old[:60]), 3) == "cannot tell"


def test_one_bad_view_among_many_fails_though_the_mean_is_fine():
    old = np.ones((400, 8))
    new = old.copy()
    new[:80, 5] = 0.0
    assert verdict(gaps(new, old), 8, margin=0.05) == "fail"


def test_a_candidate_with_most_answers_missing_is_never_a_pass():
    rng = np.random.default_rng(1)
    old = (rng.random((100, 1)) < 0.7).astype(float)
    present = old > 0.0  # it answers only what it gets right
    assert verdict(gaps(old, old, new_present=present), 1) == "cannot tell"
    assert verdict(gaps(old, old, new_present=present), 1, max_missing=1.0) == "cannot tell"


@pytest.mark.parametrize("side", ["new_present", "old_present"])
def test_missing_answers_on_either_side_count_against_the_candidate(side):
    old = np.zeros((400, 1)) if side == "old_present" else np.ones((400, 1))
    present = np.ones((400, 1), dtype=bool)
    present[:40] = False
    gap = gaps(old, old, **{side: present})
    table = judge_gate(gap, find_clusters(np.arange(400)), limits(1))
    assert table.lower[0] < -0.1
    assert verdict(gap, 1, max_missing=1.0) == "cannot tell"


def test_no_verdict_below_ten_pictures_of_equal_weight():
    old = np.ones((400, 1))
    assert verdict(gaps(old, old), 1, size=50) == "cannot tell"
    assert verdict(gaps(np.zeros_like(old), old), 1, size=50) == "cannot tell"


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.1))
def test_filling_in_what_is_missing_never_turns_a_pass_into_a_fail_or_back(seed, share):
    rng = np.random.default_rng(seed)
    old, new = ((rng.random((120, 2)) < rate).astype(float) for rate in (0.9, rng.uniform(0.5, 1.0)))
    masks = [rng.random(old.shape) >= share for _ in range(2)]
    before = verdict(gaps(new, old, *masks), 2, max_missing=1.0, margin=0.1, view_margin=0.2)
    filled = [np.where(mask, one, rng.random(one.shape) < 0.5) for one, mask in zip((new, old), masks, strict=True)]
    after = verdict(gaps(*filled), 2, max_missing=1.0, margin=0.1, view_margin=0.2)
    assert {before, after} != {"pass", "fail"}


def rate(draws, limit, wanted):
    """Share of replicates (n, n_replicates, columns) with a verdict."""
    table = judge_gate(
        ScoreBounds(draws, draws, np.ones(draws.shape, dtype=bool)), find_clusters(np.arange(len(draws))), limit
    )
    found = [verdict_of(GateTable(*(field[at] for field in table)), 1.0)[0] for at in range(draws.shape[1])]
    return found.count(wanted) / len(found)


@pytest.mark.parametrize("n", [120, 150, 300, 700])
def test_a_candidate_that_only_loses_at_the_margin_rarely_passes(n):
    rng = np.random.default_rng([14, n])
    losses = -(rng.random((n, 2000, 1)) < 0.02).astype(float)
    assert rate(losses, limits(1), "pass") <= 0.05 + 2.6 * (0.05 * 0.95 / 2000) ** 0.5


@pytest.mark.parametrize("n_views", [1, 8, 29])
def test_equal_candidates_rarely_fail_at_margin_0(n_views):
    rng = np.random.default_rng([14, n_views])
    draws = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=(200, 300, n_views))
    draws = draws if n_views == 1 else np.concatenate([draws.mean(axis=2, keepdims=True), draws], axis=2)
    assert rate(draws, limits(n_views, margin=0.0, view_margin=0.0), "fail") <= 0.05 + 2.6 * (0.0475 / 300) ** 0.5


def test_the_promised_number_of_questions_passes_with_80_percent():
    rng = np.random.default_rng(3)
    pilot = rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.9, 0.05], size=(700, 1))
    clusters = find_clusters(np.arange(700))
    bounds = ScoreBounds(pilot, pilot, np.ones(pilot.shape, dtype=bool))
    found = foresee_gate(bounds, clusters, limits(1))
    change = float((pilot**2).mean())
    draws = rng.choice([-1.0, 0.0, 1.0], p=[change / 2, 1 - change, change / 2], size=(found.n_needed, 400, 1))
    assert 0.74 <= rate(draws, limits(1), "pass") <= 0.88
    assert foresee_gate(bounds, clusters, -np.array([found.smallest_margin])).probability == pytest.approx(
        0.8, abs=0.01
    )


def test_margin_0_is_passed_by_no_number_of_questions():
    pilot = np.tile([1.0, -1.0, 0.0, 0.0], 50)[:, None]
    bounds = ScoreBounds(pilot, pilot, np.ones(pilot.shape, dtype=bool))
    found = foresee_gate(bounds, find_clusters(np.arange(200)), limits(1, margin=0.0))
    assert found.n_needed is None
    assert found.probability < 0.1
    assert found.smallest_margin > 0.0
