"""What is drawn where in the demo's pictures, and what is asked about it: all from one seed."""

from typing import NamedTuple

import numpy as np

from eyechart.benchmarks._demo.fonts import text_width
from eyechart.benchmarks._demo.items import LETTERS, Item, draw_distinct_numbers, place_answer
from eyechart.benchmarks._demo.words import PAGE_SENTENCES, PAGE_TITLES, PAGE_WORDS, SIGN_WORDS
from eyechart.schema import Box, Size, Value

Colour = tuple[int, int, int]

SCENE_SIZE = Size(3600, 1110)
PHOTO_SIZE = Size(5312, 2988)
N_PHOTOS, N_PAGES = 17, 3
ITEMS_PER_SCENE = 2

# Most signs lie where views differ; a few are hard even for people, and a few can be read in the smallest view.
TINY_TEXT_PX = (4, 6, 8, 11)
MIDDLE_TEXT_PX = (15, 60)
LARGE_TEXT_PX = (68, 76, 84, 92, 100)
PAGE_TEXT_PX: tuple[int, ...] = (15, 34, 20, 48, 12, 26)

_INK: Colour = (24, 24, 28)
# Paint and letters of the signs; contrast at least 7 to 1 (WCAG 2.2, 1.4.6).
SIGN_COLOURS: tuple[tuple[Colour, Colour], ...] = (
    ((250, 250, 245), (20, 20, 24)),
    ((255, 214, 10), (20, 20, 24)),
    ((0, 70, 50), (255, 255, 255)),
    ((20, 40, 110), (255, 255, 255)),
    ((110, 16, 24), (255, 255, 255)),
    ((28, 28, 32), (255, 236, 160)),
)
# Parts of a sign in units of its text height: margin, line, gap between its two lines.
_SIGN_MARGIN, _SIGN_GAP = 0.7, 0.6
_PAGE_MARGIN_PX, _PAGE_COLUMN_GAP_PX, _PAGE_TITLE_PX = 110, 140, 48
_PAGE_LEADING, _PAGE_LINES = 2.1, 4
_PAGE_LINE_WIDTH = 24  # in text heights: about 32 letters


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


class Scene(Value, frozen=True):
    """One picture: where it is cut from the photograph (None for a white page), what is drawn, what is asked."""

    name: str
    photo_corner: tuple[int, int] | None
    panels: tuple[Panel, ...]
    texts: tuple[DrawnText, ...]
    items: tuple[Item, ...]


class _Brief(NamedTuple):
    """An item before it has a place."""

    word: str
    number: str
    options: tuple[str, ...]
    letter: str
    text_px: int

    def item(self, x: int, baseline: int, *, on_page: bool) -> Item:
        """Return the item whose number begins at ``x`` on a baseline."""
        width = round(text_width(self.number, self.text_px))
        box = Box(x, baseline - self.text_px, x + width, baseline)
        return Item(self.word, self.number, self.options, self.letter, box, self.text_px, on_page)


def plan_scenes(seed: int) -> tuple[Scene, ...]:
    """Return all pictures of the demo; their names tell nothing of sizes, kinds or answers.

    Args:
        seed: Decides places, words, numbers, options, colours and order.
    """
    rng = np.random.default_rng(seed)
    n_scenes = N_PHOTOS + N_PAGES
    briefs = _draw_briefs(rng)
    names = [f"scene_{number:02d}" for number in rng.permutation(n_scenes) + 1]
    scenes = []
    for index, name in enumerate(names):
        pair = briefs[ITEMS_PER_SCENE * index : ITEMS_PER_SCENE * (index + 1)]
        if index < N_PHOTOS:
            scenes.append(_photo_scene(name, pair, rng))
        else:
            scenes.append(_page(name, PAGE_TITLES[index - N_PHOTOS], pair, rng))
    return tuple(sorted(scenes, key=lambda scene: scene.name))


def _draw_briefs(rng: np.random.Generator) -> list[_Brief]:
    """Return what each item will be: first those on signs, in random order of height, then those on pages."""
    n_signs, n_pages = N_PHOTOS * ITEMS_PER_SCENE, N_PAGES * ITEMS_PER_SCENE
    n = n_signs + n_pages
    letters = _shuffled(LETTERS * (n // len(LETTERS)), rng)
    heights = [*(int(height) for height in rng.permutation(sign_heights(n_signs))), *PAGE_TEXT_PX]
    words = [*_shuffled(SIGN_WORDS, rng)[:n_signs], *_shuffled(PAGE_WORDS, rng)[:n_pages]]
    sets = draw_distinct_numbers(n, rng)
    return [
        _Brief(word, numbers[0], place_answer(numbers, letter, rng), letter, height)
        for word, numbers, letter, height in zip(words, sets, letters, heights, strict=True)
    ]


def sign_heights(n: int) -> tuple[int, ...]:
    """Return ``n`` text heights in pixels from 4 to 100, ascending, evenly spaced on a log scale in their middle.

    Example:
        >>> sign_heights(13)
        (4, 6, 8, 11, 15, 24, 38, 60, 68, 76, 84, 92, 100)
    """
    middle = np.geomspace(*MIDDLE_TEXT_PX, n - len(TINY_TEXT_PX) - len(LARGE_TEXT_PX))
    return (*TINY_TEXT_PX, *(round(float(height)) for height in middle), *LARGE_TEXT_PX)


def _photo_scene(name: str, briefs: list[_Brief], rng: np.random.Generator) -> Scene:
    """Put one sign in the left and one in the right half of a cut from the photograph."""
    corner = (
        int(rng.integers(0, PHOTO_SIZE.width - SCENE_SIZE.width + 1)),
        int(rng.integers(0, PHOTO_SIZE.height - SCENE_SIZE.height + 1)),
    )
    half = SCENE_SIZE.width // ITEMS_PER_SCENE
    signs = [_sign(brief, range(index * half, (index + 1) * half), rng) for index, brief in enumerate(briefs)]
    return Scene(
        name=name,
        photo_corner=corner,
        panels=tuple(panel for panel, _, _ in signs),
        texts=tuple(text for _, texts, _ in signs for text in texts),
        items=tuple(item for _, _, item in signs),
    )


def _sign(brief: _Brief, columns: range, rng: np.random.Generator) -> tuple[Panel, tuple[DrawnText, ...], Item]:
    """Plan a two-line sign, the word over its number, at a random spot inside some columns of the picture."""
    text_px = brief.text_px
    number_width = round(text_width(brief.number, text_px))
    margin, gap = round(_SIGN_MARGIN * text_px), round(_SIGN_GAP * text_px)
    width = max(round(text_width(brief.word, text_px)), number_width) + 2 * margin
    height = 2 * text_px + gap + 2 * margin
    left = int(rng.integers(columns.start, columns.stop - width + 1))
    top = int(rng.integers(0, SCENE_SIZE.height - height + 1))
    paint, ink = SIGN_COLOURS[int(rng.integers(len(SIGN_COLOURS)))]
    x, baseline = left + margin, top + margin + 2 * text_px + gap
    return (
        Panel(Box(left, top, left + width, top + height), paint),
        (
            DrawnText(brief.word, x, top + margin + text_px, text_px, ink),
            DrawnText(brief.number, x, baseline, text_px, ink),
        ),
        brief.item(x, baseline, on_page=False),
    )


def _page(name: str, title: str, briefs: list[_Brief], rng: np.random.Generator) -> Scene:
    """Print two columns of text, each with one numbered sample somewhere between its lines."""
    column = (SCENE_SIZE.width - 2 * _PAGE_MARGIN_PX - _PAGE_COLUMN_GAP_PX) // ITEMS_PER_SCENE
    texts = [DrawnText(title, _PAGE_MARGIN_PX, _PAGE_MARGIN_PX + _PAGE_TITLE_PX, _PAGE_TITLE_PX, _INK)]
    items = []
    for index, brief in enumerate(briefs):
        x = _PAGE_MARGIN_PX + index * (column + _PAGE_COLUMN_GAP_PX)
        lines, item = _column(x, column, brief, rng)
        texts.extend(lines)
        items.append(item)
    return Scene(name=name, photo_corner=None, panels=(), texts=tuple(texts), items=tuple(items))


def _column(x: int, width: int, brief: _Brief, rng: np.random.Generator) -> tuple[list[DrawnText], Item]:
    text_px = brief.text_px
    line_width = min(width, _PAGE_LINE_WIDTH * text_px)
    lines = _wrapped(_shuffled(PAGE_SENTENCES, rng), line_width, text_px)[:_PAGE_LINES]
    at = int(rng.integers(1, len(lines)))
    label = f"{brief.word} has number "
    lines.insert(at, f"{label}{brief.number}.")
    top = _PAGE_MARGIN_PX + 3 * _PAGE_TITLE_PX
    baselines = [top + round((row + 1) * _PAGE_LEADING * text_px) for row in range(len(lines))]
    item = brief.item(x + round(text_width(label, text_px)), baselines[at], on_page=True)
    return [DrawnText(line, x, base, text_px, _INK) for line, base in zip(lines, baselines, strict=True)], item


def _wrapped(sentences: list[str], width: int, text_px: int) -> list[str]:
    """Break running text into lines no wider than ``width`` pixels."""
    lines, line = [], ""
    for word in " ".join(sentences).split():
        longer = f"{line} {word}".strip()
        if line and text_width(longer, text_px) > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line]


def _shuffled(values: "tuple[str, ...] | str", rng: np.random.Generator) -> list[str]:
    return [str(value) for value in rng.permutation(list(values))]
