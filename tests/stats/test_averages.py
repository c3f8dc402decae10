"""Averaging rules: weights by definition, intervals that cover, and the published overall scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyechart.benchmarks._published import read_published
from eyechart.errors import StatisticsError
from eyechart.stats.averages import RULES, Group, average_categories, estimate_average, weigh_datasets

PUBLISHED = read_published("hrscene")
GROUPS = [Group("x", "a", 300), Group("y", "a", 100), Group("z", "b", 600)]


@pytest.mark.parametrize("split", ["test", "testmini"])
def test_size_weighted_reproduces_the_published_overall_score_of_every_row(split):
    rows = PUBLISHED.boards[split]
    assert len(rows) == 28
    for row in rows:
        found = average_categories(row.scores, "size_weighted", PUBLISHED.weights)
        assert found == pytest.approx(row.all, abs=0.0101), row.model


def test_published_overall_score_of_people_is_the_plain_mean_of_categories_and_not_the_weighted_one():
    human = next(row for row in PUBLISHED.references if row.model == "Human")
    assert average_categories(human.scores, "macro_category", {}) == pytest.approx(64.715)
    assert average_categories(human.scores, "size_weighted", PUBLISHED.weights) == pytest.approx(68.71, abs=0.005)
    assert human.all == 64.72


def test_rules_differ_on_the_best_published_model():
    row = max(PUBLISHED.boards["test"], key=lambda one: one.all)
    found = {rule: average_categories(row.scores, rule, PUBLISHED.weights) for rule in RULES[2:]}
    assert found["size_weighted"] - found["macro_category"] > 2


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("micro", [0.2, 0.3, 0.5]),
        ("macro_dataset", [1 / 3, 1 / 3, 1 / 3]),
        ("macro_category", [0.25, 0.25, 0.5]),
        ("size_weighted", [0.3, 0.1, 0.6]),
    ],
)
def test_every_rule_has_its_own_weights(rule, expected):
    assert weigh_datasets(GROUPS, [2, 3, 5], rule, {}).tolist() == pytest.approx(expected)


def test_category_sizes_of_the_leaderboard_win_over_the_sum_of_datasets():
    weights = weigh_datasets(GROUPS, [2, 3, 5], "size_weighted", {"a": 100, "b": 300})
    assert weights.tolist() == pytest.approx([0.1875, 0.0625, 0.75])


@given(st.integers(0, 2**32 - 1), st.sampled_from(RULES))
def test_average_lies_between_the_datasets_and_inside_its_interval(seed, rule):
    rng = np.random.default_rng(seed)
    labels = [name for name in "xyz" for _ in range(20)]
    values = (rng.random(60) < rng.random()).astype(float)
    weights = dict(zip("xyz", weigh_datasets(GROUPS, [20, 20, 20], rule, {}), strict=True))
    table = estimate_average(values, values >= 0, [f"im{i}" for i in range(60)], labels, weights)
    means = [values[20 * k : 20 * k + 20].mean() for k in range(3)]
    assert min(means) - 1e-9 <= table.value <= max(means) + 1e-9
    assert table.low <= table.value <= table.high
    assert table.low < table.high
    assert table.n_questions == 60


def test_weighted_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    rates, sizes = {"x": 0.9, "y": 0.5, "z": 0.3}, {"x": 40, "y": 25, "z": 60}
    weights = dict(zip("xyz", weigh_datasets(GROUPS, list(sizes.values()), "size_weighted", {}), strict=True))
    truth = sum(weights[name] * rates[name] for name in "xyz")
    labels = [name for name, n in sizes.items() for _ in range(n)]
    images = [f"im{index}" for index in range(len(labels))]
    n_covered = 0
    for _ in range(400):
        values = np.array([rng.random() < rates[name] for name in labels], dtype=float)
        table = estimate_average(values, values >= 0, images, labels, weights)
        n_covered += table.low <= truth <= table.high
    assert 0.925 <= n_covered / 400 <= 0.985


def test_missing_answers_and_unweighted_datasets_enter_nothing():
    values, present = np.array([1.0, 0.0, 1.0, 1.0]), np.array([True, False, True, True])
    table = estimate_average(values, present, list("abcd"), ["x", "x", "y", "other"], {"x": 0.5, "y": 0.5})
    assert (table.value, table.n_questions) == (1.0, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: average_categories({"a": 1.0}, "micro", {}), "micro needs the score of every dataset"),
        (lambda: average_categories({"a": 1.0}, "size_weighted", {}), "no size is known of a"),
        (lambda: average_categories({}, "macro_category", {}), "there is no category"),
        (lambda: weigh_datasets([], [], "micro", {}), "no dataset has a score"),
        (lambda: estimate_average(np.ones(1), np.ones(1, bool), ["a"], ["x"], {"y": 1.0}), "no dataset with a weight"),
    ],
)
def test_what_cannot_be_averaged_is_refused(call, message):
    with pytest.raises(StatisticsError, match=message):
        call()
