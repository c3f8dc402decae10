"""The tiled path: the same pixels and notes as the ordinary decode, without the whole picture in memory."""

from contextlib import suppress

import numpy as np
import pytest
import pyvips
from PIL import Image

from eyechart.errors import GeometryError, ImageError, UsageError
from eyechart.images import decode as decode_module
from eyechart.images.compose import compose, resize
from eyechart.images.decode import decode
from eyechart.images.giga import LargeImage
from eyechart.images.hash import pixel_sha256
from eyechart.images.probe import describe_form
from eyechart.images.render import RenderSettings, render_views_of_picture
from eyechart.images.resample import VIPS_RESAMPLER
from eyechart.schema import Box, Composition, DecodePolicy, Size

WHOLE, KEPT = Box(0, 0, 48, 32), Box(9, 7, 30, 21)
FORMS = [
    "rgb.png", "rgb.jpg", "rgb.webp", "rgb.tif", "progressive.jpg", "rotated.jpg", "rotated.png", "rotated.tif",
    "rgba.png", "grey.png", "grey.jpg", "grey_alpha.png", "one_bit.png", "four_bit.png", "palette.png",
    "palette_holes.png", "colour_key.png", "grey16.png", "grey16.tif", "rgb16.png", "icc.png", "icc_grey.png",
    "icc_srgb.jpg", "icc_broken.png", "gamma.png", "cmyk_icc.jpg",
]  # fmt: skip


@pytest.fixture
def large(make_form, tmp_path):
    def open_form(name, **options):
        path = tmp_path / name
        path.write_bytes(make_form(name))
        return LargeImage(path, **options)

    return open_form


@pytest.mark.parametrize("name", FORMS)
def test_a_region_has_the_pixels_and_notes_of_the_ordinary_decode(large, make_form, name):
    expected = decode(make_form(name))
    region = large(name).region(KEPT)
    assert np.array_equal(region.pixels, expected.pixels[7:21, 9:30])
    assert region.notes == expected.notes


@pytest.mark.parametrize("name", FORMS)
def test_regions_inside_the_last_one_are_not_read_again_and_have_the_same_pixels_and_notes(large, make_form, name):
    expected = decode(make_form(name))
    picture = large(name)
    around = picture.region(KEPT)
    picture.path.unlink()
    for box in (KEPT, Box(10, 8, 29, 20), Box(9, 7, 10, 8), Box(29, 20, 30, 21)):
        inside = picture.region(box)
        assert np.array_equal(inside.pixels, expected.pixels[box.y0 : box.y1, box.x0 : box.x1])
        assert (inside.notes, inside.source_size) == (around.notes, around.source_size)
    with pytest.raises(ImageError, match=name):
        picture.region(Box(8, 7, 30, 21))


@pytest.mark.parametrize("name", ["rgb.png", "rgb.jpg", "grey.png", "grey16.png", "rgb16.png", "rgb.tif"])
def test_a_downsample_has_the_pixels_of_the_resampler_of_that_name(large, make_form, name):
    picture = large(name)
    for size in (Size(47, 31), Size(24, 16), Size(7, 5), Size(3, 2)):
        expected = resize(decode(make_form(name)).pixels, size, VIPS_RESAMPLER)
        assert np.array_equal(picture.downsample(size).pixels, expected)


def test_compositions_are_those_of_the_ordinary_path(large, rgb):
    picture = large("rgb.png")
    for geometry in (
        Composition(Size(60, 50), KEPT, (5, 6)),
        Composition(Size(48, 32), None),
        Composition(Size(48, 32), WHOLE),
    ):
        canvas, offset, pixels = picture.flat_parts(geometry, "pillow-lanczos@1")
        page = np.full((canvas.height, canvas.width, 3), 255, np.uint8)
        page[offset[1] : offset[1] + pixels.shape[0], offset[0] : offset[0] + pixels.shape[1]] = pixels
        assert np.array_equal(page, compose(rgb, geometry))


def test_zstd_tiff_is_refused_or_right_but_never_black(large, rgb):
    with suppress(ImageError):
        assert np.array_equal(large("zstd.tif").region(WHOLE).pixels, rgb)


@pytest.mark.parametrize("name", ["truncated_rgb.jpg", "truncated_rgb.png", "truncated_rgb.tif"])
def test_truncation_is_refused_when_reading_gets_that_far(large, name):
    with pytest.raises(ImageError, match=r"truncated|libvips cannot decode|damaged"):
        large(name).region(WHOLE)


@pytest.mark.parametrize("name", ["rgba.png", "icc.png", "cmyk_icc.jpg"])
def test_what_must_be_treated_before_the_resize_is_not_downsampled(large, name):
    with pytest.raises(ImageError, match="too large to be downsampled with its transparency, colour profile or inks"):
        large(name).downsample(Size(5, 5))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("animated.gif", "2 frames"),
        ("pages.tif", "2 pages"),
        ("cmyk.jpg", "CMYK without"),
        ("float.tif", "pixels of kind F"),
    ],
)
def test_what_the_policy_refuses_is_refused_here_too(large, name, message):
    with pytest.raises(ImageError, match=message):
        large(name).region(KEPT)


def test_a_pyramid_is_one_picture(rgb, tmp_path):
    path = tmp_path / "pyramid.tif"
    big = np.tile(rgb, (16, 16, 1))
    pyvips.Image.new_from_array(big).tiffsave(str(path), tile=True, pyramid=True, compression="deflate", bigtiff=True)
    picture = LargeImage(path)
    assert picture.form.is_tiled
    assert np.array_equal(picture.region(Box(300, 200, 500, 400)).pixels, big[200:400, 300:500])


def test_combinations_that_need_all_pixels_are_refused(large):
    small = Composition(Size(48, 32), WHOLE, (0, 0), Size(24, 16))
    with pytest.raises(UsageError, match=r"1,536 pixels are too many for the resampler pillow-lanczos@1") as caught:
        large("rgb.png").flat_parts(small, "pillow-lanczos@1")
    assert VIPS_RESAMPLER in caught.value.hint
    with pytest.raises(ImageError, match="too large to resize a part of it on a canvas"):
        large("rgb.png").flat_parts(Composition(Size(48, 32), KEPT, (0, 0), Size(24, 16)), VIPS_RESAMPLER)
    with pytest.raises(ImageError, match="too large to be rotated by its EXIF orientation 6"):
        large("rotated.png", policy=DecodePolicy(exif="apply"))
    with pytest.raises(GeometryError, match="not an integer box inside"):
        large("rgb.png").region(Box(40, 0, 50, 9))


@pytest.fixture(scope="module")
def giant(tmp_path_factory):
    """A 1-bit PNG of 200 megapixels, 30 kB: black, with one white column of tiles."""
    path = tmp_path_factory.mktemp("giant") / "giant.png"
    column = pyvips.Image.black(16, 16).invert()
    page = pyvips.Image.black(20_000, 10_000).insert(column, 12_000, 9_000)
    page.pngsave(str(path), bitdepth=1, compression=1)
    return path


@pytest.mark.slow
def test_views_of_a_giant_are_written_without_decoding_it_whole(giant, tmp_path):
    kept = Box(11_990, 8_990, 12_030, 9_030)
    views = [
        ("crop.png", Composition(Size(40, 40), kept)),
        ("white.png", Composition(Size(20_000, 10_000), kept, (11_990, 8_990))),
        ("small.png", Composition(Size(20_000, 10_000), Box(0, 0, 20_000, 10_000), (0, 0), Size(200, 100))),
    ]
    picture = render_views_of_picture(giant, views, tmp_path, RenderSettings(resampler=VIPS_RESAMPLER))
    crop = decode(tmp_path / "crop.png").pixels
    assert (crop[10:26, 10:26] == 255).all()
    assert crop.sum() == 16 * 16 * 3 * 255
    assert picture.views[0].image.pixel_sha256 == pixel_sha256(crop)
    assert picture.views[2].image.size == Size(200, 100)
    assert picture.notes == ("grey_expanded",)
    white = LargeImage(tmp_path / "white.png")
    assert np.array_equal(white.region(kept).pixels, crop)
    assert (white.region(Box(0, 0, 500, 500)).pixels == 255).all()


def test_a_region_above_the_limit_is_refused(giant):
    with pytest.raises(ImageError, match="a region of 200,000,000 pixels, more than 178,956,970"):
        LargeImage(giant).region(Box(0, 0, 20_000, 10_000))
    with pytest.raises(ImageError, match="are not decoded at once"):
        decode(giant)
    assert decode_module.MAX_DECODED_PIXELS < 200_000_000


@pytest.mark.parametrize("compression", ["none", "deflate", "jpeg"])
def test_a_small_pyramid_is_one_picture_and_its_first_page_is_decoded(tmp_path, rgb, compression):
    plain = pyvips.Image.new_from_array(np.tile(rgb, (8, 6, 1)))
    tiles = {"tile": True, "tile_width": 64, "tile_height": 64, "pyramid": True}
    plain.tiffsave(str(tmp_path / "p.tif"), compression=compression, **tiles)
    form = describe_form(tmp_path / "p.tif")
    assert form.is_pyramid
    assert form.n_frames > 1
    assert not form.is_animated
    pixels = decode(tmp_path / "p.tif").pixels
    assert pixels.shape == (plain.height, plain.width, 3)
    assert np.array_equal(pixels, LargeImage(tmp_path / "p.tif").region(Box(0, 0, plain.width, plain.height)).pixels)


def test_pages_that_are_no_halves_of_each_other_are_no_pyramid(tmp_path):
    pages = [Image.new("RGB", size) for size in ((64, 48), (31, 40))]
    pages[0].save(tmp_path / "pages.tif", save_all=True, append_images=pages[1:])
    assert not describe_form(tmp_path / "pages.tif").is_pyramid
    with pytest.raises(ImageError, match="2 pages"):
        decode(tmp_path / "pages.tif")
