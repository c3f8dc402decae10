"""What is drawn where in the demo's pictures, and what is asked about it: all from one seed."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from eyechart.benchmarks._demo.fonts import text_width
from eyechart.benchmarks._demo.words import PAGE_SENTENCES, PAGE_TITLES, PAGE_WORDS, SIGN_WORDS
from eyechart.schema import Box, Size, Value

Colour = tuple[int, int, int]

SCENE_SIZE = Size(2828, 1414)
PHOTO_SIZE = Size(5312, 2988)
N_PHOTO_SCENES = 17
N_PAGES = 3
QUESTIONS_PER_SCENE = 2

SMALLEST_TEXT_PX, LARGEST_TEXT_PX = 4, 100
# Below 12 px even a person needs luck, so only a sixth of the signs are there.
_N_TINY, _FIRST_PLAIN_TEXT_PX = 6, 12
_PAGE_TEXT_PX = (15, 44, 20, 60, 12, 30)

_WHITE: Colour = (255, 255, 255)
_INK: Colour = (24, 24, 28)
# Paint and letters of the signs; contrast at least 7 to 1 (WCAG 2.2, 1.4.6).
_SIGN_COLOURS: tuple[tuple[Colour, Colour], ...] = (
    ((250, 250, 245), (20, 20, 24)),
    ((255, 214, 10), (20, 20, 24)),
    ((0, 70, 50), (255, 255, 255)),
    ((20, 40, 110), (255, 255, 255)),
    ((110, 16, 24), (255, 255, 255)),
    ((28, 28, 32), (255, 236, 160)),
)


class DrawnText(Value, frozen=True):
    """A line of text: its left end and baseline in pixels, and the height of its capitals."""

    text: str
    x: float
    baseline: float
    text_px: int
    colour: Colour


class Panel(Value, frozen=True):
    """A painted board."""

    box: Box
    colour: Colour


class Item(Value, frozen=True):
    """One question about one number. ``box`` is drawn round the number's place, whatever its digits."""

    word: str
    number: str
    options: tuple[str, ...]
    letter: str
    box: Box
    text_px: int
    on_page: bool


class Scene(Value, frozen=True):
    """One picture: where it is cut from the photograph (None for a white page), what is drawn, what is asked."""

    name: str
    photo_corner: tuple[int, int] | None
    panels: tuple[Panel, ...]
    texts: tuple[DrawnText, ...]
    items: tuple[Item, ...]


def plan_scenes(seed: int) -> tuple[Scene, ...]:
    """Return all pictures of the demo, in a shuffled order that tells nothing of sizes or answers.

    Args:
        seed: Decides places, words, numbers, options and order.
    """
    rng = np.random.default_rng(seed)
    n_items = (N_PHOTO_SCENES + N_PAGES) * QUESTIONS_PER_SCENE
    letters = [str(letter) for letter in rng.permutation(list("ABCD") * math.ceil(n_items / 4))]
    sizes = [int(size) for size in rng.permutation(sign_heights(N_PHOTO_SCENES * QUESTIONS_PER_SCENE))]
    words = [str(word) for word in rng.permutation(SIGN_WORDS)]
    page_words = [str(word) for word in rng.permutation(PAGE_WORDS)]
    names = [f"scene_{number:02d}" for number in rng.permutation(N_PHOTO_SCENES + N_PAGES) + 1]
    scenes = []
    for index in range(N_PHOTO_SCENES):
        pair = slice(2 * index, 2 * index + 2)
        scenes.append(_photo_scene(names.pop(), sizes[pair], words[pair], letters[pair], rng))
    for index in range(N_PAGES):
        pair = slice(2 * index, 2 * index + 2)
        rest = letters[2 * (N_PHOTO_SCENES + index) :]
        scenes.append(_page(names.pop(), PAGE_TITLES[index], _PAGE_TEXT_PX[pair], page_words[pair], rest[:2], rng))
    return tuple(sorted(scenes, key=lambda scene: scene.name))


def sign_heights(n: int) -> tuple[int, ...]:
    """Return text heights in pixels from 4 to 100, evenly spaced on a log scale, few of them below 12.

    Example:
        >>> sign_heights(12)
        (4, 5, 6, 7, 8, 10, 12, 18, 28, 43, 65, 100)
    """
    tiny = np.geomspace(SMALLEST_TEXT_PX, _FIRST_PLAIN_TEXT_PX, _N_TINY, endpoint=False)
    plain = np.geomspace(_FIRST_PLAIN_TEXT_PX, LARGEST_TEXT_PX, n - _N_TINY)
    return tuple(round(float(height)) for height in (*tiny, *plain))


def draw_options(rng: np.random.Generator) -> tuple[str, ...]:
    """Return four numbers of four digits, the first of them meant as the right one.

    They are all pairs of two digits at one place with two digits at another, so that each of the four stands to the
    other three in the same way: who sees only the options cannot tell which one was there first.

    Example:
        >>> draw_options(np.random.default_rng(0))
        ('8654', '8659', '8674', '8679')
    """
    digits = [int(digit) for digit in rng.integers(1, 10, 4)]
    first, second = sorted(int(place) for place in rng.permutation(4)[:2])
    pairs = [[digits[place], *_other_digits(digits[place], rng)] for place in (first, second)]
    options = []
    for one, other in product(*pairs):
        number = list(digits)
        number[first], number[second] = one, other
        options.append("".join(str(digit) for digit in number))
    return tuple(options)


def _other_digits(digit: int, rng: np.random.Generator) -> list[int]:
    others = [other for other in range(1, 10) if other != digit]
    return [int(rng.choice(others))]


def _item(word: str, letter: str, box: Box, text_px: int, options: Sequence[str], on_page: bool) -> Item:  # noqa: FBT001, PLR0913, PLR0917
    raise NotImplementedError
