"""Numbers to be read, and wrong options that do not give the right one away."""

from itertools import product

import numpy as np

from eyechart.schema import Box, Value

LETTERS = "ABCD"
N_DIGITS = 4


class Item(Value, frozen=True):
    """One question about one number.

    Args:
        word: What stands beside the number, unique in the whole demo.
        number: The right answer.
        options: Four numbers in the order shown.
        letter: The letter of the right one.
        box: The number's place: its advance width and the height of its digits, whatever the digits are.
        text_px: Height of the digits in pixels.
        on_page: Whether it is printed on a page, not painted on a sign.
    """

    word: str
    number: str
    options: tuple[str, ...]
    letter: str
    box: Box
    text_px: int
    on_page: bool


def draw_numbers(rng: np.random.Generator) -> tuple[str, ...]:
    """Return four numbers, the first of them meant as the right one.

    They are all pairs of two digits at one place with two digits at another, so that each of the four stands to the
    other three in the same way: who sees only the options cannot tell which one was there first.

    Example:
        >>> draw_numbers(np.random.default_rng(0))
        ('8653', '8655', '8663', '8665')
    """
    digits = [int(digit) for digit in rng.integers(1, 10, N_DIGITS)]
    first, second = sorted(int(place) for place in rng.permutation(N_DIGITS)[:2])
    pairs = [(digits[place], _another_digit(digits[place], rng)) for place in (first, second)]
    numbers = []
    for one, other in product(*pairs):
        number = list(digits)
        number[first], number[second] = one, other
        numbers.append("".join(str(digit) for digit in number))
    return tuple(numbers)


def draw_distinct_numbers(n: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """Return ``n`` sets of numbers that share none, so that no number of one question answers another.

    Example:
        >>> sets = draw_distinct_numbers(100, np.random.default_rng(0))
        >>> len({number for numbers in sets for number in numbers})
        400
    """
    sets: list[tuple[str, ...]] = []
    taken: set[str] = set()
    while len(sets) < n:
        numbers = draw_numbers(rng)
        if taken.isdisjoint(numbers):
            sets.append(numbers)
            taken.update(numbers)
    return sets


def place_answer(numbers: tuple[str, ...], letter: str, rng: np.random.Generator) -> tuple[str, ...]:
    """Return the numbers in random order, but the first of them at the place of ``letter``.

    Example:
        >>> place_answer(("1", "2", "3", "4"), "C", np.random.default_rng(1))[2]
        '1'
    """
    wrong = [numbers[index] for index in rng.permutation(len(numbers) - 1) + 1]
    at = LETTERS.index(letter)
    return (*wrong[:at], numbers[0], *wrong[at:])


def _another_digit(digit: int, rng: np.random.Generator) -> int:
    return (digit - 1 + int(rng.integers(1, 9))) % 9 + 1
