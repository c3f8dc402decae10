"""Whether answers were given under another order of the options than the one they are read with.

A response such as "B. red" names an option twice, by its letter and by its text. Where both agree, the order is the one
we think; where they disagree more often than models slip, the letters belong to another order.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from eyechart.schema import Estimate
from eyechart.stats.conditions import ScoreTable, accuracy_by_condition

# The slips and the threshold of the specification (interop.md 1.6): 31 models with published answers in the right
# order wrote the text of another option in 5 of 285 answers, and none of them more than once.
SLIP_RATE = 0.05
_FEWEST_MISMATCHES = 5
_CLEAR_P = 0.001
_SMALLEST_SHARE = 0.2


class OrderPair(NamedTuple):
    """One response that names an option by letter and by text; all three are counts from 0, as the options were shown.

    Args:
        letter: The option whose letter it gives.
        named: The option whose text it gives.
        n_options: Number of options.
    """

    letter: int
    named: int
    n_options: int


class OrderTest(NamedTuple):
    """What the pairs of a run or file say about the order of the options.

    Args:
        n_pairs: Responses that name an option by letter and by text.
        n_questions: Questions with such a response; each counts once.
        n_mismatched: Questions of which more than half of the pairs name two different options.
        p: Probability of as many or more mismatches if one in twenty questions slips.
        is_alarm: Whether that is at least a fifth of the questions, at least five, and p < 0.001.
    """

    n_pairs: int
    n_questions: int
    n_mismatched: int
    p: float
    is_alarm: bool


class LetterShift(NamedTuple):
    """One permutation of the letters that explains the mismatches among questions with one number of options.

    Args:
        n_options: That number.
        moved: Letter → option that it stands for, both from 0, for the letters that it moves.
        n_moved: Answers that give one of these letters; answers of one question with one letter count once.
        n_explained: How many of these name the option that the permutation says.
    """

    n_options: int
    moved: dict[int, int]
    n_moved: int
    n_explained: int


def describe_order(test: OrderTest) -> str:
    """Say how many questions were answered with the letter of one option and the text of another.

    Example:
        >>> describe_order(OrderTest(n_pairs=10, n_questions=10, n_mismatched=5, p=6e-5, is_alarm=True))
        'of 10 questions whose answers copy the text of an option, 5 copy that of another than their letter (p = 6e-05)'
    """
    return (
        f"of {test.n_questions} questions whose answers copy the text of an option, {test.n_mismatched} copy that of "
        f"another than their letter (p = {test.p:.2g})"
    )


def accuracy_by_text(scores: Sequence[float], image_groups: Sequence[str]) -> Estimate | None:
    """Estimate accuracy by the texts that answers copy, which holds whatever the order was.

    Args:
        scores: (n_questions,) shares of a question's copied texts that are its right option, in [0, 1].
        image_groups: (n_questions,) cluster of each.

    Returns:
        The estimate, None without a question.
    """
    if not scores:
        return None
    values = np.array(scores, dtype=np.float64)[:, np.newaxis]
    table = ScoreTable(values, np.ones(values.shape, dtype=np.bool_), list(image_groups), ("all views",))
    return accuracy_by_condition(table, name="accuracy_by_text")[0]


def say_text_accuracy(estimate: Estimate | None) -> str:
    """Say an accuracy by text with its interval and number of questions.

    Example:
        >>> say_text_accuracy(None)
        'none of them has a right answer to compare the text with'
    """
    if estimate is None:
        return "none of them has a right answer to compare the text with"
    span = "too few pictures for an interval"
    if estimate.interval is not None:
        span = ", ".join(f"{100 * bound:.1f}" for bound in estimate.interval)
    return f"by text {100 * estimate.value:.1f} % [{span}] of {estimate.n_questions} such questions are right"


GIVEN_UNDER_ANOTHER_ORDER = (
    "The answers were given under another order of the options than they are read with, so accuracy by letter means "
    "nothing; give the order with --options-as FILE (id and choices as they were shown)"
)


def upper_tail(n_hits: int, n_trials: int, rate: float = SLIP_RATE) -> float:
    """Return the exact probability of at least ``n_hits`` among ``n_trials``.

    Example:
        >>> round(upper_tail(5, 10), 7), upper_tail(0, 10)
        (6.37e-05, 1.0)
    """
    from scipy.special import bdtrc  # late: it takes longer to load than everything else here

    if n_hits <= 0 or n_hits > n_trials:
        return float(n_hits <= 0)
    return float(bdtrc(n_hits - 1, n_trials, rate))


def count_orders(pairs: Mapping[str, Sequence[OrderPair]]) -> OrderTest:
    """Test whether letters belong to another order of the options.

    Args:
        pairs: Question → the pairs of its responses, over all views and repeats; questions without pairs may be there.

    Example:
        >>> turned = {f"q{number}": [OrderPair(letter=1, named=0, n_options=4)] for number in range(10)}
        >>> count_orders(turned).is_alarm
        True
    """
    given = [own for own in pairs.values() if own]
    mismatched = sum(2 * sum(pair.letter != pair.named for pair in own) > len(own) for own in given)
    p = upper_tail(mismatched, len(given))
    is_many = mismatched >= _FEWEST_MISMATCHES and mismatched >= _SMALLEST_SHARE * len(given)
    return OrderTest(sum(map(len, given)), len(given), mismatched, p, is_alarm=is_many and p < _CLEAR_P)


def find_shift(pairs: Mapping[str, Sequence[OrderPair]]) -> LetterShift | None:
    """Return a permutation of the letters that accounts for at least half of all answers whose letter it moves.

    A model that contradicts itself names now this option and now that one; options that were shown in another order
    than we think move every letter to one other option. The permutation must also explain more answers than slips
    would (``upper_tail`` below 0.001, at least five). The one with the largest lead is returned.

    Args:
        pairs: As for ``count_orders``.

    Example:
        >>> swapped = {f"q{n}": [OrderPair(letter=n % 2, named=1 - n % 2, n_options=2)] for n in range(10)}
        >>> find_shift(swapped)
        LetterShift(n_options=2, moved={0: 1, 1: 0}, n_moved=10, n_explained=10)
    """
    found = [shift for n_options in _numbers(pairs) if (shift := _shift_among(pairs, n_options)) is not None]
    return max(found, key=lambda shift: 2 * shift.n_explained - shift.n_moved, default=None)


def _numbers(pairs: Mapping[str, Sequence[OrderPair]]) -> list[int]:
    return sorted({pair.n_options for own in pairs.values() for pair in own})


def _shift_among(pairs: Mapping[str, Sequence[OrderPair]], n_options: int) -> LetterShift | None:
    from scipy.optimize import linear_sum_assignment  # late, as above

    counts = np.zeros((n_options, n_options), dtype=np.int64)
    for own in pairs.values():
        by_letter: dict[int, Counter[int]] = {}
        for pair in own:
            if pair.n_options == n_options:
                by_letter.setdefault(pair.letter, Counter())[pair.named] += 1
        for letter, named in by_letter.items():
            option, n = named.most_common(1)[0]
            # Without a majority a question speaks for no option: it counts for its own letter.
            counts[letter, option if 2 * n > named.total() else letter] += 1
    n_given = counts.sum(axis=1, keepdims=True)
    # The lead over half of the answers whose letter moves; among equal leads more explained answers win.
    worth = (2 * counts - n_given) * (counts.sum() + 1) + counts
    np.fill_diagonal(worth, 0)
    letters, options = linear_sum_assignment(worth, maximize=True)
    moved = {int(letter): int(option) for letter, option in zip(letters, options, strict=True) if letter != option}
    n_moved = sum(int(n_given[letter, 0]) for letter in moved)
    n_explained = sum(int(counts[letter, option]) for letter, option in moved.items())
    is_half = 2 * n_explained >= n_moved and n_explained >= _FEWEST_MISMATCHES
    if not is_half or upper_tail(n_explained, n_moved) >= _CLEAR_P:
        return None
    return LetterShift(n_options, {letter: moved[letter] for letter in sorted(moved)}, n_moved, n_explained)
