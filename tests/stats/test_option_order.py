"""The alarm about the order of options: when it must sound, when it must not, and how often it would by chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from eyechart.stats.option_order import (
    OrderPair,
    accuracy_by_text,
    count_orders,
    find_shift,
    say_text_accuracy,
    upper_tail,
)


def questions(n, n_mismatched, n_options=4):
    """``n`` questions with one pair each, of which some name the next option."""
    return {
        f"q{number}": [
            OrderPair(number % n_options, (number + (number < n_mismatched)) % n_options, n_options=n_options)
        ]
        for number in range(n)
    }


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=40)
def test_tail_is_that_of_scipys_binomial(n_hits, n_trials):
    assert upper_tail(n_hits, n_trials) == pytest.approx(binom.sf(n_hits - 1, n_trials, 0.05), abs=1e-15)


@pytest.mark.parametrize(
    ("n", "n_mismatched", "is_alarm"),
    [
        (10, 4, False),
        (10, 5, True),
        (5, 5, True),
        (4, 4, False),
        (20, 5, False),  # p = .0026
        (20, 6, True),
        (40, 8, True),
        (40, 7, False),
        (113, 22, False),  # clear, and less than a fifth
        (113, 23, True),
        (0, 0, False),
    ],
)
def test_alarm_needs_five_mismatches_a_fifth_and_the_exact_test(n, n_mismatched, is_alarm):
    test = count_orders(questions(n, n_mismatched))
    assert (test.n_questions, test.n_mismatched, test.is_alarm) == (n, n_mismatched, is_alarm)


def test_each_question_counts_once_however_often_it_was_asked():
    views = {name: own * 29 for name, own in questions(4, 4).items()}
    test = count_orders(views)
    assert (test.n_pairs, test.n_questions, test.n_mismatched, test.is_alarm) == (116, 4, 4, False)


def test_question_is_mismatched_only_if_more_than_half_of_its_pairs_are():
    right, wrong = OrderPair(0, 0, 2), OrderPair(0, 1, 2)
    assert count_orders({"a": [right, wrong], "b": [right, wrong, wrong], "c": []}).n_mismatched == 1


def test_slips_at_the_measured_rate_never_alarm_and_turned_options_do():
    rng = np.random.default_rng(7)
    slips = turned = 0
    for n in (10, 15, 30, 100):
        for _ in range(250):
            slips += count_orders(questions(n, int(rng.binomial(n, 0.02)))).is_alarm
            turned += count_orders(questions(n, int(rng.binomial(n, 2 / 3)))).is_alarm
    assert slips == 0  # of 1000; about 0.1 are expected
    assert turned >= 970  # of 1000; 92 % at n = 10, the specification says


@given(st.permutations(range(4)), st.integers(1, 5))
@settings(max_examples=30)
def test_one_order_that_moves_every_letter_is_found(order, n_each):
    pairs = {
        f"q{letter}-{number}": [OrderPair(letter, order[letter], n_options=4)]
        for letter in range(4)
        for number in range(n_each)
    }
    shift = find_shift(pairs)
    moved = {letter: option for letter, option in enumerate(order) if letter != option}
    if len(moved) * n_each < 5:
        assert shift is None
    else:
        assert (shift.moved, shift.n_explained, shift.n_moved) == (moved, len(moved) * n_each, len(moved) * n_each)


def test_model_that_contradicts_itself_at_random_has_no_one_order():
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(100):
        pairs = {f"q{number}": [OrderPair(*map(int, rng.integers(0, 4, 2)), n_options=4)] for number in range(60)}
        found += find_shift(pairs) is not None
    assert found == 0


def test_answers_in_order_count_against_a_permutation():
    """Six of twenty answers with a letter name one other option: not half of all that the permutation moves."""
    pairs = {f"q{number}": [OrderPair(number % 2, number % 2, 4)] for number in range(34)}
    pairs |= {f"x{number}": [OrderPair(0, 1, 4)] for number in range(6)}
    assert find_shift(pairs) is None


def test_numbers_of_options_have_orders_of_their_own():
    pairs = {f"two{number}": [OrderPair(number % 2, number % 2, 2)] for number in range(30)}
    pairs |= {f"three{number}": [OrderPair(number % 3, 2 - number % 3, 3)] for number in range(30)}
    shift = find_shift(pairs)
    assert (shift.n_options, shift.moved) == (3, {0: 2, 2: 0})


def test_accuracy_by_text_has_an_interval_and_clusters_by_picture():
    one = accuracy_by_text([1.0, 0.5, 0.0, 1.0] * 5, [f"{name}{number}" for number in range(5) for name in "aabc"])
    assert (one.value, one.n_questions, one.n_clusters) == (0.625, 20, 15)
    assert one.low < 0.625 < one.high
    assert "too few pictures" in say_text_accuracy(accuracy_by_text([1.0, 0.5], ["a", "b"]))
    assert accuracy_by_text([], []) is None
