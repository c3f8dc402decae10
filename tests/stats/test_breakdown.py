import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.breakdown import estimate_by_group, interaction_p
from eyechart.stats.clusters import find_clusters
from eyechart.stats.proportion import estimate_proportions


def test_group_is_estimated_as_if_alone(paired):
    tables = estimate_by_group(paired.values, paired.present, paired.images, paired.tasks)
    assert list(tables) == sorted(set(paired.tasks))
    rows = np.array(paired.tasks) == "OCR"
    alone = estimate_proportions(
        paired.values[rows], paired.present[rows], find_clusters(np.array(paired.images)[rows])
    )
    assert tables["OCR"].low == pytest.approx(alone.low)
    assert sum(table.n_questions[0] for table in tables.values()) == 60


def test_numbers_of_questions_must_agree(paired):
    with pytest.raises(StatisticsError, match="60 clusters and 59 group names"):
        estimate_by_group(paired.values, paired.present, paired.images, paired.tasks[1:])


def _interaction(change, labels, tasks, seed=0, present=None, n_permutations=199):
    change = np.asarray(change, dtype=float)[:, None]
    mask = np.full(change.shape, True) if present is None else present
    rng = np.random.default_rng(seed)
    return interaction_p(change, mask, find_clusters(labels), tasks, rng=rng, n_permutations=n_permutations)[0]


def test_effect_in_one_task_only_is_found():
    tasks = ["a"] * 60 + ["b"] * 60
    assert _interaction(np.r_[np.ones(30), np.zeros(90)], list(range(120)), tasks) == 1 / 200


def test_no_flip_at_all_has_p_one():
    assert _interaction(np.zeros(40), list(range(40)), ["a", "b"] * 20) == 1.0


def test_same_effect_everywhere_is_rejected_at_the_nominal_rate():
    rejections = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        change = np.repeat(rng.choice([-1.0, 0, 1], 30, p=[0.1, 0.6, 0.3]), 2)  # two questions per image
        tasks = list(np.repeat(rng.choice(["a", "b", "c"], 30), 2))
        labels = list(np.repeat(np.arange(30), 2))
        rejections += _interaction(change, labels, tasks, seed=seed, n_permutations=99) <= 0.05
    assert 2 <= rejections <= 17


def test_missing_questions_do_not_count():
    change = np.r_[np.ones(20), np.zeros(20)]
    present = np.r_[np.full(20, True), np.full(20, False)][:, None]
    assert _interaction(change, list(range(40)), ["a"] * 20 + ["b"] * 20, present=present) > 0.9


def test_group_names_must_match_the_questions():
    with pytest.raises(StatisticsError, match="for 3 group names"):
        _interaction(np.zeros(4), list("abcd"), ["a", "b", "c"])
