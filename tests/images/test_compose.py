"""Compositions: kept pixels to the bit, the rest white, then the resize."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from eyechart.errors import GeometryError, UsageError
from eyechart.images.compose import compose, resize
from eyechart.images.decode import decode
from eyechart.images.encode import encode_composition
from eyechart.images.hash import pixel_sha256
from eyechart.images.pixels import DecodedImage
from eyechart.images.resample import RESAMPLERS
from eyechart.schema import Box, Composition, Size

ORIGINAL = np.random.default_rng(5).integers(0, 255, (23, 31, 3), dtype=np.uint8)  # 255 is left out: white is ours
SIZE = Size(31, 23)


@st.composite
def compositions(draw):
    x0, y0 = draw(st.integers(0, 30)), draw(st.integers(0, 22))
    kept = Box(x0, y0, draw(st.integers(x0 + 1, 31)), draw(st.integers(y0 + 1, 23)))
    left, top = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    canvas = Size(left + kept.width + draw(st.integers(0, 9)), top + kept.height + draw(st.integers(0, 9)))
    return Composition(canvas, kept, (left, top))


def by_pillow(geometry):
    page = Image.new("RGB", geometry.canvas, "white")
    page.paste(Image.fromarray(ORIGINAL).crop(geometry.kept), geometry.offset)
    return np.asarray(page)


@given(compositions())
def test_kept_pixels_are_exact_and_the_rest_is_white(geometry):
    page = compose(ORIGINAL, geometry)
    assert np.array_equal(page, by_pillow(geometry))
    left, top = geometry.offset
    outside = np.ones(page.shape[:2], bool)
    outside[top : top + geometry.kept.height, left : left + geometry.kept.width] = False
    assert (page[outside] == 255).all()
    assert (page[~outside] != 255).all()


@given(compositions())
def test_a_decoded_picture_and_its_array_compose_alike(geometry):
    assert np.array_equal(compose(DecodedImage(Image.fromarray(ORIGINAL)), geometry), compose(ORIGINAL, geometry))


@given(compositions())
def test_the_encoded_composition_decodes_to_the_composed_pixels(geometry):
    assert np.array_equal(decode(encode_composition(ORIGINAL, geometry)).pixels, compose(ORIGINAL, geometry))


@given(compositions(), st.integers(1, 40), st.integers(1, 40))
def test_the_resize_comes_last(geometry, width, height):
    resized = Composition(geometry.canvas, geometry.kept, geometry.offset, Size(width, height))
    expected = Image.fromarray(by_pillow(geometry)).resize((width, height), Image.Resampling.LANCZOS)
    assert np.array_equal(compose(ORIGINAL, resized), np.asarray(expected))
    assert np.array_equal(decode(encode_composition(ORIGINAL, resized)).pixels, np.asarray(expected))


def test_a_blank_canvas_is_white():
    page = compose(ORIGINAL, Composition(Size(5, 4), None))
    assert page.shape == (4, 5, 3)
    assert (page == 255).all()


def test_the_original_is_never_changed():
    original = ORIGINAL.copy()
    compose(original, Composition(SIZE, Box(0, 0, 31, 23), (0, 0), Size(7, 7)))
    compose(original, Composition(Size(40, 40), Box(3, 3, 9, 9), (3, 3)))
    assert np.array_equal(original, ORIGINAL)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("pillow-lanczos@1", Image.Resampling.LANCZOS),
        ("pillow-bicubic@1", Image.Resampling.BICUBIC),
        ("pillow-box@1", Image.Resampling.BOX),
    ],
)
def test_pillow_resamplers_are_pillows_own(name, kernel):
    expected = np.asarray(Image.fromarray(ORIGINAL).resize((13, 9), kernel))
    assert np.array_equal(resize(ORIGINAL, Size(13, 9), name), expected)


@pytest.mark.parametrize("name", [name for name in RESAMPLERS if name != "vips-lanczos3@1"])
def test_flat_grey_stays_as_bright_however_far_it_shrinks(name):
    """libvips's exact kernel darkens it from 16 times on; so it is not recommended there."""
    grey = np.full((20 * 64, 20 * 64, 3), 200, np.uint8)
    assert (resize(grey, Size(20, 20), name) == 200).all()


@pytest.mark.parametrize("name", ["cykooz-lanczos3@1", "vips-lanczos3@1", "vips-lanczos3-preshrink@1"])
@pytest.mark.parametrize("size", [Size(29, 21), Size(13, 9), Size(6, 4)])
def test_other_lanczos_resamplers_stay_near_pillows(rgb, name, size):
    smooth = rgb[:, :, :2].mean(axis=2, keepdims=True).repeat(3, axis=2).astype(np.uint8)
    difference = resize(smooth, size, name).astype(int) - resize(smooth, size)
    assert np.abs(difference).mean() < 1.5


@pytest.mark.parametrize("name", list(RESAMPLERS))
def test_an_equal_size_changes_no_pixel(name):
    assert np.array_equal(resize(ORIGINAL, SIZE, name), ORIGINAL)


@pytest.mark.parametrize("name", list(RESAMPLERS))
def test_resamplers_keep_a_flat_picture_flat(name):
    flat = np.full((40, 30, 3), 77, np.uint8)
    assert (resize(flat, Size(7, 11), name) == 77).all()


def test_an_unknown_resampler_names_a_near_one():
    with pytest.raises(UsageError, match="unknown resampler 'pillow-lanczos'") as caught:
        resize(ORIGINAL, Size(2, 2), "pillow-lanczos")
    assert "did you mean pillow-lanczos@1?" in caught.value.hint


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        (Composition(SIZE, Box(0, 0, 32, 23)), "not an integer box inside the 31×23 original"),
        (Composition(SIZE, Box(-1, 0, 3, 3)), "not an integer box inside"),
        (Composition(SIZE, Box(2, 2, 2, 5)), "not an integer box inside"),
        (Composition(SIZE, Box(0.5, 0, 3, 3)), "not an integer box inside"),
        (Composition(Size(5, 5), Box(0, 0, 6, 5)), "does not fit the canvas"),
        (Composition(Size(9, 9), Box(0, 0, 6, 5), (4, 0)), "does not fit the canvas"),
        (Composition(Size(9, 9), Box(0, 0, 6, 5), (-1, 0)), "does not fit the canvas"),
        (Composition(Size(0, 9), None), "no picture of"),
        (Composition(Size(9, 9), None, (0, 0), Size(3, 0)), "no picture of"),
    ],
)
def test_what_does_not_fit_is_refused(geometry, message):
    with pytest.raises(GeometryError, match=message):
        compose(ORIGINAL, geometry)
    with pytest.raises(GeometryError, match=message):
        encode_composition(ORIGINAL, geometry)


CROP = Composition(Size(20, 10), Box(5, 6, 25, 16))
ON_WHITE = Composition(Size(48, 32), Box(5, 6, 25, 16), (5, 6))
SMALL = Composition(Size(48, 32), Box(0, 0, 48, 32), (0, 0), Size(17, 11))

GOLDEN = [
    (CROP, "pillow-lanczos@1", "17299e669caa2576a88b747ad6f47b20eae43de293b73c642372746964f27e34"),
    (ON_WHITE, "pillow-lanczos@1", "668d438a22185b860316c99f7744caf445fe4829490311acf371b70f1d92aa06"),
    (SMALL, "pillow-lanczos@1", "7a658e69cd2e78a970ae2cb961468a99fb7a0f1623adcea1c435a5613a94d5ba"),
    (SMALL, "pillow-bicubic@1", "26397f5df7b570661ac07fdf8401d3679a25421e26f875796ca97e18c5a4aa03"),
    (SMALL, "pillow-box@1", "f5acfea41171bc961b466dcab17b00d50c2cfdb641f2370c6fd125ff0364d760"),
    (SMALL, "cykooz-lanczos3@1", "59d536f73a50a29d9c5dc92c1ccaf0af2aec252cd789f3df15887e6e2c8b3bac"),
    (SMALL, "vips-lanczos3@1", "d1a6f3eab3fb37f51343513d6ce00c79e5ecde9d174aee4f33e334e22f430bcd"),
]


@pytest.mark.parametrize(("geometry", "resampler", "golden"), GOLDEN)
def test_pixels_are_the_same_on_every_machine(rgb, geometry, resampler, golden):
    assert pixel_sha256(compose(rgb, geometry, resampler)) == golden


def test_a_jpeg_decodes_to_the_same_pixels_on_every_machine(make_form):
    assert (
        pixel_sha256(decode(make_form("rgb.jpg")).pixels)
        == "7e6e8250ef0e117d8ca3652f4e1744b5d6d0c79a337206dc36472864a8e00f5a"
    )
