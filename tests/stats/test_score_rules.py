import numpy as np
import pytest

from eyechart.errors import StatisticsError
from eyechart.stats.clusters import find_clusters
from eyechart.stats.codes import Code
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition, contrasts_between
from eyechart.stats.letters import estimate_evenness, estimate_letter_bias
from eyechart.stats.score_rules import (
    check_blind,
    check_groups,
    check_letters,
    check_missing,
    check_range,
    check_shared_images,
    check_size,
    check_tests,
    check_unparsed,
    rule_confidence,
)

VIEWS = ["original", "crop_3x", "crop_6x"]
SINGLE = find_clusters(list(range(700)))


def _flags(*counts):
    return np.arange(700)[:, None] < np.array(counts)


@pytest.mark.parametrize(
    ("counts", "concerned"),
    [((0, 0, 0), None), ((2, 2, 2), None), ((0, 2, 1), None), ((0, 4, 0), None), ((0, 14, 0), ("crop_3x",))],
)
def test_missing_answers_warn_beyond_half_a_point_and_chance(counts, concerned):
    found = check_missing(~_flags(*counts), SINGLE, VIEWS)
    assert found is None if concerned is None else (found.code, found.conditions) == (Code.MISSING_BY_VIEW, concerned)


@pytest.mark.parametrize(("counts", "concerned"), [((5, 5, 5), None), ((5, 9, 5), None), ((0, 0, 28), ("crop_6x",))])
def test_unparsed_answers_warn_where_they_fake_an_effect(counts, concerned):
    found = check_unparsed(_flags(*counts), np.full((700, 3), True), SINGLE, VIEWS)
    assert (
        found is None if concerned is None else (found.code, found.conditions) == (Code.UNREADABLE_BY_VIEW, concerned)
    )


def test_unparsed_answers_are_compared_on_common_questions_only():
    present = np.full((700, 3), True)
    present[:28, 0] = False
    assert check_unparsed(_flags(0, 28, 28), present, SINGLE, VIEWS) is None


def test_a_clear_p_says_nothing_below_the_points():
    clusters = find_clusters(list(range(5000)))
    missing = np.arange(5000)[:, None] < np.array([0, 20])
    assert check_missing(~missing, clusters, VIEWS[:2]) is None


def test_only_the_pair_that_differs_is_concerned():
    found = check_unparsed(_flags(0, 0, 28), np.full((700, 3), True), SINGLE, VIEWS)
    assert set(map(frozenset, found.pairs)) == {frozenset({"crop_6x", "original"}), frozenset({"crop_6x", "crop_3x"})}
    assert found.concerns("original", "crop_6x")
    assert not found.concerns("crop_3x", "original")


def test_answers_lost_with_one_picture_are_one_piece_of_evidence():
    """A picture with 35 questions that fails under one view alone proves nothing about the view."""
    flags, clusters = _flags(0, 35), find_clusters([index // 35 for index in range(700)])
    assert check_missing(~flags, clusters, VIEWS[:2]) is None
    assert check_missing(~flags, SINGLE, VIEWS[:2]) is not None


def test_the_message_quotes_the_test_that_fired():
    found = check_unparsed(_flags(0, 0, 28), np.full((700, 3), True), SINGLE, VIEWS)
    assert found.message == (
        "unreadable answers differ between conditions: crop_6x 4.0 % against original 0.0 % (p = 2.2e-08), "
        "p corrected over 3 pairs"
    )


def test_no_questions_have_no_rates():
    assert check_missing(np.zeros((0, 3), dtype=bool), find_clusters([]), VIEWS) is None


def _estimated(share, chance=0.25, n=200, condition="original"):
    values = (np.arange(n) < share * n).astype(float)[:, None]
    images = [f"i{k}" for k in range(n)]
    table = ScoreTable(values, values >= 0, images, (condition,), chance=np.full(n, chance))
    return accuracy_by_condition(table, confidence=rule_confidence(1))[0]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.97, "97.0 % is at the ceiling"),
        (0.26, "26.0 % is near guessing or below (25.0 %)"),
        (0.31, None),
        (0.94, None),
        (0.7, None),
    ],
)
def test_compressed_accuracies_are_found(share, text):
    found = check_range(_estimated(share))
    assert found is None if text is None else text in found.message


@pytest.mark.parametrize(("share", "is_found"), [(0.27, False), (0.5, True)])
def test_questions_answered_without_the_picture_are_found(share, is_found):
    assert (check_blind(_estimated(share)) is not None) == is_found


def test_blind_accuracy_needs_its_chance_level():
    values = np.ones((40, 1))
    table = ScoreTable(values, values > 0, [f"i{k}" for k in range(40)], ("no_image",))
    with pytest.raises(StatisticsError, match="no_image: no chance level"):
        check_blind(accuracy_by_condition(table)[0])


def test_many_conditions_are_listed_by_those_that_stand_out_and_none_is_cut_off():
    views = [f"downsample_0_{index}" for index in range(30)]
    unparsed = np.zeros((700, 30), dtype=bool)
    unparsed[:20, 3] = unparsed[:50, 7] = True
    message = check_unparsed(unparsed, np.full(unparsed.shape, True), SINGLE, views).message
    assert ": downsample_0_7 7.1 % against downsample_0_0 0.0 %" in message
    assert "downsample_0_3 2.9 % against downsample_0_0 0.0 %" in message


def test_letter_preference_and_uneven_gold_are_found():
    gold, clusters = np.arange(400) % 4, find_clusters(list(range(400)))
    assert check_letters(estimate_letter_bias(gold, gold, clusters, 4)) is None
    assert check_letters(estimate_letter_bias(np.zeros(400, dtype=int), gold, clusters, 4)).code == Code.LETTER_BIAS
    uneven = np.where(np.arange(400) < 150, 0, gold)
    message = check_letters(estimate_letter_bias(uneven, uneven, clusters, 4)).message
    assert message.startswith("gold letters depart from even by 0.280 (p = ")
    assert message.endswith("): one letter for every question would score 0.530")


def test_a_guesser_without_preference_is_not_blamed_for_uneven_gold_letters():
    rng, clusters = np.random.default_rng(0), find_clusters(list(range(2000)))
    gold = rng.choice(4, 2000, p=(0.7, 0.1, 0.1, 0.1))
    given = np.where(rng.random(2000) < 0.4, gold, (gold + rng.integers(1, 4, 2000)) % 4)
    bias = estimate_letter_bias(given, gold, clusters, 4)
    assert bias.test.p < 1e-6  # margins do differ
    assert "of the answers" not in check_letters(bias).message


def test_unread_answers_do_not_make_even_gold_letters_uneven():
    asked = estimate_evenness(np.arange(120) % 4, find_clusters(list(range(120))), 4)
    read = np.arange(96) % 3
    bias = estimate_letter_bias(read, read, find_clusters(list(range(96))), 4)
    assert check_letters(bias) is not None
    assert check_letters(bias, asked) is None


@pytest.mark.parametrize(
    ("rates", "is_found"),
    [({"a": 0.25, "b": 0.25}, False), ({"a": 0.25, "b": 0.5}, True), ({}, False)],
)
def test_groups_with_other_chance_levels_are_found(rates, is_found):
    found = check_groups({name: np.full(9, rate) for name, rate in rates.items()})
    assert (found is not None) == is_found


@pytest.mark.parametrize(
    ("n_questions", "n_clusters", "is_found"), [(30, 10, False), (29, 29, True), (300, 9, True), (0, 1, True)]
)
def test_groups_too_small_for_p_are_found(n_questions, n_clusters, is_found):
    assert (check_size(spread_evenly(n_questions, n_clusters)) is not None) == is_found


def spread_evenly(n_questions, n_clusters):
    return find_clusters([index % n_clusters for index in range(n_questions)])


@pytest.mark.parametrize(
    ("n_questions", "n_clusters", "words"),
    [(1, 1, "1 question on 1 image:"), (2, 1, "2 questions on 1 image:"), (21, 15, "21 questions on 15 images:")],
)
def test_one_is_counted_in_the_singular(n_questions, n_clusters, words):
    assert check_size(spread_evenly(n_questions, n_clusters)).message.startswith(words)


def test_shared_images_are_said():
    assert check_shared_images(SINGLE) is None
    assert "1.667" in check_shared_images(find_clusters(["a", "a", "b"])).message


def test_many_raw_p_values_are_found():
    values = np.random.default_rng(0).integers(0, 2, (40, 30)).astype(float)
    names = tuple(f"v{k}" for k in range(30))
    table = ScoreTable(values, values >= 0, [f"i{k}" for k in range(40)], names)
    pairs = [(name, "v0") for name in names[1:]]
    assert check_tests(contrasts_between(table, pairs)) is None  # corrected
    raw = contrasts_between(table, pairs, negative_controls=pairs)
    assert check_tests(raw).code == Code.MANY_TESTS
