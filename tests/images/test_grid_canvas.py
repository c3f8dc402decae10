"""Grids of pictures: HRScene's geometry to the pixel, the same pixels on every machine, whatever was drawn before."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from eyechart.errors import GeometryError
from eyechart.images.captions import CAPTION_ATLAS, cell_caption
from eyechart.images.grid_canvas import GridCanvas, squeeze_to_tile
from eyechart.images.hash import pixel_sha256
from eyechart.schema import Grid, GridComposition, ImageRef, Question, Size
from eyechart.views.grid import CAPTIONED_PITCH, TILE, compose_grid

SMALL = Size(3, 3)


def flat(value, size=TILE):
    return np.full((size.height, size.width, 3), value, np.uint8)


def pattern(seed, size=TILE):
    """A picture with every pixel different from its neighbours; integer arithmetic only."""
    y, x = np.mgrid[: size.height, : size.width]
    return np.stack([x * 7 + seed, y * 5 + seed * 3, x * y + seed * 11], axis=-1).astype(np.uint8)


def white_grid(size):
    image = ImageRef("n", Size(640, 480), "image/jpeg")
    return compose_grid(
        Grid("white", size, size, 0, 0), Question(id="q", benchmark="b", text="?", image=image, image_group="g")
    )


def captioned_grid(size):
    return GridComposition(
        canvas=Size(CAPTIONED_PITCH.width * size, CAPTIONED_PITCH.height * size),
        style="captioned",
        rows=size,
        columns=size,
        row=0,
        column=0,
        tile=TILE,
        pitch=CAPTIONED_PITCH,
        caption=CAPTION_ATLAS,
    )


def small_grid(rows, columns):
    """A grid of few pixels without captions, for laws over all cells."""
    return GridComposition(Size(5 * columns, 6 * rows), "captioned", rows, columns, 0, 0, SMALL, Size(5, 6))


def opened(content):
    return np.asarray(Image.open(BytesIO(content)).convert("RGB"))


@pytest.mark.parametrize("size", [1, 3, 5, 7, 10])
def test_white_background_has_its_needle_at_448_times_the_cell_and_white_everywhere_else(size):
    geometry, needle = white_grid(size), pattern(1)
    canvas = GridCanvas(geometry, ())
    for row, column in {(0, 0), (size - 1, 0), (size // 2, size - 1)}:
        pixels = canvas.draw(needle, row, column)
        assert pixels.shape == (448 * size, 448 * size, 3)
        top, left = 448 * row, 448 * column
        assert np.array_equal(pixels[top : top + 448, left : left + 448], needle)
        pixels[top : top + 448, left : left + 448] = 255
        assert pixels.min() == 255


@pytest.mark.parametrize("size", [3, 5])
def test_complex_grid_has_pitch_488_by_508_and_pictures_at_20_20(size):
    tiles = [flat(20 + index) for index in range(size * size - 1)]
    canvas, needle = GridCanvas(captioned_grid(size), tiles), pattern(2)
    pixels = canvas.draw(needle, 1, 2)
    assert pixels.shape == (508 * size, 488 * size, 3)
    stands_at = size + 2
    for index in range(size * size):
        left, top = 20 + 488 * (index % size), 20 + 508 * (index // size)
        expected = needle if index == stands_at else tiles[index - (index > stands_at)]
        assert np.array_equal(pixels[top : top + 448, left : left + 448], expected)


def ink_of(pixels, row, column):
    """Where a cell has ink below its picture, inclusive, within the cell."""
    cell = pixels[508 * row : 508 * row + 508, 488 * column : 488 * column + 488]
    y, x = np.nonzero((cell[468:] < 100).any(axis=2))
    return (x.min(), x.max()), (y.min() + 468, y.max() + 468)


def test_caption_of_the_first_cell_has_its_ink_where_the_published_example_has_it():
    pixels = GridCanvas(captioned_grid(3), [flat(9)] * 8).draw(flat(0), 0, 0)
    assert ink_of(pixels, 0, 0) == ((112, 376), (476, 502))


def test_captions_of_two_digits_are_centred_and_clear_of_the_picture():
    canvas = GridCanvas(captioned_grid(10), [flat(255)] * 99)
    pixels = canvas.draw(flat(255), 0, 0)
    for row, column in [(0, 9), (9, 0), (9, 9), (4, 4)]:
        (left, right), (top, bottom) = ink_of(pixels, row, column)
        # Side bearings of the first and last glyph differ by a pixel or two.
        assert abs((left - 0) - (487 - right)) <= 3
        assert (top, bottom) == (476, 502)


def test_captions_count_from_one():
    assert cell_caption(0, 0) == "row 1, column 1"
    assert cell_caption(9, 6) == "row 10, column 7"


# A change of any of these is a change of what models are shown: it needs a new atlas or layout version.
GOLDEN = {
    ("white", 1): "6aa9989f8d840c15ac411b66b57d3d742a90d9ab456cbdf7c31e3ef8d8fe5efd",
    ("white", 3): "1582c89d68a00a617cbb40d77f8f7eef51696eedb8d136753842cd00037d01bc",
    ("captioned", 3): "6dffc764a2b72e0030e4881ffd38b3de712c4ec472795322da736237bd67b71e",
    ("captioned", 10): "521fa7dfcf73afd37a3d9a380674cd2a309f041d19f7a4b13415c7027c0ef696",
}


@pytest.mark.parametrize(("style", "size"), GOLDEN)
def test_pixels_are_the_same_on_every_machine(style, size):
    geometry = white_grid(size) if style == "white" else captioned_grid(size)
    tiles = () if style == "white" else [pattern(index) for index in range(size * size - 1)]
    pixels = GridCanvas(geometry, tiles).draw(pattern(200), size - 1, size // 2)
    assert pixel_sha256(pixels) == GOLDEN[style, size]


def test_pixels_with_resampled_pictures_are_the_same_on_every_machine():
    needle = squeeze_to_tile(pattern(5, Size(640, 427)), TILE)
    assert pixel_sha256(needle) == "d8f0415ebb89d2df6fbc799c0e6337d3029ed6531aa4fae5fa715fda2758ea52"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_grid_does_not_depend_on_where_the_needle_stood_before(data):
    rows, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    cells = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    tiles = [pattern(index, SMALL) for index in range(rows * columns - 1)]
    used = GridCanvas(small_grid(rows, columns), tiles)
    for number, (row, column) in enumerate(data.draw(st.lists(cells, min_size=1, max_size=6))):
        needle = pattern(100 + number % 2, SMALL)
        fresh = GridCanvas(small_grid(rows, columns), tiles).draw(needle, row, column)
        assert np.array_equal(used.draw(needle, row, column), fresh)
        assert np.array_equal(opened(used.encode_png(needle, row, column)), fresh)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4))
def test_every_place_of_the_needle_shows_the_same_pictures(rows, columns):
    tiles = [flat(index, SMALL) for index in range(rows * columns - 1)]
    canvas = GridCanvas(small_grid(rows, columns), tiles)
    for index in range(rows * columns):
        pixels = canvas.draw(flat(200, SMALL), *divmod(index, columns))
        shown = [int(pixels[1 + 6 * row, 1 + 5 * column, 0]) for row in range(rows) for column in range(columns)]
        assert shown[index] == 200
        assert shown[:index] + shown[index + 1 :] == list(range(rows * columns - 1))


def test_jpeg_is_the_baseline_of_pillow_at_75_with_halved_chroma():
    canvas, needle = GridCanvas(white_grid(3), ()), pattern(3)
    expected = BytesIO()
    Image.fromarray(canvas.draw(needle, 2, 1)).save(expected, "JPEG", quality=75, subsampling="4:2:0")
    assert canvas.encode_jpeg(needle, 2, 1) == expected.getvalue()
    default = BytesIO()
    Image.fromarray(canvas.draw(needle, 2, 1)).save(default, "JPEG")
    assert expected.getvalue() == default.getvalue()


def test_what_was_drawn_is_the_callers_own():
    canvas = GridCanvas(white_grid(1), ())
    canvas.draw(flat(7), 0, 0)[:] = 0
    assert canvas.draw(flat(7), 0, 0).min() == 7


@pytest.mark.parametrize(
    ("tiles", "needle", "cell", "match"),
    [
        (7, TILE, (0, 0), "7 distractors for the 8 other cells"),
        (8, SMALL, (0, 0), "does not fill a cell"),
        (8, TILE, (0, 3), "no cell at row 0, column 3"),
        (8, TILE, (-1, 0), "no cell at row -1"),
    ],
)
def test_what_does_not_fit_the_grid_is_refused(tiles, needle, cell, match):
    with pytest.raises(GeometryError, match=match):
        GridCanvas(captioned_grid(3), [flat(1)] * tiles).draw(flat(0, needle), *cell)


def test_distractors_of_another_size_and_unknown_captions_are_refused():
    with pytest.raises(GeometryError, match="not the size of a cell"):
        GridCanvas(captioned_grid(3), [flat(1, SMALL)] * 8)
    with pytest.raises(GeometryError, match="unknown caption atlas 'comic@1'"):
        GridCanvas(GridComposition(Size(3, 3), "captioned", 1, 1, 0, 0, SMALL, SMALL, caption="comic@1"), ())
